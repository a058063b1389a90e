"""The schedules that a program's source gives its loops, as distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from homenode import _core
from homenode.run_spec import AS_WRITTEN, RunSpec
from homenode.trace import Trace


def clause(loop: Mapping[str, Any]) -> str:
    """The loop's own schedule clause without modifiers: ``dynamic,4``; static where there is none. `loop`: of `Trace.inspect`."""
    return str(loop["schedule"]).lower().rpartition(":")[2].replace(" ", "") or "static"


def schedule_of(loop: Mapping[str, Any]) -> tuple[str, str]:
    """The distribution of a loop's own clause, and its chunk where that is no number that the trace knows: it is taken as 1."""
    return _core.written_schedule(str(loop["schedule"]))


def not_replayed(trace: Trace, specs: Iterable[RunSpec]) -> str | None:
    """A sentence on loops whose schedule in the source is another one than in every run; None where there is none."""
    given = [dict.fromkeys(spec.distribution.split()) for spec in specs]
    missing: dict[str, str] = {}
    for loop in trace.inspect()["regions"]:
        if loop["kind"] != "loop":
            continue
        schedule, _ = schedule_of(loop)
        if not {schedule, AS_WRITTEN}.intersection(_taken(list(words), loop["label"]) for words in given):
            missing[loop["label"]] = clause(loop)
    if not missing:
        return None
    told = ", ".join(f"{text} in '{label}'" for label, text in missing.items())
    return f"The source has other schedules than these runs: {told}. --distribution {AS_WRITTEN} replays them."


def _taken(words: list[str], label: str) -> str:
    """What a distribution's words say of a region."""
    own = next((word.rpartition("@")[2] for word in words if word.rpartition("@")[0] == label), None)
    taken = own or next((word for word in words if "@" not in word), "static")
    return "dynamic:1" if taken == "dynamic" else taken
