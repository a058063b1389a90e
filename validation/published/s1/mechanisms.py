"""What makes Tables 4 and 5 as they are: each mechanism switched off in turn, the rest as it is. Nothing published to compare with."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from validation.published.s1 import cases, fitted, replays
from validation.rows import Row, not_compared

WIDE_NUMALINK = 30.0  # GB/s: four ports of a hub, as the machine's description has it (SGI)
TEAM_OF_TABLE_4, TEAM_OF_TABLE_5 = 128, 256


@dataclass(frozen=True)
class Without:
    """A replay that lacks one mechanism."""

    what: str
    heap: str
    system: str = cases.SYSTEM
    numalink: float = fitted.NUMALINK.value
    keeps_scratch: bool = False  # glibc's own thresholds, 128 KiB, beyond the reduced scratch: it is not given back


TABLE_4 = (
    Without("GLIBC as it is", "glibc"),
    Without("GLIBC, faults cost 500 ns and no lock (--system default)", "glibc", system="default"),
    Without("GLIBC, NUMAlink as described", "glibc", numalink=WIDE_NUMALINK),
    Without("TCMalloc as it is", "tcmalloc"),
    Without("TCMalloc, NUMAlink as described", "tcmalloc", numalink=WIDE_NUMALINK),
    Without("TCMalloc, faults cost no lock", "tcmalloc", system="default"),
    Without("no remote pages (JArena)", "jarena"),
)
TABLE_5 = (
    Without("first touch as it is", "glibc"),
    Without("first touch, freed scratch not given back: no faults of temporaries", "glibc", keeps_scratch=True),
    Without("first touch, faults cost 500 ns and no lock (--system default)", "glibc", system="default"),
    Without("first touch, NUMAlink as described", "glibc", numalink=WIDE_NUMALINK),
    Without("first touch, one arena: pages of mixed owners", "glibc:arenas=1"),
    Without(
        "first touch, one arena that gives nothing back: pages of mixed owners, no faults of temporaries",
        "glibc:arenas=1,trim_threshold=1 GiB",
        keeps_scratch=True,
    ),
    Without("JArena as it is", "jarena"),
    Without("JArena, NUMAlink as described", "jarena", numalink=WIDE_NUMALINK),
)


def rows(folder: Path, patches: int, problem: str) -> Iterator[Row]:
    """Yield seconds of Table 4's pass on 128 threads and of Table 5's step on 256, without each mechanism."""
    for case in TABLE_4:
        changes = fitted.changes(case.numalink)
        found = replays.write_seconds(folder, TEAM_OF_TABLE_4, replays.setting(case.heap, case.system), changes)
        what = f"mechanism, Table 4 on {TEAM_OF_TABLE_4} threads: {case.what}"
        yield not_compared("C26", cases.MACHINE, what, "", found.seconds, found.command, "s")
    for case in TABLE_5:
        changes = fitted.changes(case.numalink)
        heap = case.heap if case.keeps_scratch else replays.advection_heap(case.heap)
        chosen = replays.setting(heap, case.system)
        found = replays.advection_seconds(folder, TEAM_OF_TABLE_5, "scratch", patches, chosen, changes)
        what = f"mechanism, a step of Table 5 (2D) on {TEAM_OF_TABLE_5} threads: {case.what} ({problem})"
        yield not_compared("C30", cases.MACHINE, what, "", found.seconds, found.command, "s")
