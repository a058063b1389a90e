"""A report's figure of what is in use when: controllers and links over time, and above them the regions that threads work in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from homenode.html_page import COLOURS, LEGEND, Page
from homenode.report_figures import RankedRuns, plain_text, rows_axis

_MOST_ROWS = 16  # resources
_LEAST_USE = 0.01  # of an interval; a row with less in all choices is not drawn
_LEAST_WORK = 0.001  # share of the threads; likewise
_LOWER, _UPPER = (0, 0.66), (0.74, 1)  # parts of the height: resources, regions


def controllers_and_links_over_time(page: Page, of: RankedRuns) -> None:
    """Of one choice at a time; nothing in older reports, and where nothing is in use."""
    told = [run.get("use_over_time") or {} for run in of.runs]
    resources = _largest([one.get("resources", {}) for one in told])
    rows = [name for name, most in resources.items() if most >= _LEAST_USE]
    shown = sorted(rows, key=lambda name: -resources[name])[:_MOST_ROWS]
    drawn = [name for name in rows if name in shown]  # in the machine's order: controllers, links, the rest
    if not drawn:
        return
    regions = _largest([one.get("regions", {}) for one in told])
    labels = sorted(
        (label for label, most in regions.items() if most >= _LEAST_WORK), key=lambda label: -regions[label]
    )
    factor, unit = of.scale
    data: list[dict[str, Any]] = []
    of_trace: list[int] = []
    for choice, (run, one) in enumerate(zip(of.runs, told, strict=True)):
        if not one:
            continue
        edges = [factor * min(place * one["interval_seconds"], run["seconds"]) for place in range(one["intervals"] + 1)]
        traces = [_use(one, drawn, edges, unit), *_work(one, labels, edges, unit)]
        data += [{**trace, "visible": choice == 0} for trace in traces]
        of_trace += [choice] * len(traces)
    layout = {
        "title": {"text": "Controllers and links over time"},
        "barmode": "stack",
        "bargap": 0,
        "xaxis": {"title": {"text": f"time, {unit}"}, "rangemode": "tozero", "showgrid": False},
        "yaxis": {**rows_axis(drawn), "domain": list(_LOWER)},
        "yaxis2": {"title": {"text": "threads, %"}, "range": [0, 100], "domain": list(_UPPER), "dtick": 50},
        "showlegend": True,
        "legend": {**LEGEND, "traceorder": "normal"},
    }
    left_out = f" Drawn are {len(drawn)} of {len(rows)}: those used most." if len(drawn) < len(rows) else ""
    left_out += "" if all(told) else " A bound has none: it is no run."
    note = (
        "Share of each moment in which a memory controller, a direction of a link or another shared resource is in use. Above it: the "
        f"regions in which threads work, by their share of all threads.{left_out}"
    )
    words = ("memory controller", "link, link direction, hop", "region")
    height = 240 + 24 * len(drawn) + 14 * min(len(labels), len(COLOURS))
    page.plot(data, layout, height, meaning=note, words=words, menu=of.menu, choices=of.seen(of_trace))


def _largest(tables: Sequence[dict[str, list[float]]]) -> dict[str, float]:
    """The largest share of each name in any table, in the order of their first occurrence."""
    largest: dict[str, float] = {}
    for table in tables:
        for name, shares in table.items():
            largest[name] = max(largest.get(name, 0.0), *shares)
    return largest


def _use(one: dict[str, Any], rows: Sequence[str], edges: Sequence[float], unit: str) -> dict[str, Any]:
    nothing = [0.0] * one["intervals"]
    return {
        "type": "heatmap",
        "x": edges,
        "y": list(range(len(rows))),
        "z": [[round(100 * share) for share in one["resources"].get(name, nothing)] for name in rows],
        "customdata": [[plain_text(name)] * one["intervals"] for name in rows],
        "zmin": 0,
        "zmax": 100,
        "ygap": 2,
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": "in use, %"}, "thickness": 14, "len": _LOWER[1], "y": 0, "yanchor": "bottom"},
        "hovertemplate": f"%{{customdata}} at %{{x:.4g}} {unit}: %{{z}} %<extra></extra>",
    }


def _work(one: dict[str, Any], labels: Sequence[str], edges: Sequence[float], unit: str) -> list[dict[str, Any]]:
    """Bars of the regions, one above the other; the last ones of many are one. A region has the same colour in all choices."""
    tables = {label: one["regions"][label] for label in labels if label in one["regions"]}
    own = labels if len(labels) <= len(COLOURS) else labels[: len(COLOURS) - 1]
    parts = {label: tables[label] for label in own if label in tables}
    if rest := [shares for label, shares in tables.items() if label not in own]:
        parts[f"{len(labels) - len(own)} others"] = [sum(column) for column in zip(*rest, strict=True)]
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    widths = [high - low for low, high in pairwise(edges)]
    return [
        {
            "type": "bar",
            "name": plain_text(label),
            "x": middles,
            "width": widths,
            "y": [round(100 * share, 1) for share in shares],
            "yaxis": "y2",
            "marker": {"color": COLOURS[own.index(label) if label in own else len(COLOURS) - 1], "line": {"width": 0}},
            "hovertemplate": f"{plain_text(label)} at %{{x:.4g}} {unit}: %{{y:.4g}} % of the threads<extra></extra>",
        }
        for label, shares in parts.items()
    ]
