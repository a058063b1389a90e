"""`homenode map`."""

from pathlib import Path

import click

from homenode.cli import console
from homenode.machine import Machine
from homenode.thread_map import FORMATS, thread_map
from homenode.visible import visible


@click.command("map")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--machine", required=True, metavar="M", help="Name or TOML file.")
@click.option("--mapping", default="btdm", metavar="A", help="Thread mapping: 'homenode policies mapping'.")
@click.option(
    "--threads", type=int, metavar="N", help="Number of threads that share OpenMP loops; default: as captured."
)
@click.option(
    "--as", "form", type=click.Choice(["text", *FORMATS]), default="text", help="Output format; default: text, a table."
)
@console.json_option
def command(file: Path, machine: str, mapping: str, threads: int | None, form: str, as_json: bool) -> None:
    """Write the cores on which a mapping runs each thread: a table, shell commands, OMP_PLACES or C.

    The mapping is not compared with others: `homenode replay` does that. Threads are numbered in the order of their creation,
    cores socket by socket. hwloc numbers cores in the same way; taskset, omp-places and c use the numbers of the operating
    system, which `lscpu -e` shows.
    """
    found = thread_map(file, Machine.load(machine), mapping=mapping, threads=threads)
    if as_json:
        console.print_json({"threads": [entry.as_dict() for entry in found]})
        return
    if form != "text":
        click.echo(FORMATS[form](found), nl=False)
        return
    screen = console.output()
    table = console.table(
        "thread", "type", "cores", "routine", title=visible(f"{mapping} on {machine}"), right=("thread",)
    )
    for entry in found:
        table.add_row(
            str(entry.thread), entry.type, ", ".join(str(core) for core in entry.cores), console.plain(entry.routine)
        )
    screen.print(table)
