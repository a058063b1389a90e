"""S2's A* by version (C42, C44, C48): hash tables, and lists searched from end to end as the cited code has and S2's own page.

A linear search makes as many looks as the square of its expansions. So expansions and the private caches are reduced together: nodes
are 1.5 times the second level, as S2's page had until 27 November with hash tables; its lists have 3.1 times.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from validation.published.s2.cases import MACHINE, References
from validation.published.s2.replays import Compared, figures
from validation.rows import Row, predicted
from validation.traces import captured, trace_path


@dataclass(frozen=True)
class Search:
    """A program, and the caches that are reduced with it."""

    named: str
    kernel: str
    parameters: Mapping[str, int | str]
    changes: Mapping[str, str]


REDUCED = {"caches.1.size": "4 KiB", "caches.2.size": "32 KiB"}
SEARCHES = (
    Search("hash tables", "sliding_tile", {"expand": 6000, "table": 12}, {}),
    Search("hash tables, reduced as the lists are", "sliding_tile", {"expand": 400, "table": 8}, REDUCED),
    Search("lists searched from end to end", "sliding_tile_lists", {"expand": 400}, REDUCED),
)


def compared(folder: Path, search: Search, threads: int, seed: int = 0) -> Compared:
    """The search under both heaps."""
    parameters: dict[str, int | str] = {"instance": "korf12", "nodes": "heap", "check": 0, **search.parameters}
    place = folder / f"threads{threads}"
    trace = captured(place, search.kernel, parameters, threads=threads)
    machine = hn.Machine.load(MACHINE)
    machine = machine.with_changes(dict(search.changes)) if search.changes else machine
    choices = hn.grid([machine], [threads], heap=("regular", "latency-aware"), engine="line", pages="2MiB", seed=seed)
    command = choices[1].command(trace_path(place, search.kernel, parameters).name)
    regular, aware = (figures(result.run, command) for result in hn.replay_grid(trace, choices))
    return Compared(regular, aware)


def rows(folder: Path, printed: References, teams: tuple[int, ...]) -> Iterator[Row]:
    """Gain, share of time in memory and cut of latency, by version."""
    least, most = (printed[MACHINE, name].value for name in ("least_gain", "most_gain"))
    for search in SEARCHES:
        for threads in teams:
            one = compared(folder, search, threads)
            share = one.regular.memory_seconds / one.regular.busy_seconds
            cut = 1 - one.aware.latency / one.regular.latency
            text = f"{100 * one.gain:.1f} % (f {share:.2f}, r {cut:.3f})"
            what = f"A* with {search.named}, {threads} cores: gain of latency-aware"
            inside = least - 0.005 <= one.gain <= most + 0.005
            command = one.aware.command
            yield predicted("C42", MACHINE, what, f"{100 * least:.0f} to {100 * most:.0f} %", text, inside, command)
            ratio = one.aware.first_thread_lines / one.regular.first_thread_lines
            what = f"A* with {search.named}, {threads} cores: lines of core 0, latency-aware over regular"
            yield predicted("C44", MACHINE, what, "about equal", ratio, 0.95 <= ratio <= 1.05, command)
