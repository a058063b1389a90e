"""Runs S0's cases: captures each program with two numbers of iterations, replays it under each placement on machines A and B."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import homenode as hn
from validation.available import Setting, missing
from validation.published import s0
from validation.published.s0 import Case, Timing
from validation.published.s0_rows import Comparison
from validation.rows import Row
from validation.traces import captured, trace_path

# Iterations of the two captures of a case: their difference is what further iterations take.
FEW, MORE = 2, 4
CASES = (
    *(Case("hotspot", str(size), s0.STEPS) for size in (64, 128, 256, 512, 1024, 2048, 4096)),
    Case("srad_v1", "", s0.STEPS),
    Case("srad_v2", "", s0.STEPS),
    Case("mg", "S", (4,)),
    Case("mg", "A", (4,)),
    Case("mg", "B", (20,)),  # the grid of A with more cycles
    Case("ft", "S", (6,)),
    Case("ft", "A", (6,)),
)
SMALL = (
    Case("hotspot", "64", s0.STEPS),
    Case("hotspot", "256", s0.STEPS),
    Case("srad_v2", "256", s0.STEPS),
    Case("mg", "S", (4,)),
    Case("ft", "S", (6,)),
)


def _settings(case: Case) -> tuple[Setting, ...]:
    return (*s0.SETTINGS, *(s0.SCHEDULES if case.program == "srad_v2" else ()))


def _trace(folder: Path, case: Case, steps: int) -> tuple[hn.Trace, Path]:
    parameters = s0.parameters_of(case)
    if parameters.get("class") == "B" and case.program == "mg":
        parameters["class"] = "A"
    of_steps = "iterations" if case.program in ("mg", "ft") else "steps"
    parameters = {**parameters, of_steps: steps, "check": 0}
    return captured(folder, case.program, parameters), trace_path(folder, case.program, parameters)


def _replay(trace: hn.Trace, path: Path, machine: str, setting: Setting) -> tuple[hn.Result, str]:
    choice: dict[str, Any] = setting.keywords()
    result = hn.replay(trace, machine, threads=s0.MACHINES[machine], **choice)
    command = f"homenode replay {path.name} --machine {machine} --threads {s0.MACHINES[machine]} {setting.options()}"
    return result, command


def timing(traces: list[tuple[hn.Trace, Path]], machine: str, setting: Setting) -> Timing:
    """Take a case apart into what happens once and what each iteration takes, by its two captures."""
    (few, _), (more, command) = (_replay(*trace, machine, setting) for trace in traces)
    step = (more.seconds - few.seconds) / (MORE - FEW)
    idle = [
        (float(later) - float(earlier)) / (more.seconds - few.seconds)
        for earlier, later in zip(few.threads["idle_seconds"], more.threads["idle_seconds"], strict=True)
    ]
    moved = more.traffic
    remote = 1 - float(moved.trace()) / float(moved.sum()) if moved.sum() else 0.0
    return Timing(few.seconds - FEW * step, step, remote, tuple(idle), command, more.seconds)


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C1 to C11, C14, C15, C17 and C18; what a policy is missing for is not compared."""
    cases = SMALL if small else CASES
    with_system = {
        machine: not missing(dataclasses.replace(s0.PINNED, system=name)) for machine, name in s0.SYSTEMS.items()
    }
    every = {setting for case in cases for setting in _settings(case)}
    absent = {setting: missing(setting) for setting in every}
    figures: dict[tuple[str, str, Setting], Timing] = {}
    for case in cases:
        traces = [_trace(folder, case, steps) for steps in (FEW, MORE)]
        for machine in s0.MACHINES:
            for setting in _settings(case):
                if absent[setting]:
                    continue
                chosen = dataclasses.replace(setting, system=s0.SYSTEMS[machine]) if with_system[machine] else setting
                figures[machine, case.name, setting] = timing(traces, machine, chosen)
    yield from Comparison(figures, cases, absent).rows(s0.references())
