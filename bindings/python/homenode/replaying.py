"""Replaying a trace: one run, or a grid of runs over several workers, with the same bytes whatever their number."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from homenode import _core, report
from homenode import timeline as timelines
from homenode.energy import EnergyModel
from homenode.errors import Error, UsageError
from homenode.machine import Machine
from homenode.policies import python_placement
from homenode.system import System
from homenode.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

STORES = ("machine", "regular", "nt")
CACHES = tuple(_core.cache_model_names())


@dataclass(frozen=True)
class Choice:
    """What one run is asked to do."""

    machine: Machine
    threads: int
    placement: str = "first-touch"
    mapping: str = "compact"
    distribution: str = "static"
    engine: str = "flow"
    stores: str = "machine"
    seed: int = 0
    oversubscribe: bool = False
    caches: str = "auto"
    heap: str = "plain"
    system: str = "default"
    pages: str = "4KiB"
    energy: str = "default"

    def options(self) -> dict[str, Any]:
        """The extension's arguments."""
        return {
            "threads": self.threads,
            "placement": self.placement,
            "mapping": self.mapping,
            "distribution": self.distribution,
            "engine": self.engine,
            "stores": self.stores,
            "caches": self.caches,
            "seed": self.seed,
            "oversubscribe": self.oversubscribe,
            "heap": self.heap,
            "system": str(System.load(self.system).path),
            "pages": self.pages,
            "energy": str(EnergyModel.load(self.energy).path),
        }

    def keys(self) -> dict[str, Any]:
        """The report's keys, in its order."""
        return {
            "machine": self.machine.name,
            "machine_hash": self.machine.hash,
            "machine_changes": self.machine.changes,
            "seed": self.seed,
            "engine": self.engine,
            "threads": self.threads,
            "placement": self.placement,
            "mapping": self.mapping,
            "distribution": self.distribution,
            "heap": self.heap,
            "system": System.load(self.system).name,
            "stores": self.stores,
            "pages": self.pages,
        }


class Result:
    """What a run yields."""

    def __init__(
        self,
        trace: Trace,
        run: dict[str, Any],
        cost_seconds: float,
        log: NDArray[np.int64] | None = None,
        pages: NDArray[np.int64] | None = None,
    ) -> None:
        """`run` is an entry of the report's `runs`; `log` and `pages` are there if the run was to keep them."""
        self._trace = trace
        self.run = run
        self.cost_seconds = cost_seconds
        self.log = log
        self.pages = pages

    @property
    def trace(self) -> Trace:
        """What was replayed."""
        return self._trace

    @property
    def seconds(self) -> float:
        """Predicted time of the whole program."""
        return float(self.run["seconds"])

    @property
    def interval(self) -> tuple[float, float] | None:
        """Seconds between which nine in ten sampled machines lie, if the run was replayed with `confidence` or by `rank`."""
        bounds = self.run.get("seconds_interval")
        return (bounds[0], bounds[1]) if bounds else None

    @property
    def threads(self) -> pd.DataFrame:
        """By thread: core, node, busy and idle seconds (together the run's), local and remote bytes."""
        import pandas

        return pandas.DataFrame(self.run["threads_detail"]).set_index("thread")

    @property
    def regions(self) -> pd.DataFrame:
        """By region: seconds, executions, the resource that held it up longest."""
        import pandas

        columns = ["label", "seconds", "executions", "binding_resource"]
        return pandas.DataFrame(self.run["regions"], columns=columns).set_index("label")

    @property
    def idle(self) -> pd.DataFrame:
        """Share of the time that each thread waits (S0, figure 8): by thread the whole run, and each region that a team runs."""
        import pandas

        threads = self.run["threads_detail"]
        columns = {"thread": [entry["thread"] for entry in threads], "core": [entry["core"] for entry in threads]}
        shares = {
            "run": [entry["idle_seconds"] / self.seconds for entry in threads]
            if self.seconds > 0
            else [0.0] * len(threads)
        }
        shares |= report.idle_shares(self.run)
        return pandas.DataFrame({**columns, **shares}).set_index("thread")

    @property
    def energy(self) -> pd.Series[float]:
        """Joules by component, and their total; ``run["energy_detail"]`` says more."""
        import pandas

        return pandas.Series(self.run["energy_joules"], name="joules")

    @property
    def latencies(self) -> pd.DataFrame:
        """Lines that the first level did not have, by latency (a row for each bin, its lower edge in ns) and by source."""
        import pandas

        histogram = self.run["latency_histogram_ns"]
        edges = pandas.Index(histogram["edges"][:-1], name="latency_ns")
        return pandas.DataFrame(histogram["by_source"], index=edges)

    @property
    def traffic(self) -> NDArray[np.int64]:
        """Bytes moved at memory controllers: initiating node by home node."""
        import numpy

        return numpy.asarray(self.run["traffic_bytes"], dtype=numpy.int64)

    def to_json(self) -> str:
        """The report document with this one run."""
        return report.to_text(report.document(self._trace, [self.run]))

    def __repr__(self) -> str:
        """The choice and the time."""
        names = ("machine", "threads", "placement", "mapping", "distribution")
        return f"Result({', '.join(f'{name}={self.run[name]!r}' for name in names)}: {self.seconds:.6g} s)"


