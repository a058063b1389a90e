"""`homenode report`: a report document as one HTML file."""

import json
import shlex
from pathlib import Path
from typing import Any

import click

from homenode import report
from homenode.cli import console
from homenode.errors import InputError
from homenode.outputs import check_output, written_whole


def _document(path: Path) -> dict[str, Any]:
    """What `homenode replay -o` wrote."""
    allowed = f"allowed: a report of schema '{report.SCHEMA}', as 'homenode replay -o' writes it"
    try:
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
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="HTML file to write.")
@console.json_option
def command(results: Path, output: Path, as_json: bool) -> None:
    """Make an HTML page of RESULTS, a report of `homenode replay -o`.

    The page shows the ranking, where the time goes, idle time by core, traffic between nodes, pages, latencies by source, energy
    and the machine. It is one file that needs no network.
    """
    from homenode.html_report import page_of

    check_output(output, "page")

    try:
        page = page_of(_document(results), shlex.join(["homenode", "report", str(results), "-o", str(output)]))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"'{results}' lacks or damages {error}; allowed: a report of 'homenode replay -o'") from None
    with written_whole(output) as temporary:
        temporary.write_text(page.to_html(), encoding="utf-8")
    if as_json:
        console.print_json({"output": str(output), "figures": len(page.figures)})
    else:
        console.output().print(f"{console.plain(output)}: {console.number_of(len(page.figures), 'figure')}")
