"""The programs homenode-cc, homenode-gcc and their kin: `homenode cc`, `homenode c++` and `homenode fortran` under one word."""

import io
import sys

from homenode.compiler.driver import main
from homenode.compiler.help import asks_for_help, help_of


def run(words: list[str], driver: str) -> int:
    """Compile, or explain oneself."""
    if asks_for_help(words):
        print(help_of(driver))
        return 0
    for stream in (sys.stdout, sys.stderr):  # names of files need not be text
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return main(words, driver)
    except OSError as error:
        print(
            f"homenode {driver}: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}",
            file=sys.stderr,
        )
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
