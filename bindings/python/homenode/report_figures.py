"""The figures of a report's page: where the time goes, who waits, traffic, pages, latencies, energy. A choice keeps its rank in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from homenode import report
from homenode.html_page import LEGEND, Menu, Page

_MOST_PARTS = 9  # of a bar; smaller ones are one
_MOST_LINES = 8  # choices in the figure of idle times: as many as there are colours and symbols
_PATTERNS = ["", "/", "x", "-", "\\", "+", "|", "."]
_SYMBOLS = ["circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star"]
_SCALES = [(1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")]
OUTSIDE = ("fork", "barrier", "runtime", "page_work", "waiting")


@dataclass(frozen=True)
class RankedRuns:
    """Comparable runs in the order of their table, what each is called, and its place: a rank, or `bound`."""

    runs: Sequence[dict[str, Any]]
    names: Sequence[str]
    places: Sequence[str]
    section: str

    @property
    def scale(self) -> tuple[float, str]:
        """How many of which unit a second is."""
        return scale_of(self.runs)

    def menu(self, choice_of: Sequence[int]) -> Menu:
        """The list of choices; one for all figures of a section."""
        labels = [f"{place}: {name}" for place, name in zip(self.places, self.names, strict=True)]
        return Menu("Choice", labels, choice_of, self.section)


def scale_of(runs: Sequence[dict[str, Any]]) -> tuple[float, str]:
    """How many of which unit a second is, so that the shortest run has one to three digits before the point."""
    least = min((run["seconds"] for run in runs if run["seconds"] > 0), default=1.0)
    return next((scale for scale in _SCALES if least * scale[0] >= 1), _SCALES[-1])


def share(part: float, whole: float) -> float:
    """`part` of `whole`, 0 of nothing."""
    return part / whole if whole else 0.0


def _by_size(parts: dict[str, list[float]]) -> dict[str, list[float]]:
    """The parts, that with the largest value first."""
    return dict(sorted(parts.items(), key=lambda part: -max(part[1])))


def _bars(page: Page, of: RankedRuns, parts: dict[str, list[float]], words: tuple[str, str, str], note: str) -> None:
    """A bar for each choice, cut into parts; the last ones of many are one. `words`: title, unit, and what the axis counts."""
    title, unit, axis = words
    ordered = [name for name, values in parts.items() if any(values)]
    shown, small = ordered, ordered[_MOST_PARTS - 1 :]
    if len(ordered) > _MOST_PARTS:
        shown = [*ordered[: _MOST_PARTS - 1], f"{len(small)} others"]
        parts = {**parts, shown[-1]: [sum(column) for column in zip(*(parts[name] for name in small), strict=True)]}
    if not shown:
        return
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part,
            "x": parts[part],
            "y": list(of.places),
            "customdata": list(of.names),
            "marker": {
                "pattern": {
                    "shape": _PATTERNS[place % len(_PATTERNS)],
                    "fillmode": "overlay",
                    "fgcolor": "#ffffff",
                    "size": 7,
                }
            },
            "hovertemplate": f"%{{customdata}}<br>{plain_text(part)}: %{{x:.4g}} {unit}<extra></extra>",
        }
        for place, part in enumerate(shown)
    ]
    layout = {
        "title": {"text": title},
        "barmode": "stack",
        "xaxis": {"title": {"text": f"{axis}, {unit}"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "rank"}, "type": "category", "autorange": "reversed"},
        "showlegend": True,
        "legend": {**LEGEND, "traceorder": "normal"},
    }
    page.plot(data, layout, height=190 + 26 * len(of.runs) + 12 * len(shown), meaning=note)


def plain_text(text: str) -> str:
    """Text in which Plotly finds no markup and no placeholder."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "% {")


def time_by_region(page: Page, of: RankedRuns) -> None:
    """Exclusive time of each region, and what is in no region; nothing in reports of before these times were told."""
    if not all("time_detail" in run for run in of.runs):
        return
    factor, unit = of.scale
    labels = dict.fromkeys(region["label"] for run in of.runs for region in run["regions"])
    parts = {}
    for label in labels:
        seconds = [sum(one["exclusive_seconds"] for one in run["regions"] if one["label"] == label) for run in of.runs]
        parts[label] = [factor * value for value in seconds]
    for key in OUTSIDE:
        parts[f"({key.replace('_', ' ')})"] = [factor * run["time_detail"][key] for run in of.runs]
    _bars(
        page,
        of,
        _by_size(parts),
        ("Where the time goes", unit, "time"),
        "Simulated time of each choice by region, a region being a loop, a set of tasks or the serial code between them; "
        "in parentheses what is in no region.",
    )


def idle_by_core(page: Page, of: RankedRuns) -> None:
    """Idle time core by core, of the whole run or of one region, chosen from a list (Metzger et al. 2018, figure 8)."""
    runs = of.runs[:_MOST_LINES]
    shares = [report.idle_shares(run) for run in runs]
    regions = list(dict.fromkeys(label for of_run in shares for label in of_run))
    data: list[dict[str, Any]] = []
    cores = sorted({thread["core"] for run in runs for thread in run["threads_detail"]})
    for label in [None, *regions]:
        for number, (run, of_run) in enumerate(zip(runs, shares, strict=True)):
            threads = run["threads_detail"]
            whole = [share(thread["idle_seconds"], run["seconds"]) for thread in threads]
            values = whole if label is None else of_run.get(label, [])
            order = sorted(range(len(values)), key=lambda place: (threads[place]["core"], place))
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "marker": {"symbol": _SYMBOLS[number], "size": 8},
                    "name": f"{of.places[number]}: {plain_text(of.names[number])}",
                    "visible": label is None,
                    "x": [str(threads[place]["core"]) for place in order],
                    "y": [100 * values[place] for place in order],
                    "text": [f"thread {threads[place]['thread']}, node {threads[place]['node']}" for place in order],
                    "hovertemplate": "core %{x}, %{text}: %{y:.2f} %",
                }
            )
    layout = {
        "title": {"text": "Idle time by core"},
        "xaxis": {
            "title": {"text": "core"},
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [str(core) for core in cores],
        },
        "yaxis": {"title": {"text": "idle, %"}, "rangemode": "tozero"},
        "showlegend": True,
    }
    left_out = f" The first {len(runs)} of {len(of.runs)} choices are drawn." if len(runs) < len(of.runs) else ""
    note = f"Share of the time in which the thread on each core does not work: it waits for others or for its turn.{left_out}"
    menu = Menu("Time", ["the whole run", *regions], [entry // len(runs) for entry in range(len(data))])
    page.plot(data, layout, height=380 + 22 * len(runs), meaning=note, menu=menu if regions else None)


def traffic(page: Page, of: RankedRuns) -> None:
    """One matrix at a time, chosen from a list; the best run's first."""
    data = []
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
                "colorscale": "Viridis",
                "colorbar": {"title": {"text": "MB"}, "thickness": 14},
                "hovertemplate": "from %{y} to %{x}: %{z:.4g} MB<extra></extra>",
                **({"texttemplate": "%{z:.3g}"} if len(nodes) <= 8 else {}),
            }
        )
    layout = {
        "title": {"text": "Traffic at memory controllers"},
        "xaxis": {"title": {"text": "home of the memory"}},
        "yaxis": {"title": {"text": "node of the core"}, "autorange": "reversed"},
    }
    note = "Bytes between caches and memory: the row is the node of the core that asks, the column the node whose memory serves it."
    page.plot(data, layout, meaning=note, menu=of.menu(range(len(of.runs))))


