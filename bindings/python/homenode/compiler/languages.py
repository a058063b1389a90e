"""The languages that the drop-in compilers take, and gcc's names for them."""

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

# What a project asks for: its name after `homenode`, the compiler that stands behind it, the variable that names another.
DRIVERS = {
    "cc": ("gcc", "HOMENODE_GCC"),
    "c++": ("g++", "HOMENODE_GXX"),
    "fortran": ("gfortran", "HOMENODE_GFORTRAN"),
}


def refusal_of(driver: str) -> str | None:
    """Why the program behind `homenode DRIVER` cannot compile for tracing; None if it can."""
    name, variable = DRIVERS[driver]
    words = compiler_of(driver)
    if _is_ours(shutil.which(words[0])):
        return f"{variable} is '{' '.join(words)}', which is homenode itself; allowed: {name}, by its path if need be"
    if not any("clang" in Path(word).name or "flang" in Path(word).name for word in words):
        return None
    return f"{variable} is '{' '.join(words)}'; allowed: {name} or a cross or numbered {name} (clang's code is not recorded in full)"


def compiler_of(driver: str) -> list[str]:
    """The program behind `homenode DRIVER`, and arguments that its variable gives it (`gfortran -m64`)."""
    name, variable = DRIVERS[driver]
    word, *more = shlex.split(os.environ.get(variable, "")) or [name]
    return [_past_ourselves(word), *more]


def _is_ours(program: str | None) -> bool:
    return program is not None and Path(program).resolve().name.startswith("homenode")


def _past_ourselves(word: str) -> str:
    """The word, or the program further down PATH that it stands for where a build finds us first: a link `gcc` to homenode-gcc."""
    if not _is_ours(shutil.which(word)):
        return word
    found = (shutil.which(word, path=folder) for folder in os.get_exec_path())
    return next((program for program in found if program is not None and not _is_ours(program)), word)


@dataclass(frozen=True)
class Language:
    """One of gcc's languages. `text` is gcc's name (-x) for a source that needs no preprocessor any more."""

    name: str
    text: str
    preprocessed: bool = False

    @property
    def fortran(self) -> bool:
        """Fortran, of either form."""
        return self.text.startswith("f")


_C = Language("c", "cpp-output")
_CXX = Language("c++", "c++-cpp-output")
# Suffixes as gcc's manual lists them ("Overall Options", GNU Fortran's "Invoking"): of free and fixed form, capitals want the preprocessor.
_SUFFIXES = {
    ".c": _C,
    ".i": Language("cpp-output", "cpp-output", preprocessed=True),
    ".ii": Language("c++-cpp-output", "c++-cpp-output", preprocessed=True),
    **dict.fromkeys((".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C"), _CXX),
    **dict.fromkeys((".f90", ".f95", ".f03", ".f08"), Language("f95", "f95", preprocessed=True)),
    **dict.fromkeys((".F90", ".F95", ".F03", ".F08"), Language("f95-cpp-input", "f95")),
    **dict.fromkeys((".f", ".for", ".ftn"), Language("f77", "f77", preprocessed=True)),
    **dict.fromkeys((".F", ".fpp", ".FOR", ".FPP", ".FTN"), Language("f77-cpp-input", "f77")),
}
_NAMES = {language.name: language for language in _SUFFIXES.values()}


def driver_of(source: str) -> str:
    """The drop-in compiler of a source, by its suffix."""
    language = language_of(source, "cc", None)
    if language is not None and language.fortran:
        return "fortran"
    return "c++" if language in (_CXX, _SUFFIXES[".ii"]) else "cc"


def language_of(path: str, driver: str, named: str | None) -> Language | None:
    """What gcc takes a file for: by -x if that names it, else by its suffix; None for objects and all that is not compiled here."""
    if named is not None:
        return _NAMES.get(named)
    found = _SUFFIXES.get(Path(path).suffix)
    if driver == "c++" and found is not None and found.text == "cpp-output":
        return _SUFFIXES[".ii"] if found.preprocessed else _CXX
    return found
