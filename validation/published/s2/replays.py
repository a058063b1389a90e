"""S2's replays: the search under both heaps, and STREAM triad by rings."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.run_spec import command
from validation.published.s2.cases import HEAPS, MACHINE, Search
from validation.result_cache import ResultCache, package_hash
from validation.traces import captured, trace_path


@dataclass(frozen=True)
class Searched:
    """The search under one heap."""

    rate: float  # searches' speed summed over threads, 1/s
    busy_seconds: float  # of all threads, the whole run
    memory_seconds: float  # of it, lines from memory under way
    memory_lines: float  # that came from memory, the whole run
    first_thread_lines: float  # that thread 0 exchanged with memory
    reserved_bytes: int
    walks_per_access: float
    command: str

    @property
    def latency(self) -> float:
        """Mean of a line from memory, seconds."""
        return self.memory_seconds / self.memory_lines


def figures(run: Mapping[str, Any], command: str) -> Searched:
    """Of a run of the report."""
    search = next(region for region in run["regions"] if region["label"] == "search:code")
    rate = sum(1 / busy for busy in search["thread_busy_seconds"] if busy > 0)
    edges = run["latency_histogram_ns"]["edges"]
    counts = run["latency_histogram_ns"]["by_source"]["local"]
    middles = [(least + most) / 2 for least, most in pairwise(edges)]
    return Searched(
        rate,
        sum(thread["busy_seconds"] for thread in run["threads_detail"]),
        1e-9 * sum(middle * count for middle, count in zip(middles, counts, strict=False)),
        float(sum(counts)),
        run["threads_detail"][0]["local_bytes"] / 64,
        run["heap_detail"]["reserved_bytes"],
        run["tlb_misses"] / run["accesses"],
        command,
    )


@dataclass(frozen=True)
class Compared:
    """Both heaps on the same frames."""

    regular: Searched
    aware: Searched

    @property
    def gain(self) -> float:
        """Nodes expanded in unit time, more than under `regular`."""
        return self.aware.rate / self.regular.rate - 1


def compared(
    folder: Path, search: Search, changes: Mapping[str, str], threads: int, seeds: Sequence[int], aware: str = HEAPS[1]
) -> list[Compared]:
    """The search by `threads` under the regular heap and the heap `aware`, one comparison for each seed of the frames."""
    program = {"instance": "korf12", "nodes": "heap", "check": 0, **search.parameters}
    changed = {**search.changes, **changes}
    machine = hn.Machine.load(MACHINE).with_changes(changed) if changed else hn.Machine.load(MACHINE)
    # The team is the program's own: it is no parameter of the kernel.
    place = folder / f"threads{threads}"
    trace, path = captured(place, search.kernel, program, threads=threads), trace_path(place, search.kernel, program)
    cache = ResultCache(folder / "s2.jsonl", package_hash())
    heaps = (HEAPS[0], aware)

    def of_seed(seed: int) -> Compared:
        choices = hn.grid([machine], [threads], heap=heaps, engine="line", pages="2MiB", seed=seed)
        repeat = command(path.relative_to(folder), choices)

        def answer() -> dict[str, Any]:
            results = hn.replay_grid(trace, choices)
            return {heap: asdict(figures(result.run, repeat)) for heap, result in zip(heaps, results, strict=True)}

        found = cache.get({"trace": trace.hash, "command": repeat}, answer)
        return Compared(*(Searched(**found[heap]) for heap in heaps))

    return [of_seed(seed) for seed in seeds]


def triad(folder: Path, elements: int, cores: Sequence[int]) -> tuple[dict[tuple[int, int], float], str]:
    """STREAM triad's bytes/s by cores and rings of each kind. The card computes with vectors of eight: an eighth of the core time."""
    settings = {"n": elements, "repeats": 1, "check": 0}
    trace, path = captured(folder, "stream", settings), trace_path(folder, "stream", settings)
    rates, repeat = {}, ""
    for rings in (1, 2):
        changes = {"core_time": "x0.125", "ring.address_rings": str(rings), "ring.acknowledge_rings": str(rings)}
        machine = hn.Machine.load(MACHINE).with_changes(changes)
        for count in cores:
            spec = hn.RunSpec(machine, threads=count, engine="line", stores="nt", pages="2MiB")
            run = hn.replay_grid(trace, [spec])[0].run
            seconds = next(region["seconds"] for region in run["regions"] if region["label"] == "triad")
            rates[count, rings] = 24 * elements / seconds
            repeat = spec.command(path.name)
    return rates, repeat
