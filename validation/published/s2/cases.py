"""What S2 prints (printed.csv), and the cores, seeds and choices that are replayed for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from validation.published.reference import Reference, read_references

MACHINE = "knc-5110p"
NEAR_PERCENT = 10  # the default of the heap `latency-aware`
# S2's extremes (12, 20 and 56), the ends and the middle; 28, 44 and 52, which lay between their neighbours, are left out for their time
CORES = (4, 12, 20, 36, 56, 60)
SEEDS = (0, 1, 2)
ONE_SEED_FROM = 36  # cores: so many threads, each with frames of its own, are a sample by themselves
FEW = 4  # cores of the sensitivities
HASHES = ("scattered", "parity", "modulo")
HEAPS = ("regular", "latency-aware")


@dataclass(frozen=True)
class Search:
    """A version of A*, and what of the machine is reduced with it."""

    kernel: str
    parameters: Mapping[str, int | str]
    changes: Mapping[str, str] = field(default_factory=dict)

    def but(self, parameters: Mapping[str, int | str]) -> "Search":
        """The same with other parameters."""
        return Search(self.kernel, {**self.parameters, **parameters}, self.changes)


# The code that S2 cites as its reference (Heyes-Jones) searches its lists from end to end: some `expand`^2 looks. A sixteenth of the second
# level and 1600 nodes stand for a graph that does not fit.
LISTS = Search("sliding_tile_lists", {"expand": 800}, {"caches.1.size": "4 KiB", "caches.2.size": "32 KiB"})
# What S2's section 3 says of A* in general: hash tables of 2^`table` buckets.
TABLES = Search("sliding_tile", {"expand": 6000, "table": 12})
# One choice at a time: what, program, changes of the machine, heap.
SENSITIVITIES: tuple[tuple[str, Search, Mapping[str, str], str], ...] = (
    ("as above", LISTS, {}, "latency-aware"),
    *((f"{count} expansions", LISTS.but({"expand": count}), {}, "latency-aware") for count in (400, 1200)),
    *((f"near = {near} %", LISTS, {}, f"latency-aware:near={near}") for near in (2, 5, 20, 50, 100)),
    *((f"order {order}", LISTS, {"ring.order": order}, "latency-aware") for order in ("paired", "grouped", "shuffled")),
    *(
        (f"hashes {name}", LISTS, {"ring.directory_hash": name, "ring.controller_hash": name}, "latency-aware")
        for name in HASHES[1:]
    ),
    *((f"hop {hop}", LISTS, {"ring.hop": hop}, "latency-aware") for hop in ("1.4 ns", "1.8 ns")),
    *((f"instructions in {text} the time", LISTS, {"core_time": text}, "latency-aware") for text in ("x0.5", "x2")),
    *((f"memory latency {text}", LISTS, {"memory_latency": text}, "latency-aware") for text in ("280 ns", "300 ns")),
    *(
        (f"hash tables of 2^{table} buckets", TABLES.but({"table": table}), {}, "latency-aware")
        for table in (8, 12, 16)
    ),
    *(
        (f"hash tables of 2^12 buckets, instructions in {text} the time", TABLES, {"core_time": text}, "latency-aware")
        for text in ("x0.5", "x2")
    ),
)
NOTE = """\
The program is `sliding_tile_lists`: A* whose open and closed sets are lists searched from end to end, as the code that S2 cites has them
(Heyes-Jones). Section 3 of S2 says that hash tables are normally used; until 27 November this page had them (`sliding_tile`), and
they are the last rows below. One node an allocation (`nodes=heap`), Korf's instance 12 with a goal of its own for each thread; one thread a
core, pages of 2 MiB, engine `line`. A linear search takes the square of its expansions, so caches are reduced with them: 4 KiB and
32 KiB beside 800 expansions a thread, whose 1600 nodes are 3.1 times that. S2 says that its graph does not fit the second level, and
counts nodes in unit time; with 400 expansions (1.6 times) core 0's lines move by up to 6 % between the heaps, which was seen
before 800 was chosen. *Gain* is nodes expanded in unit time (summed over threads) under `latency-aware` against `regular`, mean over
three seeds of the frames, from 36 cores on of one seed (so many threads are a sample by themselves); 28, 44 and 52 cores are left
out for their time. S2 publishes neither what counts as low latency, nor where devices sit and which hashes spread lines over them: the
rows named *sensitivity* change one of these at a time, on 4 cores. Only the hop latency is fitted, to C40. *f* is the lines' latency
from memory over all threads' time in the whole run, *r* the cut of its mean; lines that are fetched side by side count in f as if they
came one by one, so that it may exceed 1."""

References = Mapping[tuple[str, str], Reference]


def seeds_of(cores: int) -> tuple[int, ...]:
    """Seeds of the frames."""
    return SEEDS if cores < ONE_SEED_FROM else SEEDS[:1]


def references() -> dict[tuple[str, str], Reference]:
    """The numbers that S2 prints."""
    return read_references(Path(__file__).with_name("printed.csv"))
