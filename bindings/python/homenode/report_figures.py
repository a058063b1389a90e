"""A report's figures that are bars: time by region and by resource, pages, energy. A choice keeps its rank and its name in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from homenode.html_page import COLOURS, LEGEND, Choices, Menu, Page

_PATTERNS = ["", "/", "x", "-", "\\", "+", "|", "."]
_MOST_PARTS = len(COLOURS)  # of a bar, so that no two look alike; smaller ones are one
_MOST_ROWS = 10  # regions or links of a figure
_LONGEST = 44  # letters of a name beside its bar
_SCALES = [(1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")]
OUTSIDE = ("fork", "barrier", "runtime", "page_work", "waiting")
_KINDS = {
    "controller": "memory controllers",
    "link": "links",
    "data ring": "ring",
    "address ring": "ring",
    "acknowledgement ring": "ring",
    "core": "core",
    "latency": "latency",
    "cache": "caches",
    "page faults": "page faults",
    "heap calls": "heap calls",
    "overhead": "overhead",
}


@dataclass(frozen=True)
class RankedRuns:
    """Comparable runs in the order of their table, what each is called, and its place: a rank, or `bound`."""

    runs: Sequence[dict[str, Any]]
    names: Sequence[str]
    places: Sequence[str]
    group: str
    """By which tables, figures and lists of these runs share a choice."""

    @property
    def scale(self) -> tuple[float, str]:
        """How many of which unit a second is."""
        return scale_of(self.runs)

    @property
    def labels(self) -> list[str]:
        """``3 first-touch · compact``."""
        return [f"{place} {name}" for place, name in zip(self.places, self.names, strict=True)]

    @property
    def menu(self) -> Menu:
        """The list of choices; one for all figures of a section."""
        return Menu("Choice", self.labels, group=self.group)

    def seen(self, of_trace: Sequence[int]) -> Choices:
        """Of a figure that shows one choice at a time."""
        return Choices(self.group, of_trace)

    @property
    def rows(self) -> Choices:
        """Of a figure with a row for each choice."""
        return Choices(self.group, marked="rows")


def rows_axis(labels: Sequence[str]) -> dict[str, Any]:
    """The axis of a figure with a row for each label, the first one on top."""
    short = [plain_text(label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…") for label in labels]
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": short,
        "range": [len(labels) - 0.5, -0.5],
        "zeroline": False,
        "showgrid": False,
    }


def rows_height(labels: Sequence[str]) -> int:
    """Pixels of such rows: on a phone the parts of a name stand one below the other."""
    return len(labels) * max(28, 8 + 15 * max((label.count(" · ") + 1 for label in labels), default=1))


def marker(place: int) -> dict[str, Any]:
    """Colour and pattern of a part of a bar: no two parts have both alike."""
    pattern = {"shape": _PATTERNS[place], "fillmode": "overlay", "fgcolor": "#ffffff", "size": 7}
    return {"color": COLOURS[place], "pattern": pattern}


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


def _fewer(parts: dict[str, list[float]], most: int) -> dict[str, list[float]]:
    """Parts that have something, in their order; the last ones of many are one."""
    shown = {name: values for name, values in parts.items() if any(values)}
    if len(shown) <= most:
        return shown
    names = list(shown)
    small = [shown[name] for name in names[most - 1 :]]
    return {name: shown[name] for name in names[: most - 1]} | {
        f"{len(small)} others": [sum(column) for column in zip(*small, strict=True)]
    }


def _bars(
    page: Page,
    of: RankedRuns,
    parts: dict[str, list[float]],
    titles: tuple[str, str, str],
    note: str,
    words: Sequence[str] = (),
) -> None:
    """A bar for each choice, cut into parts. `titles`: of the figure, the unit, and what the axis counts."""
    title, unit, axis = titles
    shown = _fewer(parts, _MOST_PARTS)
    if not shown:
        return
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain_text(part),
            "x": values,
            "y": list(range(len(of.runs))),
            "customdata": [plain_text(label) for label in of.labels],
            "marker": marker(place),
            "hovertemplate": f"%{{customdata}}<br>{plain_text(part)}: %{{x:.4g}} {unit}<extra></extra>",
        }
        for place, (part, values) in enumerate(shown.items())
    ]
    height = 150 + rows_height(of.labels) + 14 * len(shown)
    page.plot(
        data,
        _layout(title, f"{axis}, {unit}" if unit else axis, of.labels),
        height,
        meaning=note,
        words=words,
        choices=of.rows,
    )


def _layout(title: str, axis: str, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "barmode": "stack",
        "xaxis": {"title": {"text": axis}, "rangemode": "tozero"},
        "yaxis": rows_axis(labels),
        "showlegend": True,
        "legend": {**LEGEND, "traceorder": "normal"},
    }


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
        ("region", "team, fork, barrier"),
    )


def _kind(resource: str) -> str:
    """Controllers are one, and so are links."""
    return next((told for begin, told in _KINDS.items() if resource.startswith(begin)), resource)


def _bound_seconds(region: dict[str, Any]) -> dict[str, float]:
    """Of a region the seconds of threads by kind of resource; together its threads' busy time."""
    found: dict[str, float] = {}
    for one in region["binding"]:
        found[_kind(one["resource"])] = found.get(_kind(one["resource"]), 0.0) + one["seconds"]
    return found


