"""S0, figure 2b (C3): how long ft's accesses take under each placement, line by line.

S0 samples ft's largest class with V-Tune; here every line
beyond the private caches is followed by the engine `line`, for class W on machines whose last levels have an eighth of their size, so that
its arrays exceed them as those of the larger classes exceed the whole ones. Counts are of one more iteration: what the longer of two
traces has more, without initialisation and without the pass that places pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import homenode as hn
from validation.page_with_notes import markdown_table
from validation.published.page import COLUMNS
from validation.published.s0.cases import AWARE, FT_IN_C, INTERLEAVE, MACHINES, PINNED, SYSTEMS, A, B
from validation.result_cache import ResultCache, package_hash
from validation.rows import AnyRow, Row, predicted
from validation.study import Study
from validation.traces import captured, trace_path

PAGE = Path(__file__).with_name("results_latency.md")
COMMAND = "python -m validation s0-latency --write"
SERIAL = "bind:0"  # first touch, had one thread initialised
PLACEMENTS = (*(setting.placement for setting in (AWARE, INTERLEAVE, PINNED)), SERIAL)
FEW, MORE = 1, 2  # iterations
PRIVATE = ("L2", "upgrade")  # no data from beyond the core
FROM_AFAR = ("1 hop", "2 hops", "more hops")
FROM_MEMORY = ("local", "same socket", *FROM_AFAR)
LAST_LEVEL = {A: "3 MiB", B: "3.75 MiB"}  # of 24 and 30
EDGES = (0, 80, 160, 320, 640, 1280)  # nanoseconds; multiples of every width of the report's bins that is met here


@dataclass(frozen=True)
class Latencies:
    """An iteration's lines by source and by latency, the middle of its bin in nanoseconds."""

    placement: str
    seconds: float
    lines: Mapping[str, Mapping[float, int]]
    command: str

    def count(self, sources: tuple[str, ...], beyond: float = 0) -> int:
        """Lines from these sources that took longer."""
        return sum(n for source in sources for taken, n in self.lines.get(source, {}).items() if taken > beyond)

    def mean(self, source: str) -> float:
        """Nanoseconds."""
        bins = self.lines[source]
        total = sum(bins.values())
        return sum(taken * n for taken, n in bins.items()) / total if total else 0.0


def _by_bins(run: Mapping[str, Any]) -> dict[str, dict[float, int]]:
    histogram = run["latency_histogram_ns"]
    middles = [(low + high) / 2 for low, high in pairwise(histogram["edges"])]
    return {
        source: {middle: n for middle, n in zip(middles, counts, strict=True) if n}
        for source, counts in histogram["by_source"].items()
        if source not in PRIVATE
    }


def _less(
    more: Mapping[str, Mapping[float, int]], few: Mapping[str, Mapping[float, int]]
) -> dict[str, dict[float, int]]:
    return {
        source: {
            taken: bins.get(taken, 0) - few.get(source, {}).get(taken, 0)
            for taken in sorted({*bins, *few.get(source, {})})
            if bins.get(taken, 0) != few.get(source, {}).get(taken, 0)
        }
        for source, bins in more.items()
    }


def latencies(folder: Path, cache: ResultCache, size: str, machine: str, placement: str) -> Latencies:
    """Replay both traces by lines."""
    found = []
    changed = {"caches.3.size": LAST_LEVEL[machine]}
    small = hn.Machine.load(machine).with_changes(changed)
    for iterations in (FEW, MORE):
        parameters: dict[str, int | str] = {"class": size, "iterations": iterations, "check": 0}
        trace = captured(folder, FT_IN_C, parameters)
        choice: dict[str, Any] = {
            "threads": MACHINES[machine],
            "placement": placement,
            "system": SYSTEMS[machine],
            "engine": "line",
        }

        def ask(trace: hn.Trace = trace, choice: Mapping[str, Any] = choice) -> dict[str, Any]:
            run = hn.replay(trace, small, **choice).run
            once = sum(region["seconds"] for region in run["regions"] if region["label"] == "placement pass")
            return {"seconds": run["seconds"] - once, "bins": [[s, [*b.items()]] for s, b in _by_bins(run).items()]}

        found.append(cache.get({"trace": trace.hash, "machine": machine, **changed, **choice}, ask))
        name = trace_path(folder, FT_IN_C, parameters).name
        command = hn.RunSpec(small, **choice).command(name)
    few, more = ({source: dict(bins) for source, bins in one["bins"]} for one in found)
    return Latencies(placement, found[1]["seconds"] - found[0]["seconds"], _less(more, few), command)


def farthest_latency(machine: str) -> float:
    """Nanoseconds of the farthest memory, idle."""
    return float(hn.Machine.load(machine).latency_ns.max())