def replay(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    *,
    threads: int,
    placement: str = "first-touch",
    mapping: str = "compact",
    distribution: str = "static",
    engine: str = "flow",
    seed: int = 0,
    stores: str = "machine",
    caches: str = "auto",
    heap: str = "plain",
    oversubscribe: bool = False,
    system: str | Path = "default",
    pages: str = "4KiB",
    energy: str | Path = "default",
    keep_log: bool = False,
    follow: NDArray[np.int64] | None = None,
    confidence: int | None = None,
    timeline: str | Path | None = None,
    timeline_events: int = timelines.EVENTS,
) -> Result:
    """Replay a trace on a machine under one choice of policies.

    `keep_log` fills ``Result.log`` (columns execution, first, last, thread, overhead in ps) and ``Result.pages`` (object, page of
    it, node, in the order of placing: of several rows for a page the last holds); `follow` hands out exactly
    such a log instead of asking the distribution. `system` names what page faults and migrations cost
    (`homenode systems`), `pages` their size: ``"4KiB"``, ``"64KiB"``, ``"2MiB"``, ``"thp"``.
    `caches`: ``"runs"`` models them by ranges of lines, ``"lines"`` set by set, ``"auto"`` takes what suits the trace
    (``Result.run["caches"]`` says which). `energy` names what
    things consume (``Result.energy``). `heap` serves the program's blocks; ``Result.run["heap_detail"]`` says what it took.
    `confidence` samples so many machines within what is known of this one and fills ``Result.interval`` (`hn.rank` compares).
    `timeline` names a file (.json, .json.gz) for what happened when, a Chrome trace of about `timeline_events` events at most.
    """
    trace = trace if isinstance(trace, Trace) else Trace.open(trace)
    machine = machine if isinstance(machine, Machine) else Machine.load(machine)
    choice = Choice(
        machine, threads, placement, mapping, distribution, engine, stores, seed, oversubscribe, caches, heap
    )
    choice = dataclasses.replace(choice, system=str(system), pages=pages, energy=str(energy))
    check(trace, [choice])
    if confidence is not None:
        if keep_log or follow is not None or timeline is not None:
            raise UsageError("confidence with keep_log, follow or timeline; allowed: one or the other")
        from homenode.confidence import rank

        return rank(trace, [choice], samples=confidence).results[0]
    if timeline is not None:
        return replay_with_timeline(trace, choice, Path(timeline), timeline_events, keep_log=keep_log, follow=follow)
    if keep_log or follow is not None:
        begin = time.perf_counter()
        raw = _run_here(trace, choice, keep_log=keep_log, follow=follow)
        run = report.run_entry(choice.keys(), raw)
        return Result(trace, run, time.perf_counter() - begin, raw.get("log"), raw.get("pages"))
    return replay_grid(trace, [choice], workers=1)[0]


