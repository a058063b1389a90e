"""What S1's Tables 4 and 5 set: three numbers, each on columns of 8 to 32 threads, and four choices made with more columns in view.

The first two numbers stand in models/machines/sgi-uv-32s.toml, so that the machine that is shipped is the one that is validated.
The numbers are fits in the strict sense. The choices are not, but whoever made them knew the columns named there, so that these say
what the mechanism can do, and are no evidence: their rows are classed as fitted. All other columns are predicted.
"""

from dataclasses import dataclass

HUB_LINKS, TOP_LINKS = (
    range(48, 64),
    range(64, 68),
)  # of models/machines/sgi-uv-32s.toml: hub to router, router to the tree's top
HUBS_OF_A_ROUTER = 4


@dataclass(frozen=True)
class Fitted:
    """A fitted number: what it is, and which printed ones set it."""

    name: str
    value: float
    unit: str
    set_by: str
    columns: frozenset[tuple[int, str, int]]  # table, heap manager or column, team


WRITE_RATE = Fitted(
    "a node's bandwidth, reads and writes one to one (2 / (1 / 14.2 + 1 / 13.8) GB/s)",
    14.0,
    "GB/s",
    "JArena, Table 4, 8 to 32 threads: 537 MB a node in 0.038 s, whose lines are written without being fetched",
    frozenset({(4, "jarena", 8), (4, "jarena", 16), (4, "jarena", 32)}),
)
NUMALINK = Fitted(
    "NUMAlink bandwidth of a hub, each way",
    3.7,
    "GB/s",
    "TCMalloc, Table 4, 32 threads (the first column with two hubs): 0.181 s",
    frozenset({(4, "tcmalloc", 32)}),
)
PATCHES = Fitted(
    "patches of the advection sample, all threads",
    4352,
    "patches",
    "Table 5 (2D), 32 threads: first touch over JArena 1.044; the grid is not printed",
    frozenset({(5, "first touch", 32), (5, "jarena", 32)}),
)
ALL = (WRITE_RATE, NUMALINK, PATCHES)


def links_of(numalink: float) -> dict[str, str]:
    """Return the changes that give NUMAlink another bandwidth, GB/s of a hub; a link at the tree's top carries four hubs."""
    changed = {f"links.{link}.bandwidth": f"{numalink:g} GB/s" for link in HUB_LINKS}
    return changed | {f"links.{link}.bandwidth": f"{HUBS_OF_A_ROUTER * numalink:g} GB/s" for link in TOP_LINKS}


@dataclass(frozen=True)
class Chosen:
    """A choice that was made with printed numbers in view."""

    name: str
    value: str
    reason: str
    columns: frozenset[tuple[int, str, int]]


LOCK_LINES = Chosen(
    "lines that the lock of a page fault moves (models/systems/linux-2.6.32.toml)",
    "5",
    "counted without the kernel's text at hand; a fit on 16 and 32 threads gives about 7, which was known to overshoot on 64 and 128",
    frozenset((4, "glibc", team) for team in (8, 16, 32, 64, 128)),
)
SCRATCH = Chosen(
    "temporaries of the advection sample",
    "a scratch of each thread, allocated in each step",
    "the paper does not print them; blocks anew for each patch (too slow on 8 threads by a hand estimate) and blocks that are kept (no "
    "faults) were put aside, this one was added after an estimate over all columns; 5632 and 4096 patches were tried before 4352",
    frozenset((5, "first touch", team) for team in (8, 16, 32, 64, 128, 256)),
)
THRESHOLDS = Chosen(
    "glibc's thresholds beside the reduced patches",
    "4 KiB",
    "128 KiB are small beside the scratch of the application's patches; beside the reduced scratch, 41 KB, they would keep it, and first "
    "touch would lose nothing (row 'freed scratch not given back')",
    frozenset((5, "first touch", team) for team in (8, 16, 32, 64, 128, 256)),
)
CACHES = Chosen(
    "caches beside the reduced patches",
    "sgi-uv-32s-reduced",
    "the application's grid exceeds the caches of any team; beside whole caches the reduced one would fit on 256 threads",
    frozenset((5, column, team) for column in ("first touch", "jarena") for team in (64, 128, 256)),
)
IN_VIEW = (LOCK_LINES, SCRATCH, THRESHOLDS, CACHES)


def is_fitted(table: int, column: str, team: int) -> bool:
    """Whether this printed number set a parameter, or was in view when a choice was made."""
    return any((table, column, team) in known.columns for known in (*ALL, *IN_VIEW))
