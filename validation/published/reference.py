"""Printed numbers, read from the CSV files beside this module."""

import csv
from dataclasses import dataclass
from pathlib import Path

_SCALE = {
    "1": 1.0,
    "kB": 1024.0,
    "MB": 1024.0**2,
    "GB": 1e9,
    "GB/s": 1e9,
    "B/flop": 1.0,
    "sites": 1.0,
    "s": 1.0,
    "W": 1.0,
    "pages": 1.0,
}


@dataclass(frozen=True)
class Reference:
    """One printed number: as printed, and in bytes, bytes/s or plain counts."""

    printed: float
    unit: str
    source: str

    @property
    def value(self) -> float:
        """In base units. Cache sizes count in powers of 1024, memory and bandwidth in powers of 1000."""
        return self.printed * _SCALE[self.unit]


def read_references(path: Path) -> dict[tuple[str, str], Reference]:
    """Return the references of a CSV file by machine and quantity; a row twice or without a source is refused."""
    references: dict[tuple[str, str], Reference] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            key = (row["machine"], row["quantity"])
            if key in references:
                raise ValueError(f"{path}:{line}: {key[1]} of {key[0]} stands there twice")
            if not row["source"]:
                raise ValueError(f"{path}:{line}: no source for {key[1]} of {key[0]}")
            if row["unit"] not in _SCALE:
                raise ValueError(f"{path}:{line}: unit '{row['unit']}'; allowed: {', '.join(_SCALE)}")
            references[key] = Reference(float(row["value"]), row["unit"], row["source"])
    return references
