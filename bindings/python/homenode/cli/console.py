"""What every command shares: JSON on stdout, tables, progress and remarks on stderr."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console, ConsoleOptions
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from homenode.cli.fitted_table import HeadedTable, Narrowing
from homenode.cli.telling import tell
from homenode.progress import Progress
from homenode.visible import visible

_WHOLE = 160  # columns of what is no terminal


class SafeConsole(Console):
    """Nothing that is printed can command the terminal, wherever it comes from: rich's own colours are styles, no characters."""

    _commands = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """As rich does, but for control characters in the text."""
        for segment in super().render(renderable, options):
            if segment.control is None and self._commands.search(segment.text):
                text = self._commands.sub(lambda found: visible(found[0]), segment.text)
                yield Segment(text, segment.style)
            else:
                yield segment


def output() -> Console:
    """Console of results: as wide as the terminal, or as COLUMNS says of it; for pipes wide, so that they get whole tables.

    There COLUMNS says nothing: a program that uses readline hands it to its children without being asked.
    """
    return SafeConsole(highlight=False) if sys.stdout.isatty() else SafeConsole(highlight=False, width=_WHOLE)


def say(screen: Console, text: str) -> None:
    """A sentence: wrapped between words on a terminal, one line for pipes."""
    screen.print(text, soft_wrap=screen.width >= _WHOLE)


def diagnostics() -> Console:
    """Console of progress and remarks; as wide as its terminal, or as for pipes."""
    return SafeConsole(stderr=True, highlight=False, width=None if sys.stderr.isatty() else _WHOLE)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option every command has."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")(command)


def print_json(document: Any) -> None:
    """Print a document as every ``--json`` does: keys in their promised order, no NaN."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def table(
    *columns: str, title: str | None = None, right: tuple[str, ...] = (), narrowing: Narrowing | None = None
) -> Table:
    """A plain table, a blank line and its title above it; columns named in `right` are right-aligned.

    `narrowing`: what it may do where the terminal is too narrow.
    """
    result = HeadedTable(box=None, pad_edge=False, header_style="bold")
    result.heading = title
    result.narrowing = narrowing or Narrowing()
    for column in columns:
        result.add_column(column, justify="right" if column in right else "left")
    return result


# The papers that homenode is compared with; docs/papers.md has their titles.
AUTHORS = {"S0": "Metzger", "S1": "JArena", "S2": "Gerofi", "S3": "Știrb", "S4": "Wittmann and Hager"}


def signed(text: str, sources: dict[str, str] | None = None) -> str:
    """A text in which the sign of a paper is told with its authors; with `sources`, where the sign stands for that paper there."""

    def told(sign: re.Match[str]) -> str:
        authors = AUTHORS[sign[0]]
        stands = sources is None or authors.split()[0].lower() in sources.get(sign[0], "").lower()
        return f"{sign[0]} ({authors})" if stands else sign[0]

    return re.sub(r"\bS[0-4]\b(?! \()", told, text)


def parameters(values: list[dict[str, Any]], sources: dict[str, str]) -> Table:
    """Described values with where each comes from."""
    rows = table("value of", "is", "low … high", "source", "confidence", "note", title="Where each number comes from")
    for parameter in values:
        interval = f"{parameter['low']} … {parameter['high']}" if parameter["low"] or parameter["high"] else ""
        confidence = parameter["confidence"] + (" assumed" if parameter["assumed"] else "")
        rows.add_row(
            parameter["path"],
            parameter["value"],
            interval,
            plain(signed(parameter["source"], sources)),
            confidence.strip(),
            plain(signed(parameter["note"], sources)),
        )
    return rows


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Progress of a command on stderr; yields the function that advances it."""
    with Progress(description, total, console=diagnostics) as shown:
        yield shown.advance


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """A number with the decimal prefix that leaves one to three digits before the point: 12.8 GB/s, 66 ns."""
    if value == 0:
        return f"0 {unit}"
    for factor, prefix in (
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
    ):
        if abs(value) >= factor * 0.9995:
            return f"{value / factor:.{digits}g} {prefix}{unit}"
    return f"{value / 1e-12:.{digits}g} p{unit}"


def seconds(value: float) -> str:
    """A duration for people."""
    return quantity(value, "s", 4)


def warn(text: str) -> None:
    """A remark that is no result, on stderr."""
    tell(f"homenode: warning: {text}")


def note(text: str) -> None:
    """What is good to know, on stderr."""
    tell(f"homenode: note: {visible(text)}")


THREAD_TYPES = (
    "autonomous: exchanges data with no other thread while it runs; side-by-side: with another one; postponed: with its creator "
    "alone (NUMA-BTLP, Știrb)."
)


def plain(text: object) -> str:
    """Text of the user's or of a file's, in which square brackets, line ends and control characters mean nothing."""
    return escape(visible(str(text)))


def count(value: int) -> str:
    """An integer with its digits in groups."""
    return f"{value:,}"


def number_of(value: int, thing: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count(value)} {thing}{'' if value == 1 else 's'}"
