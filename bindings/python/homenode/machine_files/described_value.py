"""A value of a description with where it comes from, as TOML (models/machines/README.md has the schema)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homenode.visible import visible

DONOR = "DONOR"  # the key of the donor among the sources
_TIMES = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_BANDWIDTHS = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}
_FREQUENCIES = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "kB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Described:
    """`value` is text, a number, or a list as of a curve; `source` names keys of the description's sources."""

    value: Any
    source: str
    confidence: str
    assumed: bool = False
    low: str | None = None
    high: str | None = None
    note: str = ""

    def toml(self) -> str:
        """As an inline table."""
        parts = [f"value = {literal(self.value)}", f"source = {quoted_toml(self.source)}"]
        parts.append(f"confidence = {quoted_toml(self.confidence)}")
        parts += [
            f"{name} = {literal(text)}" for name, text in (("low", self.low), ("high", self.high)) if text is not None
        ]
        if self.assumed:
            parts.append("assumed = true")
        if self.note:
            parts.append(f"note = {quoted_toml(self.note)}")
        return "{ " + ", ".join(parts) + " }"


def quoted_toml(text: str) -> str:
    """A basic string of TOML: JSON's escapes are a part of its own; control characters are shown, not kept."""
    return json.dumps(visible(text, 4000), ensure_ascii=False)


def literal(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, str):
        return quoted_toml(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(one) for one in value) + "]"
    return repr(value)


def from_donor(value: Any, note: str = "") -> Described:
    """What no file says: assumed, with the widest interval of models/machines/README.md."""
    return Described(value, DONOR, "M", assumed=True, note=note)


def _scaled(text: str, units: Mapping[str, float]) -> float:
    found = re.fullmatch(r"([0-9.eE+-]+) ([A-Za-z/]+)", text)
    assert found is not None and found[2] in units, text  # homenode's own writer
    return float(found[1]) * units[found[2]]


def nanoseconds(text: str) -> float:
    """A time as homenode writes it."""
    return _scaled(text, _TIMES)


def bytes_per_second(text: str) -> float:
    """A bandwidth as homenode writes it."""
    return _scaled(text, _BANDWIDTHS)


def hertz(text: str) -> float:
    """A frequency as homenode writes it."""
    return _scaled(text, _FREQUENCIES)


def size_in_bytes(text: str) -> int:
    """A size as homenode writes it."""
    return round(_scaled(text, _SIZES))


def time_text(value: float) -> str:
    """Nanoseconds, to a picosecond."""
    return f"{round(value, 3):.15g} ns"


def bandwidth_text(value: float) -> str:
    """Bytes a second, in GB/s to a kB/s."""
    return f"{round(value / 1e9, 6):.15g} GB/s"
