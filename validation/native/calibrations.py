"""Two calibrations of one host, number by number: does the second lie within the first's intervals?

homenode machine calibrate -o first.toml
homenode machine calibrate -o second.toml
python -m validation.native.calibrations first.toml second.toml
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import homenode as hn

_UNITS = {
    **{"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    **{"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    **{"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9, "": 1.0},
}
_MEASURED = "measured on this host"


@dataclass(frozen=True)
class Compared:
    """A number of the first calibration with its interval, and what the second says."""

    path: str
    value: str
    low: str
    high: str
    confidence: str
    again: str

    @property
    def inside(self) -> bool:
        """Whether the second lies within the first's interval."""
        return magnitude(self.low) <= magnitude(self.again) <= magnitude(self.high)


def magnitude(text: str) -> float:
    """A value as text, in base units: ``magnitude("1.5 us") == 1.5e-6``."""
    found = re.fullmatch(r"([\d.eE+-]+) ?(\S*)", text)
    if found is None or found[2] not in _UNITS:
        raise ValueError(f"{text!r} is no number with a unit")
    return float(found[1]) * _UNITS[found[2]]


def compared(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]) -> list[Compared]:
    """Each number that was measured with an interval; the parameters of two descriptions of one host."""
    again = {entry["path"]: entry for entry in second}
    return [
        Compared(entry["path"], entry["value"], entry["low"], entry["high"], entry["confidence"], other["value"])
        for entry in first
        if entry["source"].startswith(_MEASURED) and entry["low"] is not None
        if (other := again.get(entry["path"])) is not None and other["low"] is not None
    ]


def page(rows: Sequence[Compared]) -> str:
    """A table in Markdown."""
    inside = sum(row.inside for row in rows)
    lines = [
        f"{inside} of {len(rows)} numbers of the second calibration lie within the first's interval.",
        "",
        "| number | first | its passes | confidence | second | inside |",
        "|---|---|---|---|---|---|",
        *(
            f"| `{row.path}` | {row.value} | {row.low} … {row.high} | {row.confidence} | {row.again} | {'yes' if row.inside else 'no'} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(compared(*(hn.Machine.load(name).parameters for name in sys.argv[1:3]))), end="")
