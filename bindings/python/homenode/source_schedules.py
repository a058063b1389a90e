"""The schedules that a program's source gives its loops, as distributions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from homenode import _core
from homenode.run_spec import AS_WRITTEN, RunSpec
from homenode.trace import Trace


def clause(loop: Mapping[str, Any]) -> str:
    """The loop's own schedule clause without modifiers: ``dynamic,4``; static where there is none. `loop`: of `Trace.inspect`."""
    return _core.written_schedule(str(loop["schedule"]))[0]


def schedule_of(loop: Mapping[str, Any]) -> tuple[str, str]:
    """The distribution of a loop's own clause, and its chunk where that is no number that the trace knows: it is taken as 1."""
    return _core.written_schedule(str(loop["schedule"]))[1:]


def taken_as_one(loop: Mapping[str, Any]) -> str:
    """A sentence on a loop whose chunk is no number that the trace knows; empty for others."""
    unknown = schedule_of(loop)[1]
    return (
        f"The chunk '{unknown}' of '{loop['label']}' is no number that the trace knows; taken as 1." if unknown else ""
    )


def remarks(trace: Trace, specs: Iterable[RunSpec]) -> Iterator[str]:
    """Sentences on loops whose schedule in the source is another one than in every run, and on what the source leaves open."""
    loops = [region for region in trace.inspect()["regions"] if region["kind"] == "loop"]
    texts = list(dict.fromkeys(spec.distribution for spec in specs))
    taken = {loop["label"]: {_taken(text.split(), loop["label"]) for text in texts} for loop in loops}
    missing = {
        loop["label"]: clause(loop) for loop in loops if not taken[loop["label"]] & {AS_WRITTEN, schedule_of(loop)[0]}
    }
    if missing:
        told = ", ".join(f"{text} in '{label}'" for label, text in missing.items())
        kept = texts[0] if len(texts) == 1 and not _has_rest(texts[0].split()) else ""
        words = f"'{kept} {AS_WRITTEN}'" if kept else AS_WRITTEN
        yield f"The source has other schedules than these runs: {told}. --distribution {words} replays them."
    written = [loop for loop in loops if AS_WRITTEN in taken[loop["label"]]]
    yield from dict.fromkeys(filter(None, map(taken_as_one, written)))
    open_ones = ", ".join(dict.fromkeys(f"'{loop['label']}'" for loop in written if clause(loop) == "runtime"))
    if open_ones:
        yield f"The schedule of {open_ones} is runtime: dynamic,1 is taken, as libgomp does where OMP_SCHEDULE is not set."


def _has_rest(words: list[str]) -> bool:
    """Whether a distribution says something of loops that it does not name."""
    return any("@" not in word and not word.startswith(("tasks", "locality-queues")) for word in words)


def _taken(words: list[str], label: str) -> str:
    """What a distribution's words say of a region."""
    own = next((word.rpartition("@")[2] for word in words if word.rpartition("@")[0] == label), None)
    taken = own or next((word for word in words if "@" not in word), "static")
    return "dynamic:1" if taken == "dynamic" else taken
