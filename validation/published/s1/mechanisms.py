"""What makes Tables 4 and 5 as they are: each mechanism switched off in turn, the rest as it is. Nothing published to compare with."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from validation.published.s1 import cases, fitted, replays
from validation.rows import Row, not_compared

WIDE_NUMALINK = 30.0  # GB/s: what four ports of a hub could carry (SGI)
TEAM_OF_TABLE_4, TEAM_OF_TABLE_5 = 128, 256


@dataclass(frozen=True)
class Without:
    """A replay that lacks one mechanism."""

    what: str
    heap: str
    system: str = cases.SYSTEM
    wide: bool = False  # NUMAlink of 30 GB/s a hub
    keeps_scratch: bool = False  # glibc's own thresholds, 128 KiB, beyond the reduced scratch: it is not given back

    def setting(self, heap: str, machine: str) -> hn.RunSpec:
        """What is replayed."""
        described = hn.Machine.load(machine)
        if self.wide:
            described = described.with_changes(fitted.links_of(WIDE_NUMALINK))
        return replays.setting(heap, self.system, described)


TABLE_4 = (
    Without("GLIBC as it is", "glibc"),
    Without("GLIBC, faults cost 500 ns and no lock (--system default)", "glibc", system="default"),
    Without("GLIBC, NUMAlink of 30 GB/s a hub", "glibc", wide=True),
    Without("TCMalloc as it is", "tcmalloc"),
    Without("TCMalloc, NUMAlink of 30 GB/s a hub", "tcmalloc", wide=True),
    Without("TCMalloc, faults cost no lock", "tcmalloc", system="default"),
    Without("no remote pages (JArena)", "jarena"),
)
TABLE_5 = (
    Without("first touch as it is", "glibc"),
    Without("first touch, freed scratch not given back: no faults of temporaries", "glibc", keeps_scratch=True),
    Without("first touch, faults cost 500 ns and no lock (--system default)", "glibc", system="default"),
    Without("first touch, NUMAlink of 30 GB/s a hub", "glibc", wide=True),
    Without("first touch, one arena: pages of mixed owners", "glibc:arenas=1"),
    Without(
        "first touch, one arena that gives nothing back: pages of mixed owners, no faults of temporaries",
        "glibc:arenas=1,trim_threshold=1 GiB",
        keeps_scratch=True,
    ),
    Without("JArena as it is", "jarena"),
    Without("JArena, NUMAlink of 30 GB/s a hub", "jarena", wide=True),
)


def rows(folder: Path, patches: int, problem: str) -> Iterator[Row]:
    """Yield seconds of Table 4's pass on 128 threads and of Table 5's step on 256, without each mechanism."""
    settings = {case.what: case.setting(case.heap, cases.MACHINE) for case in TABLE_4}
    for case, found in replays.write_seconds(folder, TEAM_OF_TABLE_4, settings).items():
        what = f"mechanism, Table 4 on {TEAM_OF_TABLE_4} threads: {case}"
        yield not_compared("C26", cases.MACHINE, what, "", found.seconds, found.command, "s")
    settings = {
        case.what: case.setting(
            case.heap if case.keeps_scratch else replays.advection_heap(case.heap), cases.REDUCED_MACHINE
        )
        for case in TABLE_5
    }
    steps = replays.advection_seconds(folder, TEAM_OF_TABLE_5, "scratch", patches, settings)
    for case, found in steps.items():
        what = f"mechanism, a step of Table 5 (2D) on {TEAM_OF_TABLE_5} threads: {case} ({problem})"
        yield not_compared("C30", cases.REDUCED_MACHINE, what, "", found.seconds, found.command, "s")
