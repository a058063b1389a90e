"""What S0 prints (printed.csv), the programs, sizes and policies that are replayed for it, and what a replay says of one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from homenode import RunSpec
from validation.published.reference import Reference, read_references

A, B = "xeon-l7555-4s", "xeon-e5-2697v2-2s"
MACHINES = {A: 32, B: 24}  # threads: one a core
NODES = {A: 4, B: 2}
SYSTEMS = {A: "linux-4.4", B: "linux-3.10"}  # S0, Table 1: 4.4.36 and 3.10.0
# The paper runs Rodinia's programs longer than their defaults and does not say how long: results are given over this range.
STEPS = (10, 100, 1000)

# Without pinning: daemons as often as the system's description says. Spinning threads keep their cores for 200 ms, as Intel's OpenMP
# does (S0 used icc); no replay here waits that long.
UNPINNED = RunSpec(placement="first-touch", mapping="unpinned")
UNPINNED_INTERLEAVE = RunSpec(placement="interleave", mapping="unpinned")
UNPINNED_AWARE = RunSpec(placement="stencil-aware", mapping="unpinned")
PINNED = RunSpec(placement="first-touch")
INTERLEAVE = RunSpec(placement="interleave")
AWARE = RunSpec(placement="stencil-aware")
PLACED = (UNPINNED, UNPINNED_INTERLEAVE, UNPINNED_AWARE, PINNED, INTERLEAVE, AWARE)
# Chance: a daemon that comes as the team starts can leave two threads on one core for a time slice.
SEEDS = tuple(RunSpec(placement="first-touch", mapping="unpinned", seed=seed) for seed in (1, 2, 3))
# What S0 does not say of its unpinned runs: no daemons, 25 times as many (the description's upper bound), threads that sleep at once.
UNSAID = tuple(
    RunSpec(placement="first-touch", mapping=f"unpinned:{settings}")
    for settings in ("disturbances=0", "disturbances=2500", "spin=0ms")
)
# Placements that automatic balancing is switched on for; its scan delay is told for each run.
BALANCED = (PINNED, INTERLEAVE, AWARE)
SCHEDULES = tuple(
    RunSpec(placement="stencil-aware", distribution=name) for name in ("dynamic:1", "guided:1", "dynamic:16")
)
WEIGHTED = RunSpec(placement="stencil-aware", distribution="latency-weighted")
# S0 used icc, whose runtime system is libomp.
OPENMP_SCHEDULES = ("static", "dynamic:1", "guided:1", "auto:libomp")

NOTE = """
Each machine runs the kernel that S0's Table 1 names for it: `linux-4.4` (4.4.36) on A, `linux-3.10` (3.10.0) on B, so that balancing is
A's with groups of threads and pseudo-interleaving, B's by pages alone. Traces have few iterations; a further one takes what two replays
differ by. *What S0 does not say is a range*: 10 to 1000 iterations of hotspot and srad (NPB's classes have their own number); unpinned
threads, in hotspot 64 and mg S with seeds 0 to 3, without daemons, with 25 times as many, or sleeping instead of spinning, in hotspot
128 to 512 with seeds 0 to 3, elsewhere with seed 0 alone (25 times as many daemons once took
hotspot 1024 from 1.5 to 2.4). A gain over unpinned first touch is
a ratio of means over the seeds. Figures 6 and 7 have no values in the text: their rows are compared with nothing.

*Balancing* starts after a second, when most of these runs are over in reality, too. In replays the first scan comes with the first
iteration's end, and a tenth of the rest (at least an iteration, at most a real second) passes for a second. The range of a gain has on one
side all costs of scans, faults and migrations in the few replayed iterations, too large a share, and on the other side these costs in a
program of as many real seconds. A program that ends before its first second gains and loses nothing. What they are held against is the same
placement with balancing that never scans, so that slices pass the caches in the same order.
"""


@dataclass(frozen=True)
class Case:
    """A program at one of Table 2's sizes."""

    program: str
    size: str
    steps: tuple[int, ...]  # as many iterations as the program runs; several where S0 does not say
    few: int = 2  # iterations of its two replays: their difference is what further iterations take
    more: int = 4
    placed: tuple[RunSpec, ...] = PLACED
    balanced: tuple[RunSpec, ...] = BALANCED
    machines: tuple[str, ...] = (A, B)
    version: str = ""  # the kernel, where it is not named as the program is

    @property
    def kernel(self) -> str:
        """The program that is captured."""
        return self.version or self.program

    @property
    def name(self) -> str:
        """As Table 2 would call it."""
        return f"{self.program} {self.size}".strip()

    @property
    def settings(self) -> tuple[RunSpec, ...]:
        """Return what it is replayed under without balancing."""
        return (*self.placed, *((*SCHEDULES, WEIGHTED) if self.program == "srad_v2" else ()))


# Seeds and what S0 does not say of its unpinned runs: where programs are so short that chance decides.
SEEDED, EVERY_WAY = (*PLACED, *SEEDS), (*PLACED, *SEEDS, *UNSAID)
MG_S = Case("mg", "S", (4,), few=1, more=4, placed=EVERY_WAY)
# NPB 3.0 in C, whose footprint is the printed one (docs/decisions/0030-versions-of-programs.md).
FT_IN_C = "ft_c"
FT_S = Case("ft", "S", (6,), few=1, more=2, balanced=(AWARE,), version=FT_IN_C)
HOTSPOT_64 = Case("hotspot", "64", STEPS, few=4, more=1000, placed=EVERY_WAY)
HOTSPOT_512 = Case("hotspot", "512", STEPS, few=4, more=40, placed=SEEDED)
SMALL = (replace(HOTSPOT_64, more=200), replace(HOTSPOT_512, more=12), Case("srad_v2", "256", STEPS), MG_S, FT_S)
# The larger a case, the fewer of its settings. mg B is the grid of A with more cycles. Left out for their time: ft B and C, and of
# ft A and mg C machine B and unpinned threads, which share no record of the caches.
ALL_PINNED = (PINNED, INTERLEAVE, AWARE)
CASES = (
    HOTSPOT_64,
    Case("hotspot", "128", STEPS, few=4, more=400, placed=SEEDED),
    Case("hotspot", "256", STEPS, few=4, more=100, placed=SEEDED),
    HOTSPOT_512,
    Case("hotspot", "1024", STEPS, few=2, more=12),
    Case("srad_v1", "", STEPS, few=2, more=12),
    Case("srad_v2", "", STEPS, few=2, more=12),
    MG_S,
    FT_S,
    Case("hotspot", "2048", STEPS, few=2, more=12),
    Case("mg", "A", (4,), few=1, more=2),
    Case("mg", "B", (20,), few=1, more=2),
    Case("hotspot", "4096", STEPS, balanced=(AWARE,)),
    Case("hotspot", "8192", STEPS, balanced=(AWARE,)),
    Case("ft", "A", (6,), few=1, more=2, placed=ALL_PINNED, balanced=(), machines=(A,), version=FT_IN_C),
    Case("mg", "C", (20,), few=1, more=2, placed=ALL_PINNED, balanced=(AWARE,), machines=(A,)),
)


@dataclass(frozen=True)
class Timing:
    """A replay of a case: what happens once, and what each iteration takes."""

    once_seconds: float
    step_seconds: float
    remote_share: float  # of the bytes at the controllers
    idle_share: tuple[float, ...]  # of an iteration, by thread
    held_up_by: str  # resource and region of the longest region
    command: str

    def total(self, steps: int) -> float:
        """Seconds of the whole program."""
        return self.once_seconds + steps * self.step_seconds


@dataclass(frozen=True)
class Balancing:
    """A replay with automatic balancing, whose times are shorter than Linux's: `second` for a second, the first scan after initialisation.

    The costs of scans, faults and migrations are not made shorter, so that `gain` has them too large; in a program of so many real
    seconds they are the share that `spread_gain` says, if locality loses nothing.
    """

    without_seconds: float
    with_seconds: float
    second: float
    hinting_faults: int
    migrated_pages: int
    command: str

    def gain(self, rival: float) -> float:
        """Another placement's seconds over these."""
        return rival / self.with_seconds

    def spread_gain(self, rival: float) -> float:
        """Likewise, the costs of balancing spread over as many real seconds."""
        lost = (self.with_seconds - self.without_seconds) * self.second
        return rival / (self.without_seconds + lost) if lost > 0 else rival / self.with_seconds


Figures = Mapping[tuple[str, str, RunSpec], Timing]  # machine, case, policies
BalancingFigures = Mapping[tuple[str, str, RunSpec], Balancing]


def references() -> dict[tuple[str, str], Reference]:
    """The numbers that S0 prints."""
    return read_references(Path(__file__).with_name("printed.csv"))


def parameters_of(case: Case) -> dict[str, int | str]:
    """Return the kernel's parameters but for the number of iterations."""
    if case.program == "hotspot":
        return {"size": int(case.size)}
    if case.program == "srad_v1":
        return {"rows": 502, "cols": 458}  # Rodinia's image
    if case.program == "srad_v2":
        edge = int(case.size or 2048)
        return {"rows": edge, "cols": edge, "roi": min(128, edge)}
    return {"class": case.size}


def of_steps(case: Case) -> str:
    """The kernel's parameter for the number of iterations."""
    return "iterations" if case.kernel in ("mg", "mg_rows", "ft", "ft_c") else "steps"