def pages_by_home(page: Page, of: RankedRuns) -> None:
    """How many pages each node holds at the end."""
    nodes = max(len(run["pages_by_node"]) for run in of.runs)
    if nodes < 2:
        return
    parts = {f"node {node}": [float(run["pages_by_node"][node]) for run in of.runs] for node in range(nodes)}
    note = "Pages of the program by the node whose memory holds them when it ends."
    _bars(page, of, parts, ("Pages by home node", "pages", "number"), note)


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
                    "name": f"{source}: {total:,} lines, {mean:.0f} ns",
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
        "yaxis": {"title": {"text": "lines"}, "type": "log"},
        "showlegend": True,
    }
    note = (
        "Cache lines that the first level did not hold, by how long they took and what served them; the scale of the lines is "
        "logarithmic, and the mean latency of each source stands in the legend."
    )
    page.plot(data, layout, meaning=note, menu=of.menu(of_run))


def energy(page: Page, of: RankedRuns) -> None:
    """Energy by component, where the runs have it."""
    if not all(run.get("energy_joules") for run in of.runs):
        return
    components = dict.fromkeys(name for run in of.runs for name in run["energy_joules"] if name != "total")
    parts = {name: [1e3 * run["energy_joules"].get(name, 0.0) for run in of.runs] for name in components}
    note = "Energy of the run by component, by the energy model that the report names."
    _bars(page, of, _by_size(parts), ("Energy", "mJ", "energy"), note)
