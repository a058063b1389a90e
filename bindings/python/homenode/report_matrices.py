"""A report's figures that are no bars: idle time by core, traffic by nodes and links, latencies, how sure the order is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from homenode import report
from homenode.html_page import COLOURS, Choices, Menu, Page
from homenode.report_figures import RankedRuns, rows_axis, rows_height, share

_MOST_REGIONS = 6  # in the list of idle times
_MOST_LINKS = 16
_FEW = 5  # choices whose matrix is not as wide as the page
_SYMBOLS = ["circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star"]
_COLOURS = "Viridis"


def idle_by_core(page: Page, of: RankedRuns) -> None:
    """Idle time core by core, of the whole run or of one region, chosen from a list (Metzger et al. 2018, figure 8)."""
    shares = [report.idle_shares(run) for run in of.runs]
    regions = list(dict.fromkeys(label for of_run in shares for label in of_run))[:_MOST_REGIONS]
    node_of = {thread["core"]: thread["node"] for run in of.runs for thread in run["threads_detail"]}
    cores = sorted(node_of, key=lambda core: (node_of[core], core))
    data = []
    for label in [None, *regions]:
        rows = []
        for run, of_run in zip(of.runs, shares, strict=True):
            threads = run["threads_detail"]
            whole = [share(thread["idle_seconds"], run["seconds"]) for thread in threads]
            values = whole if label is None else of_run.get(label, [])
            rows.append(_by_core(threads, values, cores))
        data.append(
            {
                "type": "heatmap",
                "x": list(range(len(cores))),
                "y": list(range(len(of.runs))),
                "z": rows,
                "customdata": [[f"core {core}, node {node_of[core]}" for core in cores]] * len(of.runs),
                "zmin": 0,
                "zmax": 100,
                "xgap": 1,
                "ygap": 3,
                "colorscale": _COLOURS,
                "colorbar": {"title": {"text": "idle, %"}, "thickness": 14},
                "visible": label is None,
                "hovertemplate": "%{customdata}: idle %{z:.1f} %<extra></extra>",
            }
        )
    layout = {
        "title": {"text": "Idle time by core"},
        "xaxis": _nodes_axis([node_of[core] for core in cores]),
        "yaxis": rows_axis(of.labels),
        "shapes": _borders([node_of[core] for core in cores]),
    }
    note = (
        "Share of the time in which the thread on each core does not work: it waits for others or for its turn. A column is a core, "
        "lines divide the nodes; a choice that leaves a core free has a gap there."
    )
    menu = Menu("Time", ["the whole run", *regions], range(len(data))) if regions else None
    height = 150 + rows_height(of.labels)
    page.plot(data, layout, height, meaning=note, words=("NUMA node",), menu=menu, choices=of.rows)


def _by_core(threads: Sequence[dict[str, Any]], values: Sequence[float], cores: Sequence[int]) -> list[float | None]:
    """Mean share of the threads on each core, in percent to a tenth; None of a core without one."""
    found: dict[int, list[float]] = {}
    for thread, value in zip(threads, values, strict=False):
        found.setdefault(thread["core"], []).append(value)
    means = {core: round(100 * sum(every) / len(every), 1) for core, every in found.items()}
    return [means.get(core) for core in cores]


def _nodes_axis(nodes: Sequence[int]) -> dict[str, Any]:
    """Nodes as the names of their cores' columns."""
    by_node: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        by_node.setdefault(node, []).append(place)
    return {
        "title": {"text": "cores by node"},
        "tickvals": [sum(places) / len(places) for places in by_node.values()],
        "ticktext": [str(node) for node in by_node],
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
    }


def _borders(nodes: Sequence[int]) -> list[dict[str, Any]]:
    """A line between the columns of two nodes."""
    return [
        {
            "type": "line",
            "x0": place - 0.5,
            "x1": place - 0.5,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"width": 2},
        }
        for place in range(1, len(nodes))
        if nodes[place] != nodes[place - 1]
    ]


def traffic(page: Page, of: RankedRuns) -> None:
    """One matrix at a time; the best run's first."""
    data = []
    # one scale for all choices; plotly ignores zmin without zmax
    most = max(moved for run in of.runs for row in run["traffic_bytes"] for moved in row) / 1e6
    for place, run in enumerate(of.runs):
        nodes = [f"node {node}" for node in range(len(run["traffic_bytes"]))]
        data.append(
            {
                "type": "heatmap",
                "x": nodes,
                "y": nodes,
                "z": [[moved / 1e6 for moved in row] for row in run["traffic_bytes"]],
                "visible": place == 0,
                "zmin": 0,
                "zmax": max(most, 1e-6),
                "colorscale": _COLOURS,
                "colorbar": {"title": {"text": "MB"}, "thickness": 14},
                "hovertemplate": "from %{y} to %{x}: %{z:.4g} MB<extra></extra>",
                **({"texttemplate": "%{z:.3~g}"} if len(nodes) <= 8 else {}),
            }
        )
    layout = {
        "title": {"text": "Traffic at memory controllers"},
        "xaxis": {"title": {"text": "home of the memory"}},
        "yaxis": {"title": {"text": "node of the core"}, "autorange": "reversed"},
    }
    note = "Bytes between caches and memory: the row is the node of the core that asks, the column the node whose memory serves it."
    words = ("initiator node", "home node", "memory controller")
    page.plot(data, layout, meaning=note, words=words, menu=of.menu, choices=of.seen(range(len(of.runs))))


