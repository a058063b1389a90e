"""Two calibrations of one host, number by number: does the second lie within the first's intervals?

homenode machine calibrate --json -o first.toml > first.json
homenode machine calibrate --json -o second.toml > second.json
python -m validation.native.calibrations first.json second.json
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def compared(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Compared]:
    """Each number that was measured with an interval; what `homenode machine calibrate --json` printed."""
    again = {entry["path"]: entry for entry in second["machines"][0]["parameters"]}
    return [
        Compared(entry["path"], entry["value"], entry["low"], entry["high"], entry["confidence"], other["value"])
        for entry in first["machines"][0]["parameters"]
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
    print(page(compared(*(json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3]))), end="")
