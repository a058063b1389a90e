"""Ranking by the time of some regions alone, so that a serial initialisation does not decide which choice is best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from homenode import _core, report
from homenode.errors import UsageError
from homenode.run_spec import RunSpec, one_or_many
from homenode.trace import Trace

_NAMED = 6  # places in a message


def regions_to_rank_by(trace: Trace, asked: str | Iterable[str], specs: Sequence[RunSpec]) -> tuple[str, ...]:
    """The labels that are `asked` for, each once; a text is one label, or several with commas between them.

    UsageError for a label that the trace does not have, and for placement `optimal`, whose bound is one on the whole run.
    """
    labels: dict[str, None] = {}
    for text in one_or_many(asked):
        if not isinstance(text, str):
            raise UsageError(f"a region to rank by is {type(text).__name__}; allowed: its label, or several")
        for label in [text] if text in trace.labels else [part.strip() for part in text.split(",")]:
            if label not in trace.labels:
                raise UsageError(_core.unknown_name("region label", label, trace.labels) + _places(trace))
            labels[label] = None
    bound = next((spec.placement for spec in specs if spec.placement.partition(":")[0] == "optimal"), None)
    if labels and bound is not None:
        raise UsageError(
            f"a ranking by regions with placement '{bound}', a bound on the whole run; allowed: one of them"
        )
    return tuple(labels)


def _places(trace: Trace) -> str:
    """Where regions with numbers for names are in the source, as such a name does not tell."""
    numbered = [one for one in trace.inspect()["regions"] if "#" in one["label"] and one["site"]]
    return "; " + ", ".join(f"{one['label']} is {one['site']}" for one in numbered[:_NAMED]) if numbered else ""


def seconds_of(regions: Iterable[dict[str, Any]], labels: Sequence[str]) -> float:
    """What these regions take of the run's time, their forks and barriers included. Over all regions: the run's time in regions."""
    return math.fsum(
        region["exclusive_seconds"] + region["fork_and_barrier_seconds"]
        for region in regions
        if region["label"] in labels
    )


def rank_by_regions(runs: Iterable[dict[str, Any]], labels: Sequence[str]) -> None:
    """Fill in `rank_by`, `ranked_seconds` and `ranked_bound_by` of runs, and their `regret` by these seconds.

    UsageError where these regions take no time: there is nothing to rank by.
    """
    runs = list(runs)
    for run in runs:
        of_these = [region for region in run["regions"] if region["label"] in labels]
        run["rank_by"] = list(labels)
        run["ranked_seconds"] = seconds_of(of_these, labels)
        if run["ranked_seconds"] <= 0:
            raise UsageError(f"no time in {', '.join(labels)} to rank by; allowed: regions that take time")
        run["ranked_bound_by"] = report.bound_by(of_these, {})
    report.fill_regrets(runs)