def _threads(run: dict[str, Any]) -> int:
    return max(1, len(run["threads_detail"]))


def _kinds(of: RankedRuns) -> list[str]:
    """Those that occur, those with the most time first: the same order, and so the same look, in all figures."""
    most: dict[str, float] = dict.fromkeys(_KINDS.values(), 0.0)
    for run in of.runs:
        for region in run["regions"]:
            for kind, seconds in _bound_seconds(region).items():
                most[kind] = most.get(kind, 0.0) + seconds / _threads(run)
    return sorted((kind for kind, seconds in most.items() if seconds > 0), key=lambda kind: -most[kind])


def time_by_resource(page: Page, of: RankedRuns) -> None:
    """What an average thread's time goes to: the resource that its work waited for, or no work."""
    kinds = _kinds(of)
    if not kinds:
        return
    factor, unit = of.scale
    parts: dict[str, list[float]] = {kind: [] for kind in kinds}
    for run in of.runs:
        found = [_bound_seconds(region) for region in run["regions"]]
        for kind in kinds:
            parts[kind].append(factor * sum(one.get(kind, 0.0) for one in found) / _threads(run))
    idle = [factor * sum(one["idle_seconds"] for one in run["threads_detail"]) / _threads(run) for run in of.runs]
    shown = _fewer(parts, _MOST_PARTS - 1)
    _bars(
        page,
        of,
        {**shown, "(idle)": idle},
        ("What the threads' time goes to", unit, "mean time of a thread"),
        "Work by the resource that it waited for longest, as the mean of the threads; with the time in which they do not work it is "
        "the whole run. 'core' is the instructions' own time, 'latency' misses that no other miss hides.",
        ("bound by", "memory controller", "link, link direction, hop", "outstanding misses", "core time"),
    )


def resources_by_region(page: Page, of: RankedRuns) -> None:
    """Of one choice at a time: what the work of each region waited for."""
    kinds = _kinds(of)[:_MOST_PARTS]
    work: dict[str, float] = {}
    for run in of.runs:
        for region in run["regions"]:
            busy = sum(_bound_seconds(region).values()) / _threads(run)
            work[region["label"]] = max(work.get(region["label"], 0.0), busy)
    labels = sorted((label for label, most in work.items() if most > 0), key=lambda label: -work[label])
    if len(labels) < 2 or not kinds:
        return  # the figure of all choices says it
    shown = labels if len(labels) <= _MOST_ROWS else labels[: _MOST_ROWS - 1]
    rest = [f"{len(labels) - len(shown)} others"] if len(shown) < len(labels) else []
    factor, unit = of.scale
    data: list[dict[str, Any]] = []
    of_trace = []
    for choice, run in enumerate(of.runs):
        table = _by_kind_and_row(run, kinds, shown, len(rest))
        for place, (kind, seconds) in enumerate(table.items()):
            of_trace.append(choice)
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": kind,
                    "x": [float(f"{factor * value:.5g}") for value in seconds],
                    "y": list(range(len(seconds))),
                    "marker": marker(place),
                    "visible": choice == 0,
                    "hovertemplate": f"{kind}: %{{x:.4g}} {unit}<extra></extra>",
                }
            )
    rows = [*shown, *rest]
    note = "The same of one choice, region by region: where the work is, and what it waits for."
    layout = _layout("What each region's work goes to", f"mean time of a thread, {unit}", rows)
    height = 150 + rows_height(rows) + 14 * len(kinds)
    page.plot(data, layout, height, meaning=note, words=("region",), menu=of.menu, choices=of.seen(of_trace))


def _by_kind_and_row(
    run: dict[str, Any], kinds: Sequence[str], labels: Sequence[str], others: int
) -> dict[str, list[float]]:
    """Mean seconds of a thread by kind of resource, in the rows of these labels, and in one (`others`) of all other regions."""
    row = {label: place for place, label in enumerate(labels)}
    table = {kind: [0.0] * (len(labels) + others) for kind in kinds}
    for region in run["regions"]:
        for kind, seconds in _bound_seconds(region).items():
            if kind in table and (others or region["label"] in row):
                table[kind][row.get(region["label"], len(labels))] += seconds / _threads(run)
    return table


def pages_by_home(page: Page, of: RankedRuns) -> None:
    """How many pages each node holds at the end."""
    nodes = max(len(run["pages_by_node"]) for run in of.runs)
    if nodes < 2:
        return
    parts = {f"node {node}": [float(run["pages_by_node"][node]) for run in of.runs] for node in range(nodes)}
    note = "Pages of the program by the node whose memory holds them when it ends."
    _bars(page, of, parts, ("Pages by home node", "", "pages"), note, ("home node",))


def energy(page: Page, of: RankedRuns) -> None:
    """Energy by component, where the runs have it."""
    if not all(run.get("energy_joules") for run in of.runs):
        return
    components = dict.fromkeys(name for run in of.runs for name in run["energy_joules"] if name != "total")
    factor, unit = (1.0, "J") if max(run["energy_joules"]["total"] for run in of.runs) >= 1 else (1e3, "mJ")
    parts = {name: [factor * run["energy_joules"].get(name, 0.0) for run in of.runs] for name in components}
    model = of.runs[0].get("energy_detail", {}).get("model", "that the report names")
    note = f"Energy of the run by component, by the energy model {model}."
    _bars(page, of, _by_size(parts), ("Energy", unit, "energy"), note, ("energy model",))
