"""What S3 prints (printed.csv), and the machines, mappings and sizes that are replayed for it.

The thesis names neither its machines nor its sizes, so of C49 to C54 only signs are told, and none of them is counted: powers
depend on parameters that are all assumed. C55 is exact arithmetic; C56 is required.
"""

from collections.abc import Mapping
from pathlib import Path

from validation.published.reference import Reference, read_references

NUMA, UMA = "xeon-x5550-2s", "xeon-x5550-1s"
# More cores than CPU's 14 threads: each has one of its own under btdm.
LARGER = "xeon-e5-2697v2-2s"
# The thesis compares with the system's own scheduler.
MAPPINGS = ("btdm", "unpinned")
NOTE = """\
The programs are `threads_side_by_side` (CPU-X) and `threads_pingpong` (Context Switch), written anew from S3's descriptions, and since
27 November `threads_teams` (CPU) and `threads_counters` (Flops and Iops), written anew from the sources that S3 cites
(pdpriyanka/CPU-Benchmarking, 05831d1). There S3's 2400 threads are 600 samples of four workers, and its 600 s are 600 sleeps of a
second. *Gain* is what `btdm` saves against `unpinned`. Magnitudes are not claimed: machine, sizes and powers of
S3 are unknown, and ours are assumed (`models/energy/default.toml`). Where the *sign* is not the same at both ends of every
parameter's interval, the row says so. Power falls where fewer cores work; *energy* says what that takes in all. In threads_pingpong
both threads write one word, so that they are side-by-side here; S3 calls its two threads autonomous."""
# Two arrays of 2^10 numbers fit one core's first level; of 2^13, the first levels of four.
LOGARITHMS = (10, 13)
SIDE_BY_SIDE = (2, 4, 6, 8, 11)

References = Mapping[tuple[str, str], Reference]


def references() -> dict[tuple[str, str], Reference]:
    """The numbers that S3 prints."""
    return read_references(Path(__file__).with_name("printed.csv"))
