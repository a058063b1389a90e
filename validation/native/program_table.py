"""Public programs of the study `native-programs`: what they are, how a compiler builds them, what they are run with."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from validation.study import BadOptions

TABLE = Path(__file__).with_name("programs.toml")
OF_THE_USER = "programs.toml"  # in the folder of sources
KINDS_OF_THREADS = ("one", "openmp", "own")


@dataclass(frozen=True)
class Program:
    """A row of the table. `prepare` and `build` are shell commands in a copy of `folder`; $CC, $CXX and $FC are the compilers."""

    name: str
    kind: str
    language: str
    origin: str  # package and version, or repository and commit
    folder: str  # in the folder of sources
    build: str
    program: str
    arguments: tuple[str, ...]  # smallest first; {threads} stands for the number of threads
    stdin: tuple[str, ...] = ()  # a file for each of `arguments`; none: nothing is read
    prepare: str = ""
    threads: str = "one"
    success: tuple[int, ...] = (0,)  # exit codes


class Case(NamedTuple):
    """A program with one of its sizes, on a number of threads."""

    program: Program
    size: int  # which of its arguments
    threads: int

    @property
    def words(self) -> list[str]:
        """The command."""
        return [self.program.program, *self.shown.split()]

    @property
    def shown(self) -> str:
        """Its arguments, as a table shows them."""
        return self.program.arguments[self.size].replace("{threads}", str(self.threads))

    @property
    def stdin(self) -> str:
        """The file that it reads; empty: none."""
        return self.program.stdin[self.size] if self.program.stdin else ""

    @property
    def name(self) -> str:
        """For files."""
        return f"{self.program.name}-{self.size}-{self.threads}"


def program_of(row: Mapping[str, Any], file: Path) -> Program:
    """A row of a table; BadOptions if it is not as README.md says."""
    name = str(row.get("name", "?"))
    known = {field.name: field for field in fields(Program)}
    wrong = [key for key in row if key not in known]
    missing = [key for key, field in known.items() if field.default is MISSING and key not in row]
    if wrong or missing:
        what = f"unknown: {', '.join(wrong)}" if wrong else f"missing: {', '.join(missing)}"
        raise BadOptions(f"{file}: program '{name}': {what}; allowed: {', '.join(known)}")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    program = Program(**values)
    if program.threads not in KINDS_OF_THREADS:
        raise BadOptions(
            f"{file}: program '{name}': threads '{program.threads}'; allowed: {', '.join(KINDS_OF_THREADS)}"
        )
    if not program.arguments or (program.stdin and len(program.stdin) != len(program.arguments)):
        raise BadOptions(
            f"{file}: program '{name}': {len(program.stdin)} of stdin, {len(program.arguments)} of arguments"
        )
    return program


def read_programs(file: Path) -> list[Program]:
    """The rows of a table; BadOptions if one is not as README.md says."""
    try:
        rows = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadOptions(f"{file}: {error}") from None
    return [program_of(row, file) for row in rows.get("program", [])]


def programs(sources: Path | None) -> list[Program]:
    """The table's, and those that the user's own table adds to them."""
    own = sources / OF_THE_USER if sources is not None else None
    found = read_programs(TABLE) + (read_programs(own) if own is not None and own.is_file() else [])
    names = [program.name for program in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadOptions(f"programs that stand in the tables twice: {', '.join(twice)}")
    return found


def cases(chosen: Sequence[Program], small: bool) -> list[Case]:
    """What is run: each size on one thread, and on two where the program has threads; the smallest on one if `small`."""
    return [
        Case(program, size, threads)
        for program in chosen
        for threads in ((1,) if small or program.threads == "one" else (1, 2))
        for size in range(1 if small else len(program.arguments))
    ]
