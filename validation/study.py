"""A study: what is held against what, how its rows are made and shown, and which page keeps them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from validation.page_with_notes import write_with_notes
from validation.rows import AnyRow

R = TypeVar("R", bound=AnyRow)


class BadOptions(Exception):
    """Options that do not go together; the text names what is allowed."""


@dataclass(frozen=True)
class Options:
    """What stands behind the study's name on the command line."""

    folder: Path  # traces, programs and answers of replays are kept there
    small: bool = False
    as_json: bool = False
    write: bool = False
    paper: str | None = None
    machine: Path | None = None
    sources: Path | None = None
    repeats: int = 7


def _text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def values(row: AnyRow) -> str:
    """Every value of a row but the command that repeats it."""
    return "  ".join(_text(value) for key, value in row.as_json().items() if key != "command")


def as_document(rows: Sequence[AnyRow]) -> dict[str, Any]:
    """Schema homenode.validation/1."""
    return {"schema": "homenode.validation/1", "rows": [row.as_json() for row in rows]}


def _nothing(rows: Sequence[Any], options: Options) -> str:
    return ""


@dataclass(frozen=True)
class Study(Generic[R]):
    """One entry of the table of studies (studies.py). `rows` raises BadOptions, or SystemExit where something failed."""

    name: str
    what: str  # is held against what
    takes: str  # roughly, on two cores, without --small
    columns: tuple[str, ...]  # keys of each row's JSON
    rows: Callable[[Options], Iterable[R]]
    pages: tuple[Path, ...] = ()  # the first is what --write renews, but for `published`
    line: Callable[[R], str] = values
    tables: Callable[[Sequence[R]], str] | None = None  # the page down to its notes, written by --write without --small
    write: Callable[[Sequence[R], Options], None] | None = None  # instead of `tables`
    closing: Callable[[Sequence[R], Options], str] = _nothing  # printed after the rows
    document: Callable[[Sequence[R]], dict[str, Any]] = as_document
    status: Callable[[Sequence[R]], int] = lambda rows: 0  # what deviates is a result, not a failure

    def run(self, options: Options) -> int:
        """Show each row when it is there, or all as one JSON document; renew the page if asked; return the exit status."""
        found = []
        for row in self.rows(options):
            found.append(row)
            if not options.as_json:
                print(self.line(row), flush=True)
        if options.as_json:
            print(json.dumps(self.document(found), indent=1))
        elif said := self.closing(found, options):
            print(said)
        if options.write and self.write is not None:
            self.write(found, options)
        elif options.write and self.tables is not None and not options.small:
            write_with_notes(self.pages[0], self.tables(found))
        return self.status(found)
