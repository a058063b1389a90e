"""Where the programs of the package begin: before its own import, which takes a while, Ctrl-C already ends them in one line."""

import os
import signal


def _end(number: int, frame: object) -> None:
    os.write(2, b"homenode: interrupted\n")
    os._exit(130)


def _early(name: str) -> int:
    """A program of the package, its imports under a handler that needs none."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _end)
    from importlib import import_module

    module, _, function = name.partition(":")
    program = getattr(import_module(module), function)
    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return int(program() or 0)
    except KeyboardInterrupt:  # between this handler and the program's own
        _end(0, None)
        raise


def homenode() -> int:
    """`homenode`."""
    return _early("homenode.cli.main:main")


def cc() -> int:
    """`homenode-cc`, `homenode-gcc`."""
    return _early("homenode.compiler.programs:cc")


def cxx() -> int:
    """`homenode-c++`, `homenode-g++`."""
    return _early("homenode.compiler.programs:cxx")


def fortran() -> int:
    """`homenode-fortran`, `homenode-gfortran`."""
    return _early("homenode.compiler.programs:fortran")
