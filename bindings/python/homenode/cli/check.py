"""`homenode check`."""

from pathlib import Path

import click

from homenode import _core
from homenode.cli import console
from homenode.trace import Trace, existing
from homenode.visible import visible


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@console.json_option
def command(file: Path, as_json: bool) -> int:
    """Verify that a trace obeys every rule of its format; exit code 2 if it breaks one."""
    problems = _core.check_trace(existing(file))
    remarks = Trace.open(file).remarks if not problems else []
    if as_json:
        console.print_json({"schema": "homenode.check/1", "problems": problems, "remarks": remarks})
    elif not problems:
        click.echo(f"{visible(str(file))}: valid, every rule of the format holds")
    for remark in remarks:
        console.warn(f"{visible(str(file))}: {remark}")
    for problem in problems:
        click.echo(visible(f"homenode: {file}: {problem}"), err=True)
    return 2 if problems else 0
