"""The schedules that a program's source gives its loops, as distributions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from homenode.run_spec import RunSpec
from homenode.trace import Trace

RUNTIME_DEFAULT = "dynamic:1"
"""What libgomp takes for ``schedule(runtime)`` where OMP_SCHEDULE is not set."""


def clause(loop: Mapping[str, Any]) -> str:
    """The loop's own schedule clause without modifiers: ``dynamic,4``; static where there is none. `loop`: of `Trace.inspect`."""
    return str(loop["schedule"]).lower().rpartition(":")[2].replace(" ", "") or "static"


def schedule_of(loop: Mapping[str, Any]) -> tuple[str, str]:
    """The distribution of a loop's own clause, and its chunk where that is no number that the trace knows: it is taken as 1."""
    kind, _, chunk = clause(loop).partition(",")
    if kind == "runtime":
        return RUNTIME_DEFAULT, ""
    if kind not in ("static", "dynamic", "guided"):  # auto is static in libgomp
        return "static", ""
    unknown = "" if not chunk or re.fullmatch(r"[1-9][0-9]{0,17}", chunk) else chunk
    chunk = "1" if unknown else chunk
    return f"{kind}:{chunk}" if chunk else "dynamic:1" if kind == "dynamic" else kind, unknown


def not_replayed(trace: Trace, specs: Iterable[RunSpec]) -> str | None:
    """A sentence on loops whose schedule in the source is another one than in every run; None where there is none."""
    given = [dict.fromkeys(spec.distribution.split()) for spec in specs]
    missing = {}
    for loop in trace.inspect()["regions"]:
        if loop["kind"] != "loop":
            continue
        schedule, _ = schedule_of(loop)
        if schedule not in [_taken(list(words), loop["label"]) for words in given]:
            missing[loop["label"]] = (clause(loop), schedule)
    if not missing:
        return None
    told = ", ".join(f"{text} in '{label}'" for label, (text, _) in missing.items())
    words = " ".join(f"{label}@{schedule}" for label, (_, schedule) in missing.items())
    return f"The source has other schedules than these runs: {told}. --distribution '{words}' replays them."


def _taken(words: list[str], label: str) -> str:
    """What a distribution's words say of a region."""
    own = next((word.rpartition("@")[2] for word in words if word.rpartition("@")[0] == label), None)
    taken = own or next((word for word in words if "@" not in word), "static")
    return "dynamic:1" if taken == "dynamic" else taken
