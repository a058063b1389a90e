"""Replaying a grid of runs, with the same bytes whatever the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core, report
from homenode.errors import UsageError
from homenode.result import Result
from homenode.run_spec import RunSpec, check, several
from homenode.trace import Trace
from homenode.workers import RECORD_BYTES, replay_all, replay_here

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def replay_grid(
    trace: Trace | str | Path,
    specs: RunSpec | Iterable[RunSpec],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[Result]:
    """Replay each run of a trace or of the file that is named; results in the order of `specs`, with `regret` filled in."""
    trace, specs = Trace.of(trace), several(specs)
    if not specs:
        raise UsageError("argument 'specs' is empty; allowed: at least one run, as hn.grid gives them")
    check(trace, specs)

    def keep(place: int, raw: dict[str, Any], seconds: float) -> Result:
        return Result(trace, report.run_entry(specs[place].keys(), raw), seconds)

    results = replay_all(trace, specs, workers, advance, keep)
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


def follow_seconds(
    trace: Trace,
    specs: Sequence[RunSpec],
    log: NDArray[np.int64],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[float]:
    """Replay each run with the hand-outs of `log`, and keep its time only.

    Specs that differ in nothing the caches see but their machines' latencies share what they did to the caches.
    """
    record = _core.CacheRecord(RECORD_BYTES)

    def one(spec: RunSpec) -> float:
        seconds = float(replay_here(trace, spec, follow=log, record=record)["seconds"])
        advance(1)
        return seconds

    with ThreadPoolExecutor(workers) as pool:
        return [*map(one, specs[:1]), *pool.map(one, specs[1:])]  # the first one records