def replay_with_timeline(
    trace: Trace,
    choice: Choice,
    path: Path,
    events: int = timelines.EVENTS,
    *,
    keep_log: bool = False,
    follow: NDArray[np.int64] | None = None,
) -> Result:
    """Replay a choice, and write what happened when to `path` (`timeline.py`)."""
    check(trace, [choice])
    timelines.check_target(path)
    if events < 1:
        raise UsageError(f"a timeline of {events} events; allowed: at least 1000")
    begin = time.perf_counter()
    raw = _run_here(trace, choice, keep_log=keep_log, follow=follow, timeline_events=events)
    run = report.run_entry(choice.keys(), raw)
    timelines.write(path, trace, run, raw["timeline"])
    return Result(trace, run, time.perf_counter() - begin, raw.get("log"), raw.get("pages"))


def grid(
    machines: Sequence[Machine],
    threads: Sequence[int],
    *,
    placement: Sequence[str] = ("first-touch",),
    mapping: Sequence[str] = ("compact",),
    distribution: Sequence[str] = ("static",),
    heap: Sequence[str] = ("plain",),
    engine: str = "flow",
    seed: int = 0,
    stores: str = "machine",
    caches: str = "auto",
    oversubscribe: bool = False,
    system: str | Path = "default",
    pages: str = "4KiB",
    energy: str | Path = "default",
) -> list[Choice]:
    """Every combination, the last named varying fastest."""
    return [
        Choice(
            machine,
            count,
            where,
            mapped,
            distributed,
            engine=engine,
            stores=stores,
            seed=seed,
            oversubscribe=oversubscribe,
            caches=caches,
            system=str(system),
            pages=pages,
            energy=str(energy),
            heap=manager,
        )
        for machine, count, where, mapped, distributed, manager in itertools.product(
            machines, threads, placement, mapping, distribution, heap
        )
    ]


def check(trace: Trace, choices: Iterable[Choice]) -> None:
    """Refuse what can be refused before anything runs: unknown names, parameters and labels, threads that do not fit."""
    for choice in choices:
        if choice.threads < 1:
            raise UsageError(f"{choice.threads} threads; allowed: at least 1")
        if not 0 <= choice.seed < 2**64:
            raise UsageError(f"seed {choice.seed}; allowed: 0 to 2^64-1")
        if choice.threads > choice.machine.cores and not choice.oversubscribe:
            raise UsageError(
                f"{choice.threads} threads on the {choice.machine.cores} cores of '{choice.machine.name}'; "
                f"allowed: 1 to {choice.machine.cores}, or more with --oversubscribe (oversubscribe=True)"
            )
        if choice.engine not in _core.engine_names():
            raise UsageError(_core.unknown_name("engine", choice.engine, _core.engine_names()))
        if choice.stores not in STORES:
            raise UsageError(_core.unknown_name("treatment of stores", choice.stores, STORES))
        if choice.caches not in CACHES:
            raise UsageError(_core.unknown_name("cache model", choice.caches, CACHES))
        written_in_python = python_placement(choice.placement, choice.machine) is not None
        _core.check_placement(
            "first-touch" + "".join(choice.placement.partition("+")[1:]) if written_in_python else choice.placement
        )
        _core.check_mapping(choice.mapping)
        _core.check_heap(choice.heap)
        _core.check_page_size(choice.pages)
        System.load(choice.system)
        EnergyModel.load(choice.energy)
        _core.check_distribution(choice.distribution, trace.labels)


