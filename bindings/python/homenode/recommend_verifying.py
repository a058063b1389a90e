"""Recommended ways run natively on this host, in turns with the present way: what was predicted beside what was measured."""

from __future__ import annotations

import ctypes.util
import os
import resource
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from homenode.arguments import whole_number
from homenode.capture_processes import Supervised, how_it_ended
from homenode.capturing import is_traced
from homenode.compiler.languages import compiler_of
from homenode.errors import CaptureError
from homenode.host import is_this_host
from homenode.kernel_sources import Kernel
from homenode.machine import Machine
from homenode.program_files import Input
from homenode.recommended_commands import TCMALLOC_LIBRARY
from homenode.recommending import Choice, Recommendation

RUNS = 5
BUSY = 0.05
"""Share of the host's CPUs in use by others from which measurements are told to be disturbed."""
PRESENT = "as it is"


@dataclass(frozen=True)
class Measured:
    """One way, predicted and run."""

    what: str
    predicted_seconds: float
    seconds: list[float]
    """Of each run, on the clock, from the start of the process to its end; empty where it could not be run."""
    reason: str
    """Why it was not run; empty where it was."""

    @property
    def least(self) -> float | None:
        """Seconds of the fastest run."""
        return min(self.seconds, default=None)

    @property
    def median(self) -> float | None:
        """Seconds of the run in the middle."""
        return statistics.median(self.seconds) if self.seconds else None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "what": self.what,
            "predicted_seconds": self.predicted_seconds,
            "measured_seconds": self.seconds,
            "least": self.least,
            "median": self.median,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Verification:
    """What `verify` measured."""

    rows: list[Measured]
    """The present way first, then the choices in their order."""
    busy_share: float
    """Of the host's CPUs meanwhile in use by other processes."""

    @property
    def is_disturbed(self) -> bool:
        """Whether others used more than a twentieth of the CPUs."""
        return self.busy_share > BUSY

    def to_dict(self) -> dict[str, Any]:
        """As plain values; they differ from run to run."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "busy_share": self.busy_share,
            "is_disturbed": self.is_disturbed,
        }


def native_kernel(kernel: Kernel, folder: Path) -> Path:
    """A built-in kernel as the plain compiler makes it, in this folder."""
    program = folder / kernel.name
    libraries = [*(f"-l{library}" for library in kernel.libraries), "-lm"]
    words = [*compiler_of(kernel.driver), *kernel.flags, str(kernel.source), "-o", str(program), *libraries]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CaptureError(f"kernel '{kernel.name}' did not compile: {done.stderr.strip()}")
    return program


def obstacle_of_program(program: str, machine: Machine, folder: Path) -> str:
    """Why a program cannot be run in this folder for a prediction on this machine; empty if it can."""
    if not is_this_host(machine):
        return f"'{machine.name}' is not this host as 'homenode machine detect' or 'calibrate' describes it"
    found = shutil.which(str(folder.absolute() / program) if "/" in program else program)
    if found is None:
        return f"no program '{program}' that can be run"
    if is_traced(Path(found)):
        return f"'{program}' is compiled for tracing; --native names the program as the usual compiler makes it"
    return ""


def obstacle(choice: Choice) -> str:
    """Why a choice cannot be run here; empty if it can."""
    threads, cpus = int(choice.options["threads"]), len(os.sched_getaffinity(0))
    if choice.source:
        return "it needs a change of the source"
    if len(choice.commands) > 1:
        return f"it sets the kernel, which is left to you: {'; '.join(choice.commands[:-1])}"
    if threads > cpus:
        return f"{threads} threads on the {cpus} CPUs that homenode may use"
    for word in ("numactl", "taskset"):
        if f"{word} -" in choice.commands[-1] and shutil.which(word) is None:
            return f"{word} is not installed"
    if TCMALLOC_LIBRARY in choice.commands[-1] and ctypes.util.find_library("tcmalloc_minimal") is None:
        return f"{TCMALLOC_LIBRARY} is not installed"
    return ""


def verify(
    recommendation: Recommendation,
    program: str,
    *,
    runs: int = RUNS,
    stdin: BinaryIO | None = None,
    folder: str | Path = ".",
    advance: Callable[[int], None] = lambda steps: None,
) -> Verification:
    """Run the present way and each choice `runs` times, in turns, by the very lines of `Choice.commands`, in this folder.

    `program` is the first word of these commands. It reads `stdin` from the same place each time, and is not heard.
    """
    runs = whole_number("runs", runs, 1)
    ways = [recommendation.present, *recommendation.choices]
    stopped = obstacle_of_program(program, recommendation.machine, Path(folder))
    reasons = [stopped or obstacle(way) for way in ways]
    if reasons[0]:  # without the present way there is nothing to compare with
        reasons = [reason or reasons[0] for reason in reasons]
    seconds: list[list[float]] = [[] for _ in ways]
    before = _used()
    with ExitStack() as stack:
        source = Input(stack, stdin)
        for _ in range(runs):
            for place, way in enumerate(ways):
                if reasons[place]:
                    continue
                taken, status = _run(way.commands[-1], source, folder)
                seconds[place].append(taken)
                if status:
                    reasons[place], seconds[place] = f"it ended with {how_it_ended(status)}", []
                advance(1)
    rows = [
        Measured(PRESENT if place == 0 else way.what, way.seconds, seconds[place], reasons[place])
        for place, way in enumerate(ways)
    ]
    return Verification(rows, _share_of_others(before, _used()))


def _run(line: str, source: Input, folder: str | Path) -> tuple[float, int]:
    """Seconds on the clock and the status of a line for a shell; what it started ends with this process."""
    with source.opened() as stdin:
        begin = time.perf_counter()
        words = ["/bin/sh", "-c", line]
        silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = Supervised(words, cwd=folder, stdin=stdin, **silent)
        try:
            status = process.wait()
        except BaseException:
            process.end()
            raise
        finally:
            process.close()
        return time.perf_counter() - begin, status


def _used() -> tuple[float, float, float]:
    """Seconds since some moment: on the clock, of all CPUs in use by all processes, of those in use by this one and its children."""
    with Path("/proc/stat").open(encoding="ascii") as file:
        user, nice, system, _, _, interrupts, soft = (int(word) for word in file.readline().split()[1:8])
    own = sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    return time.monotonic(), (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK"), own


def _share_of_others(before: Sequence[float], after: Sequence[float]) -> float:
    clock, every, own = (last - first for first, last in zip(before, after, strict=True))
    possible = clock * (os.cpu_count() or 1)
    return min(1.0, max(0.0, (every - own) / possible)) if possible > 0 else 0.0
