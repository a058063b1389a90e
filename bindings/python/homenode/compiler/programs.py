"""The programs homenode-cc, homenode-gcc and their kin: `homenode cc`, `homenode c++` and `homenode fortran` under one word."""

import io
import os
import sys

from homenode.compiler.driver import main
from homenode.compiler.help import asks_for_help, help_of


def run(words: list[str], driver: str) -> int:
    """Compile, or explain oneself."""
    for stream in (sys.stdout, sys.stderr):  # names of files need not be text
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if asks_for_help(words):
            print(help_of(driver), flush=True)
            return 0
        return main(words, driver)
    except BrokenPipeError:  # `homenode cc --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"homenode {driver}: {place}{error.strerror or error}", file=sys.stderr)
        return 2


def cc() -> int:
    """In place of gcc."""
    return run(sys.argv[1:], "cc")


def cxx() -> int:
    """In place of g++."""
    return run(sys.argv[1:], "c++")


def fortran() -> int:
    """In place of gfortran."""
    return run(sys.argv[1:], "fortran")
