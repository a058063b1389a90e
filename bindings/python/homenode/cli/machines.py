"""`homenode machines`: the described machines, and one of them drawn."""

from pathlib import Path
from typing import Any

import click
from rich.columns import Columns
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from homenode.cli import completion, console
from homenode.machine import Machine
from homenode.machine_drawing import machine_svg, node_memory
from homenode.outputs import written_whole

LARGEST_MATRIX = 8  # nodes; beyond that the matrices are wider than a screen, and distance levels are shown


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


def _colour(ratio: float) -> str:
    return "green" if ratio < 1.05 else "yellow" if ratio < 1.8 else "red"


def _matrix(title: str, machine: Machine, values: list[list[float]], unit: str, higher_is_better: bool) -> Table:
    """From nodes with cores to all nodes; the diagonal is local, colour follows the distance from the best value."""
    nodes = tuple(f"node {node}" for node in range(len(values)))
    table = console.table("from \\ to", *nodes, title=title, right=nodes)
    every = [value for row in values for value in row if value > 0]
    best = max(every) if higher_is_better else min(every)
    for node, row in enumerate(values):
        if machine.topology["cores_of_node"][node] == 0:
            continue
        cells = []
        for value in row:
            ratio = best / value if higher_is_better else value / best
            cells.append(Text(f"{value:.4g} {unit}", style=_colour(ratio)))
        table.add_row(Text(f"node {node}", style="bold"), *cells)
    return table


def _levels(machine: Machine) -> Table:
    """How far the nodes are from node 0, nearest first: a matrix of many nodes fits no screen."""
    topology = machine.topology
    latencies, bandwidths = topology["latency_ns"][0], topology["bandwidth_bytes_per_s"][0]
    levels: dict[tuple[float, float], list[int]] = {}
    for node, level in enumerate(zip(latencies, bandwidths, strict=True)):
        levels.setdefault(level, []).append(node)
    right = ("idle latency", "distance", "read bandwidth")
    table = console.table("nodes", *right, title="Memory of all nodes, seen from node 0", right=right)
    for (latency, bandwidth), nodes in sorted(levels.items()):
        ratio = latency / latencies[0]
        numbers = f"{ratio:.3g}", f"{bandwidth / 1e9:.4g} GB/s"
        table.add_row(_runs(nodes), Text(f"{latency:.4g} ns", style=_colour(ratio)), *numbers)
    return table


