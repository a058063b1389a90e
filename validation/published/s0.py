"""S0, Metzger et al.: page placements for stencils on machines A and B. The cases; s0_rows compares, run_s0 replays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from validation.available import Setting
from validation.published.reference import Reference, read_references

A, B = "xeon-l7555-4s", "xeon-e5-2697v2-2s"
MACHINES = {A: 32, B: 24}  # threads: one a core
# S0, Table 1: 4.4.36 and 3.10.0; used where this version of homenode knows them.
SYSTEMS = {A: "linux-4.4", B: "linux-3.10"}
# The paper runs Rodinia's programs longer than their defaults and does not say how long: results are given over this range.
STEPS = (10, 100, 1000)

# Linux 3.10 and 4.4, kernel/sched/fair.c: sysctl_numa_balancing_scan_delay; balancing does nothing before.
SCAN_DELAY = 1.0

UNPINNED = Setting("first-touch", "unpinned")
UNPINNED_INTERLEAVE = Setting("interleave", "unpinned")
PINNED = Setting("first-touch")
INTERLEAVE = Setting("interleave")
AWARE = Setting("stencil-aware")
BALANCED = (Setting("first-touch+autonuma"), Setting("interleave+autonuma"), Setting("stencil-aware+autonuma"))
SETTINGS = (UNPINNED, UNPINNED_INTERLEAVE, PINNED, INTERLEAVE, AWARE, *BALANCED)
SCHEDULES = tuple(Setting("stencil-aware", distribution=name) for name in ("dynamic:1", "guided:1", "dynamic:16"))


@dataclass(frozen=True)
class Case:
    """A program at one of Table 2's sizes."""

    program: str
    size: str
    steps: tuple[int, ...]  # as many iterations as the program runs; several where S0 does not say

    @property
    def name(self) -> str:
        """As Table 2 would call it."""
        return f"{self.program} {self.size}".strip()


@dataclass(frozen=True)
class Timing:
    """A replay of a case: what happens once, and what each iteration takes."""

    once_seconds: float
    step_seconds: float
    remote_share: float  # of the bytes at the controllers
    idle_share: tuple[float, ...]  # of an iteration, by thread
    command: str
    replayed_seconds: float = math.inf  # of the longer capture

    def total(self, steps: int) -> float:
        """Seconds of the whole program."""
        return self.once_seconds + steps * self.step_seconds


Figures = Mapping[tuple[str, str, Setting], Timing]  # machine, case, policies


def references() -> dict[tuple[str, str], Reference]:
    """The numbers that S0 prints."""
    return read_references(Path(__file__).with_name("s0.csv"))


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
