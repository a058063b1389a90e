"""Shared libraries that are traced: FILE has the recording code, FILE.timed beside it the code as it was.

The program brings the runtime that FILE calls. Its twin and its timed form load FILE.timed: what the library does is timed as a call
of code that is not instrumented, as for other libraries.
"""

import re
import subprocess
from pathlib import Path

_SUFFIX = ".timed"
# Behind the line's own words: -z defs and --no-undefined do not hold, for the runtime's functions come with the program.
MAY_BE_UNDEFINED = "-Wl,-z,undefs"


def plain_name(library: Path) -> Path:
    """Where the library without recording code is, or would be: beside the file that links lead to."""
    real = library.resolve()
    return real.with_name(real.name + _SUFFIX)


def plain_library(library: Path) -> Path | None:
    """The one without recording code of a traced library; None of others, also where one was linked here before."""
    plain = plain_name(library)
    return plain if plain.is_file() and "__tsan_init" in _said_of(library, "-T") else None


def plain_soname(library: Path, plain: Path) -> list[str]:
    """Words of a link line for the library without recording code: programs know it by its file, if they know the traced one by a name."""
    named = re.search(r"^\s*SONAME\s", _said_of(library, "-p"), re.MULTILINE)
    return [f"-Wl,-soname,{plain.name}"] if named else []


def _said_of(library: Path, what: str) -> str:
    said = subprocess.run(["objdump", what, str(library)], capture_output=True, check=False).stdout
    return said.decode(errors="replace")
