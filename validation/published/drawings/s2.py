"""Figures 2 and 4 of Gerofi et al. 2014 (S2): latencies of blocks, and the gain of frames that are near."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from homenode.machine import Machine
from validation.published.drawings.canvas import COLOURS, PRINTED, Drawing, legend_below
from validation.published.drawings.results import PUBLISHED, Results, interval, number
from validation.published.reference import read_references

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MACHINE = "knc-5110p"
_RESULTS = Results(PUBLISHED / "s2/results.md")
_FIRST, _BLOCKS, _CORES = 0x125000, 64, (0, 45)  # the blocks and the cores of S2's figure 2


def _figure_2(figure: Figure) -> int:
    """Measured anew on the modelled machine, which takes a second."""
    axes = figure.subplots()
    latencies = Machine.load(_MACHINE).latency_map(_FIRST, _BLOCKS)
    for core, colour, marker in zip(_CORES, COLOURS, "os", strict=False):
        axes.plot(
            range(_BLOCKS), latencies[core].to_list(), color=colour, marker=marker, markersize=3, label=f"core {core}"
        )
    ticks = range(0, _BLOCKS, 8)
    axes.set_xticks(list(ticks), [f"{_FIRST + 64 * block:#x}" for block in ticks])
    axes.set_xlabel("physical address of the block")
    axes.set_ylabel("latency, ns")
    axes.set_title("S2, figure 2, from the model: latency of subsequent blocks from two cores")
    legend_below(figure, axes)
    return 0


def _figure_4(figure: Figure) -> int:
    """Gain by cores; and by how much the mean latency of a line falls."""
    gain, cut = figure.subplots(1, 2)
    printed = read_references(PUBLISHED / "s2/printed.csv")
    line, _ = _RESULTS.lines("C42", "gain of latency-aware by cores")[0]
    cores, low, high, mean = [], [], [], []
    for found in re.finditer(r"(\d+): ([\d.]+) %(?: \(seeds: ([\d.]+ to [\d.]+)\))?", line.model):
        ends = interval(found[3] or found[2])
        cores.append(int(found[1]))
        mean.append(number(found[2]))
        low.append(ends[0])
        high.append(ends[1])
    band = [100 * printed[_MACHINE, name].value for name in ("least_gain", "most_gain")]
    gain.axhspan(*band, color="#dddddd", label=f"printed: {band[0]:.0f} to {band[1]:.0f} %")
    gain.vlines(cores, low, high, color=COLOURS[0], linewidth=2)
    gain.plot(cores, mean, color=COLOURS[0], marker="o", markersize=4, label="model, with its seeds")
    gain.set_ylim(bottom=0)
    gain.set_ylabel("more nodes in unit time, %")
    gain.set_title("a: gain of latency-aware frames")
    cuts = {
        int(number(found[1])): 100 * number(re.sub(".* r ", "", line.model.partition(":")[0]))
        for line, found in _RESULTS.lines("C48", r"1 / \(1 - f r\) - 1, (\d+) cores")
    }
    cut.plot(list(cuts), list(cuts.values()), color=COLOURS[1], marker="s", markersize=4, label="model")
    cut.axhline(0, color=PRINTED, linewidth=0.8)
    cut.set_ylim(bottom=0)
    cut.set_ylabel("a line's mean latency falls by, %")
    cut.set_title("b: latency (of misses only a range is kept)")
    for axes in (gain, cut):
        axes.set_xlabel("cores")
    figure.suptitle("S2, figure 4, from the model: A* on the 15-puzzle")
    legend_below(figure, gain)
    return 2


DRAWINGS = (
    Drawing("paper-s2-figure-2", "latency of blocks from two cores", "machine knc-5110p", _figure_2, (8, 4)),
    Drawing("paper-s2-figure-4", "gain of near frames", "published/s2/results.md", _figure_4, (8, 4.2)),
)
