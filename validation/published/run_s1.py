"""Runs S1's Tables 4 and 5 on the SGI UV: one capture for each team, for both programs hand memory out by rank.

Reduced problems, as the printed ones do not fit this host: heap_list1 with 8 of the 64 blocks of a thread (times are multiplied by
8; a node's blocks, 64 MB, still exceed its cache of 18 MB), and advection on 1024 patches of 50 x 50 cells. On 256 threads
those would fit the private caches, which the application's grid cannot (0.9 s a step on 8 threads at 12 GB/s are 11 GB): the second
and third level are made smaller, so that a thread's patches exceed the one and a node's the other, as there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import homenode as hn
from validation.available import Setting, missing
from validation.published import s1, s1_heap
from validation.published.s1 import Seconds
from validation.rows import Row
from validation.traces import captured, trace_path

SYSTEM = "linux-2.6.32"  # S1, Table 2
BLOCKS, PRINTED_BLOCKS = 8, 64
PATCHES, CELLS = 1024, 50  # of all threads; S1's Table 1 has patches of 50 x 50
# 61 MB of patches: 240 KB for each of 256 threads, 1.9 MB for each node; a patch with its temporaries, 60 KB, fits the second level
SMALLER_CACHES = {"caches.2.size": "64 KiB", "caches.3.size": "1152 KiB"}
VARIANTS = {"temporaries kept": "reuse", "temporaries allocated anew": "anew"}


def _trace(folder: Path, kernel: str, team: int, parameters: Mapping[str, int | str]) -> tuple[hn.Trace, Path]:
    into = folder / f"team-{team}"
    return captured(into, kernel, parameters, threads=team), trace_path(into, kernel, parameters)


def _replay(trace: hn.Trace, machine: hn.Machine, team: int, setting: Setting) -> hn.Result:
    chosen: dict[str, Any] = setting.keywords()
    return hn.replay(trace, machine, threads=team, **chosen)


def _setting(heap: str) -> Setting:
    """A heap manager on S1's kernel, where this version of homenode describes it."""
    setting = Setting(heap=heap)
    with_system = dataclasses.replace(setting, system=SYSTEM)
    return setting if missing(Setting(system=SYSTEM)) else with_system


def _labelled(result: hn.Result, label: str) -> float:
    return float(result.regions["seconds"][label])


def _kernel_time(label: str) -> bool:
    """Whether S1's "wall time of numerical computing" has the region: exchange and compute, in however many parts."""
    return label.partition(":")[0] in ("exchange", "compute")


def write_seconds(folder: Path, machine: hn.Machine, team: int, setting: Setting) -> Seconds:
    """The seconds that a pass of heap_list1 takes once the heap is warm, as if with all blocks."""
    passes = []
    for count in (2, 4):
        trace, path = _trace(folder, "heap_list1", team, {"blocks": BLOCKS, "passes": count, "check": 0})
        # up to the barrier: blocks are allocated and written; behind it, in pass:code1, they are freed
        passes.append(_labelled(_replay(trace, machine, team, setting), "pass:code"))
    seconds = (passes[1] - passes[0]) / 2 * PRINTED_BLOCKS / BLOCKS
    command = f"homenode replay {path.name} --machine {s1.MACHINE} --threads {team} {setting.options()}"
    return Seconds(seconds, command)


def advection_seconds(
    folder: Path, machine: hn.Machine, team: int, temporaries: str, patches: int, setting: Setting
) -> Seconds:
    """The seconds of a step (exchange and compute), without what the first one finds in the caches."""
    steps = []
    for count in (1, 3):
        parameters: dict[str, int | str] = {
            "patch": CELLS,
            "patches": patches // team,
            "steps": count,
            "temporaries": temporaries,
            "check": 0,
        }
        trace, path = _trace(folder, "advection2d", team, parameters)
        result = _replay(trace, machine, team, setting)
        steps.append(sum(_labelled(result, label) for label in result.regions.index if _kernel_time(label)))
    command = f"homenode replay {path.name} --machine {s1.MACHINE} --threads {team} {setting.options()} " + " ".join(
        f"--change '{name}={value}'" for name, value in SMALLER_CACHES.items()
    )
    return Seconds((steps[1] - steps[0]) / 2, command)


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C21 to C27, C30, C33, C34 and C37; what a policy is missing for is not compared."""
    yield from s1_heap.rows(folder, small)
    printed = s1.references()
    machine = hn.Machine.load(s1.MACHINE)
    yield from s1.distance_rows(printed, machine.topology["latency_ns"])

    heaps = {heap: _setting(heap) for heap in s1.WRITE_ORDER}
    absent = {heap: missing(setting) for heap, setting in heaps.items()}
    times = {
        (heap, team): write_seconds(folder, machine, team, setting)
        for heap, setting in heaps.items()
        for team in s1.WRITE_TEAMS
        if not absent[heap]
    }
    yield from s1.write_rows(printed, times, absent)

    reduced = machine.with_changes(SMALLER_CACHES)
    patches = 512 if small else PATCHES
    for variant, temporaries in VARIANTS.items():
        columns = {column: heaps[heap] for column, heap in s1.ADVECTION_HEAPS.items()}
        lacking = {column: missing(setting) for column, setting in columns.items()}
        found = {
            (column, team): advection_seconds(folder, reduced, team, temporaries, patches, setting)
            for column, setting in columns.items()
            for team in s1.ADVECTION_TEAMS
            if not lacking[column]
        }
        problem = f"{patches} patches of {CELLS} x {CELLS}"
        yield from s1.advection_rows(printed, found, lacking, variant, problem)
