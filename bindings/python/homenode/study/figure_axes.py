"""Axes of a study's figures: numbers with their unit, and homenode's own colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from homenode.html_page import COLOURS

_UNITS = {"seconds": ("time", "s"), "joules": ("energy", "J")}
_BASES = ("B/s", "B", "Hz", "s", "W", "J")


def axis_of(name: str, values: Iterable[Any] = ()) -> dict[str, Any]:
    """The axis of a column with numbers in SI units: ``12 ms``, ``6 GB/s``. `values`: as they were given, which tell a unit."""
    told, unit = _UNITS.get(name, (name.replace("_", " "), ""))
    for value in values:
        last = str(value).rpartition(" ")[2] if isinstance(value, str) else ""
        unit = next((base for base in _BASES if last.endswith(base)), unit)
    return {"title": {"text": told}, "ticksuffix": unit, "exponentformat": "SI", "minexponent": 0 if unit else 3}


def in_colours(figure: Any) -> Any:
    """A Plotly figure whose lines and bars have homenode's colours."""
    return figure.update_layout(colorway=COLOURS)
