"""What a study varies: axes whose values are combined, zipped, listed or sampled, into points. A point says what one run is asked to do.

The name of an axis is `trace`, `machine`, an option of `hn.replay`, or ``change.NAME``, NAME being one of the machine's parameters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homenode import _core
from homenode.arguments import is_path, whole_number
from homenode.errors import UsageError
from homenode.run_spec import FIELDS, NAMES, one_or_many

Point = dict[str, Any]

CHANGE = "change."
SAMPLE = "sample"
CLOSED_FORM = "closed-form"
"""Of the axis `engine` the value that stands for an estimate (`hn.estimate`) instead of a replay."""
TRACE, MACHINE = "trace", "machine"
ALLOWED = (TRACE, MACHINE, *NAMES)


@dataclass(frozen=True)
class Factor:
    """Points of some axes, to be combined with those of the others."""

    names: tuple[str, ...]
    points: tuple[Point, ...]


def named(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Values by axis, as lists; ``change={"link_bandwidth": …}`` is an axis for each of its names. UsageError for an unknown axis."""
    found: dict[str, list[Any]] = {}
    for name, given in values.items():
        if name == "change":
            if not isinstance(given, Mapping):
                raise UsageError(
                    f"axis 'change' is {type(given).__name__}; allowed: a table, {{'link_bandwidth': [...]}}"
                )
            for parameter, texts in _flat(given):
                found[CHANGE + parameter] = _texts(CHANGE + parameter, texts)
        elif name.startswith(CHANGE):
            found[name] = _texts(name, given)
        elif name in ALLOWED:
            found[name] = [_value(name, value) for value in _several(name, given)]
        else:
            raise UsageError(_core.unknown_name("axis", name, [*ALLOWED, "change"]))
    return found


def _flat(changes: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Changes by name: TOML makes tables of ``change.links.bandwidth``."""
    for name, found in changes.items():
        if isinstance(found, Mapping):
            yield from _flat(found, f"{before}{name}.")
        else:
            yield f"{before}{name}", found


def _texts(name: str, values: Any) -> list[str]:
    texts = [str(text) for text in _several(name, values)]
    if len({text.startswith("x") for text in texts if _core.quantity(text) is not None}) > 1:
        raise UsageError(f"axis '{name}' has factors and quantities, {', '.join(texts)}; allowed: one or the other")
    return texts


def _several(name: str, values: Any) -> list[Any]:
    found = one_or_many(values)
    if not found:
        raise UsageError(f"axis '{name}' is empty; allowed: one value, or several")
    return found


MOST_POINTS = 10_000_000
_MOST = {"seed": 2**64 - 1}
_DEFAULTS = {field.name: field.default for field in FIELDS}


def _value(name: str, value: Any) -> Any:
    """A value of an option, of the type that its default has."""
    if name in (TRACE, MACHINE):
        return value
    default = _DEFAULTS[name]
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise UsageError(f"axis '{name}' has the value {value!r}; allowed: True or False")
        return value
    if isinstance(default, str):
        if not is_path(value):
            raise UsageError(f"axis '{name}' has the value {value!r}; allowed: texts")
        return str(value)
    return whole_number(name, value, 0, _MOST[name] if name in _MOST else 2**63 - 1)


def combined(values: Mapping[str, Sequence[Any]]) -> list[Factor]:
    """Axes of which every value meets every other."""
    return [Factor((name,), tuple({name: value} for value in found)) for name, found in values.items()]


def zipped(values: Mapping[str, Sequence[Any]]) -> Factor:
    """Axes that go along with each other: the first values, then the second ones."""
    lengths = {name: len(found) for name, found in values.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"zipped axes have {_lengths(lengths)}; allowed: as many of each")
    names = tuple(values)
    return Factor(names, tuple(dict(zip(names, row, strict=True)) for row in zip(*values.values(), strict=True)))


def _lengths(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{length} of '{name}'" for name, length in lengths.items())


def listed(points: Iterable[Mapping[str, Any]]) -> Factor:
    """Points one by one, all of the same axes."""
    rows = []
    for point in points:
        row = {name: found[0] if len(found) == 1 else found for name, found in named(point).items()}
        several = [name for name, found in row.items() if isinstance(found, list)]
        if several:
            raise UsageError(f"a point has several values of '{several[0]}'; allowed: one of each axis")
        rows.append(row)
    if not rows:
        raise UsageError("no points; allowed: at least one")
    names = tuple(rows[0])
    for row in rows:
        if set(row) != set(names):
            raise UsageError(
                f"a point has the axes {', '.join(row)}, another one {', '.join(names)}; allowed: the same ones"
            )
    return Factor(names, tuple({name: row[name] for name in names} for row in rows))


def check_apart(factors: Sequence[Factor]) -> None:
    """No axis twice."""
    seen: set[str] = set()
    for factor in factors:
        for name in factor.names:
            if name in seen:
                raise UsageError(f"axis '{name}' comes twice; allowed: each axis once")
            seen.add(name)


def product(factors: Sequence[Factor]) -> Iterator[Point]:
    """Every combination; the last factor varies fastest. UsageError for more than MOST_POINTS."""
    number = math.prod(len(factor.points) for factor in factors)
    if number > MOST_POINTS:
        raise UsageError(f"a study of {number:,} points; allowed: at most {MOST_POINTS:,} before conditions")
    for chosen in itertools.product(*(factor.points for factor in factors)):
        point: Point = {}
        for part in chosen:
            point.update(part)
        yield point


def column(name: str) -> str:
    """An axis' column in tables: `link_bandwidth` for ``change.link_bandwidth``."""
    return name.removeprefix(CHANGE)
