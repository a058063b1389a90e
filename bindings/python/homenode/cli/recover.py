"""`homenode recover`."""

from pathlib import Path

import click

from homenode import _core
from homenode.cli import console
from homenode.outputs import written_whole
from homenode.trace import Trace


@click.command("recover")
@click.argument("part", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The trace to write, marked truncated."
)
@console.json_option
def command(part: Path, output: Path, as_json: bool) -> None:
    """Turn the .part file of a killed `homenode capture` into a trace, marked truncated."""
    if output.exists():
        raise click.UsageError(f"'{output}' exists; allowed: a name that does not")
    with written_whole(output) as temporary:  # not OUTPUT.part, which may be what is read
        _core.recover(part, temporary)
        if Trace.open(temporary).accesses == 0:
            raise click.UsageError(
                f"'{part}' has no access that was written whole: nothing to recover, and nothing is written; allowed: to remove it and "
                "capture again, or to take another copy of the trace"
            )
    trace = Trace.open(output)
    if as_json:
        console.print_json({"schema": "homenode.recover/1", "hash": trace.hash, "accesses": trace.accesses})
    else:
        click.echo(f"{output}: {console.count(trace.accesses)} accesses, truncated, hash {trace.hash}")
        for remark in trace.remarks:
            console.warn(f"{output}: {remark}")
        if part.suffix == ".part":
            click.echo(f"{part} is no longer needed", err=True)
