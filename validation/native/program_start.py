"""What a process takes before `main` and after it: an empty program that loads the same shared libraries. A trace begins at `main`."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_EMPTY = "int main(void) { return 0; }\n"


def libraries(program: Path) -> tuple[str, ...] | None:
    """File names of the shared libraries that it names itself; None of a program that is linked statically."""
    told = subprocess.run(["readelf", "--dynamic", "--wide", str(program)], capture_output=True, text=True, check=True)
    needed = tuple(_NEEDED.findall(told.stdout))
    return needed or None


def empty_program(needed: Sequence[str] | None, folder: Path) -> Path:
    """Build it, or take the one that an earlier call built for these libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / ("static" if needed is None else "+".join(needed))
    if program.is_file():
        return program
    source = folder / "empty.c"
    source.write_text(_EMPTY, encoding="utf-8")
    linked = ["-static"] if needed is None else ["-Wl,--no-as-needed", *(f"-l:{name}" for name in needed)]
    part = program.with_name(f"{program.name}.part")
    subprocess.run(["gcc", "-O2", str(source), *linked, "-o", str(part)], capture_output=True, text=True, check=True)
    part.rename(program)
    return program
