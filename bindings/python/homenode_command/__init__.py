"""Where the programs of the package begin, and where Ctrl-C ends them in one line, also during their import, which takes a while."""

import os
import signal

_SAID, _STATUS = b"homenode: interrupted\n", 130


def _end(number: int, frame: object) -> None:
    os.write(2, _SAID)
    os._exit(_STATUS)


def _early(name: str) -> int:
    """A program of the package, its imports under a handler that needs none and ends them at once; later it may tidy up first."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _end)
    from importlib import import_module

    module, _, function = name.partition(":")
    program = getattr(import_module(module), function)
    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return int(program() or 0)
    except KeyboardInterrupt:
        os.write(2, _SAID)
        return _STATUS


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
