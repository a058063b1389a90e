"""How much a result depends on each assumed number of a machine: halved and doubled, one at a time, through Machine.with_changes."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from homenode.errors import InputError, UsageError
from validation.kept import Kept, package_hash

PAGE = Path(__file__).with_name("results_s1_sensitivity.md")
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
        if not parameter["assumed"] or _QUANTITY.fullmatch(parameter["value"]) is None:
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
    two = [number for number in numbers if number.name in ("controllers.read_only", "controllers.one_to_one")]
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
class Sensitivity:
    """A result as described, and how it moves."""

    name: str
    as_described: float
    movements: list[Movement]

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
        "# S1: how much depends on each assumed number of the SGI UV",
        "",
        f"Run on {day.isoformat()}:",
        "",
        f"    {command}",
        "",
        "Each assumed number of `sgi-uv-32s` (`homenode machines sgi-uv-32s --sources`) is halved and doubled, one at a time,",
        "beside the fitted ones of [s1_fitted.py](s1_fitted.py). Results are those of [results_s1.md](results_s1.md) on a smaller problem:",
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


def s1_results(folder: Path, kept: Kept) -> dict[str, Callable[[hn.Machine], float]]:
    """Return what S1's orders depend on; replays that several results share are done once."""
    from validation.published.s1_replays import advection_heap, advection_seconds, setting, write_seconds

    def advection(heap: str, team: int, machine: hn.Machine) -> float:
        def answer() -> dict[str, float]:
            chosen = setting(advection_heap(heap))
            return {"seconds": advection_seconds(folder, team, "scratch", 1024, chosen, machine.changes).seconds}

        question = {"table": 5, "heap": heap, "team": team, "changes": machine.changes}
        return float(kept.get(question, answer)["seconds"])

    def write(heap: str, machine: hn.Machine) -> float:
        question = {"table": 4, "heap": heap, "team": 32, "changes": machine.changes}
        return float(
            kept.get(question, lambda: {"seconds": write_seconds(folder, 32, setting(heap), machine.changes).seconds})[
                "seconds"
            ]
        )

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


def main(arguments: list[str] | None = None) -> int:
    """Halve and double each assumed number of the SGI UV and print what becomes of S1's results."""
    from validation.published import s1, s1_fitted

    parser = argparse.ArgumentParser(prog="python -m validation.published.sensitivity", description=main.__doc__)
    parser.add_argument(
        "--folder", type=Path, default=Path("build/validation"), help="where traces and answers are kept"
    )
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = parser.parse_args(arguments)
    machine = hn.Machine.load(s1.MACHINE).with_changes(s1_fitted.changes())
    kept = Kept(options.folder / "sensitivity.jsonl", package_hash())
    found = [
        Sensitivity(name, result(machine), movements(machine, result))
        for name, result in s1_results(options.folder, kept).items()
    ]
    text = page(found, "python -m validation.published.sensitivity --write", datetime.date.today())
    print(text, end="")
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
