"""How much a result depends on each assumed number of a machine: halved and doubled, one at a time, through Machine.with_changes."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.errors import InputError, UsageError
from validation.published.s1.cases import MACHINE, REDUCED_MACHINE
from validation.published.s1.replays import advection_seconds, advection_setting, setting, write_seconds
from validation.result_cache import ResultCache, package_hash
from validation.rows import AnyRow
from validation.study import Options, Study

PAGE = Path(__file__).with_name("results_sensitivity.md")
COMMAND = "python -m validation s1-sensitivity --write"
RATES = ("controllers.read_only", "controllers.one_to_one")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)( .+)?")


@dataclass(frozen=True)
class Assumed:
    """An assumed number: the fields that have it (all alike links share one), and its text; and numbers that move with it."""

    name: str
    fields: tuple[str, ...]
    value: str
    others: tuple[Assumed, ...] = ()

    def scaled(self, factor: float) -> dict[str, str]:
        """Return the changes that multiply it; whole numbers stay whole."""
        number, unit = _parts(self.value)
        text = f"{number * factor:.12g}"
        if "." not in self.value and float(number).is_integer() and not unit:
            text = str(max(1, round(number * factor)))
        changes = dict.fromkeys(self.fields, text + unit)
        for other in self.others:
            changes |= other.scaled(factor)
        return changes


@dataclass(frozen=True)
class Movement:
    """The result with the number halved and doubled, over the result as described; a text says why there is none."""

    assumed: Assumed
    halved: float | str
    doubled: float | str

    @property
    def largest(self) -> float:
        """How far the result moves at most."""
        return max((abs(value - 1) for value in (self.halved, self.doubled) if isinstance(value, float)), default=0.0)


def _parts(value: str) -> tuple[float, str]:
    found = _QUANTITY.fullmatch(value)
    if found is None:
        raise ValueError(f"'{value}' is no number with a unit")
    return float(found[1]), found[2] or ""


def assumed_numbers(machine: hn.Machine) -> list[Assumed]:
    """Return the assumed numbers; choices by name (an inclusion, a snoop mode), curves, topology and DRAM (engine line) are none."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for parameter in machine.parameters:
        if parameter["path"].startswith("dram."):
            continue
        together = parameter["path"] in RATES  # a fitted one moves with the assumed one
        if not (parameter["assumed"] or together) or _QUANTITY.fullmatch(parameter["value"]) is None:
            continue
        path = str(parameter["path"])
        if path in ("sockets", "hubs"):
            continue
        name = re.sub(r"^links\.\d+\.", "links.", path)
        groups.setdefault((name, str(parameter["value"]), str(parameter["note"])), []).append(path)
    numbers = [
        Assumed(name if len(fields) == 1 else f"{name} ({len(fields)} links)", tuple(fields), value)
        for (name, value, _), fields in groups.items()
    ]
    return _controllers_together(numbers)


def _controllers_together(numbers: list[Assumed]) -> list[Assumed]:
    """Join a controller's two bandwidths: what it writes follows from both, and one alone doubled asks for writes without end."""
    two = [number for number in numbers if number.name in RATES]
    if len(two) < 2:
        return numbers
    joined = Assumed(
        "controllers.read_only and .one_to_one",
        two[0].fields,
        two[0].value,
        (Assumed(two[1].name, two[1].fields, two[1].value),),
    )
    return [joined, *(number for number in numbers if number not in two)]


def movements(
    machine: hn.Machine, result: Callable[[hn.Machine], float], numbers: Iterable[Assumed] | None = None
) -> list[Movement]:
    """Return how `result` moves with each number, the largest first."""
    base = result(machine)

    def moved(assumed: Assumed, factor: float) -> float | str:
        try:
            return result(machine.with_changes(assumed.scaled(factor))) / base
        except (InputError, UsageError) as error:
            return f"refused: {str(error).splitlines()[0]}"

    chosen = assumed_numbers(machine) if numbers is None else numbers
    found = [Movement(assumed, moved(assumed, 0.5), moved(assumed, 2.0)) for assumed in chosen]
    return sorted(found, key=lambda movement: -movement.largest)


@dataclass(frozen=True)
class Sensitivity(AnyRow):
    """A result as described, and how it moves."""

    name: str
    as_described: float
    movements: list[Movement]

    def as_json(self) -> dict[str, Any]:
        """Return it with its movements as plain values."""
        moved = [
            {"name": one.assumed.name, "value": one.assumed.value, "halved": one.halved, "doubled": one.doubled}
            for one in self.movements
        ]
        return {"name": self.name, "as_described": self.as_described, "movements": moved}

    def range_and_causes(self) -> str:
        """The least and the most that it becomes, and by which numbers."""
        moved = [
            (value * self.as_described, f"{movement.assumed.name} x {factor}")
            for movement in self.movements
            for factor, value in (("0.5", movement.halved), ("2", movement.doubled))
            if isinstance(value, float)
        ]
        (least, by_least), (most, by_most) = min(moved), max(moved)
        return f"{least:.3g} ({by_least}) to {most:.3g} ({by_most})"


