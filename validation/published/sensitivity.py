"""How much a result hangs on each assumed number of a machine: halved and doubled, one at a time, through Machine.with_changes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from homenode.errors import InputError, UsageError

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)( .+)?")


@dataclass(frozen=True)
class Assumed:
    """An assumed number: the fields that have it (all alike links share one), and its text."""

    name: str
    fields: tuple[str, ...]
    value: str

    def scaled(self, factor: float) -> dict[str, str]:
        """Return the changes that multiply it; whole numbers stay whole."""
        number, unit = _parts(self.value)
        text = f"{number * factor:.12g}"
        if "." not in self.value and float(number).is_integer() and not unit:
            text = str(max(1, round(number * factor)))
        return dict.fromkeys(self.fields, text + unit)


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
    """Return the assumed numbers; choices by name (an inclusion, a snoop mode), curves and topology are none."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for parameter in machine.parameters:
        if not parameter["assumed"] or _QUANTITY.fullmatch(parameter["value"]) is None:
            continue
        path = str(parameter["path"])
        if path in ("sockets", "hubs"):
            continue
        name = re.sub(r"^links\.\d+\.", "links.", path)
        groups.setdefault((name, str(parameter["value"]), str(parameter["note"])), []).append(path)
    return [
        Assumed(name if len(fields) == 1 else f"{name} ({len(fields)} links)", tuple(fields), value)
        for (name, value, _), fields in groups.items()
    ]


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


def table(found: Iterable[Movement], least: float = 0.005) -> str:
    """Return Markdown: what moves the result by at least `least`, then the names of the rest."""
    lines = ["| assumed number | is | x 0.5 | x 2 |", "|---|---|---|---|"]
    still = []
    for movement in found:
        texts = [
            f"{value - 1:+.1%}" if isinstance(value, float) else value for value in (movement.halved, movement.doubled)
        ]
        refused = any(isinstance(value, str) for value in (movement.halved, movement.doubled))
        if movement.largest < least and not refused:
            still.append(movement.assumed.name)
        else:
            lines.append(f"| {movement.assumed.name} | {movement.assumed.value} | {texts[0]} | {texts[1]} |")
    return "\n".join(lines) + f"\n\nLess than {least:.1%}: {', '.join(still) or 'none'}.\n"


def main(folder: Path, heap: str = "jarena") -> int:
    """Print how S1's Table 5 (2D, temporaries kept), the speed-up of 256 over 8 threads, moves on the SGI UV."""
    from validation.published import s1, s1_fitted
    from validation.published.s1_replays import advection_seconds, setting

    def speed_up(machine: hn.Machine) -> float:
        few, many = (
            advection_seconds(folder, team, "reuse", 1024, setting(heap), machine.changes).seconds for team in (8, 256)
        )
        return few / many

    machine = hn.Machine.load(s1.MACHINE).with_changes(s1_fitted.changes())
    print(f"speed-up of 256 over 8 threads as described: {speed_up(machine):.4g}\n")
    print(table(movements(machine, speed_up)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("build/validation")))
