"""Runs at the same time: threads of this process, and processes of their own for the engine that has one a process."""

import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, TypeVar

from homenode import _core, errors
from homenode.arguments import whole_number
from homenode.errors import Error
from homenode.extensions import loaded_extensions
from homenode.run_spec import RunSpec
from homenode.trace import Trace

Kept = TypeVar("Kept")

_log = logging.getLogger(__name__)

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


class _Turns:
    """Which run is next: one that can read a record, so that the record is soon given up; else the first of another group.

    `groups`: of each run what it shares a record with, or None. A run whose group is being recorded is next where no other is left.
    """

    def __init__(self, groups: Sequence[Hashable | None]) -> None:
        self._groups = groups
        self._waiting: dict[Hashable, deque[int]] = {}
        self._first: deque[int] = deque()
        self._ready: deque[int] = deque()
        self._lock = threading.Lock()
        for place, group in enumerate(groups):
            if group is not None and group in self._waiting:
                self._waiting[group].append(place)
                continue
            self._first.append(place)
            if group is not None:
                self._waiting[group] = deque()

    def take(self) -> int | None:
        """The place of a run, once; None behind the last."""
        with self._lock:
            for places in (self._ready, self._first, *self._waiting.values()):
                if places:
                    return places.popleft()
        return None

    def ran(self, place: int) -> None:
        """The others of its group need not wait any more."""
        group = self._groups[place]
        if group is not None:
            with self._lock:
                self._ready.extend(self._waiting.pop(group, ()))

    def stop(self, behind: int = -1) -> None:
        """From now on no run behind that place is next."""
        with self._lock:
            for places in (self._ready, self._first, *self._waiting.values()):
                left = [place for place in places if place < behind]
                places.clear()
                places.extend(left)


def replay_all(
    trace: Trace,
    specs: Sequence[RunSpec],
    workers: int | None,
    advance: Callable[[int], None],
    keep: Callable[[int, dict[str, Any], float], Kept],
    failed: Callable[[int, Error], Kept] | None = None,
    **extras: Any,
) -> list[Kept]:
    """What `keep` makes of each run, its place in `specs`, the extension's answer and its cost in seconds; in the order of `specs`.

    A run that fails ends all others, unless `failed` makes something of it; of several the first in `specs` is told. `extras`: those of
    `_core.RunExtras`. Records take `RECORD_BYTES` for each worker at most.
    """
    asked_for = cpus() if workers is None else whole_number("workers", workers, 1)
    workers = max(1, min(asked_for, len(specs)))
    host_threads = max(1, min(asked_for, cpus()) // workers)  # of each run, if there are fewer runs than CPUs
    _log.info("%s: replaying %d, %d at a time", trace.path, len(specs), workers)
    processes: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    started: list[_Worker] = []
    groups = [None if _needs_process(spec) and not extras else spec.what_caches_see() for spec in specs]
    shared = {group: _Shared(runs) for group, runs in Counter(groups).items() if group is not None}
    turns = _Turns(groups)
    results: list[Future[Kept]] = [Future() for _ in specs]

    def run(place: int) -> Kept:
        spec, group = specs[place], groups[place]
        with nullcontext() if group is None else shared[group] as record:
            begin = time.perf_counter()
            try:
                raw = (
                    _run_in_worker(spec)
                    if group is None
                    else replay_here(trace, spec, record=record, host_threads=host_threads, **extras)
                )
                seconds = time.perf_counter() - begin
                _log.debug("run %d of %d: %.6g s, in %.3f s: %r", place + 1, len(specs), raw["seconds"], seconds, spec)
                kept = keep(place, raw, seconds)
            except Error as error:
                if failed is None:
                    raise
                kept = failed(place, error)
        advance(1)
        return kept

    def run_next() -> None:
        while (place := turns.take()) is not None:
            try:
                results[place].set_result(run(place))
            except BaseException as error:
                results[place].set_exception(error)
                turns.stop(behind=place)
            turns.ran(place)

    def _run_in_worker(spec: RunSpec) -> dict[str, Any]:
        try:
            worker = processes.get_nowait()
        except queue.Empty:
            worker = _Worker(trace, host_threads)
            started.append(worker)
        raw = worker.run(spec)
        processes.put(worker)
        return raw

    try:
        with ThreadPoolExecutor(workers) as pool:
            try:
                for _ in range(workers):
                    pool.submit(run_next)
                return [result.result() for result in results]
            except BaseException:
                turns.stop()
                raise
    finally:
        for worker in started:
            worker.close()


def _needs_process(spec: RunSpec) -> bool:
    """SimGrid has one engine a process and aborts on its own errors: it runs in processes of its own, if they can know its policies."""
    return spec.engine == "simgrid" and not spec.needs_this_process()


_simgrid_lock = threading.Lock()


def cpus() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0))


def replay_here(trace: Trace, spec: RunSpec, **extras: Any) -> dict[str, Any]:
    """What the extension says of a run in this process; `extras`: those of `_core.RunExtras`."""
    with _simgrid_lock if spec.engine == "simgrid" else nullcontext():
        return spec.replay(trace, **extras)


class _Worker:
    """A process that replays runs of one trace, one JSON line each way."""

    def __init__(self, trace: Trace, host_threads: int) -> None:
        self._host_threads = host_threads
        self._process = subprocess.Popen(
            [sys.executable, "-m", "homenode.worker", str(trace.path), trace.digest, *map(str, loaded_extensions())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, spec: RunSpec) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"machine": spec.machine.to_toml(), "options": spec.options(), "host_threads": self._host_threads}
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
                f"the {spec.engine} engine ended with status {status} in {spec.keys()}: {said[-1] if said else 'no message'}"
            )
        answer = json.loads(line)
        if "error" in answer:
            error = getattr(errors, answer["error"])(answer["message"])
            if "cause" in answer:
                error.add_note(answer["cause"])
            raise error
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
