"""What each choice does to a machine, for its picture: work by core, traffic by memory and by link, in shares and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from homenode.machine import Machine


def link_names(machine: Machine | None, directions: int) -> list[str]:
    """Of each direction of a link as bottlenecks are named: ``link 0->1``; by number where the machine is not known.

    The order is that of a report's `link_bytes`: both directions of each link, then reads and writes of nodes with a link of their own.
    """
    if machine is None:
        return [f"link direction {number}" for number in range(directions)]
    values = {one["path"] for one in machine.parameters}
    topology = machine.topology
    ends = [(_end(machine, link["from"]), _end(machine, link["to"])) for link in topology["links"]]
    for node, socket in enumerate(topology["socket_of_node"]):
        if f"nodes.{node}.link_read" in values or "nodes.link_read" in values:
            ends.append((f"node {node}", str(socket)))
    return [f"link {one}->{other}" for pair in ends for one, other in (pair, pair[::-1])]


def _end(machine: Machine, end: int) -> str:
    return str(end) if end < machine.sockets else f"hub {end - machine.sockets}"


def machine_views(machine: Machine, runs: Sequence[dict[str, Any]], labels: Sequence[str]) -> list[dict[str, Any]]:
    """For each run what `html_page.js` draws, with the most of all runs as the full width of a memory or a link.

    `cores`: number, share of the run in which its threads work, and these; `memories`: of each node its share and MB; `links`: ends as
    ``0-1``, share, MB in both directions; `told`: a sentence.
    """
    traffic = [_at_memories(run) for run in runs]
    carried = [_on_links(machine, run) for run in runs]
    most_memory = max((moved for of_run in traffic for moved in of_run), default=0)
    most_link = max((sum(both) for of_run in carried for both in of_run.values()), default=0)
    return [
        {
            "told": _told(run, label, memories, links),
            "cores": _cores(run),
            "memories": [[_part(moved, most_memory), _megabytes(moved)] for moved in memories],
            "links": [
                [f"{one}-{other}", _part(sum(both), most_link), *map(_megabytes, both)]
                for (one, other), both in links.items()
            ],
        }
        for run, label, memories, links in zip(runs, labels, traffic, carried, strict=True)
    ]


def _at_memories(run: dict[str, Any]) -> list[int]:
    """Bytes by home node."""
    return [sum(column) for column in zip(*run["traffic_bytes"], strict=True)]


def _on_links(machine: Machine, run: dict[str, Any]) -> dict[tuple[int, int], tuple[int, int]]:
    """Bytes of both directions of each link, by its ends."""
    moved = run["link_bytes"]
    ends = [(link["from"], link["to"]) for link in machine.topology["links"]]
    return {pair: (moved[2 * place], moved[2 * place + 1]) for place, pair in enumerate(ends)}


def _cores(run: dict[str, Any]) -> list[list[Any]]:
    by_core: dict[int, list[dict[str, Any]]] = {}
    for thread in run["threads_detail"]:
        by_core.setdefault(thread["core"], []).append(thread)
    return [
        [core, _part(sum(one["busy_seconds"] for one in threads), run["seconds"]), [one["thread"] for one in threads]]
        for core, threads in by_core.items()
    ]


def _told(
    run: dict[str, Any], label: str, memories: Sequence[int], links: dict[tuple[int, int], tuple[int, int]]
) -> str:
    """The picture in a sentence, for those who do not see it."""
    threads = run["threads_detail"]
    works = _part(sum(thread["busy_seconds"] for thread in threads), run["seconds"] * len(threads))
    node = max(range(len(memories)), key=lambda place: memories[place])
    number = f"{len(threads)} thread{'s work' if len(threads) != 1 else ' works'}"
    said = f"Choice {label}: {number} {100 * works:.0f} % of the time; most traffic is at memory {node}, "
    said += f"{memories[node] / 1e6:.4g} MB"
    if links:
        one, other = max(links, key=lambda pair: sum(links[pair]))
        said += f", and on link {one}-{other}, {sum(links[one, other]) / 1e6:.4g} MB in both directions"
    return f"{said}."


def _part(part: float, whole: float) -> float:
    return round(min(1.0, part / whole), 3) if whole else 0.0


def _megabytes(moved: int) -> float:
    return float(f"{moved / 1e6:.4g}")
