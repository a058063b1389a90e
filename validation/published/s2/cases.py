"""What S2 prints (printed.csv), and the cores, seeds and choices that are replayed for it."""

from collections.abc import Mapping
from pathlib import Path

from validation.published.reference import Reference, read_references

MACHINE = "knc-5110p"
NEAR_PERCENT = 10  # the default of the heap `latency-aware`
# S2's extremes (12, 20 and 56), the ends and the middle; 28, 44 and 52, which lay between their neighbours, are left out for their time
CORES = (4, 12, 20, 36, 56, 60)
SEEDS = (0, 1, 2)
ONE_SEED_FROM = 36  # cores: so many threads, each with frames of its own, are a sample by themselves
FEW = 12  # cores of the sensitivities
EXPANSIONS = 6000
TABLE = 12  # binary logarithm of buckets
HASHES = ("scattered", "parity", "modulo")
HEAPS = ("regular", "latency-aware")
# One choice at a time: what, changes of the machine, of the heap, of the program.
SENSITIVITIES: tuple[tuple[str, Mapping[str, str], str, Mapping[str, int | str]], ...] = (
    ("as above", {}, "latency-aware", {}),
    *((f"near = {near} %", {}, f"latency-aware:near={near}", {}) for near in (2, 5, 20, 50, 100)),
    *((f"2^{table} buckets", {}, "latency-aware", {"table": table}) for table in (8, 10, 14, 16)),
    *((f"order {order}", {"ring.order": order}, "latency-aware", {}) for order in ("paired", "grouped", "shuffled")),
    *(
        (f"hashes {name}", {"ring.directory_hash": name, "ring.controller_hash": name}, "latency-aware", {})
        for name in HASHES[1:]
    ),
    *((f"hop {hop}", {"ring.hop": hop}, "latency-aware", {}) for hop in ("1.4 ns", "1.8 ns")),
    *((f"instructions in {text} the time", {"core_time": text}, "latency-aware", {}) for text in ("x0.5", "x2")),
    ("2^8 buckets, instructions in x0.5 the time", {"core_time": "x0.5"}, "latency-aware", {"table": 8}),
    *((f"memory latency {text}", {"memory_latency": text}, "latency-aware", {}) for text in ("280 ns", "300 ns")),
)
NOTE = """\
The program is `sliding_tile` with one node an allocation (`nodes=heap`), Korf's instance 12 with a goal of its own for each thread, 6000
expansions a thread (768 KB of nodes), 2^12 buckets a hash table; one thread a core, pages of 2 MiB, engine `line`. *Gain* is nodes
expanded in unit time (summed over threads) under `latency-aware` against `regular`, mean over three seeds of the frames, from 36 cores
on of one seed (so many threads are a sample by themselves); 28, 44 and 52 cores are left out for their time. S2 publishes neither
its hash tables' size, nor what counts as low latency, nor where devices sit and which hashes spread lines over them: the rows named
*sensitivity* change one of these at a time, on 12 cores. Only the hop latency is fitted, to C40. *f* is the lines' latency from memory over
all threads' time in the whole run, *r* the cut of its mean; lines that are fetched side by side, as zeroing large tables does, count in f
as if they came one by one."""

References = Mapping[tuple[str, str], Reference]


def seeds_of(cores: int) -> tuple[int, ...]:
    """Seeds of the frames."""
    return SEEDS if cores < ONE_SEED_FROM else SEEDS[:1]


def references() -> dict[tuple[str, str], Reference]:
    """The numbers that S2 prints."""
    return read_references(Path(__file__).with_name("printed.csv"))
