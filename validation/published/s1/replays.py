"""Replays of S1's Tables 3, 4 and 5 on the SGI UV: one capture for each team, for both programs hand memory out by rank.

Reduced problems, as the printed ones do not fit this host:
- heap_list1 with 8 of the 64 blocks of a thread (times are multiplied by 8; a node's blocks, 64 MB, still exceed its cache of 18 MB).
- advection on patches of 50 x 50 cells. On 256 threads they would nearly fit the caches, which the application's grid cannot (0.9 s a
  step on 8 threads at 12 GB/s are 11 GB): the second and third level are made smaller, so that a thread's patches exceed the one
  and a node's the other, as there. A thread's scratch shrinks with its patches; glibc's thresholds, 128 KiB, shrink as much, for
  there they are small beside the scratch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from validation.published.s1.cases import MACHINE, SYSTEM
from validation.traces import captured, trace_path

BLOCKS, PRINTED_BLOCKS = 8, 64
CELLS = 50  # S1's Table 1 has patches of 50 x 50
# A patch with its temporaries, 60 KB, fits the second level; a thread's patches, 450 KB of 256 threads, exceed it, and a node's the third
SMALLER_CACHES = {"caches.2.size": "64 KiB", "caches.3.size": "1152 KiB"}
SMALLER_THRESHOLDS = "mmap_threshold=4 KiB,trim_threshold=4 KiB,top_pad=4 KiB"


@dataclass(frozen=True)
class Seconds:
    """A replay's answer, with what repeats it."""

    seconds: float
    command: str


def _trace(folder: Path, kernel: str, team: int, parameters: Mapping[str, int | str]) -> tuple[hn.Trace, Path]:
    into = folder / f"team-{team}"
    return captured(into, kernel, parameters, threads=team), trace_path(into, kernel, parameters)


def setting(heap: str, system: str = SYSTEM) -> hn.RunSpec:
    """A heap manager on S1's kernel."""
    return hn.RunSpec(heap=heap, system=system)


def advection_heap(heap: str) -> str:
    """A heap manager at the size of the reduced patches."""
    if not heap.startswith("glibc"):
        return heap
    return f"{heap},{SMALLER_THRESHOLDS}" if ":" in heap else f"{heap}:{SMALLER_THRESHOLDS}"


def _labelled(result: hn.Result, label: str) -> float:
    return float(result.regions["seconds"][label])


def _kernel_time(label: str) -> bool:
    """Whether S1's "wall time of numerical computing" has the region: exchange and compute (FDTD: update), in parts."""
    return label.startswith(("exchange", "compute", "update"))


def remote_pages(folder: Path, heap: str, team: int, blocks: int = PRINTED_BLOCKS) -> tuple[float, str]:
    """Remote pages of a pass of List. 1 once the heap is warm, as if with all blocks, and what repeats the last replay."""
    spec, counted, path = hn.RunSpec(hn.Machine.load(MACHINE), threads=team, heap=heap), [], folder
    for passes in (1, 3):
        parameters: dict[str, int | str] = {"blocks": blocks, "bytes": 1 << 20, "passes": passes, "check": 0}
        trace, path = _trace(folder, "heap_list1", team, parameters)
        result = hn.replay_grid(trace, [spec])[0]
        counted.append(result.run["heap_detail"]["remote_block_pages"])
    return (counted[1] - counted[0]) / 2 * PRINTED_BLOCKS / blocks, f"{spec.command(path.name)} --json"


def write_seconds(folder: Path, team: int, setting: hn.RunSpec, changes: Mapping[str, str]) -> Seconds:
    """The seconds that a pass of heap_list1 takes once the heap is warm, as if with all blocks.

    537 MB a node in 0.039 s are 13.8 GB/s; were the lines fetched first it would be twice that, beyond the platform: they are not.
    """
    machine = hn.Machine.load(MACHINE).with_changes(dict(changes))
    spec = setting.with_(machine=machine, threads=team, stores="nt")
    passes = []
    for count in (2, 4):
        trace, path = _trace(folder, "heap_list1", team, {"blocks": BLOCKS, "passes": count, "check": 0})
        # up to the barrier: blocks are allocated and written; behind it, in pass:code1, they are freed
        passes.append(_labelled(hn.replay_grid(trace, [spec])[0], "pass:code"))
    seconds = (passes[1] - passes[0]) / 2 * PRINTED_BLOCKS / BLOCKS
    return Seconds(seconds, spec.command(path.name))


def step_seconds(
    folder: Path,
    kernel: str,
    given: Mapping[str, int | str],
    team: int,
    patches: int,
    setting: hn.RunSpec,
    changes: Mapping[str, str],
) -> Seconds:
    """The seconds of a step (exchange and compute), without what the first one finds in the caches and takes for its pages."""
    machine = hn.Machine.load(MACHINE).with_changes({**SMALLER_CACHES, **changes})
    spec = setting.with_(machine=machine, threads=team)
    steps = []
    for count in (1, 2):
        parameters: dict[str, int | str] = {**given, "patches": patches // team, "steps": count, "check": 0}
        trace, path = _trace(folder, kernel, team, parameters)
        result = hn.replay_grid(trace, [spec])[0]
        steps.append(sum(_labelled(result, label) for label in result.regions.index if _kernel_time(label)))
    return Seconds(steps[1] - steps[0], spec.command(path.name))


def advection_seconds(
    folder: Path, team: int, temporaries: str, patches: int, setting: hn.RunSpec, changes: Mapping[str, str]
) -> Seconds:
    """A step of the 2D sample."""
    given: dict[str, int | str] = {"patch": CELLS, "temporaries": temporaries}
    return step_seconds(folder, "advection2d", given, team, patches, setting, changes)
