"""`homenode report`: a report document, or two, as one HTML file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from homenode import report
from homenode.cli import console
from homenode.errors import InputError
from homenode.outputs import check_output, written_whole

if TYPE_CHECKING:
    from homenode.html_page import Page


_TRACE = b"\x89HNT\r\n"  # how a trace begins (traces/format/README.md)


def _document(path: Path) -> dict[str, Any]:
    """What `homenode replay -o` wrote."""
    allowed = f"allowed: a report of schema '{report.SCHEMA}', as 'homenode replay -o' writes it"
    try:
        with path.open("rb") as file:
            if file.read(len(_TRACE)) == _TRACE:
                raise InputError(
                    f"'{path}' is a trace; {allowed}: homenode replay {path} --machine NAME -o results.json"
                )
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"no report '{path}': {error.strerror}; {allowed}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is not JSON ({error}); {allowed}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != report.SCHEMA:
        raise InputError(f"'{path}' has schema '{schema}'; {allowed}")
    if not document.get("runs"):
        raise InputError(f"'{path}' has no runs; {allowed}")
    return document


@click.command("report")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="HTML file to write; default: RESULTS with the ending .html.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="OTHER",
    help="A second report: the page holds both against each other, choice by choice.",
)
@console.json_option
def command(results: Path, output: Path | None, against: Path | None, as_json: bool) -> None:
    """Make an HTML page of RESULTS, a report of `homenode replay -o`.

    The page shows the ranking, where the time goes, idle time by core, traffic between nodes, pages, latencies by source, energy
    and the machine. With --against it shows what differs between two reports: times, ranks, and regions. It is one file that
    needs no network.
    """
    output = results.with_suffix(".html") if output is None else output
    check_output(output, "page")
    page, choices = _page(results, output) if against is None else _page_of_two(results, against, output)
    with written_whole(output) as temporary:
        temporary.write_text(page.to_html(), encoding="utf-8")
    if as_json:
        told = {"output": str(output), "figures": len(page.figures)}
        console.print_json(told if choices is None else {**told, "choices_in_both": choices})
    else:
        in_both = "" if choices is None else f", {console.number_of(choices, 'choice')} in both reports"
        console.output().print(
            f"{console.plain(output)}: {console.number_of(len(page.figures), 'figure')}{in_both}", soft_wrap=True
        )


def _page(results: Path, output: Path) -> tuple[Page, None]:
    from homenode.html_report import page_of

    document = _document(results)
    with _damage_told(f"'{results}' lacks or damages"):
        return page_of(document, shlex.join(["homenode", "report", str(results), "-o", str(output)])), None


def _page_of_two(results: Path, against: Path, output: Path) -> tuple[Page, int]:
    from homenode.html_comparison import page_of_two

    first, second = _document(results), _document(against)
    files = str(results), str(against)
    made_by = shlex.join(["homenode", "report", files[0], "--against", files[1], "-o", str(output)])
    with _damage_told(f"one of '{results}' and '{against}' lacks or damages"):
        page, choices = page_of_two(first, second, files, made_by)
    if choices == 0:
        raise InputError(
            f"'{results}' and '{against}' have no choice in common; allowed: two reports with runs of the same placement, "
            "mapping, distribution, heap, pages and threads"
        )
    return page, choices


@contextmanager
def _damage_told(what: str) -> Iterator[None]:
    """Keys that a report lacks, and values that are none of its, as bad input."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"{what} {error}; allowed: a report of 'homenode replay -o'") from None