def rows(machine: str, size: str, found: Mapping[str, Latencies]) -> Iterator[Row]:
    """C3: aware has fewer lines from afar than interleave and ends sooner, both wait less than first touch."""
    every = tuple(found[placement] for placement in PLACEMENTS)
    twice = 2 * farthest_latency(machine)

    def row(what: str, order: str, values: tuple[float, ...], right: bool, unit: str) -> Row:
        said = " / ".join(f"{value:.4g}" for value in values)
        return predicted("C3", machine, f"ft {size}: {what}", order, said, right, every[0].command, unit)

    afar = tuple(one.count(FROM_AFAR) / one.count(FROM_MEMORY) for one in every)
    yield row("share of memory's lines that are another node's", "aware < interleave", afar, afar[0] < afar[1], "1")
    tail = tuple(one.count(FROM_MEMORY, twice) / one.count(FROM_MEMORY) for one in every)
    what = f"share of memory's lines that take more than {twice:.0f} ns, twice the farthest memory's idle latency"
    relieved = max(tail[:2])
    yield row(f"{what}; at least 1 % less", "aware, interleave < first touch", tail, relieved < 0.99 * tail[2], "1")
    as_if = f"{what}; first touch of one thread"
    yield row(as_if, "aware, interleave < first touch", tail, relieved < 0.99 * tail[3], "1")
    yield row(what, "aware < interleave", tail, tail[0] < tail[1], "1")
    slow = tuple(one.count(FROM_AFAR, twice) / one.count(FROM_MEMORY) for one in every)
    what = f"share of memory's lines that are another node's and take more than {twice:.0f} ns"
    yield row(what, "aware < interleave", slow, slow[0] < slow[1], "1")
    times = tuple(1e3 * one.seconds for one in every)
    yield row("time of an iteration", "aware < interleave", times, times[0] < times[1], "ms")


def histogram(found: Mapping[str, Latencies]) -> Iterator[str]:
    """Thousands of lines by latency, and by source with their mean latency."""
    ranges = [f"{low} to {high} ns" for low, high in pairwise(EDGES)] + [f"from {EDGES[-1]} ns"]
    yield f"| placement | {' | '.join(ranges)} |"
    yield "|---|" + "---|" * len(ranges)
    for one in found.values():
        every = tuple(one.lines)
        beyond = [*(one.count(every, low) for low in EDGES), 0]
        cells = [f"{(here - there) / 1e3:.1f}" for here, there in pairwise(beyond)]
        yield f"| {one.placement} | {' | '.join(cells)} |"
    sources = sorted({source for one in found.values() for source in one.lines})
    yield ""
    yield f"| placement | {' | '.join(sources)} |"
    yield "|---|" + "---|" * len(sources)
    for one in found.values():
        cells = [
            f"{one.count((source,)) / 1e3:.1f} ({one.mean(source):.0f} ns)" if one.count((source,)) > 0 else "–"
            for source in sources
        ]
        yield f"| {one.placement} | {' | '.join(cells)} |"


@dataclass(frozen=True)
class OnMachine(AnyRow):
    """ft under every placement on one machine."""

    machine: str
    size: str
    placements: Mapping[str, Latencies]

    def rows(self) -> list[Row]:
        """What C3 says of it."""
        return list(rows(self.machine, self.size, self.placements))

    def as_json(self) -> dict[str, Any]:
        """Return rows and histograms as plain values."""
        return {
            "machine": self.machine,
            "size": self.size,
            "rows": [row.as_json() for row in self.rows()],
            "placements": {
                name: {"seconds": one.seconds, "lines": one.lines, "command": one.command}
                for name, one in self.placements.items()
            },
        }


def page(found: Sequence[OnMachine]) -> str:
    """All tables, down to what is written by hand."""
    lines = [
        "# Metzger et al. 2018 (S0), figure 2b: how long ft's accesses take",
        "",
        f"Written by `{COMMAND}`, down to the tables. One more iteration of ft by the engine `line`, each machine with the kernel of",
        "S0's Table 1, one pinned thread a core, class W with last levels of an eighth of their size. S0 shows ft's largest class, on a",
        "machine that it does not name, and prints no numbers. Models: stencil-aware / interleave / first touch / everything on node 0,",
        "which is where first touch had put it if one thread initialised.",
        "",
    ]
    values = [row.as_json() for one in found for row in one.rows()]
    lines += markdown_table(COLUMNS, [[row[column] for column in COLUMNS] for row in values])
    for one in found:
        title = f"ft {one.size} on {one.machine}: thousands of lines from beyond the private caches, by latency and by source:"
        lines += ["", title, "", *histogram(one.placements)]
    return "\n".join(lines) + "\n"


def _line(one: OnMachine) -> str:
    told = [f"{row.machine}  {row.what}: {row.model} {row.unit}  {row.published}  {row.verdict}" for row in one.rows()]
    return "\n".join([*told, *histogram(one.placements)])


def on_machines(folder: Path, small: bool = False) -> Iterator[OnMachine]:
    """Every placement on each machine."""
    cache, size = ResultCache(folder / "s0_latency.jsonl", package_hash()), "S" if small else "W"
    for machine in MACHINES:
        found = {name: latencies(folder, cache, size, machine, name) for name in PLACEMENTS}
        yield OnMachine(machine, size, found)


STUDY = Study(
    "s0-latency",
    "figure 2b of S0 against the engine `line`: how long ft's accesses take",
    "2 minutes",
    ("machine", "size", "rows", "placements"),
    lambda options: on_machines(options.folder, options.small),
    (PAGE,),
    line=_line,
    tables=page,
)
