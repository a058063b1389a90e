"""Replaying a trace once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from homenode import report
from homenode import timeline as timelines
from homenode.arguments import is_path, whole_number
from homenode.confidence import rank
from homenode.errors import UsageError
from homenode.grids import replay_grid
from homenode.machine import Machine
from homenode.result import Result
from homenode.run_spec import RunSpec, asked, lists_options
from homenode.run_types import RunOptions
from homenode.trace import Trace
from homenode.workers import cpus, replay_here

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@lists_options()
def replay(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    *,
    keep_log: bool = False,
    follow: NDArray[np.int64] | None = None,
    confidence: int | None = None,
    timeline: str | Path | None = None,
    timeline_events: int = timelines.EVENTS,
    **options: Unpack[RunOptions],
) -> Result:
    """Replay a trace on a machine under one choice of policies: ``hn.replay(trace, machine, threads=8, placement="interleave")``.

    `keep_log` fills ``Result.log`` (columns execution, first, last, thread, overhead in ps) and ``Result.pages`` (object, page of
    it, node, in the order of placing: of several rows for a page the last holds); `follow` hands out exactly
    such a log instead of asking the distribution.
    Without `distribution`, loops keep the schedule of their source (`program`); it is static where no loop has another one.
    A program that creates its threads need not be told `threads`. ``Result.run["caches"]`` says which caches `auto` took,
    ``Result.run["heap_detail"]`` what the heap did, ``Result.energy`` what was consumed.
    `confidence` samples so many machines within what is known of this one and fills ``Result.interval`` (`hn.rank` compares).
    `timeline` names a file (.json, .json.gz) for what happened when, a Chrome trace of about `timeline_events` events at most.
    """
    trace = Trace.of(trace)
    spec = asked(machine, options, trace=trace)
    spec.check(trace)
    if confidence is not None:
        if keep_log or follow is not None or timeline is not None:
            raise UsageError("confidence with keep_log, follow or timeline; allowed: one or the other")
        return rank(trace, [spec], samples=whole_number("confidence", confidence, 2)).results[0]
    if follow is not None:
        follow = _log(follow)
    if timeline is not None:
        if not is_path(timeline):
            raise UsageError(
                f"argument 'timeline' is {type(timeline).__name__}; allowed: the path of a .json or .json.gz file"
            )
        return replay_with_timeline(trace, spec, Path(timeline), timeline_events, keep_log=keep_log, follow=follow)
    return replay_one(trace, spec, keep_log=keep_log, follow=follow)


def _log(follow: Any) -> NDArray[np.int64]:
    import numpy

    try:
        return numpy.asarray(follow, dtype=numpy.int64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            f"argument 'follow' is {type(follow).__name__}; allowed: the log of a run, as Result.log has it"
        ) from None


def replay_one(
    trace: Trace,
    spec: RunSpec,
    *,
    keep_log: bool = False,
    follow: NDArray[np.int64] | None = None,
    host_threads: int | None = None,
) -> Result:
    """What `replay` does, for a run as one value, on at most so many threads of this machine (all CPUs)."""
    if not keep_log and follow is None:
        return replay_grid(trace, [spec], workers=host_threads)[0]
    return _replay_here(trace, spec, keep_log=keep_log, follow=follow, host_threads=host_threads or cpus())[0]


def replay_with_timeline(
    trace: Trace,
    spec: RunSpec,
    path: Path,
    events: int = timelines.EVENTS,
    *,
    keep_log: bool = False,
    follow: NDArray[np.int64] | None = None,
) -> Result:
    """Replay a run, and write what happened when to `path` (`timeline.py`)."""
    timelines.check_target(path)
    events = whole_number("timeline_events", events, 1)
    result, raw = _replay_here(
        trace, spec, keep_log=keep_log, follow=follow, timeline_events=events, host_threads=cpus()
    )
    timelines.write(path, trace, result.run, raw["timeline"])
    return result


def _replay_here(trace: Trace, spec: RunSpec, **extras: Any) -> tuple[Result, dict[str, Any]]:
    spec.check(trace)
    begin = time.perf_counter()
    raw = replay_here(trace, spec, **extras)
    run = report.run_entry(spec.keys(), raw)
    return Result(trace, run, time.perf_counter() - begin, raw.get("log"), raw.get("pages")), raw
