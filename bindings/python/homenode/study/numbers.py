"""Values of axes as numbers, to go between them: counts, factors, and quantities with their units."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"(x?)\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(.*)")


@dataclass(frozen=True)
class Scale:
    """What the values of an axis are written in: ``GB/s``, factors (``x``), or nothing for counts."""

    prefix: str
    unit: str
    whole: bool

    @staticmethod
    def of(name: str, value: Any) -> Scale:
        """The scale of a value; UsageError for one that is no number."""
        if isinstance(value, int) and not isinstance(value, bool):
            return Scale("", "", True)
        found = _NUMBER.fullmatch(str(value).strip())
        if found is None or _core.quantity(str(value)) is None:
            raise UsageError(
                f"axis '{name}' has the value {value!r}; allowed here: numbers, such as 8, x1.2 or 25 GB/s"
            )
        return Scale(found[1], found[3], found[2].isdigit() and not found[1] and not found[3])

    def text(self, number: float, *, exact: bool = False) -> Any:
        """A number in this scale's unit, as a value of the axis; a count is a whole number, unless it has to be `exact`."""
        if self.whole:
            return f"{number:.4g}" if exact else round(number)
        return f"{self.prefix}{number:.6g}{f' {self.unit}' if self.unit else ''}"

    def of_si(self, number: float) -> float:
        """A number in SI units, in this scale's unit."""
        return number / si_of(self.unit, f"1 {self.unit}") if self.unit else number


def check_positive(frame: pd.DataFrame, name: str) -> list[float]:
    """A column whose ratios are asked for, NaN where a run has none; UsageError if it is no column of positive numbers."""
    if name not in frame:
        raise UsageError(_core.unknown_name("column", name, [str(one) for one in frame.columns]))
    try:
        numbers = [float(number) for number in frame[name].astype("float64")]
    except (TypeError, ValueError):
        raise UsageError(
            f"column '{name}' is no number; allowed: columns of positive numbers, such as seconds"
        ) from None
    for number in numbers:
        if number <= 0 or math.isinf(number):
            raise UsageError(f"column '{name}' has {number:g}; allowed: columns of positive numbers, such as seconds")
    return numbers


def si_of(name: str, value: Any) -> float:
    """A value in SI units; UsageError for one that is no number."""
    found = _core.quantity(str(value))
    if found is None:
        raise UsageError(f"axis '{name}' has the value {value!r}; allowed here: numbers, such as 8, x1.2 or 25 GB/s")
    return found


def between(low: float, high: float, share: float = 0.5) -> float:
    """A number between two, on the logarithm where both are positive."""
    if low > 0 and high > 0:
        return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    return low + share * (high - low)
