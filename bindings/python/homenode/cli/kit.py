"""`homenode kit`: measure a machine that homenode is not installed on."""

import tempfile
from pathlib import Path

import click

from homenode.cli import console
from homenode.cli.examples import epilog
from homenode.cli.machine_writing import document, write
from homenode.kits.plan import SIZES


@click.group("kit", invoke_without_command=True, epilog=epilog("kit"))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Archive to write, .tar.gz.")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    default="usual",
    show_default=True,
    help="Of its programs; tiny: for a trial, and for emulated machines.",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    help="A kernel that it has; may be given several times; default: all of the plan.",
)
@console.json_option
@click.pass_context
def command(context: click.Context, output: Path | None, size: str, kernels: tuple[str, ...], as_json: bool) -> None:
    """Make an archive that measures a machine without root, compilers and homenode (-o), or take in what came back (import).

    There: unpack it, `sh run.sh`, and bring back the one file that it names. docs/kit.md says what it measures.
    """
    if context.invoked_subcommand is not None:
        return
    if output is None:
        raise click.UsageError("no output; allowed: homenode kit -o homenode-kit.tar.gz, or homenode kit import FILE")
    from homenode.kits.making import make_kit

    screen = console.diagnostics()
    cases = make_kit(output, size, kernels, lambda step: screen.print(step, markup=False))
    if as_json:
        console.print_json({"output": str(output), "size": size, "cases": [case.to_dict() for case in cases]})
    click.echo(f"{output}: {console.number_of(len(cases), 'case')}, {output.stat().st_size / 1e6:.1f} MB", err=True)


@command.command(
    "import", short_help="describe the machine, and compare its times with replays", epilog=epilog("kit import")
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File for the description; default: stdout.")
@click.option(
    "--table/--no-table",
    "wants_table",
    default=True,
    help="Capture the kernels here and compare, or the description alone.",
)
@click.option(
    "--traces",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that keeps the captured kernels for another import; default: a temporary one.",
)
@console.json_option
def import_(file: Path, output: Path | None, wants_table: bool, traces: Path | None, as_json: bool) -> None:
    """Describe the machine that FILE came back from, and hold its native times against replays of the same kernels.

    FILE is what `sh run.sh` of a kit named at its end. Each number of the description says that it was measured there, or that it is
    assumed.
    """
    from homenode.cli.kit_tables import print_host, print_table
    from homenode.kits.describing import machine_of
    from homenode.kits.document import kit_document
    from homenode.kits.returned import read_returned
    from homenode.kits.table import Table, summary, table
    from homenode.outputs import check_output

    if output is not None:
        check_output(output)
    returned = read_returned(file)
    machine = machine_of(returned)
    found = Table()
    screen = console.diagnostics()
    if wants_table:
        with tempfile.TemporaryDirectory(prefix="homenode-kit-") as temporary:
            found = table(returned, machine, traces or Path(temporary), lambda step: screen.print(step, markup=False))
    if output is not None or not (as_json or wants_table):
        write(machine.to_toml(), machine, output)
    if as_json:
        console.print_json({**document(machine), **kit_document(returned, found, summary(found))})
        return
    print_host(returned, machine)
    if wants_table:
        print_table(found, summary(found))