def traffic_on_links(page: Page, of: RankedRuns, names: Sequence[str]) -> None:
    """Bytes on each direction of a link, of one choice at a time; those with the most on top. `names`: of the directions."""
    most = [max(column) for column in zip(*(run["link_bytes"] for run in of.runs), strict=True)]
    order = sorted((place for place, moved in enumerate(most) if moved > 0), key=lambda place: -most[place])
    shown = order[:_MOST_LINKS]
    if not shown:
        return
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [run["link_bytes"][place] / 1e6 for place in shown],
            "y": list(range(len(shown))),
            "marker": {"color": COLOURS[0]},
            "visible": choice == 0,
            "hovertemplate": "%{x:.4g} MB<extra></extra>",
        }
        for choice, run in enumerate(of.runs)
    ]
    layout = {
        "title": {"text": "Traffic on links"},
        # one scale for all choices, so that the next one can be compared
        "xaxis": {"title": {"text": "MB"}, "range": [0, 1.05 * most[shown[0]] / 1e6]},
        "yaxis": rows_axis([names[place] for place in shown]),
        "showlegend": False,
    }
    left_out = f" Drawn are {len(shown)} of {len(order)} directions." if len(shown) < len(order) else ""
    note = f"Bytes on each link in each direction: lines, requests, snoops and responses with their headers.{left_out}"
    height = 110 + 24 * len(shown)
    words = ("link, link direction, hop",)
    page.plot(data, layout, height, meaning=note, words=words, menu=of.menu, choices=of.seen(range(len(of.runs))))


def order_matrix(page: Page, pairs: Sequence[Mapping[str, Any]], rank: Mapping[int, int], group: str) -> None:
    """How sure the order of each two choices is. `pairs`: as the report's `confidence` has them; `rank`: of a run that is drawn."""
    size = len(rank)
    table: list[list[float | None]] = [[None] * size for _ in range(size)]
    texts = [[""] * size for _ in range(size)]
    for pair in pairs:
        if pair["faster"] not in rank or pair["slower"] not in rank:
            continue
        row, column = rank[pair["faster"]] - 1, rank[pair["slower"]] - 1
        flips = " !" if pair["flips_with_core_time"] else ""
        for (at, other), probability in (
            ((row, column), pair["probability"]),
            ((column, row), 1 - pair["probability"]),
        ):
            table[at][other] = round(100 * probability, 1)
            texts[at][other] = "equal" if pair.get("tied") else f"{100 * probability:.0f}{flips}"
    ranks = [str(place) for place in range(1, size + 1)]
    axis = {"tickvals": list(range(size)), "ticktext": ranks, "showgrid": False, "zeroline": False}
    data = {
        "type": "heatmap",
        "x": list(range(size)),
        "y": list(range(size)),
        "z": table,
        "text": texts,
        "texttemplate": "%{text}",
        "zmin": 0,
        "zmax": 100,
        "xgap": 1,
        "ygap": 1,
        "colorscale": _COLOURS,
        "showscale": False,  # the cells have their numbers
        "hovertemplate": "%{z:.0f} %<extra></extra>",
    }
    layout: dict[str, Any] = {
        "title": {"text": "How sure the order is"},
        "xaxis": {**axis, "title": {"text": "beats rank"}, "range": [-0.5, size - 0.5]},
        "yaxis": {**axis, "title": {"text": "rank"}, "range": [size - 0.5, -0.5]},
    }
    if size <= _FEW:
        layout["xaxis"] |= {"constrain": "domain", "constraintoward": "left"}
        layout["yaxis"] |= {"scaleanchor": "x", "scaleratio": 0.4, "constrain": "domain", "constraintoward": "top"}
    note = (
        "Share of the sampled machines, in %, on which the choice of the row is faster than that of the column: 50 is a toss. "
        "! marks an order that is another one if instructions take half or twice as long as modelled."
    )
    words = ("rank", "core time")
    page.plot([data], layout, 160 + 34 * size, meaning=note, words=words, choices=Choices(group, marked="both"))


def latencies(page: Page, of: RankedRuns) -> None:
    """Latency of L1 misses by source; one run at a time, chosen from a list."""
    data: list[dict[str, Any]] = []
    of_run = []
    sources = list(dict.fromkeys(source for run in of.runs for source in run["latency_histogram_ns"]["by_source"]))
    for place, run in enumerate(of.runs):
        histogram = run["latency_histogram_ns"]
        edges = histogram["edges"]
        for source, counts in histogram["by_source"].items():
            bins = [(low, high, lines) for low, high, lines in zip(edges, edges[1:], counts, strict=False) if lines]
            total = sum(lines for _, _, lines in bins)
            if total == 0:
                continue
            mean = sum((low + high) / 2 * lines for low, high, lines in bins) / total
            of_run.append(place)
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "marker": {"symbol": _SYMBOLS[sources.index(source) % len(_SYMBOLS)], "size": 9},
                    "name": f"{source}: {total:,} lines, about {mean:.0f} ns",
                    "x": [(low + high) / 2 for low, high, _ in bins],
                    "y": [lines for _, _, lines in bins],
                    "visible": place == 0,
                    "hovertemplate": f"{source}, %{{x:.0f}} ns: %{{y:,}} lines<extra></extra>",
                }
            )
    if not data:
        return
    layout = {
        "title": {"text": "L1 misses by latency and source"},
        "xaxis": {"title": {"text": "latency, ns"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "lines"}, "type": "log", "dtick": 1},
        "showlegend": True,
    }
    note = (
        "Cache lines that the first level did not hold, by how long they took and what served them; the scale of the lines is "
        "logarithmic. Latencies are counted in steps of 10 ns; the legend's means take the middle of each step."
    )
    page.plot(data, layout, meaning=note, words=("hit, miss",), menu=of.menu, choices=of.seen(of_run))
