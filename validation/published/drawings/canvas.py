"""How the papers' figures look, and how they are written; equal figures give equal bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Told apart by people who see no red or no green (Okabe and Ito)."""
MARKERS = ("o", "s", "D", "^", "v", "P")
HATCHES = ("", "//", "xx", "\\\\", "..", "++")
PRINTED = "#222222"
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "svg.fonttype": "none",  # letters stay letters
    "svg.hashsalt": "homenode",
    "hatch.linewidth": 0.5,
}


@dataclass(frozen=True)
class Drawing:
    """A figure of a paper: how its files are called, what it shows, where its numbers come from, and how it is drawn."""

    name: str
    what: str
    source: str
    draw: Callable[[Figure], int]
    """Draws it, and says how many printed values are beside the model's."""
    inches: tuple[float, float] = (8.0, 4.5)


def write(drawing: Drawing, folder: Path) -> tuple[int, list[Path]]:
    """As PNG and SVG; how many printed values it has, and both files."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{drawing.name}.{kind}" for kind in ("png", "svg")]
    with matplotlib.rc_context(_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=drawing.inches, dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        printed = drawing.draw(figure)
        figure.savefig(files[0], metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None, "Creator": None})
    return printed, files


def ranges(axes: Axes, places: Sequence[str], series: Mapping[str, Sequence[tuple[float, float] | None]]) -> None:
    """For each place a line from the lowest to the highest value of each series, with a mark at their geometric mean."""
    width = 0.8 / max(1, len(series))
    for number, (name, values) in enumerate(series.items()):
        points = [(at, value) for at, value in enumerate(values) if value is not None]
        x = [at + (number - (len(series) - 1) / 2) * width for at, _ in points]
        low, high = [value[0] for _, value in points], [value[1] for _, value in points]
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.vlines(x, low, high, color=colour, linewidth=2)
        means = [math.sqrt(one * other) for one, other in zip(low, high, strict=True)]
        axes.plot(x, means, linestyle="none", marker=marker, markersize=4, color=colour, label=name)
    axes.set_xticks(range(len(places)), places, rotation=35, ha="right")
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(visible=False, axis="x")


def bars(axes: Axes, places: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> None:
    """For each place a bar of each series that has a value there, side by side."""
    present = [
        [number for number, values in enumerate(series.values()) if values[at] is not None] for at in range(len(places))
    ]
    width = 0.84 / max(1, *map(len, present))
    for number, (name, values) in enumerate(series.items()):
        points = [(at, value) for at, value in enumerate(values) if value is not None]
        axes.bar(
            [at + (present[at].index(number) - (len(present[at]) - 1) / 2) * width for at, _ in points],
            [value for _, value in points],
            width,
            label=name,
            color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white",
            linewidth=0.4,
        )
    axes.set_xticks(range(len(places)), places)
    axes.grid(visible=False, axis="x")


def curves(
    axes: Axes,
    model: Mapping[str, Mapping[int, float]],
    printed: Mapping[str, Mapping[int, float]],
) -> int:
    """Over threads: the model's values as lines, the printed ones as hollow marks of the same shape; how many are printed."""
    for number, (name, values) in enumerate(model.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=3.5, label=name)
        told = printed.get(name, {})
        axes.plot(
            list(told),
            list(told.values()),
            linestyle="none",
            marker=marker,
            markersize=8,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=f"{name}, printed" if told else "_",
        )
    return sum(map(len, printed.values()))


def threads_axis(axes: Axes, threads: Sequence[int], what: str = "threads") -> None:
    """Powers of two, each with its number."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(threads), [str(number) for number in threads])
    axes.minorticks_off()
    axes.set_xlabel(what)


def legend_below(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """One legend for the whole figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
