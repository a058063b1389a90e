"""Figures 2 and 6 to 9 of Metzger et al. 2018 (S0), none of which has values in the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from validation.published.drawings.canvas import PRINTED, Drawing, bars, legend_below, ranges
from validation.published.drawings.results import PUBLISHED, Results, interval, number
from validation.published.reference import read_references

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MACHINES = ("xeon-l7555-4s", "xeon-e5-2697v2-2s")
_GAINS = Results(PUBLISHED / "s0/results.md")
_DISTRIBUTION = Results(PUBLISHED / "s0/results_distribution.md")
_LATENCY = Results(PUBLISHED / "s0/results_latency.md")
_PLACED = {
    "interleave unpinned": "interleave, unpinned",
    "stencil-aware unpinned": "stencil-aware, unpinned",
    "first-touch pinned": "first touch, pinned",
    "interleave pinned": "interleave, pinned",
    "stencil-aware pinned": "stencil-aware, pinned",
}


def _values(text: str, name: str) -> tuple[float, float] | None:
    """Of `first-touch 0.995 to 0.999, interleave 0.99` the interval of a name."""
    found = re.search(rf"(?:^|, ){re.escape(name)} ([\d.]+(?: to [\d.]+)?)", text.partition(";")[0])
    return None if found is None else interval(found[1])


def _figure_2a(figure: Figure) -> int:
    """Times of ft over those under stencil-aware pages."""
    axes = figure.subplots()
    places, first, interleaved = [], [], []
    for line, found in _GAINS.lines("C2", r"(ft \w+): stencil-aware faster than interleave"):
        aware, spread, touched = map(number, line.model.split("/"))
        places.append(f"{found[1]}, {line.machine}")
        first.append(touched / aware)
        interleaved.append(spread / aware)
    bars(axes, places, {"first touch": first, "interleave": interleaved})
    axes.axhline(1, color=PRINTED, linewidth=0.8)
    printed = read_references(PUBLISHED / "s0/printed.csv")["all", "ft_speedup"].printed
    told = f"printed: up to {printed}, no class or machine named"
    axes.axhline(printed, color=PRINTED, linewidth=0.8, linestyle="--", label=told)
    axes.set_ylabel("time over that of stencil-aware pages")
    axes.set_title("S0, figure 2a, from the model: ft by placement, pinned")
    legend_below(figure, axes)
    return 1


def _figure_2b(figure: Figure) -> int:
    """Shares of lines by latency."""
    both = figure.subplots(1, 2, sharey=True)
    for axes, (above, rows) in zip(both, _LATENCY.tables(["placement", "0 to 80 ns"]), strict=True):
        bins = [column for column in rows[0] if column != "placement"]
        series = {}
        for row in rows:
            lines = [number(row[column]) for column in bins]
            series[row["placement"]] = [100 * value / sum(lines) for value in lines]
        bars(axes, [column.removesuffix(" ns") for column in bins], series)
        axes.tick_params(axis="x", rotation=35)
        axes.set_title(above.partition(":")[0])
        axes.set_xlabel("latency, ns")
    both[0].set_ylabel("share of lines, %")
    figure.suptitle("S0, figure 2b, from the model (engine line, class W): lines from beyond the private caches")
    legend_below(figure, both[0], 4)
    return 0


def _figure_6(figure: Figure) -> int:
    """Gains over first touch without pinning."""
    both = figure.subplots(2, 1)
    for axes, machine in zip(both, MACHINES, strict=True):
        found = [
            (line, what)
            for line, what in _GAINS.lines("Fig 6", r"([^:]+): gain over (unpinned|pinned) first touch")
            if line.machine == machine
        ]
        places = [what[1] + (" *" if what[2] == "pinned" else "") for _, what in found]
        ranges(axes, places, {told: [_values(line.model, name) for line, _ in found] for name, told in _PLACED.items()})
        axes.set_yscale("log")
        ticks = [0.5, 1, 2, 4, 8, 16, 32, 64]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.axhline(1, color=PRINTED, linewidth=0.8)
        axes.set_title(machine)
        axes.set_ylabel("gain")
    figure.suptitle(
        "S0, figure 6, from the model: gain over unpinned first touch (*: over pinned), 10 to 1000 iterations"
    )
    legend_below(figure, both[0])
    return 0


def _figure_7(figure: Figure) -> int:
    """Speed with automatic balancing over stencil-aware pages without."""
    both = figure.subplots(2, 1, sharey=True)
    for axes, machine in zip(both, MACHINES, strict=True):
        found = [
            (line, what)
            for line, what in _GAINS.lines("Fig 7", r"([^:]+): with balancing over stencil-aware without")
            if line.machine == machine
        ]
        names = ("first-touch", "interleave", "stencil-aware")
        ranges(axes, [what[1] for _, what in found], {n: [_values(line.model, n) for line, _ in found] for n in names})
        axes.axhline(1, color=PRINTED, linewidth=0.8)
        axes.set_title(machine)
        axes.set_ylabel("speed with balancing")
    both[0].set_ylim(top=1.15)  # after both are drawn: it ends the axis' following of the data
    figure.suptitle("S0, figure 7, from the model: with automatic balancing, over stencil-aware pages without")
    legend_below(figure, both[0])
    return 0


def _figure_8(figure: Figure) -> int:
    """Idle time core by core; threads at the borders of nodes are marked."""
    both = figure.subplots(2, 1)
    for axes, (above, rows) in zip(both, _DISTRIBUTION.tables(["node", "core 0"]), strict=True):
        names = [column for column in rows[0] if column != "node"]
        for place, row in enumerate(rows):
            at = [place * len(names) + core for core in range(len(names))]
            axes.bar(at, [number(row[name]) for name in names], 0.8, color="#0072B2" if place % 2 == 0 else "#56B4E9")
        for place in range(1, len(rows)):
            axes.axvline(place * len(names) - 0.5, color=PRINTED, linewidth=0.8, linestyle="--")
        axes.set_xlabel("core; dashed: borders of nodes")
        axes.set_ylabel("idle, %")
        axes.set_title(above.partition(", idle")[0])
        axes.grid(visible=False, axis="x")
    figure.suptitle("S0, figure 8, from the model: idle share of an iteration, core by core")
    return 0


def _figure_9(figure: Figure) -> int:
    """Speed of schedules over static."""
    both = figure.subplots(1, 2, sharey=True)
    rows = _DISTRIBUTION.tables(["program", "machine", "static", "dynamic:1"])[0][1]
    claimed, _ = _DISTRIBUTION.lines("C16", "srad_v2: gain of latency-weighted chunks")[0]
    printed = number(claimed.published)
    schedules = {"dynamic:1": "dynamic", "guided:1": "guided", "auto:libomp": "auto", "weighted": "latency-weighted"}
    for axes, machine in zip(both, MACHINES, strict=True):
        own = [row for row in rows if row["machine"] == machine]
        series = {told: [number(row["static"]) / number(row[name]) for row in own] for name, told in schedules.items()}
        bars(axes, [row["program"] for row in own], series)
        axes.tick_params(axis="x", rotation=35)
        axes.axhline(1, color=PRINTED, linewidth=0.8)
        axes.axhline(
            printed, color=PRINTED, linewidth=0.8, linestyle="--", label=f"printed: weights gain up to {printed}"
        )
        axes.set_title(machine)
    both[0].set_ylabel("speed over static")
    figure.suptitle("S0, figure 9, from the model: schedules and latency-weighted chunks, stencil-aware pages")
    legend_below(figure, both[0])
    return 1


DRAWINGS = (
    Drawing("paper-s0-figure-2a", "ft by placement", "published/s0/results.md", _figure_2a, (8, 4)),
    Drawing("paper-s0-figure-2b", "latencies of ft's lines", "published/s0/results_latency.md", _figure_2b),
    Drawing("paper-s0-figure-6", "gain over unpinned first touch", "published/s0/results.md", _figure_6, (8.5, 7.5)),
    Drawing("paper-s0-figure-7", "automatic balancing", "published/s0/results.md", _figure_7, (8.5, 7)),
    Drawing("paper-s0-figure-8", "idle time by core", "published/s0/results_distribution.md", _figure_8, (8, 5.5)),
    Drawing("paper-s0-figure-9", "latency-weighted chunks", "published/s0/results_distribution.md", _figure_9),
)
