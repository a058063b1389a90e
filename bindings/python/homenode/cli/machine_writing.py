"""What commands that make a description have in common: the file, the JSON document, a line on stderr."""

from pathlib import Path
from typing import Any

import click

from homenode.cli import console
from homenode.machine import Machine
from homenode.outputs import written_whole


def write(toml: str, machine: Machine, output: Path | None) -> None:
    """The description to the file, whole or not at all; to stdout without one."""
    if output is None:
        click.echo(toml, nl=False)
        return
    with written_whole(output) as temporary:
        temporary.write_text(toml, encoding="utf-8")
    parts = {"socket": machine.sockets, "node": machine.nodes, "core": machine.cores}
    counts = ", ".join(console.number_of(value, part) for part, value in parts.items())
    click.echo(f"{output}: {counts}", err=True)


def document(machine: Machine) -> dict[str, Any]:
    """The machine for --json."""
    entry = {"name": machine.name, "sockets": machine.sockets, "nodes": machine.nodes, "cores": machine.cores}
    tables = {name: machine.topology[name] for name in ("latency_ns", "bandwidth_bytes_per_s")}
    return {"machines": [{**entry, **tables, "hash": machine.hash, "parameters": machine.parameters}]}