def _runs(numbers: list[int]) -> str:
    """Write ascending numbers in runs: 0, 2–5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def _link_end(machine: Machine, end: int) -> str:
    return f"socket {end}" if end < machine.sockets else f"hub {end - machine.sockets}"


def _alike_links(machine: Machine) -> Table:
    """Links by what they join and what they carry."""
    kinds: dict[tuple[str, str, str], int] = {}
    for link in machine.topology["links"]:
        ends = " ══ ".join(_link_end(machine, link[end]).split()[0] for end in ("from", "to"))
        kind = (ends, link["bandwidth"], link["latency"])
        kinds[kind] = kinds.get(kind, 0) + 1
    table = console.table("links", "between", "bandwidth each way", "latency a hop", right=("links",))
    for (ends, bandwidth, latency), count in kinds.items():
        table.add_row(str(count), ends, bandwidth, latency)
    return table


def _cores(numbers: list[int]) -> str:
    if not numbers:
        return "no cores"
    return f"core {numbers[0]}" if len(numbers) == 1 else f"cores {numbers[0]}–{numbers[-1]}"


def _drawing(machine: Machine) -> Group:
    """One panel a socket with its nodes, then the links; of many sockets only what they have in common."""
    topology = machine.topology
    first = 0
    cores_of_node = []
    for count in topology["cores_of_node"]:
        cores_of_node.append(list(range(first, first + count)))
        first += count
    if machine.nodes > LARGEST_MATRIX:
        text = f"nodes 0–{machine.nodes - 1} on {machine.sockets} sockets, {_cores(list(range(machine.cores)))}"
        return Group(text, _alike_links(machine))
    panels = []
    for socket in range(machine.sockets):
        lines = []
        for node, of_socket in enumerate(topology["socket_of_node"]):
            if of_socket != socket:
                continue
            lines.append(f"[bold]node {node}[/bold]  {_cores(cores_of_node[node])}")
            local = topology["latency_ns"][node][node]
            bandwidth = max(  # of the socket's cores; a node without cores draws nothing
                topology["bandwidth_bytes_per_s"][other][node]
                for other, place in enumerate(topology["socket_of_node"])
                if place == socket
            )
            lines += node_memory(machine, node, local, bandwidth)
        for cache in machine.caches:
            sharing = "" if cache["cores_per_cache"] == 1 else f", {cache['cores_per_cache']} cores"
            lines.append(f"L{cache['level']} {cache['size']}{sharing}")
        panels.append(Panel("\n".join(lines), title=f"socket {socket}", expand=False))
    links = console.table("link", "bandwidth each way", "latency a hop")
    for link in topology["links"]:
        ends = f"{_link_end(machine, link['from'])} ══ {_link_end(machine, link['to'])}"
        links.add_row(ends, link["bandwidth"], link["latency"])
    return Group(Columns(panels), links) if topology["links"] else Group(Columns(panels))


@click.command("machines")
@click.argument("name", required=False, shell_complete=completion.machines)
@click.option("--sources", is_flag=True, help="With NAME: list every number with its source.")
@click.option("--changeable", is_flag=True, help="With NAME: list the names that --change takes, one a line.")
@click.option(
    "--svg", type=click.Path(path_type=Path), metavar="FILE", help="With NAME: write it as a picture into this file."
)
@console.json_option
def command(name: str | None, sources: bool, changeable: bool, svg: Path | None, as_json: bool) -> None:
    """List the machines that can be simulated, or draw NAME with latency and bandwidth between nodes, as the model has them."""
    if name is None:
        if svg is not None:
            raise click.UsageError("--svg without a machine; allowed: homenode machines NAME --svg FILE")
        machines = [Machine.load(known) for known in Machine.names()]
        if as_json:
            console.print_json({"machines": [_entry(machine) for machine in machines]})
            return
        table = console.table(
            "machine", "sockets", "nodes", "cores", "description", right=("sockets", "nodes", "cores")
        )
        for machine in machines:
            table.add_row(
                console.plain(machine.name),
                str(machine.sockets),
                str(machine.nodes),
                str(machine.cores),
                console.plain(machine.description),
            )
        console.output().print(table)
        return
    machine = Machine.load(name)
    if svg is not None:
        with written_whole(svg, "page") as temporary:
            temporary.write_text(machine_svg(machine), encoding="utf-8")
    if as_json:
        entry = _entry(machine) | {
            "links": machine.topology["links"],
            "hops": machine.topology["hops"],
            "caches": machine.caches,
            "parameters": machine.parameters,
            "sources": machine.sources,
            "changeable": machine.changeable_names,
        }
        console.print_json({"machines": [entry]})
        return
    if changeable:
        click.echo("\n".join(machine.changeable_names))
        return
    topology = machine.topology
    screen = console.output()
    screen.print(f"[bold]{console.plain(machine.name)}[/bold]  {console.plain(machine.description)}\n")
    screen.print(_drawing(machine))
    if machine.nodes > LARGEST_MATRIX:
        screen.print(_levels(machine))
    else:
        screen.print(_matrix("Idle latency of memory", machine, topology["latency_ns"], "ns", higher_is_better=False))
        in_gigabytes = [[value / 1e9 for value in row] for row in topology["bandwidth_bytes_per_s"]]
        title = "Read bandwidth of all cores of a node"
        screen.print(_matrix(title, machine, in_gigabytes, "GB/s", higher_is_better=True))
    ring = {entry["path"]: entry["value"] for entry in machine.parameters if entry["path"].startswith("ring.")}
    if ring:
        screen.print(
            f"\nCores on a ring: {ring['ring.directories']} tag directories, {ring['ring.hop']} a hop, order {ring['ring.order']}; "
            f"`homenode machine latency-map {console.plain(machine.name)}` shows the latency of each block."
        )
    if sources:
        screen.print(console.parameters(machine.parameters, machine.sources))
        for key, text in machine.sources.items():
            screen.print(f"{console.plain(key)}: {console.plain(text)}")
    else:
        assumed, numbers = machine.assumed
        screen.print(f"\n{numbers} numbers, {assumed} of them assumed; --sources lists the source of each.")
