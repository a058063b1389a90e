"""A study's runs on the workers of a Dask cluster: traces go to each worker once, the results are those of this host."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homenode.energy import EnergyModel
from homenode.errors import Error, UsageError
from homenode.extensions import loaded_extensions
from homenode.machine import Machine
from homenode.resources import ENERGY, SYSTEMS
from homenode.run_spec import RunSpec
from homenode.study.executing import Done, run_here
from homenode.study.runs import StudyRun
from homenode.study.store import StoredRun, build
from homenode.study.tables import needs
from homenode.trace import Trace, opened_again

_TOGETHER = 16  # runs a task: those that share what the caches saw stand together
_BATCH = 4096


@dataclass(frozen=True)
class _Job:
    """A run as it goes to a worker: `described` are descriptions of the user's own that its options name by path."""

    index: int
    point: dict[str, Any]
    trace: str
    machine: Machine
    options: dict[str, Any]
    described: dict[str, str]


class DaskCluster:
    """Runs batches on a cluster; used as a context."""

    batch = _BATCH

    def __init__(self, address: str, traces: Iterable[Trace]) -> None:
        """UsageError if no scheduler answers at the address, or its workers have another homenode."""
        needs("distributed", "a scheduler")
        self._address = address
        self._traces = {trace.digest: trace for trace in traces}
        self._client: Any = None

    def __enter__(self) -> DaskCluster:
        """Connect, and send the traces."""
        import distributed

        try:
            self._client = distributed.Client(self._address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise UsageError(
                f"no Dask scheduler at '{self._address}': {error}; allowed: tcp://HOST:PORT of one"
            ) from None
        if not self._client.scheduler_info()["workers"]:
            self._client.close()
            raise UsageError(f"the scheduler '{self._address}' has no workers; allowed: one at least")
        for address, code in self._client.run(build).items():
            if code != build():
                self._client.close()
                raise UsageError(f"the worker {address} has another build of homenode; allowed: the same everywhere")
        for extension in loaded_extensions():
            self._client.register_plugin(_extension_file(extension))
        for digest, trace in self._traces.items():
            self._client.register_plugin(_trace_file(digest, trace.path.read_bytes()))
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect."""
        self._client.close()

    def __call__(self, runs: Sequence[StudyRun], done: Done) -> None:
        """Run them all; those of a worker that is lost go to another one."""
        import distributed

        by_index = {run.index: run for run in runs}
        jobs = []
        for run in runs:
            if run.spec is None:
                done(run, run.refused)
            elif _is_from_here(run.spec):
                done(
                    run,
                    "UsageError: its policy was registered by this process; allowed: one of a file, by load_extension",
                )
            else:
                jobs.append(_job(run, run.spec))
        parts = [jobs[begin : begin + _TOGETHER] for begin in range(0, len(jobs), _TOGETHER)]
        futures = [self._client.submit(run_jobs, part, pure=False) for part in parts]
        place_of = {future.key: place for place, future in enumerate(futures)}
        try:
            for future in distributed.as_completed(futures, loop=self._client.loop):
                for index, found in self._result(parts[place_of[future.key]], future):
                    done(by_index[index], found)
                future.release()
        except BaseException:
            self._client.cancel(futures)
            raise

    def _result(self, jobs: Sequence[_Job], future: Any) -> list[tuple[int, StoredRun | str]]:
        """What the jobs yielded; a run that ends worker after worker fails, it ends nothing else."""
        from distributed import KilledWorker

        try:
            found: list[tuple[int, StoredRun | str]] = future.result()
        except KilledWorker as error:
            return [(job.index, f"KilledWorker: {error}") for job in jobs]
        return found


def _extension_file(path: Path) -> Any:
    """A plugin that loads a file of policies in each worker."""
    from homenode.study.dask_plugin import ExtensionFile

    return ExtensionFile(path)


def _trace_file(content: str, data: bytes) -> Any:
    """A plugin that writes a trace beside each worker, also beside those that come later."""
    from homenode.study.dask_plugin import TraceFile

    return TraceFile(content, data)


def _is_from_here(spec: RunSpec) -> bool:
    try:
        return spec.needs_this_process()
    except UsageError:  # the worker says what is wrong
        return False


def _job(run: StudyRun, spec: RunSpec) -> _Job:
    described = {}
    for name, path in (("system", spec._system_path()), ("energy", str(EnergyModel.load(spec.energy).path))):
        if path and Path(path).parent not in (SYSTEMS, ENERGY):  # the environment of a worker may name other folders
            described[name] = Path(path).read_text(encoding="utf-8")
    return _Job(run.index, run.point, run.trace.digest, run.machine, spec.options(), described)


_open: dict[str, Trace] = {}  # of this worker, by digest


def run_jobs(jobs: Sequence[_Job]) -> list[tuple[int, StoredRun | str]]:
    """What a worker does: these runs, one after the other."""
    found: list[tuple[int, StoredRun | str]] = []

    def keep(run: StudyRun, result: StoredRun | str) -> None:
        found.append((run.index, result))

    with tempfile.TemporaryDirectory() as folder:
        run_here([_run(job, Path(folder)) for job in jobs], 1, keep)
    return found


def _run(job: _Job, folder: Path) -> StudyRun:
    from homenode.study.dask_plugin import file_of

    if job.trace not in _open:
        _open[job.trace] = opened_again(file_of(job.trace), job.trace)
    options = dict(job.options)
    for name, text in job.described.items():
        path = folder / f"{job.index}-{name}.toml"
        path.write_text(text, encoding="utf-8")
        options[name] = str(path)
    run = StudyRun(job.index, job.point, _open[job.trace], job.machine, None)
    try:
        return replace(run, spec=RunSpec(job.machine, **options))
    except Error as error:
        return replace(run, refused=f"{type(error).__name__}: {error}")
