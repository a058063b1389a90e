"""What S6 runs, and what is predicted of it.

M. Büttner, "NUMA Allocation benchmark" for SYCL (January 2024), README and source beside it, as stored in a public index of GitHub's
files. Its source: a vector of 512 000 000 floats is initialised in one of six ways, then copied ten times to one that nobody
initialised; a copy counts 8 B an element. First table: 2 x AMD EPYC 7543.

What each way does to the source vector, as the SYCL runtime has it: `parallel init` and `parallel first touch + copy` touch its pages
first by the threads that copy; `sequential init` and `host pointer` (a std::vector) by the main thread. `copy` fills it by one thread
(assumed: queue.copy to a host pointer is one memcpy), `fill + copy` by all (assumed: fill is a parallel loop).
"""

from pathlib import Path

from validation.published.prediction import Quantity

FOLDER = Path(__file__).parent
MACHINES = FOLDER.parent / "machines"
# One setting had to be chosen for the prediction: the source speaks of several NUMA domains a socket.
SETTING, OTHER_SETTING = "epyc-7543-2s-nps4", "epyc-7543-2s-nps1"
THREADS = 64
ELEMENTS = 512_000_000
SMALL_ELEMENTS = 32_000_000
BYTES_AN_ELEMENT = 8
REPEATS, UNTIMED = 3, 1  # the first copy touches the target's pages
CAPTURED = (
    65_536,
    98_304,
    131_072,
    196_608,
)  # sizes that are captured; the last checks the law by which larger ones follow
WAYS = {
    "sequential init": "serial",
    "parallel init": "parallel",
    "copy": "serial",
    "parallel first touch + copy": "parallel",
    "fill + copy": "parallel",
    "host pointer": "serial",
}
# Null model of a rate: nothing of this matters, and the machine copies as kerncraft's machine file says of eight nodes of eight cores,
# 22.2 GB/s each. Null model of the ratio: 1.
ALL_LOCAL = 8 * 22.2


def quantities() -> list[Quantity]:
    """All that is predicted."""
    rates = [Quantity("C86", way, f"copy after {way}", "GB/s", ALL_LOCAL) for way in WAYS]
    return [*rates, Quantity("C87", "gain", "parallel init over sequential init", "1", 1.0)]
