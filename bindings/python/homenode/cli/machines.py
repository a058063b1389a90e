"""`homenode machines`: the described machines, and one of them drawn."""

from __future__ import annotations

from typing import Any

import click
from rich.columns import Columns
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from homenode.cli import console
from homenode.machine import Machine


def _entry(machine: Machine) -> dict[str, Any]:
    topology = machine.topology
    return {
        "name": machine.name,
        "sockets": machine.sockets,
        "nodes": machine.nodes,
        "cores": machine.cores,
        "latency_ns": topology["latency_ns"],
        "bandwidth_bytes_per_s": topology["bandwidth_bytes_per_s"],
        "hash": machine.hash,
        "description": machine.description,
    }


def _matrix(title: str, values: list[list[float]], unit: str, higher_is_better: bool) -> Table:
    """A node-by-node matrix; the diagonal is local, colour follows the distance from the best value."""
    nodes = tuple(f"node {node}" for node in range(len(values)))
    table = console.table("from \\ to", *nodes, title=title, right=nodes)
    every = [value for row in values for value in row if value > 0]
    best = max(every) if higher_is_better else min(every)
    for node, row in enumerate(values):
        cells = []
        for value in row:
            ratio = best / value if higher_is_better else value / best
            colour = "green" if ratio < 1.05 else "yellow" if ratio < 1.8 else "red"
            cells.append(Text(f"{value:.4g} {unit}", style=colour))
        table.add_row(Text(f"node {node}", style="bold"), *cells)
    return table


def _cores(numbers: list[int]) -> str:
    if not numbers:
        return "no cores"
    return f"core {numbers[0]}" if len(numbers) == 1 else f"cores {numbers[0]}–{numbers[-1]}"


def _drawing(machine: Machine) -> Group:
    """One panel a socket with its nodes, then the links between sockets."""
    topology = machine.topology
    first = 0
    cores_of_node = []
    for count in topology["cores_of_node"]:
        cores_of_node.append(list(range(first, first + count)))
        first += count
    panels = []
    for socket in range(machine.sockets):
        lines = []
        for node, of_socket in enumerate(topology["socket_of_node"]):
            if of_socket != socket:
                continue
            lines.append(f"[bold]node {node}[/bold]  {_cores(cores_of_node[node])}")
            local = topology["latency_ns"][node][node]
            bandwidth = topology["bandwidth_bytes_per_s"][node][node]
            lines.append(f"memory  {local:.4g} ns, {bandwidth / 1e9:.4g} GB/s")
        for cache in machine.caches:
            sharing = "" if cache["cores_per_cache"] == 1 else f", {cache['cores_per_cache']} cores"
            lines.append(f"L{cache['level']} {cache['size']}{sharing}")
        panels.append(Panel("\n".join(lines), title=f"socket {socket}", expand=False))
    links = console.table("link", "bandwidth each way", "latency a hop")
    for link in topology["links"]:
        links.add_row(f"socket {link['from']} ══ socket {link['to']}", link["bandwidth"], link["latency"])
    return Group(Columns(panels), links) if topology["links"] else Group(Columns(panels))


def _sources(machine: Machine) -> Table:
    table = console.table(
        "value of", "is", "low … high", "source", "confidence", "note", title="Where each number comes from"
    )
    for parameter in machine.parameters:
        interval = f"{parameter['low']} … {parameter['high']}" if parameter["low"] or parameter["high"] else ""
        confidence = parameter["confidence"] + (" assumed" if parameter["assumed"] else "")
        table.add_row(
            parameter["path"],
            parameter["value"],
            interval,
            console.plain(parameter["source"]),
            confidence.strip(),
            console.plain(parameter["note"]),
        )
    return table


@click.command("machines")
@click.argument("name", required=False)
@click.option("--sources", is_flag=True, help="With NAME: every number with its source.")
@console.json_option
def command(name: str | None, sources: bool, as_json: bool) -> None:
    """List the described machines, or draw NAME with latency and bandwidth from node to node as the model computes them."""
    if name is None:
        machines = [Machine.load(known) for known in Machine.names()]
        if as_json:
            console.print_json({"machines": [_entry(machine) for machine in machines]})
            return
        table = console.table(
            "machine", "sockets", "nodes", "cores", "description", right=("sockets", "nodes", "cores")
        )
        for machine in machines:
            table.add_row(
                machine.name, str(machine.sockets), str(machine.nodes), str(machine.cores), machine.description
            )
        console.output().print(table)
        return
    machine = Machine.load(name)
    if as_json:
        entry = _entry(machine) | {
            "links": machine.topology["links"],
            "hops": machine.topology["hops"],
            "caches": machine.caches,
            "parameters": machine.parameters,
            "sources": machine.sources,
        }
        console.print_json({"machines": [entry]})
        return
    topology = machine.topology
    screen = console.output()
    screen.print(f"[bold]{machine.name}[/bold]  {machine.description}\n")
    screen.print(_drawing(machine))
    screen.print(_matrix("Idle latency of memory", topology["latency_ns"], "ns", higher_is_better=False))
    in_gigabytes = [[value / 1e9 for value in row] for row in topology["bandwidth_bytes_per_s"]]
    screen.print(_matrix("Read bandwidth of all cores of a node", in_gigabytes, "GB/s", higher_is_better=True))
    if sources:
        screen.print(_sources(machine))
        for key, text in machine.sources.items():
            screen.print(f"{key}: {console.plain(text)}")
    else:
        assumed = sum(1 for parameter in machine.parameters if parameter["assumed"])
        screen.print(
            f"\n{len(machine.parameters)} numbers, {assumed} of them assumed; --sources shows where each comes from."
        )