def _cell(movement: Movement) -> str:
    texts = [
        f"{value - 1:+.1%}" if isinstance(value, float) else "refused" for value in (movement.halved, movement.doubled)
    ]
    return " / ".join(texts)


def page(found: Sequence[Sensitivity], command: str, day: datetime.date, least: float = 0.005) -> str:
    """Return Markdown: the results' ranges, then each number that moves any of them by at least `least`."""
    lines = [
        "# Yang et al. 2019 (S1): how much depends on each assumed number of the SGI UV",
        "",
        f"Run on {day.isoformat()}:",
        "",
        f"    {command}",
        "",
        "Each assumed number of `sgi-uv-32s` (`homenode machines sgi-uv-32s --sources`) is halved and doubled, one at a time,",
        "beside the fitted ones (source `S1-T4`). Results are those of [results.md](results.md) on a smaller problem:",
        "1024 patches for Table 5 (as many a thread on 64 threads as there on 256), 8 of 64 blocks a thread for Table 4.",
        "",
        "| result | as described | range over all of them |",
        "|---|---|---|",
        *(f"| {one.name} | {one.as_described:.3g} | {one.range_and_causes()} |" for one in found),
        "",
        "Change of the result with the number halved / doubled; *refused*: the description's own checks do not allow it.",
        "",
        f"| assumed number | is | {' | '.join(one.name for one in found)} |",
        f"|---|---|{'---|' * len(found)}",
    ]
    by_number: dict[Assumed, list[Movement]] = {}
    for one in found:
        for movement in one.movements:
            by_number.setdefault(movement.assumed, []).append(movement)
    ordered = sorted(by_number.items(), key=lambda item: -max(movement.largest for movement in item[1]))
    still = []
    for number, moved in ordered:
        if max(movement.largest for movement in moved) < least:
            still.append(f"{number.name} ({number.value})")
        else:
            lines.append(f"| {number.name} | {number.value} | {' | '.join(_cell(movement) for movement in moved)} |")
    return "\n".join([*lines, "", f"Less than {least:.1%} in every result: {', '.join(still) or 'none'}."]) + "\n"


def s1_results(folder: Path, cache: ResultCache) -> dict[str, Callable[[hn.Machine], float]]:
    """Return what S1's orders depend on; replays that several results share are done once."""

    def advection(heap: str, team: int, machine: hn.Machine) -> float:
        def answer() -> dict[str, float]:
            reduced = hn.Machine.load(REDUCED_MACHINE).with_changes(machine.changes)
            chosen = {"": advection_setting(heap, machine=reduced)}
            return {"seconds": advection_seconds(folder, team, "scratch", 1024, chosen)[""].seconds}

        question = {"table": 5, "heap": heap, "team": team, "changes": machine.changes}
        return float(cache.get(question, answer)["seconds"])

    def write(heap: str, machine: hn.Machine) -> float:
        question = {"table": 4, "heap": heap, "team": 32, "changes": machine.changes}
        chosen = {"": setting(heap, machine=machine)}
        return float(cache.get(question, lambda: {"seconds": write_seconds(folder, 32, chosen)[""].seconds})["seconds"])

    return {
        "Table 4, 32 threads: GLIBC over JArena": lambda machine: write("glibc", machine) / write("jarena", machine),
        "Table 4, 32 threads: TCMalloc over JArena": lambda machine: (
            write("tcmalloc", machine) / write("jarena", machine)
        ),
        "Table 5 (2D): JArena, speed-up of 64 over 8 threads": lambda machine: (
            advection("jarena", 8, machine) / advection("jarena", 64, machine)
        ),
        "Table 5 (2D), 64 threads: first touch over JArena": lambda machine: (
            advection("glibc", 64, machine) / advection("jarena", 64, machine)
        ),
    }


def _rows(options: Options) -> Iterator[Sensitivity]:
    """Halve and double each assumed number of the SGI UV."""
    machine = hn.Machine.load(MACHINE)
    cache = ResultCache(options.folder / "sensitivity.jsonl", package_hash())
    for name, result in s1_results(options.folder, cache).items():
        yield Sensitivity(name, result(machine), movements(machine, result))


STUDY = Study(
    "s1-sensitivity",
    "four results of S1 against themselves with each assumed number of its machine halved and doubled",
    "hours",
    ("name", "as_described", "movements"),
    _rows,
    (PAGE,),
    line=lambda one: f"{one.name}  {one.as_described:.3g}  {one.range_and_causes()}",
    tables=lambda found: page(found, COMMAND, datetime.date.today()),
)
