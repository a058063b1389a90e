"""Figure 3 of Wittmann and Hager 2010 (S4): Jacobi by placement, tasks, locality queues and TBB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.published.drawings.canvas import PRINTED, Drawing, bars, legend_below
from validation.published.drawings.results import PUBLISHED, Results, interval, named_numbers, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MACHINES = ("xeon-x5550-2s", "opteron-8431-4s", "xeon-x7560-4s")
_RESULTS = Results(PUBLISHED / "s4/results.md")
_ORDERS = ("s/ijk", "s/kji", "s-1/ijk", "s-1/kji")


def _model(claim: str, pattern: str, machine: str) -> str:
    return next(line.model for line, _ in _RESULTS.lines(claim, pattern) if line.machine == machine)


def _figure_3(figure: Figure) -> int:
    """Million updates in a second; what STREAM allows is arithmetic on a printed bandwidth."""
    every = figure.subplots(3, 1, sharex=True)
    for axes, machine in zip(every, MACHINES, strict=True):
        static = named_numbers(_model("C58", "serial < round robin", machine).partition(";")[0])
        tasks = named_numbers(_model("C65", "plain tasks never faster", machine))
        queues = named_numbers(_model("C69", "locality queues with kji", machine))
        tbb = {
            "TBB": _model("C71", "TBB without affinity", machine),
            "TBB, affinity": _model("C72", "TBB's affinity partitioner", machine),
        }
        placements = {"serial": "serial", "round robin": "round\nrobin", "static": "parallel\nfirst touch"}
        places = [*placements.values(), *_ORDERS, *tbb]
        none = [None] * len(_ORDERS)
        bars(
            axes,
            places,
            {
                "static worksharing": [static[name] for name in placements] + none + [None, None],
                "tasks": [None] * 3 + [tasks[name] for name in _ORDERS] + [None, None],
                "locality queues": [None] * 3 + [queues[name] for name in _ORDERS] + [None, None],
                "TBB, median and range of seeds": [None] * 3 + none + [number(text) for text in tbb.values()],
            },
        )
        for place, text in enumerate(tbb.values(), start=len(places) - 2):
            low, high = interval(text.partition("seeds:")[2])
            axes.vlines(place, low, high, color=PRINTED, linewidth=1.5)
        line, _ = next(
            found for found in _RESULTS.lines("C59", "parallel first touch against") if found[0].machine == machine
        )
        axes.axhline(
            number(line.published), color=PRINTED, linewidth=0.8, linestyle="--", label="what printed STREAM allows"
        )
        axes.set_title(machine)
        axes.set_ylabel("MLUP/s")
    figure.suptitle("S4, figure 3, from the model: Jacobi, 600 x 600 x 2400, by placement, order of tasks, and queues")
    legend_below(figure, every[0])
    return len(MACHINES)


DRAWINGS = (Drawing("paper-s4-figure-3", "tasks and locality queues", "published/s4/results.md", _figure_3, (8.5, 8)),)
