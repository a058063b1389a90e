"""A report's figure of pages by object: which nodes hold them, and which had them before pages migrated."""

from __future__ import annotations

from typing import Any

from homenode.html_page import COLOURS, LEGEND, Page
from homenode.report_figures import RankedRuns, marker, plain_text, rows_axis, rows_height

_MOST_OBJECTS = 10


def _name(entry: dict[str, Any]) -> str:
    """``grid (heap)``; where a program has several objects of one symbol: ``grid (heap, 4 objects)``."""
    if entry["kind"] == "others":
        return f"{entry['objects']} others"
    number = f", {entry['objects']} objects" if entry["objects"] > 1 else ""
    kind = {"tls": "thread-local", "mmap": "mapped"}.get(entry["kind"], entry["kind"])
    return f"{entry['symbol'] or 'no object'} ({kind}{number})"


def _rows(of: RankedRuns) -> list[str]:
    """Names of the objects with most pages in any run."""
    most: dict[str, int] = {}
    for run in of.runs:
        for entry in run["pages_by_object"]:
            most[_name(entry)] = max(most.get(_name(entry), 0), sum(entry["placed_by_node"]))
    return sorted(most, key=lambda name: -most[name])[:_MOST_OBJECTS]


def pages_by_object(page: Page, of: RankedRuns) -> None:
    """Of one choice at a time; a second bar for an object where pages of a run moved. Nothing on one node, or in older reports."""
    if not all(run.get("pages_by_object") for run in of.runs):
        return
    nodes = max(len(run["pages_by_node"]) for run in of.runs)
    names = _rows(of)
    if nodes < 2 or not names:
        return
    keys = ["pages_by_node"]
    if any(run["migrated_pages"] or run.get("collapsed_pages") for run in of.runs):
        keys.append("placed_by_node")
    rows = [name if key == "pages_by_node" else f"{name}, when placed" for name in names for key in keys]
    data: list[dict[str, Any]] = []
    of_trace = []
    for choice, run in enumerate(of.runs):
        entries = {_name(entry): entry for entry in run["pages_by_object"]}
        for node in range(nodes):
            of_trace.append(choice)
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": f"node {node}",
                    "x": [entries[name][key][node] if name in entries else 0 for name in names for key in keys],
                    "y": list(range(len(rows))),
                    "marker": marker(node % len(COLOURS)),
                    "visible": choice == 0,
                    "hovertemplate": f"node {node}: %{{x:,}} pages<extra></extra>",
                }
            )
    layout = {
        "title": {"text": "Pages of each object by home node"},
        "barmode": "stack",
        "xaxis": {"title": {"text": "pages"}, "rangemode": "tozero"},
        "yaxis": rows_axis([plain_text(row) for row in rows]),
        "showlegend": True,
        "legend": {**LEGEND, "traceorder": "normal"},
    }
    note = "Of one choice: the nodes whose memory holds the pages of each variable or allocation at the end"
    note += "; below each, where they were placed, before any migrated." if len(keys) > 1 else "."
    height = 150 + rows_height(rows) + 14 * nodes
    page.plot(
        data, layout, height, meaning=note, words=("object", "home node"), menu=of.menu, choices=of.seen(of_trace)
    )
