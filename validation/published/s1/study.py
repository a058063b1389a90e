"""S1 as a study: Tables 1 to 5, and what each mechanism does to them."""

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published.s1 import blind, cases, fitted, heap_rows, mechanisms
from validation.published.s1 import rows as compared
from validation.published.s1.replays import (
    CELLS,
    PRINTED_BLOCKS,
    advection_heap,
    advection_seconds,
    remote_pages,
    setting,
    write_seconds,
)
from validation.rows import Row

VARIANT = "a scratch of each thread allocated in each step"
SMALL_PATCHES, SMALL_TEAMS = 1024, (8, 16)


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C21 to C27, C30, C33, C34 and C37."""
    yield from heap_rows.table_1()
    for team in SMALL_TEAMS if small else (*cases.WHOLE_TEAMS, *cases.REDUCED_TEAMS):
        blocks = PRINTED_BLOCKS if team in cases.WHOLE_TEAMS else cases.REDUCED_BLOCKS
        yield from heap_rows.table_3(team, {heap: remote_pages(folder, heap, team, blocks) for heap in cases.TABLE_3})
    printed = cases.references()
    yield from compared.distance_rows(printed, hn.Machine.load(cases.MACHINE).topology["latency_ns"])
    yield from compared.fitted_rows()

    changes = fitted.changes()
    heaps = {heap: setting(heap) for heap in cases.WRITE_ORDER}
    times = {
        (heap, team): write_seconds(folder, team, heaps[heap], changes)
        for heap in cases.WRITE_ORDER
        for team in cases.WRITE_TEAMS
    }
    yield from compared.write_rows(printed, times)

    patches = SMALL_PATCHES if small else int(fitted.PATCHES.value)
    problem = f"{patches} patches of {CELLS} x {CELLS}"
    columns = {column: setting(advection_heap(heap)) for column, heap in cases.ADVECTION_HEAPS.items()}
    found = {
        (column, team): advection_seconds(folder, team, "scratch", patches, columns[column], changes)
        for column in columns
        for team in cases.ADVECTION_TEAMS
    }
    yield from compared.advection_rows(printed, found, VARIANT, problem)
    yield from mechanisms.rows(folder, patches, problem)
    if not small:
        yield from blind.rows(folder, patches)
