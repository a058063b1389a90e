"""Runs S1's cases: Tables 1 and 3 (s1_heap), 2, 4 and 5, and what each mechanism does to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published import s1, s1_blind, s1_fitted, s1_heap, s1_mechanisms
from validation.published.s1_replays import CELLS, advection_heap, advection_seconds, setting, write_seconds
from validation.rows import Row

VARIANT = "a scratch of each thread allocated in each step"
SMALL_PATCHES = 1024


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C21 to C27, C30, C33, C34 and C37."""
    yield from s1_heap.rows(folder, small)
    printed = s1.references()
    yield from s1.distance_rows(printed, hn.Machine.load(s1.MACHINE).topology["latency_ns"])
    yield from s1.fitted_rows()

    changes = s1_fitted.changes()
    heaps = {heap: setting(heap) for heap in s1.WRITE_ORDER}
    times = {
        (heap, team): write_seconds(folder, team, heaps[heap], changes)
        for heap in s1.WRITE_ORDER
        for team in s1.WRITE_TEAMS
    }
    yield from s1.write_rows(printed, times)

    patches = SMALL_PATCHES if small else int(s1_fitted.PATCHES.value)
    problem = f"{patches} patches of {CELLS} x {CELLS}"
    columns = {column: setting(advection_heap(heap)) for column, heap in s1.ADVECTION_HEAPS.items()}
    found = {
        (column, team): advection_seconds(folder, team, "scratch", patches, columns[column], changes)
        for column in columns
        for team in s1.ADVECTION_TEAMS
    }
    yield from s1.advection_rows(printed, found, VARIANT, problem)
    yield from s1_mechanisms.rows(folder, patches, problem)
    if not small:
        yield from s1_blind.rows(folder, patches)
