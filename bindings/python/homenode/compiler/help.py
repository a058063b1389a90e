"""What a drop-in compiler says of itself."""

from homenode.compiler.languages import DRIVERS

_TEXT = """\
Usage: homenode {driver} ARGUMENTS
       (or homenode-{driver} ARGUMENTS, homenode-{name} ARGUMENTS)

Compile and link for tracing: a drop-in for {name} that takes the same
arguments and gives the same files, with every load and store recorded when
the program runs under `homenode capture`.

  {driver_variable}="homenode {driver}" make          an unmodified project
  homenode {driver} -O2 -g -fopenmp {source} -o program
  homenode capture -o program.hnt -- ./program

Keep the program's own flags, and -g for names and lines. Beside PROGRAM stand
two more, without recording: PROGRAM.twin counts instructions, PROGRAM.timed
tells processor times. What gcc cannot record is listed by `homenode inspect`,
"Not recorded".

{variable} names another {name} (a cross or numbered
one), which may have arguments of its own.
{name}'s own help: homenode {driver} --help=common
(optimizers, warnings, target …). More: docs/guide.md."""
_SOURCES = {"cc": ("CC", "a.c"), "c++": ("CXX", "a.cpp"), "fortran": ("FC", "a.f90")}


def asks_for_help(words: list[str]) -> bool:
    """Only a bare --help; with a class of options it is the compiler's."""
    return "--help" in words


def help_of(driver: str) -> str:
    """The text of --help."""
    name, variable = DRIVERS[driver]
    driver_variable, source = _SOURCES[driver]
    return _TEXT.format(driver=driver, name=name, variable=variable, driver_variable=driver_variable, source=source)
