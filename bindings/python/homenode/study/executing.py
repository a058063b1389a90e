"""Running a study's runs here: what each yields is handed on as soon as it ends, and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from homenode import report
from homenode.errors import Error
from homenode.estimating import estimate_one
from homenode.run_spec import RunSpec
from homenode.study.runs import StudyRun, words_of
from homenode.study.store import StoredRun
from homenode.workers import replay_all

Done = Callable[[StudyRun, "StoredRun | str"], None]
"""Takes a run and what it yielded: what is to be kept, or why it failed. Called from several threads."""


def measured(entry: dict[str, Any]) -> dict[str, Any]:
    """The numbers of an entry of a report that stand in the table of runs."""
    traffic = entry["traffic_bytes"]
    total = sum(map(sum, traffic))
    local = sum(row[node] for node, row in enumerate(traffic))
    threads = entry["threads_detail"]
    idle = sum(thread["idle_seconds"] for thread in threads)
    time = len(threads) * entry["seconds"]
    return {
        "seconds": entry["seconds"],
        "joules": entry["energy_joules"].get("total"),
        "bound_by": entry["bound_by"]["resource"],
        "bound_region": entry["bound_by"]["region"],
        "memory_bytes": total,
        "remote_share": 1 - local / total if total else 0.0,
        "idle_share": idle / time if time > 0 else 0.0,
        "accesses": entry["accesses"],
        "memory_lines": entry["memory_lines"],
        "transfer_lines": entry["transfer_lines"],
        "tlb_misses": entry["tlb_misses"],
        "page_faults": entry["page_faults"],
        "remote_pages": entry["remote_pages"],
        "migrated_pages": entry["migrated_pages"],
        **{key: entry[key] for key in report.REPLICATION if key in entry},
    }


def estimated(run: StudyRun) -> StoredRun:
    """What the closed form makes of a run."""
    assert run.spec is not None
    found = estimate_one(run.trace, run.spec)
    regions = [
        {
            "label": region.label,
            "seconds": region.seconds,
            "executions": region.executions,
            "binding_resource": region.binding_resource,
            "thread_busy_seconds": region.thread_seconds.tolist(),
        }
        for region in found.regions
    ]
    numbers: dict[str, Any] = {"seconds": found.seconds}
    slowest = max(found.regions, key=lambda region: region.seconds, default=None)
    if slowest is not None:
        numbers |= {"bound_by": slowest.binding_resource, "bound_region": slowest.label}
    return StoredRun.of(numbers, {**found.choice, "seconds": found.seconds, "regions": regions})


def run_here(runs: Sequence[StudyRun], workers: int | None, done: Done) -> None:
    """Run them all on this host, on so many threads; by default on as many as it has processors."""
    ready = []
    for run in runs:
        reason = refusal(run)
        if reason is None:
            ready.append(run)
        else:
            done(run, reason)
    _estimate([run for run in ready if run.is_estimate], workers, done)
    for _, of_trace in groupby((run for run in ready if not run.is_estimate), key=lambda run: run.trace.digest):
        _replay(list(of_trace), workers, done)


def refusal(run: StudyRun) -> str | None:
    """Why it cannot run, as far as that is known before; else None."""
    if run.spec is None:
        return run.refused
    try:
        run.spec.check(run.trace)
    except Error as error:
        return words_of(error)
    return None


def _estimate(runs: Sequence[StudyRun], workers: int | None, done: Done) -> None:
    def one(run: StudyRun) -> None:
        try:
            found: StoredRun | str = estimated(run)
        except Error as error:
            found = words_of(error)
        done(run, found)

    if not runs:
        return
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one, run) for run in runs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _replay(runs: Sequence[StudyRun], workers: int | None, done: Done) -> None:
    specs: list[RunSpec] = [run.spec for run in runs if run.spec is not None]

    def keep(place: int, raw: dict[str, Any], seconds: float) -> None:
        entry = report.run_entry(specs[place].keys(), raw)
        done(runs[place], StoredRun.of(measured(entry), entry))

    def failed(place: int, error: Error) -> None:
        done(runs[place], words_of(error))

    replay_all(runs[0].trace, specs, workers, lambda steps: None, keep, failed)