def replay_grid(
    trace: Trace,
    choices: Sequence[Choice],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[Result]:
    """Replay each choice; results in the order of `choices`, with `regret` filled in, whatever the number of workers."""
    check(trace, choices)

    def keep(choice: Choice, raw: dict[str, Any], seconds: float) -> Result:
        return Result(trace, report.run_entry(choice.keys(), raw), seconds)

    results = _replay_all(trace, choices, workers, advance, keep)
    report.fill_regrets(result.run for result in results)
    return results


def replay_seconds(
    trace: Trace,
    choices: Sequence[Choice],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[float]:
    """Replay each choice and keep its time only: for samples, of which there are many. The choices are not checked again."""
    return _replay_all(trace, choices, workers, advance, lambda choice, raw, seconds: float(raw["seconds"]))


Kept = TypeVar("Kept")


RECORD_BYTES = 128 << 20  # of memory, for each group of runs that share one


class _Shared:
    """What runs whose caches see the same have in common: the first to start records, the others wait for it and read."""

    def __init__(self, runs: int) -> None:
        self._record: _core.CacheRecord | None = _core.CacheRecord(RECORD_BYTES) if runs > 1 else None
        self._left = runs
        self._lock = threading.Lock()
        self._led = False
        self._recorded = threading.Event()

    def __enter__(self) -> _core.CacheRecord | None:
        with self._lock:
            leads, self._led = not self._led, True
        if not leads:
            self._recorded.wait()
        return self._record

    def __exit__(self, *_: object) -> None:
        self._recorded.set()
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._record = None


def _what_caches_see(choice: Choice) -> tuple[object, ...]:
    """Equal for runs that may share a record; the extension looks at the machine itself."""
    return (
        choice.machine.name,
        choice.threads,
        choice.mapping,
        choice.distribution,
        choice.heap,
        choice.stores,
        choice.caches,
        choice.pages,
    )


def _replay_all(
    trace: Trace,
    choices: Sequence[Choice],
    workers: int | None,
    advance: Callable[[int], None],
    keep: Callable[[Choice, dict[str, Any], float], Kept],
) -> list[Kept]:
    """What `keep` makes of each choice, the extension's answer and its cost in seconds, in the order of `choices`."""
    workers = max(1, min(workers or os.cpu_count() or 1, len(choices)))
    processes: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    started: list[_Worker] = []
    here = Counter(_what_caches_see(choice) for choice in choices if not _needs_process(choice))
    shared = {what: _Shared(runs) for what, runs in here.items()}

    def run(choice: Choice) -> Kept:
        with nullcontext() if _needs_process(choice) else shared[_what_caches_see(choice)] as record:
            begin = time.perf_counter()
            raw = _run_in_worker(choice) if _needs_process(choice) else _run_here(trace, choice, record=record)
            kept = keep(choice, raw, time.perf_counter() - begin)
        advance(1)
        return kept

    def _run_in_worker(choice: Choice) -> dict[str, Any]:
        try:
            worker = processes.get_nowait()
        except queue.Empty:
            worker = _Worker(trace.path)
            started.append(worker)
        raw = worker.run(choice)
        processes.put(worker)
        return raw

    try:
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(run, choice) for choice in choices]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    finally:
        for worker in started:
            worker.close()


def _needs_process(choice: Choice) -> bool:
    """SimGrid has one engine a process and aborts on its own errors: it runs in processes of its own, unless Python decides."""
    return choice.engine == "simgrid" and python_placement(choice.placement, choice.machine) is None


_simgrid_lock = threading.Lock()


def _run_here(
    trace: Trace,
    choice: Choice,
    *,
    keep_log: bool = False,
    follow: NDArray[np.int64] | None = None,
    record: _core.CacheRecord | None = None,
    timeline_events: int = 0,
) -> dict[str, Any]:
    def run() -> dict[str, Any]:
        return _core.replay(
            trace._core,
            choice.machine._core,
            **choice.options(),
            place=python_placement(choice.placement, choice.machine),
            keep_log=keep_log,
            follow=follow,
            record=record,
            timeline_events=timeline_events,
        )

    if choice.engine != "simgrid":
        return run()
    with _simgrid_lock:
        return run()


class _Worker:
    """A process that replays choices of one trace, one JSON line each way."""

    def __init__(self, trace: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "homenode.worker", str(trace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, choice: Choice) -> dict[str, Any]:
        from homenode import errors

        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"machine": choice.machine.to_toml(), "options": choice.options()}
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            assert self._process.stderr is not None
            said = self._process.stderr.read().strip().splitlines()
            status = self._process.wait()
            raise Error(
                f"the {choice.engine} engine ended with status {status} in {choice.keys()}: {said[-1] if said else 'no message'}"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise getattr(errors, answer["error"])(answer["message"])
        raw: dict[str, Any] = answer["raw"]
        by_source = raw["counts"]["latency_ns"]
        raw["counts"]["latency_ns"] = {
            source: {int(latency): lines for latency, lines in column.items()} for source, column in by_source.items()
        }
        return raw

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue
        self._process.wait()
