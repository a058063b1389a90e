"""Latency of memory under load as a picture: what the engine `line` has, beside the curve of the machine's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.html_page import Page

if TYPE_CHECKING:
    import pandas as pd

    from homenode.machine import Machine


_CURVES = (
    "Latency of a load by the bandwidth in use. Engine 'line' has refresh, activations, turning of the bus and the order of requests as "
    "far as the machine's description has the timings of its DIMMs; without them it mostly lies below the description's curve."
)
_MEANINGS = {
    "GB/s": "Bytes that all cores together read from the node's memory in a second.",
    "utilisation": "That over the bandwidth of the node's controller.",
    "engine line, ns": "Mean time of a load of the pointer chase, simulated.",
    "description, ns": "The machine's own curve of loaded latency at that utilisation, which the engines flow and simgrid use.",
}


def loaded_latency_page(machine: Machine, node: int, points: pd.DataFrame, made_by: str | None = None) -> str:
    """One HTML file of `Machine.loaded_latency`'s rows. `made_by`: the command."""
    page = Page(f"Latency under load: {machine.name}, node {node}")
    page.text(
        "One core of the node chases pointers through its memory; the others read long vectors with pauses that shrink from point to "
        "point. Engine: line."
    )
    bandwidth = [value / 1e9 for value in points["bandwidth_bytes_per_s"]]
    curves = [("engine line", "latency_ns")]
    if (points["described_ns"] > 0).any():
        curves.append(("description", "described_ns"))
    page.heading("Latency and bandwidth")
    page.plot(
        [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "marker": {"symbol": symbol},
                "name": name,
                "x": bandwidth,
                "y": list(points[column]),
                "hovertemplate": f"{name}, %{{x:.2f}} GB/s: %{{y:.1f}} ns<extra></extra>",
            }
            for (name, column), symbol in zip(curves, ("circle", "square"), strict=False)
        ],
        {
            "title": {"text": "Latency by bandwidth in use"},
            "xaxis": {"title": {"text": "read from the node's memory, GB/s"}, "range": [0, 1.05 * max(bandwidth)]},
            "yaxis": {"title": {"text": "latency, ns"}, "rangemode": "tozero"},
        },
        meaning=_CURVES
        if len(curves) > 1
        else "Latency of a load that nothing else waits for, by the bandwidth in use.",
        words=("memory controller",),
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
    page.table(columns, rows, right=columns, meanings=_MEANINGS)
    page.command(made_by)
    return page.to_html()
