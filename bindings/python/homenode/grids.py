"""Replaying a grid of runs, with the same bytes whatever the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import report
from homenode.errors import UsageError
from homenode.rank_by import rank_by_regions, regions_to_rank_by, seconds_of
from homenode.result import Result
from homenode.run_spec import RunSpec, check, several
from homenode.trace import Trace
from homenode.workers import replay_all

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def replay_grid(
    trace: Trace | str | Path,
    specs: RunSpec | Iterable[RunSpec],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
    rank_by: str | Iterable[str] = (),
) -> list[Result]:
    """Replay each run of a trace or of the file that is named; results in the order of `specs`, with `regret` filled in.

    `rank_by`: labels of the regions by whose time alone it is, which is ``run["ranked_seconds"]``; by default the run's time decides.
    """
    trace, specs = Trace.of(trace), several(specs)
    if not specs:
        raise UsageError("argument 'specs' is empty; allowed: at least one run, as hn.grid gives them")
    check(trace, specs)
    labels = regions_to_rank_by(trace, rank_by, specs)

    def keep(place: int, raw: dict[str, Any], seconds: float) -> Result:
        return Result(trace, report.run_entry(specs[place].keys(), raw), seconds)

    results = replay_all(trace, specs, workers, advance, keep)
    if labels:
        rank_by_regions((result.run for result in results), labels)
    else:
        report.fill_regrets(result.run for result in results)
    return results


def replay_seconds(
    trace: Trace,
    specs: Sequence[RunSpec],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[float]:
    """Replay each run and keep its time only: for samples, of which there are many. They are not checked again."""
    return replay_all(trace, specs, workers, advance, lambda place, raw, seconds: float(raw["seconds"]))


def replay_times(
    trace: Trace,
    specs: Sequence[RunSpec],
    labels: Sequence[str],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[tuple[float, float]]:
    """The same, and beside the run's time the one that it is ranked by: that of the regions with `labels`; without any, the run's."""

    def keep(place: int, raw: dict[str, Any], seconds: float) -> tuple[float, float]:
        whole = float(raw["seconds"])
        return whole, seconds_of(raw["regions"], labels) if labels else whole

    return replay_all(trace, specs, workers, advance, keep)


def follow_seconds(
    trace: Trace,
    specs: Sequence[RunSpec],
    log: NDArray[np.int64],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[float]:
    """Replay each run with the hand-outs of `log`, and keep its time only."""
    return replay_all(trace, specs, workers, advance, lambda place, raw, seconds: float(raw["seconds"]), follow=log)
