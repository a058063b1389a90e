"""What S4 prints (printed.csv), and the machines, placements and distributions that are replayed for it.

Its bars of tasks, locality queues and TBB (the three right columns of its Figure 3) are described in words alone.
"""

from collections.abc import Mapping
from pathlib import Path

from validation.published.reference import Reference, read_references
from validation.published.s4.arithmetic import Problem

MACHINES = ("opteron-8431-4s", "xeon-x5550-2s", "xeon-x7560-4s")
# The paper's three lines: parallel first touch, round robin, and serial initialisation in the first domain, which is
# where `bind:0` puts the pages (serial_row holds the two against each other).
PLACEMENTS = {"static": "first-touch", "round robin": "interleave", "serial": "bind:0"}
SMALL = Problem(ni=240, nj=120, nk=600, bi=10, bj=10, bk=600)
# STREAM's vectors: 128 MB each, beyond four last-level caches of 24 MB.
STREAM_ELEMENTS = 16_000_000
# Sites along i of captures from which the trace of all 2400 is predicted; the last one is held out and has to be met exactly.
# Neither memory nor time would allow to capture the whole problem, two grids of 6.9 GB.
THIN = (60, 80, 100, 120)
# "s" and "s-1" of Figure 3: the schedule of the initialising loop. "kji": the producer walks the blocks along i first.
COMBINATIONS = tuple((init, order) for init in ("s", "s-1") for order in ("ijk", "kji"))
INIT = {"s": "static", "s-1": "static:1"}
SEEDS = (1, 2, 3, 4, 5)  # of TBB's random victims; medians, as the paper's over 100 samples
AFFINITY_SEEDS = SEEDS[:3]  # of the affinity partitioner, which moves by 3 % over five

NOTE = """\
Rows that say *what if* change the order in which queued tasks are taken, or drop their limit, after the plain row: they separate causes,
nothing is printed for them, and the table of claims ([claims.md](../claims.md)) has none of them."""

References = Mapping[tuple[str, str], Reference]


def references() -> dict[tuple[str, str], Reference]:
    """The numbers that S4 prints."""
    return read_references(Path(__file__).with_name("printed.csv"))


def paper_problem(printed: References) -> Problem:
    """2400 x 600 x 600 sites in blocks of 10 x 10 x 600."""
    return Problem(**{name: int(printed["all", name].value) for name in ("ni", "nj", "nk", "bi", "bj", "bk")})


def threads_of(printed: References, machine: str) -> int:
    """All cores."""
    return int(printed[machine, "sockets"].value * printed[machine, "cores_per_socket"].value)


def cache_share(printed: References, machine: str) -> float:
    """Bytes of the last level for each core; what Istanbul's private level adds to it is not counted."""
    return printed[machine, "l3_size"].value / printed[machine, "cores_per_socket"].value


def blocks_of_layer(problem: Problem) -> int:
    """Blocks with the same i: how far apart two tasks are that follow each other in order kji."""
    return -(-problem.nj // problem.bj) * -(-problem.nk // problem.bk)


def blocks(problem: Problem) -> int:
    """Tasks of one sweep."""
    return -(-problem.ni // problem.bi) * blocks_of_layer(problem)


def by_tasks(problem: Problem, init: str, order: str, policy: str = "tasks", **settings: int | str) -> str:
    """Return the distribution of one bar; `settings` are further ones of the policy."""
    if order == "kji":
        settings = {"stride": blocks_of_layer(problem), **settings}
    given = ",".join(f"{name}={value}" for name, value in settings.items())
    return f"init@{INIT[init]} sweep@{policy}{':' + given if given else ''}"


def by_tbb(problem: Problem, affinity: bool) -> str:
    """First touch by the same construct; ranges of blocks in rows of a layer."""
    policy = f"{'tbb-affinity' if affinity else 'tbb'}:columns={blocks_of_layer(problem)}"
    return f"init@{policy} sweep@{policy}"
