"""Latency of memory under load as a picture: what the engine `line` has, beside the curve of the machine's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.html_page import Page

if TYPE_CHECKING:
    import pandas as pd

    from homenode.machine import Machine


def loaded_latency_page(machine: Machine, node: int, points: pd.DataFrame) -> str:
    """One HTML file of `Machine.loaded_latency`'s rows."""
    page = Page(f"Latency under load: {machine.name}, node {node}")
    page.text("One core chases pointers; the others read with pauses that shrink from point to point. Engine: line.")
    bandwidth = [value / 1e9 for value in points["bandwidth_bytes_per_s"]]
    curves = [("engine line", "latency_ns")]
    if (points["described_ns"] > 0).any():
        curves.append(("description", "described_ns"))
    page.plot(
        [
            {"type": "scatter", "mode": "lines+markers", "name": name, "x": bandwidth, "y": list(points[column])}
            for name, column in curves
        ],
        {"xaxis": {"title": {"text": "GB/s"}}, "yaxis": {"title": {"text": "ns"}, "rangemode": "tozero"}},
    )
    columns = ("GB/s", "utilisation", "engine line, ns", "description, ns")
    rows = (
        (
            f"{row['bandwidth_bytes_per_s'] / 1e9:.2f}",
            f"{row['utilisation']:.3f}",
            f"{row['latency_ns']:.1f}",
            f"{row['described_ns']:.1f}",
        )
        for row in points.to_dict("records")
    )
    page.table(columns, rows, right=columns)
    return page.to_html()
