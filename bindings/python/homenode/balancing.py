"""What automatic NUMA balancing costs a program that runs for longer than its trace."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

from homenode.errors import UsageError
from homenode.machine import Machine
from homenode.run_spec import asked, lists_options
from homenode.run_types import RunOptions
from homenode.trace import Trace
from homenode.workers import replay_here


@dataclass(frozen=True)
class BalancedTime:
    """A program with balancing, over its last executions repeated."""

    seconds: float  # with balancing
    seconds_alone: float  # without
    group: int  # executions that repeat
    repeats: int  # how often they were repeated
    scans: int
    hinting_faults: int
    moved_pages: int  # whose effect on memory's time is left out

    @property
    def kept(self) -> float:
        """The share of its speed that the program keeps."""
        return self.seconds_alone / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"kept": self.kept}


@lists_options()
def balanced(
    trace: Trace | str | Path, machine: Machine | str | Path, *, seconds: float = 20, **options: Unpack[RunOptions]
) -> BalancedTime:
    """Tell what balancing costs over at least `seconds`: ``hn.balanced(trace, machine, placement="first-touch+autonuma", threads=8)``.

    The trace is replayed without balancing. Its last group of executions that repeats those before it is then repeated, slice by
    slice as recorded, with scans, hinting faults, their lock and migrations in time. Left out is what memory takes where pages have
    moved, and a hinting fault comes up to one execution late. Threads stay where they are.
    """
    trace = Trace.of(trace)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 1e6:
        raise UsageError(f"argument 'seconds' is {seconds!r}; allowed: a number above 0, below 1000000")
    spec = asked(machine, options, trace=trace)
    spec.check(trace)
    return BalancedTime(**replay_here(trace, spec, balanced_for=float(seconds))["balanced"])
