"""Shared libraries that are traced: FILE has the recording code, FILE.timed beside it the code as it was.

The program brings the runtime that FILE calls. Its twin and its timed form load FILE.timed: what the library does is timed as a call
of code that is not instrumented, as for other libraries.
"""

import re
from pathlib import Path

_SONAME = re.compile(r"((?:^-Wl,|,)(?:--?soname|-h)[,=])[^,]+")
_SUFFIX = ".timed"


def plain_name(library: Path) -> Path:
    """Where the library without recording code is, or would be: beside the file that links lead to."""
    real = library.resolve()
    return real.with_name(real.name + _SUFFIX)


def plain_library(library: Path) -> Path | None:
    """The one without recording code of a traced library; None of others."""
    plain = plain_name(library)
    return plain if plain.is_file() else None


def with_plain_soname(words: list[str], plain: Path) -> list[str]:
    """Words of a link line whose library, if it has a name in programs, has that of the file without recording code."""
    return [_SONAME.sub(lambda found: found[1] + plain.name, word) for word in words]


def may_be_undefined(words: list[str]) -> list[str]:
    """Words of a link line without -z defs and --no-undefined: the runtime's functions come with the program."""
    kept: list[str] = []
    for word in words:
        if word == "defs" and kept and kept[-1] == "-z":
            kept.pop()
            continue
        if not word.startswith("-Wl,"):
            kept.append(word)
            continue
        parts = re.sub(r",(?:-z,defs|-zdefs|--?no-undefined)(?=,|$)", "", word)
        if parts != "-Wl":
            kept.append(parts)
    return kept
