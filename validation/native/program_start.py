"""What a process takes before `main` and after it: an empty program that loads the same shared libraries. A trace begins at `main`."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_EMPTY = "int main(void) { return 0; }\n"


class NoStart(Exception):
    """Why no empty program could be made, in a line."""


def _run(command: Sequence[str | Path]) -> str:
    try:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoStart(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        told = (done.stderr.strip() or "no output").splitlines()[-1]
        raise NoStart(f"{command[0]}: exit code {done.returncode}: {told}")
    return done.stdout


def libraries(program: Path) -> tuple[str, ...] | None:
    """File names of the shared libraries that it names itself; None of a program that is linked statically."""
    needed = tuple(_NEEDED.findall(_run(["readelf", "--dynamic", "--wide", program])))
    return needed or None


def empty_program(needed: Sequence[str] | None, folder: Path) -> Path:
    """Build it, run it once."""
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "empty.c", folder / "empty"
    source.write_text(_EMPTY, encoding="utf-8")
    linked = ["-static"] if needed is None else ["-Wl,--no-as-needed", *(f"-l:{name}" for name in needed)]
    _run(["gcc", "-O2", source, *linked, "-o", program])
    _run([program])
    return program
