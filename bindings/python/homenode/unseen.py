"""What homenode did not see of a program: instructions that ran in libraries and in objects that were compiled without tracing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MENTIONED = 0.03
"""Share of a program's instructions from which it is told wherever times are."""
OPEN = 0.1
"""Share of a region's instructions from which it is open what binds the region: its core time is a tenth too short."""
_BASES = ("counted", "stepped", "timed", "at_least", "none")  # the less certain ones last
_ESTIMATED = ("stepped", "timed")  # core time by blocks has these calls, but for timed ones that are few and short
_NAMED = 3  # functions and regions that a sentence names


def _merged(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls of one function in all regions together, most instructions first."""
    functions: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in entries:
        same = ("function", "library", "recorded", "basis", "samples")
        known = functions.setdefault(
            (entry["library"], entry["function"]),
            {**{key: entry[key] for key in same}, "calls": 0.0, "instructions": 0.0},
        )
        known["calls"] += entry["calls"]
        known["instructions"] += entry["instructions"]
        known["basis"] = max(known["basis"], entry["basis"], key=_BASES.index)
    return sorted(
        functions.values(), key=lambda one: (-one["instructions"], -one["calls"], one["library"], one["function"])
    )


def _sums(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Of some region's code: instructions seen and not seen, calls that were not seen into, and the share of these instructions.

    Calls whose accesses or heap events are recorded are in the whole, for replays have their time.
    """
    seen = sum(entry["instructions"] for entry in entries if not entry["function"])
    recorded = sum(entry["instructions"] for entry in entries if entry["function"] and entry["recorded"] != "nothing")
    outside = [entry for entry in entries if entry["function"] and entry["recorded"] == "nothing"]
    unseen = sum(entry["instructions"] for entry in outside)
    estimated = sum(entry["instructions"] for entry in outside if entry["basis"] in _ESTIMATED and entry["has_time"])
    every = seen + recorded + unseen
    return {
        "share": unseen / every if every > 0 else 0.0,
        "estimated_share": estimated / every if every > 0 else 0.0,
        "at_least": any(entry["basis"] in ("at_least", "none") for entry in outside),
        "calls": round(sum(entry["calls"] for entry in outside)),
        "instructions": unseen,
        "seen_instructions": seen,
        "recorded_instructions": recorded,
    }


def summary(code: list[dict[str, Any]], labels: Sequence[str]) -> dict[str, Any]:
    """What is in reports as ``trace.unseen``: of the whole program, by function, by region.

    Functions whose heap events or accesses are recorded (`recorded`: ``heap``, ``accesses``) are listed, but are in no share.
    `known` is false of a trace that nobody counted instructions for.
    """
    whole = _sums(code)
    every = whole["instructions"] + whole["seen_instructions"] + whole["recorded_instructions"]
    functions = []
    for entry in _merged([entry for entry in code if entry["function"]]):
        counts = entry["recorded"] == "nothing"
        functions.append(
            {
                **entry,
                "calls": round(entry["calls"]),
                "share": entry["instructions"] / every if counts and every > 0 else 0.0,
            }
        )
    by_label: dict[str, list[dict[str, Any]]] = {}
    for entry in code:
        if entry["region"] is not None:
            by_label.setdefault(labels[entry["region"]], []).append(entry)
    regions = []
    for label, entries in by_label.items():
        sums = _sums(entries)
        regions.append({"label": label, **sums, "settled": sums["share"] < OPEN})
    return {"known": bool(code), **whole, "functions": functions, "regions": regions}


def _is_open(region: dict[str, Any], by_blocks: bool) -> bool:
    """Core time by blocks has the time of calls that were stepped or timed."""
    return not region["settled"] and not (by_blocks and region["share"] - region["estimated_share"] < OPEN)


def open_regions(unseen: dict[str, Any], by_blocks: bool = False) -> set[str]:
    """Labels of the regions of which it is open what binds them, where core time is by blocks or by classes of instructions."""
    return {region["label"] for region in unseen.get("regions", []) if _is_open(region, by_blocks)}


def open_of(unseen: dict[str, Any], run: dict[str, Any]) -> set[str]:
    """The same of one run of a report: its machine times code by blocks or by classes."""
    return open_regions(unseen, _by_blocks(run))


def _by_blocks(run: dict[str, Any]) -> bool:
    return bool(run.get("core", "classes") != "classes")


def sentences(unseen: dict[str, Any], runs: Iterable[dict[str, Any]], judged: Iterable[str] = ()) -> str | None:
    """What is to be said of the times of these runs, by machine where their machines time code in different ways."""
    runs, judged = list(runs), list(judged)
    kinds = dict.fromkeys(_by_blocks(run) for run in runs)
    said = []
    for by_blocks in kinds:
        if (told := sentence(unseen, judged, by_blocks)) is None:
            continue
        names = dict.fromkeys(str(run["machine"]) for run in runs if _by_blocks(run) == by_blocks)
        said.append(f"On {', '.join(names)}: {told[0].lower()}{told[1:]}" if len(kinds) > 1 else told)
    return " ".join(said) or None


def library_of(function: dict[str, Any]) -> str:
    """`libm` for ``libm.so.6``; code in the program's own file was linked without tracing."""
    return str(function["library"]).partition(".so")[0] or "not instrumented"


def is_traced(function: dict[str, Any]) -> bool:
    """Whether it is of a shared library that was linked by homenode: accesses are recorded, and its code is timed as a call."""
    return str(function["library"]).endswith(".timed")


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


def _named(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def sentence(unseen: dict[str, Any], judged: Iterable[str] = (), by_blocks: bool = False) -> str | None:
    """What is to be said where times of this program are; None if it was seen almost completely, and the `judged` regions, too."""
    if not unseen.get("known") or (unseen["share"] < MENTIONED and open_regions(unseen, by_blocks).isdisjoint(judged)):
        return None
    by_library: dict[str, list[str]] = {}
    for function in [one for one in unseen["functions"] if one["share"] >= 0.01][:_NAMED]:
        by_library.setdefault(library_of(function), []).append(f"{function['function']} {percent(function['share'])}")
    told = "; ".join(f"{library}: {', '.join(functions)}" for library, functions in by_library.items())
    regions = sorted(
        (one for one in unseen["regions"] if _is_open(one, by_blocks)), key=lambda one: -one["instructions"]
    )
    least = "at least " if unseen["at_least"] else ""
    text = f"{least}{percent(unseen['share'])} of this program's instructions run in code that homenode did not see"
    text = text[0].upper() + text[1:] + (f" ({told})" if told else "")
    if not regions and by_blocks and unseen["estimated_share"] > 0:
        missing = unseen["share"] - unseen["estimated_share"]
        short = f" Calls with {percent(missing)} of the instructions have no time." if missing >= MENTIONED else ""
        traced = any(is_traced(one) for one in unseen["functions"])
        but = ", but for those of libraries that were traced" if traced else ""
        return f"{text}; times have the calls, as sampled in the capture, without their accesses{but}.{short}"
    if not regions:
        return f"{text}; no region is a tenth too short by it."
    names = _named([f"{one['label']} ({percent(one['share'])})" for one in regions])
    return (
        f"{text}: the times of {names} are too short, and what binds {'it' if len(regions) == 1 else 'them'} is open."
    )
