"""Figures: numbers of the papers' runs by name, which claims refer to. A study yields them beside its rows."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import InputError
from validation.published.claims.rule import Answer

COLUMNS = ("name", "low", "high", "central", "runs", "seconds", "command")


@dataclass(frozen=True)
class Figure:
    """One number or range: `runs` names what was run for it, together with others; `seconds` is what these runs took on the host."""

    name: str
    answer: Answer
    runs: str
    command: str
    seconds: float = 0.0


def figure(name: str, value: float, runs: str, command: str) -> Figure:
    """A number without a range."""
    return Figure(name, Answer(value, value), runs, command)


def spread(name: str, values: Iterable[float], central: float | None, runs: str, command: str) -> Figure:
    """A range, with the member that was declared central, or none."""
    found = list(values)
    return Figure(name, Answer(min(found), max(found), central), runs, command)


def write_figures(path: Path, figures: Iterable[Figure]) -> None:
    """Write a paper's figures; by way of a name of its own, so that a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    with fresh.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in figures:
            central = "" if one.answer.central is None else f"{one.answer.central:.6g}"
            ends = f"{one.answer.low:.6g}", f"{one.answer.high:.6g}"
            writer.writerow((one.name, *ends, central, one.runs, f"{one.seconds:.1f}", one.command))
    fresh.replace(path)


def read_figures(path: Path) -> dict[str, Figure]:
    """Read figures by name; none if there is no file. A name twice, or a number that is none, is refused with file and line."""
    found: dict[str, Figure] = {}
    if not path.exists():
        return found
    with path.open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            name = row["name"]
            if name in found:
                raise InputError(f"{path}:{line}: figure '{name}' stands there twice; allowed: once")
            try:
                central = float(row["central"]) if row["central"] else None
                answer = Answer(float(row["low"]), float(row["high"]), central)
                found[name] = Figure(name, answer, row["runs"], row["command"], float(row["seconds"]))
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"{path}:{line}: figure '{name}': {error}; allowed: numbers in {', '.join(COLUMNS[1:4])}"
                ) from error
    return found
