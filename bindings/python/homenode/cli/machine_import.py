"""`homenode machine import`: a description out of files of other tools."""

from pathlib import Path

import click

from homenode.cli import completion, console
from homenode.cli.examples import epilog
from homenode.cli.machine_writing import document, write
from homenode.machine_files.importing import DEFAULT_DONOR, import_machine
from homenode.visible import visible


@click.command(
    "import",
    short_help="describe a machine from files of lstopo, Intel MLC and others",
    epilog=epilog("machine import"),
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--synthetic", help="A synthetic topology of hwloc as text, as lstopo takes it, beside or instead of files."
)
@click.option("--name", help="Name of the machine; default: the first file's.")
@click.option(
    "--donor",
    default=DEFAULT_DONOR,
    show_default=True,
    shell_complete=completion.machines,
    help="Machine whose numbers stand in, marked as assumed, for what no file says.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File for the description; default: stdout.")
@console.json_option
def command(
    files: tuple[Path, ...],
    synthetic: str | None,
    name: str | None,
    donor: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Describe one machine from FILEs of other tools; each number names its file, the rest comes from the donor.

    Formats, told by what is in a file: XML of hwloc 2 and 3 (`lstopo machine.xml`), synthetic topologies, the text of Intel MLC, tables
    of latencies between cores, curves of bandwidth and latency, `numactl --hardware` or a table of distances (SLIT), machine files of
    kerncraft. What a description cannot say is listed.
    """
    found = import_machine(files, name=name, donor=donor, synthetic=synthetic)
    machine = found.machine
    if output is not None or not as_json:
        write(found.toml, machine, output)
    if as_json:
        console.print_json({**document(machine), "donor": found.donor, "left_out": list(found.left_out)})
    assumed, numbers = machine.assumed
    console.note(
        f"{numbers - assumed} numbers from the files, {assumed} assumed as on {found.donor} or derived with its numbers"
    )
    if found.left_out:
        console.warn("not described as the files have it:")
        for text in found.left_out:
            click.echo(f"  {visible(text)}", err=True)
