"""What S1 prints (printed.csv, and Tables 1 and 3 here), and the teams, heap managers and sizes that are replayed for it.

Grid and patches of the advection sample are not printed, so Table 5 is compared at the pace that JArena's 8 threads set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from validation.published.reference import Reference, read_references

MACHINE = "sgi-uv-32s"
REDUCED_MACHINE = "sgi-uv-32s-reduced"  # for Tables 5 and 6, whose problem is reduced as much
SYSTEM = "linux-2.6.32"  # S1, Table 2
WRITE_TEAMS = (8, 16, 32, 64, 128, 192, 256)  # Table 4; the last two columns are [blind]
ADVECTION_TEAMS = (8, 16, 32, 64, 128, 256)  # Table 5
PRINTED_WRITE_TEAMS = WRITE_TEAMS[:5]
# Smallest to largest time in each column of Table 4 from 16 threads on.
WRITE_ORDER = ("jarena", "tcmalloc", "glibc")
# The tables' columns as heap managers: first touch is glibc's heap under the kernel's own first touch.
ADVECTION_HEAPS = {"first touch": "glibc", "jarena": "jarena"}
PAGE_SIZES = {"4K": 4096, "64K": 65536, "2M": 2097152}

NOTE = """\
Each replay is of the shipped description and system. Rows that say *mechanism* switch one mechanism off after the plain row: nothing is
printed for them. `[blind]` columns are predictions, compared with nothing here. Counts of Table 3 are medians of five seeds, which
draw who gets a heap's lock first."""

References = Mapping[tuple[str, str], Reference]


@dataclass(frozen=True)
class Patch:
    """A column of Table 1: the cells of a patch, the size that is printed, and the fragmentation in per cent."""

    name: str
    cells: int
    printed_bytes: int
    printed: tuple[float, float, float]


TABLE_1 = (
    Patch("20x20", 400, 3200, (21.9, 95.1, 99.8)),
    Patch("50x50", 2500, 4000, (2.3, 69.5, 99.0)),  # misprint: 2500 cells of 8 bytes are 20000
    Patch("10x10x10", 1000, 8000, (2.3, 87.8, 99.6)),
    Patch("30x30x30", 27000, 216000, (0.5, 17.6, 89.6)),  # misprint: 89.7 for pages of 2M
)

# Table 3, remote pages of a pass; of 64 blocks of 256 pages a thread. Larger teams need more memory than
# hosts that run this have: they take 8 blocks, and pages are multiplied by 8.
TABLE_3 = {
    "glibc": {8: 0, 16: 0, 32: 5, 64: 389, 128: 1047},
    "tcmalloc": {8: 0, 16: 112079, 32: 323038, 64: 779228, 128: 1684069},
    "jarena": {8: 0, 16: 0, 32: 0, 64: 0, 128: 0},
}
WHOLE_TEAMS, REDUCED_TEAMS = (8, 16, 32), (64, 128, 192, 256)  # the last two columns are [blind]
REDUCED_BLOCKS = 8
PAGES_OF_THREAD = 64 * 256
SEEDS = range(5)  # of who gets a heap's lock first; the median is told


def references() -> dict[tuple[str, str], Reference]:
    """The numbers of S1 that are not kept apart."""
    return read_references(Path(__file__).with_name("printed.csv"))
