"""The tables of Yang et al. 2019 (S1) as curves, with what is printed beside the model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from validation.published.drawings.canvas import Drawing, curves, legend_below, threads_axis
from validation.published.drawings.results import PUBLISHED, Results, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RESULTS = Results(PUBLISHED / "s1/results.md")
_HEAPS = {"glibc": "glibc", "tcmalloc": "TCMalloc", "jarena": "JArena", "first touch": "first touch"}
Series = dict[str, dict[int, float]]


def _series(claims: tuple[str, ...], pattern: str) -> tuple[Series, Series]:
    """By name and number of threads the model's values and the printed ones; the pattern has the groups `name` and `at`."""
    model: Series = {}
    printed: Series = {}
    for claim in claims:
        for line, found in _RESULTS.lines(claim, pattern):
            name, at = _HEAPS.get(found["name"], found["name"]), int(found["at"])
            model.setdefault(name, {})[at] = number(line.model)
            if re.match(r"-?[\d.]", line.published):  # [blind]: the printed value is kept apart
                printed.setdefault(name, {})[at] = number(line.published)
    return {name: dict(sorted(values.items())) for name, values in model.items()}, printed


def _threads(model: Series) -> list[int]:
    return sorted({at for values in model.values() for at in values})


def _table_1(figure: Figure) -> int:
    axes = figure.subplots()
    sizes = {"4K": 4, "64K": 64, "2M": 2048}
    model: Series = {}
    printed: Series = {}
    for line, found in _RESULTS.lines("C21", r"Table 1: fragmentation of (\S+) on pages of (\w+)"):
        at = sizes[found[2]]
        model.setdefault(found[1], {})[at] = number(line.model)
        printed.setdefault(found[1], {})[at] = number(line.published)
    told = curves(axes, model, printed)
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(sizes.values()), ["4 KiB", "64 KiB", "2 MiB"])
    axes.minorticks_off()
    axes.set_xlabel("page size")
    axes.set_ylabel("fragmentation, %")
    axes.set_title("S1, table 1: pages of which a block of doubles fills a part")
    legend_below(figure, axes, 4)
    return told


def _table_3(figure: Figure) -> int:
    axes = figure.subplots()
    model, printed = _series(
        ("C22", "C23", "C25"), r"Table 3: remote pages of a pass with (?P<name>\w+), (?P<at>\d+) threads"
    )
    told = curves(axes, model, printed)
    threads_axis(axes, _threads(model))
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.5, 1e7)
    axes.set_ylabel("remote pages of a pass")
    axes.set_title("S1, table 3: remote pages by heap (192 and 256 threads: the model alone)")
    legend_below(figure, axes)
    return told


def _table_4(figure: Figure) -> int:
    axes = figure.subplots()
    model, printed = _series(("C26",), r"Table 4: writing with (?P<name>\w+), (?P<at>\d+) threads")
    told = curves(axes, model, printed)
    threads_axis(axes, _threads(model))
    axes.set_yscale("log")
    axes.set_ylabel("time of a pass, s")
    axes.set_title("S1, table 4: writing by heap (192 and 256 threads: the model alone)")
    legend_below(figure, axes)
    return told


def _table_5(figure: Figure) -> int:
    axes = figure.subplots()
    pattern = r"Table 5, 2D, a scratch of each thread allocated in each step: (?P<name>first touch|jarena), (?P<at>\d+) threads"
    model, printed = _series(("C30",), pattern)
    told = curves(axes, model, printed)
    threads_axis(axes, _threads(model))
    axes.set_yscale("log")
    ticks = [2, 5, 10, 20, 50, 100]
    axes.set_yticks(ticks, list(map(str, ticks)))
    axes.minorticks_off()
    axes.set_ylabel("time, s")
    axes.set_title("S1, table 5: advection in two dimensions (JArena on 8 threads sets the scale)")
    legend_below(figure, axes)
    return told


def _blind(figure: Figure) -> int:
    both = figure.subplots(1, 2)
    for axes, claim, table in zip(both, ("C31", "C32"), ("Table 5, 3D", "Table 6, JEMS-FDTD"), strict=True):
        pattern = rf"{table}: speed-up over 8 threads, (?P<name>first touch|jarena), (?P<at>\d+) threads"
        model, printed = _series((claim,), pattern)
        curves(axes, model, printed)
        threads_axis(axes, _threads(model))
        axes.set_yscale("log", base=2)
        ticks = [1, 2, 4, 8, 16, 32]
        axes.set_yticks(ticks, list(map(str, ticks)))
        axes.minorticks_off()
        axes.set_title(table)
    both[0].set_ylabel("speed-up over 8 threads")
    figure.suptitle("S1, table 5 (3D) and table 6: the model alone, the printed values are kept apart")
    legend_below(figure, both[0])
    return 0


_PAGE = "published/s1/results.md"
DRAWINGS = (
    Drawing("paper-s1-table-1", "fragmentation by page size", _PAGE, _table_1, (8, 4)),
    Drawing("paper-s1-table-3", "remote pages by heap", _PAGE, _table_3, (8, 4.2)),
    Drawing("paper-s1-table-4", "time of writing by heap", _PAGE, _table_4, (8, 4.2)),
    Drawing("paper-s1-table-5", "advection in two dimensions", _PAGE, _table_5, (8, 4.2)),
    Drawing("paper-s1-tables-5-6", "speed-up of two applications", _PAGE, _blind, (8, 4.2)),
)
