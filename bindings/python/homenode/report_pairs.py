"""Two reports held against each other: what differs between them, which choices both have, and whose rank is another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from homenode import report
from homenode.report_command import told
from homenode.run_spec import NAMES

Run = dict[str, Any]
_ABSENT = "–"
_TRACE = (("program", "program"), ("arguments", "arguments"), ("hash", "trace"), ("accesses", "accesses"))


@dataclass(frozen=True)
class Pair:
    """A choice that both reports have: its runs, and its ranks among such choices; None of a bound, which has no rank."""

    first: Run
    second: Run
    ranks: tuple[int | None, int | None]

    @property
    def by_regions(self) -> Sequence[str]:
        """The regions by whose time both are ranked; none where both are by the whole program's, or each by another one."""
        one, other = self.first.get("rank_by"), self.second.get("rank_by")
        return one if one and one == other else ()

    @property
    def seconds(self) -> tuple[float, float]:
        """Both times: of the regions by which both are ranked, else of the whole program."""
        if self.by_regions:
            return report.ranked_seconds(self.first), report.ranked_seconds(self.second)
        return self.first["seconds"], self.second["seconds"]

    @property
    def ratio(self) -> float | None:
        """Time of the second run over that of the first."""
        first, second = self.seconds
        return second / first if first > 0 else None


@dataclass(frozen=True)
class Pairs:
    """What two reports have in common and what not."""

    rankings: Sequence[Sequence[Pair]]
    """By set of runs that compete with each other; in the order of the first report's ranks, bounds last."""
    differences: Sequence[tuple[str, str, str]]
    """What is another one throughout: its name, and both values as text."""
    alone: tuple[Sequence[Run], Sequence[Run]]
    """The runs of each report that the other one does not have."""


def pair_up(first: dict[str, Any], second: dict[str, Any]) -> Pairs:
    """Runs are paired by their options, but for those of which each report has one value alone, and another one.

    So a program before and after an edit, two machines, or two engines are held against each other choice by choice.
    """
    reports = (first, second)
    asked = [[_values(run) for run in document["runs"]] for document in reports]
    names = list(dict.fromkeys(name for runs in asked for run in runs for name in run))
    several = [{name: list(dict.fromkeys(run.get(name, _ABSENT) for run in runs)) for name in names} for runs in asked]
    apart = [
        name
        for name in names
        if len(several[0][name]) == len(several[1][name]) == 1 and several[0][name] != several[1][name]
    ]
    keys = [_numbered(runs, [name for name in names if name not in apart]) for runs in asked]
    place = {key: number for number, key in enumerate(keys[1])}
    found = [(number, place[key]) for number, key in enumerate(keys[0]) if key in place]
    paired = [{pair[side] for pair in found} for side in (0, 1)]
    alone = [
        [run for number, run in enumerate(document["runs"]) if number not in paired[side]]
        for side, document in enumerate(reports)
    ]
    both = [(first["runs"][one], second["runs"][other]) for one, other in found]
    differences = [
        *_traces(first, second),
        *((name, str(several[0][name][0]), str(several[1][name][0])) for name in apart),
        *_descriptions(both),
        *_ranked_by(both),
    ]
    return Pairs(list(_rankings(both)), differences, (alone[0], alone[1]))


def _values(run: Run) -> dict[str, Any]:
    """What was asked for, as values that can be looked up: the machine with its changes, and the options that the report tells."""
    changes = ", ".join(f"{name}={text}" for name, text in run["machine_changes"].items())
    options = {name: value for name in NAMES if (value := told(name, run)) is not None}
    return {"machine": run["machine"], "changes of the machine": changes or "none", **options}


def _numbered(runs: Sequence[dict[str, Any]], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """A key for each run; of runs that ask for the same, the first ones of both reports are a pair, the second ones, and so on."""
    seen: dict[tuple[Any, ...], int] = {}
    keys = []
    for run in runs:
        key = tuple(run.get(name, _ABSENT) for name in names)
        seen[key] = seen.get(key, 0) + 1
        keys.append((*key, seen[key]))
    return keys


def _rankings(runs: Sequence[tuple[Run, Run]]) -> Iterator[list[Pair]]:
    groups: dict[tuple[Any, ...], list[tuple[Run, Run]]] = {}
    for first, second in runs:
        groups.setdefault((report.comparable(first), report.comparable(second)), []).append((first, second))
    for group in groups.values():
        ranks: list[dict[int, int]] = []
        order: list[int] = []
        for side in (0, 1):
            ranked, bounds = report.by_rank([pair[side] for pair in group])
            ranks.append({place: rank for rank, place in enumerate(ranked, start=1)})
            order = order or [*ranked, *bounds]
        yield [Pair(*group[place], (ranks[0].get(place), ranks[1].get(place))) for place in order]


def _traces(first: dict[str, Any], second: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key, name in _TRACE:
        one, other = first["trace"][key], second["trace"][key]
        if one != other:
            yield name, _text(one), _text(other)
    if first["homenode_version"] != second["homenode_version"]:
        yield "homenode", first["homenode_version"], second["homenode_version"]


def _descriptions(runs: Sequence[tuple[Run, Run]]) -> Iterator[tuple[str, str, str]]:
    """Machines of one name and the same changes whose numbers are others: a description that was edited between the reports."""
    seen = set()
    for first, second in runs:
        same = all(first[key] == second[key] for key in ("machine", "machine_changes"))
        hashes = first["machine_hash"], second["machine_hash"]
        if same and hashes[0] != hashes[1] and hashes not in seen:
            seen.add(hashes)
            yield f"numbers of '{first['machine']}'", f"hash {hashes[0]}", f"hash {hashes[1]}"


def _ranked_by(runs: Sequence[tuple[Run, Run]]) -> Iterator[tuple[str, str, str]]:
    """By the time of which regions each report ranks, where these are others."""
    for both in runs[:1]:  # one report ranks all of its runs by the same
        one, other = (", ".join(run.get("rank_by", ["the whole program"])) for run in both)
        if one != other:
            yield "ranked by the time of", one, other


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"
