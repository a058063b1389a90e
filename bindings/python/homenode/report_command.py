"""The command line that makes a report's runs again, from what the report says of them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

from homenode.errors import Error
from homenode.machine import Machine
from homenode.run_spec import AXES, FIELDS

TRACE = "TRACE.hnt"
"""Stands for the trace's file, whose name a report does not have."""


def machine_of(run: dict[str, Any]) -> Machine | None:
    """The machine of a run, if it is a described one that has not changed since; else None."""
    try:
        machine = Machine.load(run["machine"]).with_changes(run["machine_changes"])
    except Error:
        return None
    return machine if machine.hash == run["machine_hash"] else None


def replay_commands(runs: Sequence[dict[str, Any]], samples: int | None) -> list[str]:
    """Of comparable runs: one line if they are a grid, else a line for each. `samples`: of `--confidence`, if it was asked for."""
    values = _values(runs)
    if math.prod(len(values.get(name, [None])) for name in AXES) == len(runs):
        return [_line(runs, samples)]
    return [_line([run], samples) for run in runs]


def _values(runs: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """By option the values that these runs have, in their order; of what a report does not tell, nothing."""
    found = {}
    for field in FIELDS:
        reported = [told(field.name, run) for run in runs]
        values = [value for value in dict.fromkeys(reported) if value is not None]
        if values:
            found[field.name] = values
    return found


def told(name: str, run: dict[str, Any]) -> Any:
    """What a report says that was asked for by an option; None of what it does not tell."""
    value = run.get(name)
    if name == "core" and run.get("core_factors"):
        return None  # what they are applied to
    if name == "energy":
        return run.get("energy_detail", {}).get("model")  # its name: of a file of one's own not the path
    if name == "caches" and run.get("caches_reason", {}).get("region"):
        return None  # chosen by the trace
    return None if name == "system" and str(value).endswith("'s own") else value


def _line(runs: Sequence[dict[str, Any]], samples: int | None) -> str:
    first = runs[0]
    machine = machine_of(first)
    is_described = machine is not None or first["machine"] in Machine.names()
    words = ["homenode", "replay", TRACE, "--machine", first["machine"] if is_described else "MACHINE.toml"]
    for name, text in first["machine_changes"].items():
        words += ["--change", f"{name}={text}"]
    for field in FIELDS:
        values = _values(runs).get(field.name, [])
        if values == [field.default] or (field.name == "system" and _is_own(values, machine)):
            continue
        for value in values:
            words += ["--" + field.name.replace("_", "-"), str(value)]
    if machine is not None and first.get("threads_at_once", first["threads"]) > machine.cores:
        words.append("--oversubscribe")
    for label in first.get("rank_by", ()):
        words += ["--rank-by", label]
    if samples is not None:
        words.append(f"--confidence={samples}")
    return shlex.join(words)


def _is_own(systems: list[Any], machine: Machine | None) -> bool:
    """Whether it is the system that a replay on this machine takes by itself."""
    return systems == ["default"] if machine is None else systems == [machine.system_name]
