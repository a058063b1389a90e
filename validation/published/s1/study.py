"""S1 as a study: Tables 1 to 5, and what each mechanism does to them."""

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published.claims.figures import Figure
from validation.published.s1 import blind, cases, claim_figures, fitted, heap_rows, mechanisms
from validation.published.s1 import rows as compared
from validation.published.s1.replays import (
    CELLS,
    PRINTED_BLOCKS,
    advection_seconds,
    advection_setting,
    remote_pages,
    setting,
    write_seconds,
)
from validation.rows import Row

VARIANT = "a scratch of each thread allocated in each step"
SMALL_PATCHES, SMALL_TEAMS = 1024, (8, 16)


def rows(folder: Path, small: bool = False) -> Iterator[Row | Figure]:
    """Yield the rows of C21 to C27, C30, C33, C34 and C37."""
    yield from heap_rows.table_1()
    yield from claim_figures.fragmentation_figures()
    teams = SMALL_TEAMS if small else (*cases.WHOLE_TEAMS, *cases.REDUCED_TEAMS)
    pages = {team: remote_pages(folder, cases.TABLE_3, team, blocks_of(team)) for team in teams}
    for team, found in pages.items():
        yield from heap_rows.table_3(team, found)
    yield from claim_figures.page_figures(pages)
    printed = cases.references()
    latency_ns = hn.Machine.load(cases.MACHINE).topology["latency_ns"]
    yield from compared.distance_rows(printed, latency_ns)
    yield from claim_figures.distance_figures(latency_ns)
    yield from compared.fitted_rows()

    heaps = {heap: setting(heap) for heap in cases.WRITE_ORDER}
    times = {
        (heap, team): seconds
        for team in cases.WRITE_TEAMS
        for heap, seconds in write_seconds(folder, team, heaps).items()
    }
    yield from compared.write_rows(printed, times)
    yield from claim_figures.write_figures(times)

    patches = SMALL_PATCHES if small else int(fitted.PATCHES.value)
    problem = f"{patches} patches of {CELLS} x {CELLS}"
    columns = {column: advection_setting(heap) for column, heap in cases.ADVECTION_HEAPS.items()}
    steps = {
        (column, team): seconds
        for team in cases.ADVECTION_TEAMS
        for column, seconds in advection_seconds(folder, team, "scratch", patches, columns).items()
    }
    yield from compared.advection_rows(printed, steps, VARIANT, problem)
    yield from claim_figures.patch_figures("advection2d", steps)
    yield from claim_figures.advection_figures(printed, steps)
    yield from mechanisms.rows(folder, patches, problem)
    if not small:
        yield from blind.rows(folder, patches)


def blocks_of(team: int) -> int:
    """Blocks of a thread: as many as printed, or fewer."""
    return PRINTED_BLOCKS if team in cases.WHOLE_TEAMS else cases.REDUCED_BLOCKS
