"""`homenode import`."""

from pathlib import Path

import click

from homenode import _core
from homenode.cli import console
from homenode.outputs import check_trace_output, written_whole

_FORMATS = {"lackey": _core.import_lackey, "csv": _core.import_csv}


@click.command("import")
@click.argument("format_name", metavar="{lackey|csv}")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The trace to write.")
@console.json_option
def command(format_name: str, file: Path, output: Path, as_json: bool) -> None:
    """Convert a recording of another tool into a trace: text of valgrind's lackey, or a table of accesses as CSV.

    lackey: the output of `valgrind --tool=lackey --trace-mem=yes --log-file=FILE ./program`. csv: a file with a header and the
    columns address, size and kind (read, write, modify, atomic); optional columns are thread or item, sequence, site.

    Such a trace lists what it lacks (objects, loops, dependences …). Commands that need a missing part refuse it.
    """
    if format_name not in _FORMATS:
        raise click.UsageError(_core.unknown_name("format", format_name, list(_FORMATS)))
    check_trace_output(output)
    with console.progress(f"import {file.name}", total=100) as advance, written_whole(output) as temporary:
        shown = 0

        def report(done: int, of: int) -> None:
            nonlocal shown
            percent = 100 * done // of
            advance(percent - shown)
            shown = percent

        found = _FORMATS[format_name](file, temporary, report)
    size = output.stat().st_size
    if as_json:
        console.print_json({"schema": "homenode.import/1", "output": str(output), **found, "size": size})
        return
    truncated = "" if found["complete"] else ", truncated: the program did not reach its end"
    click.echo(
        f"{output}: {console.count(found['accesses'])} accesses on {console.number_of(len(found['objects']), 'range')} of addresses "
        f"in {console.quantity(size, 'B')}, hash {found['hash']}{truncated}"
    )
    click.echo(f"{output}: lacks {', '.join(found['lacks'])}")
