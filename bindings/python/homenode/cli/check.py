"""`homenode check`."""

from pathlib import Path

import click

from homenode import _core
from homenode.cli import console
from homenode.trace import Trace


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@console.json_option
def command(file: Path, as_json: bool) -> int:
    """Verify that a trace obeys every rule of its format; exit code 2 if it breaks one."""
    trace = Trace.open(file)
    problems = _core.check_trace(file)
    if as_json:
        console.print_json({"schema": "homenode.check/1", "problems": problems, "remarks": trace.remarks})
    elif not problems:
        click.echo(f"{file}: valid, every rule of the format holds")
    for remark in trace.remarks:
        console.warn(f"{file}: {remark}")
    for problem in problems:
        click.echo(f"homenode: {file}: {problem}", err=True)
    return 2 if problems else 0
