"""What was probably meant by a word that is no program."""

from __future__ import annotations

import shlex
import shutil
from contextlib import suppress
from pathlib import Path


def meant_instead_of(word: str) -> str:
    """What to add to the words that no program is called so; empty if nothing is known."""
    if is_source(word):
        return f": it is a source. {compile_first(word)}"
    if word != program_here(word):
        return f". Did you mean ./{word}"
    if Path(word).is_dir():
        return ": it is a folder"
    return ": the file is not executable" if "/" in word and Path(word).exists() else ""


def program_here(word: str) -> str:
    """The word, or by its path a program of this folder that is not found without."""
    is_here = "/" not in word and shutil.which(word) is None and shutil.which(f"./{word}") is not None
    return f"./{word}" if is_here else word


def is_source(word: str) -> bool:
    """Whether it names a source file that is there, and no program."""
    from homenode.compiler.languages import language_of

    path = f"./{word}" if "/" not in word else word
    return Path(word).is_file() and shutil.which(path) is None and language_of(word, "cc", None) is not None


def other_than_trace(path: Path) -> str | None:
    """What a file is that was taken for a trace, and what to do with it; None if it may be one."""
    if is_source(str(path)):
        return f"a source, no trace. {compile_first(str(path))}"
    begin = b""
    with suppress(OSError):
        if path.is_file():  # a pipe would be waited for
            with path.open("rb") as file:
                begin = file.read(4)
    if begin == b"\x7fELF":
        program = str(path) if "/" in str(path) else f"./{path}"
        return f"a program, no trace. Capture it: {shlex.join(['homenode', 'capture', '-o', f'{path.name}.hnt', '--', program])}"
    if begin.startswith(b"{"):
        page = shlex.join(["homenode", "report", str(path), "-o", f"{path.stem}.html"])
        return f"a JSON document, no trace. The page of a report: {page}"
    return None


def compile_first(source: str) -> str:
    """How a source becomes a trace."""
    from homenode.compiler.languages import driver_of

    name = Path(source).stem
    first = shlex.join(["homenode", driver_of(source), "-O2", "-g", source, "-o", name])
    then = shlex.join(["homenode", "capture", "-o", f"{name}.hnt", "--", f"./{name}"])
    return f"Compile it for tracing, then capture the program: {first} && {then}"
