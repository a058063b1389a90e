"""`homenode anchor`."""

import dataclasses
from pathlib import Path

import click

from homenode.anchoring import FACTORS, anchor
from homenode.cli import console


@click.command("anchor")
@click.argument("file", metavar="F.hnt", type=click.Path(path_type=Path))
@click.option(
    "--machine",
    required=True,
    metavar="HOST.toml",
    help="What 'homenode machine calibrate' wrote on the capture's host.",
)
@console.json_option
def command(file: Path, machine: str, as_json: bool) -> None:
    """Correct core times by the time that the program took when it was captured.

    A capture keeps the processor time of the program without instrumentation, on one thread. Where the core's part of a region's
    time can explain the difference to what is predicted for that host, a factor on it does. `--core-factors` of replay takes the
    factors, for other numbers of threads, policies and machines; the report calls such times anchored. Factors belong to one input:
    for another one, capture again.
    """
    found = anchor(file, machine)
    if as_json:
        parts = [dataclasses.asdict(part) for part in found.parts]
        console.print_json(
            {
                "schema": "homenode.anchor/1",
                "machine": found.machine,
                "core_factors": found.core_factors,
                "parts": parts,
            }
        )
        return
    screen = console.output()
    numbers = ("measured", "predicted", "core factor", "anchored")
    table = console.table("regions", *numbers, title=f"One thread on {console.plain(found.machine)}", right=numbers)
    for part in found.parts:
        factor = f"{part.factor:.2f}" if part.factor else "–"
        seconds = (part.measured_seconds, part.predicted_seconds, part.anchored_seconds)
        measured, predicted, anchored = (console.seconds(value) for value in seconds)
        table.add_row(console.plain(", ".join(part.labels)), measured, predicted, factor, anchored)
    screen.print(table)
    if any(part.factor is None for part in found.parts):
        screen.print(
            f"– : no factor on core time from {FACTORS[0]:g} to {FACTORS[-1]:g} explains what was measured: memory binds there, "
            "or the description of the host is wrong",
            soft_wrap=True,
        )
    if found.core_factors:
        screen.print(f"For replay: --core-factors '{found.core_factors}'", soft_wrap=True)
