"""`homenode extrapolate`."""

from pathlib import Path

import click

from homenode.cli import console
from homenode.extrapolating import extrapolated
from homenode.outputs import check_trace_output, written_whole


def _settings(pairs: tuple[str, ...]) -> dict[str, int]:
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value.lstrip("-").isdecimal():
            raise click.UsageError(f"--set '{pair}'; allowed: NAME=NUMBER, a whole number")
        settings[name] = int(value)
        if not -(2**63) <= settings[name] < 2**63:
            raise click.UsageError(f"--set '{pair}'; allowed: a number of 64 bits")
    return settings


@click.command("extrapolate")
@click.argument("captures", metavar="A.hnt B.hnt C.hnt…", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", type=click.Path(path_type=Path), help="A further capture, which the fit must predict exactly.")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Value of a parameter in the new trace; repeat for more.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The trace to write.")
@console.json_option
def command(
    captures: tuple[Path, ...], check: Path | None, pairs: tuple[str, ...], output: Path, as_json: bool
) -> None:
    """Predict the trace of a size or a team that cannot be captured here.

    Give at least three captures of one program that differ in whole-number arguments (name=value) or in the number of threads.
    Every number of the trace is fitted exactly, as a constant or a polynomial (degree 2 from three captures of one parameter).
    Nothing is written unless the fit predicts the capture of --check exactly. A program that follows no such law is refused,
    with region and field. Instruction counts are interpolated, and the trace says so.
    """
    settings = _settings(pairs)
    check_trace_output(output)
    with written_whole(output) as temporary:
        found = extrapolated(captures, check=check, settings=settings, output=temporary)
    if as_json:
        console.print_json({"schema": "homenode.extrapolate/1", "output": str(output), **found})
        return
    screen = console.output()
    off = found["work_error"] * 100
    near = f"{off:.2g} %" if off >= 0.01 else "0.01 %"
    screen.print(
        f"{console.plain(check)} ({found['checked_at']}) is predicted exactly from captures at {found['captured_at']}: "
        f"content hash {found['check_hash']}; its instructions within {near}"
    )
    numbers = console.table("numbers of the trace", "count", "confirmed by", right=("count",))
    for form in found["forms"]:
        by = "captures and check" if form["confirmed_by_captures"] else "check"
        numbers.add_row(form["form"], console.count(form["numbers"]), by)
    screen.print(numbers)
    for remark in found["remarks"]:
        screen.print(f"[yellow]note[/yellow] {console.plain(remark)}")
    screen.print(
        f"{console.plain(output)} ({found['at']}): {console.count(found['accesses'])} accesses on objects of "
        f"{console.quantity(found['footprint_bytes'], 'B')}, hash {found['hash']}"
    )
