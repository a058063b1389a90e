"""What was in use when, of a run of the report: shares of equal intervals, from the seconds that the extension recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

_MOST_RESOURCES = 16  # of a run: those that are used most


def use_over_time(raw: dict[str, Any], seconds: float, threads: int) -> dict[str, Any]:
    """The report's entry; empty of a run that is a bound, and of one that takes no time.

    `raw`: by interval the seconds in use of each resource, and those of all threads' work in each region; `seconds`: of the run, with
    which its last interval ends.
    """
    interval = raw["interval_seconds"]
    rows = [*raw["resources"], *raw["regions"]]
    if not rows or seconds <= 0:
        return {}
    # Write-backs that leave their queues behind the end are not part of the run.
    intervals = min(math.ceil(seconds / interval), max(len(row) for _, row in rows))
    lengths = [min(interval, seconds - place * interval) for place in range(intervals)]
    most = sorted(range(len(raw["resources"])), key=lambda place: -sum(raw["resources"][place][1]))[:_MOST_RESOURCES]
    return {
        "interval_seconds": interval,
        "intervals": intervals,
        "resources": _shares((raw["resources"][place] for place in sorted(most)), lengths, 1),
        "regions": _shares(raw["regions"], lengths, threads),
    }


def _shares(
    rows: Iterable[tuple[str, Sequence[float]]], lengths: Sequence[float], parts: int
) -> dict[str, list[float]]:
    """By name, to a hundredth of a percent; regions of one label are one."""
    sums: dict[str, list[float]] = {}
    for name, seconds in rows:
        into = sums.setdefault(name, [0.0] * len(lengths))
        for place, part in enumerate(seconds[: len(lengths)]):
            into[place] += part
    return {
        name: [round(part / (length * parts), 4) for part, length in zip(row, lengths, strict=True)]
        for name, row in sums.items()
    }
