"""Replays of S1's Tables 3, 4 and 5 on the SGI UV: one capture for each team, for both programs hand memory out by rank.

Reduced problems, as the printed ones do not fit this host:
- heap_list1 with 8 of the 64 blocks of a thread (times are multiplied by 8; a node's blocks, 64 MB, still exceed its cache of 18 MB).
- advection on patches of 50 x 50 cells. On 256 threads they would nearly fit the caches, which the application's grid cannot (0.9 s a
  step on 8 threads at 12 GB/s are 11 GB): sgi-uv-32s-reduced has smaller second and third levels, so that a thread's patches exceed
  the one and a node's the other, as there. A thread's scratch shrinks with its patches; glibc's thresholds, 128 KiB, shrink as much,
  for there they are small beside the scratch.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

import homenode as hn
from validation.published.s1.cases import MACHINE, REDUCED_MACHINE, SEEDS, SYSTEM
from validation.traces import captured, trace_path

BLOCKS, PRINTED_BLOCKS = 8, 64
CELLS = 50  # S1's Table 1 has patches of 50 x 50
SMALLER_THRESHOLDS = "mmap_threshold=4 KiB,trim_threshold=4 KiB,top_pad=4 KiB"

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Seconds:
    """A replay's answer, with what repeats it."""

    seconds: float
    command: str


@dataclass(frozen=True)
class Pages:
    """Counts of several seeds, which draw who gets a heap's lock first, and what repeats the first one's replay."""

    counts: tuple[float, ...]
    command: str

    @property
    def middle(self) -> float:
        """The median of the seeds."""
        return median(self.counts)


def _trace(folder: Path, kernel: str, team: int, parameters: Mapping[str, int | str]) -> tuple[hn.Trace, Path]:
    into = folder / f"team-{team}"
    return captured(into, kernel, parameters, threads=team), trace_path(into, kernel, parameters)


def setting(heap: str, system: str = SYSTEM, machine: hn.Machine | str = MACHINE) -> hn.RunSpec:
    """A heap manager on S1's kernel; on S1's machine, or another."""
    return hn.RunSpec(hn.Machine.load(machine) if isinstance(machine, str) else machine, heap=heap, system=system)


def advection_heap(heap: str) -> str:
    """A heap manager at the size of the reduced patches."""
    if not heap.startswith("glibc"):
        return heap
    return f"{heap},{SMALLER_THRESHOLDS}" if ":" in heap else f"{heap}:{SMALLER_THRESHOLDS}"


def advection_setting(heap: str, system: str = SYSTEM, machine: hn.Machine | str = REDUCED_MACHINE) -> hn.RunSpec:
    """Likewise, for the patch kernels."""
    return setting(advection_heap(heap), system, machine)


def _labelled(result: hn.Result, label: str) -> float:
    return float(result.regions["seconds"][label])


def _kernel_time(label: str) -> bool:
    """Whether S1's "wall time of numerical computing" has the region: exchange and compute (FDTD: update), in parts."""
    return label.startswith(("exchange", "compute", "update"))


def _replayed(trace: hn.Trace, specs: Mapping[K, hn.RunSpec]) -> dict[K, hn.Result]:
    """All settings in one grid, side by side on the host's cores."""
    return dict(zip(specs, hn.replay_grid(trace, list(specs.values())), strict=True))


def remote_pages(
    folder: Path, heaps: Iterable[str], team: int, blocks: int = PRINTED_BLOCKS, seeds: Iterable[int] = SEEDS
) -> dict[str, Pages]:
    """By heap: remote pages of a pass of List. 1 once it is warm, as if with all blocks."""
    specs = {(heap, seed): setting(heap).with_(threads=team, seed=seed) for heap in heaps for seed in seeds}
    counted: list[dict[tuple[str, int], float]] = []
    path = folder
    for passes in (1, 3):
        parameters: dict[str, int | str] = {"blocks": blocks, "bytes": 1 << 20, "passes": passes, "check": 0}
        trace, path = _trace(folder, "heap_list1", team, parameters)
        found = _replayed(trace, specs)
        counted.append(
            {chosen: float(result.run["heap_detail"]["remote_block_pages"]) for chosen, result in found.items()}
        )
    scale = PRINTED_BLOCKS / blocks / 2
    pages = {chosen: (counted[1][chosen] - counted[0][chosen]) * scale for chosen in specs}
    return {
        heap: Pages(
            tuple(count for (of, _), count in pages.items() if of == heap),
            f"{next(spec for (of, _), spec in specs.items() if of == heap).command(path.name)} --json",
        )
        for heap in heaps
    }


def write_seconds(folder: Path, team: int, settings: Mapping[K, hn.RunSpec]) -> dict[K, Seconds]:
    """By setting the seconds that a pass of heap_list1 takes once the heap is warm, as if with all blocks.

    537 MB a node in 0.039 s are 13.8 GB/s; were the lines fetched first it would be twice that, beyond the platform: they are not.
    """
    specs = {name: chosen.with_(threads=team, stores="nt") for name, chosen in settings.items()}
    passes: list[dict[K, float]] = []
    path = folder
    for count in (2, 4):
        trace, path = _trace(folder, "heap_list1", team, {"blocks": BLOCKS, "passes": count, "check": 0})
        # up to the barrier: blocks are allocated and written; behind it, in pass:code1, they are freed
        passes.append({name: _labelled(result, "pass:code") for name, result in _replayed(trace, specs).items()})
    scale = PRINTED_BLOCKS / BLOCKS / 2
    return {
        name: Seconds((passes[1][name] - passes[0][name]) * scale, spec.command(path.name))
        for name, spec in specs.items()
    }


def step_seconds(
    folder: Path,
    kernel: str,
    given: Mapping[str, int | str],
    team: int,
    patches: int,
    settings: Mapping[K, hn.RunSpec],
) -> dict[K, Seconds]:
    """By setting the seconds of a step (exchange and compute), without what the first one finds in the caches and takes for its pages."""
    specs = {name: chosen.with_(threads=team) for name, chosen in settings.items()}
    steps: list[dict[K, float]] = []
    path = folder
    for count in (1, 2):
        parameters: dict[str, int | str] = {**given, "patches": patches // team, "steps": count, "check": 0}
        trace, path = _trace(folder, kernel, team, parameters)
        steps.append(
            {
                name: sum(_labelled(result, label) for label in result.regions.index if _kernel_time(label))
                for name, result in _replayed(trace, specs).items()
            }
        )
    return {name: Seconds(steps[1][name] - steps[0][name], spec.command(path.name)) for name, spec in specs.items()}


def advection_seconds(
    folder: Path, team: int, temporaries: str, patches: int, settings: Mapping[K, hn.RunSpec]
) -> dict[K, Seconds]:
    """A step of the 2D sample, by setting."""
    given: dict[str, int | str] = {"patch": CELLS, "temporaries": temporaries}
    return step_seconds(folder, "advection2d", given, team, patches, settings)
