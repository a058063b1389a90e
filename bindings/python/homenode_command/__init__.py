"""Where the programs of the package begin, and where Ctrl-C ends them in one line, also during their import, which takes a while."""

import os
import signal
import sys

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


def _compiler(function: str) -> int:
    """A compiler needs only modules that import nothing else of the package; to import all of it takes as long as gcc runs."""
    from importlib.util import find_spec, module_from_spec

    if "homenode" in sys.modules or (spec := find_spec("homenode")) is None:
        return _early(f"homenode.compiler.programs:{function}")
    sys.modules["homenode"] = module_from_spec(spec)  # its folder, without what its __init__ imports
    try:
        return _early(f"homenode.compiler.programs:{function}")
    finally:
        del sys.modules["homenode"]


_COMPILERS = {"cc": "cc", "c++": "cxx", "fortran": "fortran"}


def homenode() -> int:
    """`homenode`."""
    if sys.argv[1:2] and (function := _COMPILERS.get(sys.argv[1])) is not None:
        del sys.argv[1]
        return _compiler(function)
    return _early("homenode.cli.main:main")


def cc() -> int:
    """`homenode-cc`, `homenode-gcc`."""
    return _compiler("cc")


def cxx() -> int:
    """`homenode-c++`, `homenode-g++`."""
    return _compiler("cxx")


def fortran() -> int:
    """`homenode-fortran`, `homenode-gfortran`."""
    return _compiler("fortran")
