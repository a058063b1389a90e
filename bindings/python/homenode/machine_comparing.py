"""Two machines number by number: what differs, by how much, and where each number comes from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from homenode.machine import Machine

_SCALES = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "B": 1.0}
_SCALES |= {f"{prefix}B": 10.0 ** (3 * power) for power, prefix in enumerate(("", "k", "M", "G", "T"))}
_SCALES |= {f"{prefix}iB": 2.0 ** (10 * power) for power, prefix in enumerate(("", "K", "M", "G", "T")) if prefix}
_SCALES |= {f"{prefix}Hz": 10.0 ** (3 * power) for power, prefix in enumerate(("", "k", "M", "G"))}
_SCALES |= {f"{unit}/s": scale for unit, scale in list(_SCALES.items()) if unit.endswith("B")}


@dataclass(frozen=True)
class Told:
    """A number as one machine has it; its value is empty where the machine does not have it."""

    value: str = ""
    source: str = ""
    confidence: str = ""
    assumed: bool = False


@dataclass(frozen=True)
class Difference:
    """Numbers of these paths are `first` on the one machine and `second` on the other; `ratio` is second over first."""

    paths: tuple[str, ...]
    first: Told
    second: Told
    ratio: float | None

    def as_json(self) -> dict[str, Any]:
        """For --json."""
        return {**asdict(self), "paths": list(self.paths)}


def compare_machines(first: Machine, second: Machine) -> list[Difference]:
    """Every number that differs, in the order of a description; alike numbers of nodes, links and levels are one entry.

    Links are matched by the sockets that they join, caches by level, nodes and controllers by number.
    """
    mine, other = dict(_told(first)), dict(_told(second))
    places = list(dict.fromkeys([*mine, *other]))
    order = sorted(places, key=lambda path: places.index(path) if path in mine else len(places))
    alike: dict[tuple[str, Told, Told], list[str]] = {}
    for path in order:
        one, two = mine.get(path, Told()), other.get(path, Told())
        ratio = _ratio(one.value, two.value)
        if one.value != two.value and ratio != 1.0:
            alike.setdefault((_general(path), one, two), []).append(path)
    return [Difference(tuple(paths), one, two, _ratio(one.value, two.value)) for (_, one, two), paths in alike.items()]


def _general(path: str) -> str:
    """The path without the number of a node or a link; levels of caches are not alike."""
    return path if path.startswith("caches.") else re.sub(r"\.[0-9-]+(?=\.)", "", path)


def _told(machine: Machine) -> Iterator[tuple[str, Told]]:
    table = tomllib.loads(machine.to_toml())
    controller = 0
    for name, entry in table.items():
        if name == "nodes":
            for number, node in enumerate(entry):
                yield f"nodes.{number}.socket", Told(str(node["sockets"][0]))
                yield from _values(f"nodes.{number}", node)
                for one in node["controllers"]:
                    yield from _values(f"controllers.{controller}", one)
                    controller += 1
        elif name == "caches":
            for level in entry:
                yield from _values(f"caches.{level['level']}", level)
        elif name == "links":
            for link in entry:
                ends = "-".join(map(str, sorted(link["between"]["value"][0])))
                yield from _values(f"links.{ends}", {key: one for key, one in link.items() if key != "between"})
        elif isinstance(entry, dict) and name != "sources":
            yield from _values("", {name: entry}) if "value" in entry else _values(name, entry)


def _values(place: str, table: dict[str, Any]) -> Iterator[tuple[str, Told]]:
    for name, entry in table.items():
        path = f"{place}.{name}" if place else name
        if isinstance(entry, dict) and "value" in entry:
            told = Told(
                _text(entry["value"]), entry["source"], entry.get("confidence", ""), entry.get("assumed", False)
            )
            yield path, told
        elif isinstance(entry, dict):
            yield from _values(path, entry)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"{point[0]}: {point[1]}" for point in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ratio(first: str, second: str) -> float | None:
    values = []
    for text in (first, second):
        found = re.fullmatch(r"([0-9.]+(?:e[+-]?[0-9]+)?) ?([A-Za-z/]*)", text)
        if found is None or found[2] not in _SCALES:
            return None
        values.append(float(found[1]) * _SCALES[found[2]])
    if values[0] == values[1]:
        return 1.0
    return values[1] / values[0] if values[0] > 0 else None
