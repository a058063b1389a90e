"""`homenode check`."""

from __future__ import annotations

from pathlib import Path

import click

from homenode import _core
from homenode.cli import console
from homenode.trace import Trace


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@console.json_option
def command(file: Path, as_json: bool) -> int:
    """Hold a trace against every invariant of the format; exit code 2 when one is broken."""
    Trace.open(file)
    problems = _core.check_trace(file)
    if as_json:
        console.print_json({"schema": "homenode.check/1", "problems": problems})
    elif not problems:
        click.echo(f"{file}: every invariant holds")
    for problem in problems:
        click.echo(f"homenode: {file}: {problem}", err=True)
    return 2 if problems else 0
