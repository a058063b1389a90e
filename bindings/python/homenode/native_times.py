"""Times of a kernel's timed regions: which these are, and what several native runs of them come to."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """Seconds in the timed regions of a run: median of the repeats, and their interquartile range over it."""

    seconds: float
    spread: float
    repeats: int
    by_region: dict[str, float]  # medians


def timed_labels(regions: Iterable[Mapping[str, Any]]) -> list[str]:
    """Labels of the regions, as kernels.toml lists them, whose times are compared."""
    return [region["label"] for region in regions if region["timed"]]


def summarise(runs: Iterable[Mapping[str, float]], labels: Iterable[str]) -> Measurement:
    """Medians over runs, each given by its seconds a region."""
    runs, labels = list(runs), list(labels)
    totals = sorted(sum(run[label] for label in labels) for run in runs)
    median = statistics.median(totals)
    low, _, high = (
        statistics.quantiles(totals, n=4, method="inclusive") if len(totals) > 1 else (median, median, median)
    )
    by_region = {label: statistics.median(run[label] for run in runs) for label in labels}
    return Measurement(median, (high - low) / median, len(totals), by_region)


def seconds_of(label: str, regions: Mapping[str, float]) -> float:
    """A labelled region's seconds in a replay, given those of each of its regions.

    What each thread of it runs for itself is LABEL:code, in pieces between its barriers LABEL:code1 … KeyError if there is none.
    """
    found = [seconds for name, seconds in regions.items() if name == label or name.startswith(f"{label}:code")]
    if not found:
        raise KeyError(f"no region '{label}'; there are: {', '.join(regions)}")
    return sum(found)
