"""Latency of memory blocks from the cores of a ring as pictures: figure 2 of Gerofi et al., and the whole map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.html_page import Page

if TYPE_CHECKING:
    import pandas as pd

    from homenode.machine import Machine

_MOST_BLOCKS = 512  # drawn
_SYMBOLS = ("circle", "square", "diamond", "cross")


def latency_map_page(machine: Machine, latencies: pd.DataFrame, made_by: str | None = None) -> str:
    """One HTML file of `Machine.latency_map`'s rows. `made_by`: the command."""
    page = Page(f"Latency of memory blocks: {machine.name}")
    ratios = latencies.max(axis=1) / latencies.min(axis=1)
    page.text(
        f"{len(latencies)} blocks of 64 B from each of {latencies.shape[1]} cores, one access at a time, from memory. Engine: "
        f"line. Mean {latencies.to_numpy().mean():.1f} ns; slowest over fastest core of a block: at most {ratios.max():.2f}."
    )
    drawn = latencies.head(_MOST_BLOCKS)
    blocks = [f"{address:#x}" for address in drawn.index.get_level_values("address")]
    cores = [int(core) for core in drawn.columns]
    served = [
        f"directory {directory}, controller {controller}"
        for _, directory, controller in drawn.index.to_flat_index().tolist()
    ]
    page.heading("Blocks and cores")
    page.plot(
        [
            {
                "type": "heatmap",
                "x": blocks,
                "y": cores,
                "z": drawn.to_numpy().T.tolist(),
                "colorscale": "Viridis",
                "colorbar": {"title": {"text": "ns"}},
                "text": [served] * len(cores),
                "hovertemplate": "block %{x}, %{text}<br>core %{y}: %{z:.1f} ns<extra></extra>",
            }
        ],
        {
            "title": {"text": "Every block from every core"},
            "xaxis": {"title": {"text": "block"}, "type": "category"},
            "yaxis": {"title": {"text": "core"}},
        },
        height=620,
        meaning="A column is a block of memory, a row the core that reads it: how far the block's directory and controller are from it.",
        words=("memory controller",),
    )
    least = float(drawn.to_numpy().min())
    four = [cores[at * (len(cores) - 1) // 3] for at in range(4)] if len(cores) >= 4 else cores
    page.plot(
        [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"core {core}",
                "marker": {"symbol": symbol},
                "x": blocks,
                "y": list(drawn[core] / least),
                "text": served,
                "hovertemplate": f"block %{{x}}, %{{text}}<br>core {core}: %{{y:.2f}}<extra></extra>",
            }
            for core, symbol in zip(four, _SYMBOLS, strict=False)
        ],
        {
            "title": {"text": "Relative to the fastest access, from four cores"},
            "xaxis": {"title": {"text": "block"}, "type": "category"},
            "yaxis": {"title": {"text": "latency / fastest"}, "rangemode": "tozero"},
        },
        meaning="The same of four cores that stand apart on the ring, over the fastest access of all cores.",
        words=("memory controller",),
    )
    if len(drawn) < len(latencies):
        page.text(f"The first {len(drawn)} blocks are drawn.")
    page.command(made_by)
    return page.to_html()
