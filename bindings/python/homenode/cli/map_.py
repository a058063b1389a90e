"""`homenode map`."""

from __future__ import annotations

from pathlib import Path

import click

from homenode.cli import console
from homenode.machine import Machine
from homenode.thread_map import FORMATS, thread_map


@click.command("map")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--machine", required=True, metavar="M", help="Name or TOML file.")
@click.option("--mapping", default="btdm", metavar="A", help="Thread mapping: 'homenode policies mapping'.")
@click.option("--threads", type=int, metavar="N", help="Team that shares OpenMP loops; default: as captured.")
@click.option(
    "--as", "form", type=click.Choice(["text", *FORMATS]), default="text", help="How to write it; default: a table."
)
@console.json_option
def command(file: Path, machine: str, mapping: str, threads: int | None, form: str, as_json: bool) -> None:
    """Tell on which cores each thread should run, as a table, shell lines, OMP_PLACES or C.

    Threads are numbered in the order of their creation, cores socket by socket; `taskset`, `OMP_PLACES` and C take these numbers for
    the system's, `hwloc` for its logical ones.
    """
    found = thread_map(file, Machine.load(machine), mapping=mapping, threads=threads)
    if as_json:
        console.print_json({"threads": [entry.as_dict() for entry in found]})
        return
    if form != "text":
        click.echo(FORMATS[form](found), nl=False)
        return
    screen = console.output()
    table = console.table("thread", "type", "cores", "routine", title=f"{mapping} on {machine}", right=("thread",))
    for entry in found:
        table.add_row(
            str(entry.thread), entry.type, ", ".join(str(core) for core in entry.cores), console.plain(entry.routine)
        )
    screen.print(table)
