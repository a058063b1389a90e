"""The runs of a study: its points, with the trace, the machine and the options that they ask for."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from homenode import _core, sampling
from homenode.energy import EnergyModel
from homenode.errors import Error, UsageError
from homenode.machine import Machine
from homenode.run_spec import CLOSED_FORM as OPTIONS_OF_ESTIMATES
from homenode.run_spec import FIELDS, NAMES, RunSpec, schedules_of, threads_of
from homenode.study.axes import CHANGE, CLOSED_FORM, MACHINE, SAMPLE, TRACE, Factor, Point, column, product
from homenode.study.conditions import Condition
from homenode.study.store import key_of
from homenode.trace import Trace

_DESCRIPTIONS = ("system", "energy")  # options whose content decides, not their name
_DEFAULTS = {field.name: None if field.required else field.default for field in FIELDS}
# Options that tell runs apart which share nothing: runs go in an order in which those that share stand together.
_SHARED_BY = tuple(name for name in NAMES if name not in ("placement", "engine", *_DESCRIPTIONS))


def words_of(error: Error) -> str:
    """Why a run failed, as its row says it."""
    return f"{type(error).__name__}: {error}"


_MACHINES = 256  # kept for conditions, each some 100 kB
# Of what is uncertain, what the caches' work depends on.
_CACHES_SEE = (
    "core.miss_buffers",
    "core.prefetch",
    "tlb.entries",
    "tlb.large_entries",
    "tlb.walks",
    "tlb.first_misses",
)

Where = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Sampling:
    """Machines drawn within the intervals of each machine of the study, as `Machine.sample` does; the same draw for each."""

    count: int
    seed: int = 0
    method: str = "latin-hypercube"
    parameters: tuple[str, ...] | None = None

    def probabilities(self, values: int) -> Any:
        """Of each sample and uncertain value."""
        return sampling.probabilities(self.method, self.count, values, self.seed)

    def factor(self) -> Factor:
        """As an axis."""
        return Factor((SAMPLE,), tuple({SAMPLE: number} for number in range(1, self.count + 1)))


@dataclass(frozen=True)
class StudyRun:
    """One run. Of one that cannot be asked for, `spec` is None and `refused` says why."""

    index: int
    point: Point
    trace: Trace
    machine: Machine
    spec: RunSpec | None
    refused: str = ""
    key: str | None = None
    """Hash of everything that decides the result; None where that cannot be told: a policy of an extension may do anything."""

    @property
    def is_estimate(self) -> bool:
        """Whether the closed form answers."""
        return self.point.get("engine") == CLOSED_FORM

    def identity(self) -> dict[str, Any]:
        """What was asked for, as columns: labels and hashes, options, changes as text and (``_si``) as numbers."""
        found: dict[str, Any] = {
            TRACE: self.point[TRACE],
            "trace_hash": self.trace.hash,
            MACHINE: self.point[MACHINE],
            "machine_hash": self.machine.hash,
        }
        if SAMPLE in self.point:
            found[SAMPLE] = self.point[SAMPLE]
        for name, value in self.point.items():
            if name.startswith(CHANGE):
                found[column(name)] = value
                number = _core.quantity(value)
                found[column(name) + "_si"] = number if number is not None and math.isfinite(number) else None
        options = self.spec.options() if self.spec else {**_DEFAULTS, **self._asked()}
        found.update(options)
        found["engine"] = self.point.get("engine", found["engine"])
        return found

    def _asked(self) -> dict[str, Any]:
        return {name: value for name, value in self.point.items() if name in NAMES}


def described_content(value: Any) -> dict[str, str]:
    """Path and hash of a description of the user's own, as an option names it; nothing of one by name."""
    path = str(value)
    is_own = "/" in path or path.endswith(".toml")
    return {path: _content(path)} if is_own and Path(path).is_file() else {}


def _key(run: StudyRun) -> str | None:
    """UsageError for a description that is not there."""
    assert run.spec is not None
    if _may_do_anything(run.spec):
        return None
    names = OPTIONS_OF_ESTIMATES if run.is_estimate else NAMES
    options = run.spec.options(name for name in names if name not in _DESCRIPTIONS)
    described = [_content(run.spec._system_path())]
    if not run.is_estimate:
        described.append(_content(EnergyModel.path_of(run.spec.energy)))
    return key_of([run.is_estimate, run.trace.digest, run.machine.hash, options, described])


def _may_do_anything(spec: RunSpec) -> bool:
    try:
        return spec.has_extensions()
    except UsageError:  # the run will say what is wrong
        return True


@lru_cache(maxsize=256)
def _hash_of(path: str, changed: int, size: int) -> str:
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def _content(path: str) -> str:
    """Hash of a description; empty for the machine's own one, which its hash covers."""
    if not path:
        return ""
    try:
        state = os.stat(path)  # noqa: PTH116 (once a run: a Path costs ten times as much)
        return _hash_of(path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise UsageError(f"'{path}': {error.strerror}") from None


@dataclass(frozen=True)
class Plan:
    """What a study asks for: labelled traces and machines, axes, conditions. Its runs are made as they are needed."""

    traces: Mapping[str, Trace]
    machines: Mapping[str, Machine]
    factors: tuple[Factor, ...]
    conditions: tuple[Where | Condition, ...] = ()
    sampling: Sampling | None = None
    _drawn: dict[tuple[Any, ...], Any] = field(default_factory=dict, compare=False)
    _made: dict[tuple[Any, ...], Machine] = field(default_factory=dict, init=False, compare=False)  # for conditions

    def points(self) -> list[Point]:
        """The points that no condition leaves out, in the order of the axes. UsageError for more than anybody can run."""
        factors = [*self.factors, *([self.sampling.factor()] if self.sampling else [])]
        return [point for point in product(factors) if all(self._holds(one, point) for one in self.conditions)]

    def axes(self) -> list[str]:
        """Names of axes, whether they vary or not."""
        names = [name for factor in self.factors for name in factor.names]
        return [*names, SAMPLE] if self.sampling else names

    def values(self, name: str) -> list[Any]:
        """What an axis takes, in order."""
        factors = [*self.factors, *([self.sampling.factor()] if self.sampling else [])]
        found = [point[name] for factor in factors if name in factor.names for point in factor.points]
        return list(dict.fromkeys(found))

    def named(self, name: str) -> str:
        """An axis by its name or its column; UsageError for another."""
        for one in (name, CHANGE + name):
            if one in self.axes():
                return one
        raise UsageError(_core.unknown_name("axis", name, [column(one) for one in self.axes()]))

    def read(self, name: str, texts: Sequence[str]) -> list[Any]:
        """Values of an axis from texts; UsageError for one that it does not take."""
        by_text = {str(value): value for value in self.values(self.named(name))}
        for text in texts:
            if text not in by_text:
                raise UsageError(_core.unknown_name(f"value of axis '{name}'", text, list(by_text)))
        return [by_text[text] for text in texts]

    def varying(self) -> list[str]:
        """Names of the axes with several values."""
        return [name for name in self.axes() if len(self.values(name)) > 1]

    def _holds(self, condition: Where | Condition, point: Point) -> bool:
        try:
            return condition(_Known(self, point))
        except _NoMachineError:
            return True  # there is no such machine: the row of the run says so

    def machine_of(self, point: Point) -> Machine:
        """The machine with the point's changes, sampled or not. UsageError where there is none such."""
        asked = _of_machine(point)
        if asked not in self._made:
            if len(self._made) == _MACHINES:
                self._made.clear()
            self._made[asked] = self._make(point)
        return self._made[asked]

    def _make(self, point: Point) -> Machine:
        changes = {name.removeprefix(CHANGE): value for name, value in point.items() if name.startswith(CHANGE)}
        machine = self.machines[point[MACHINE]]
        machine = machine.with_changes(changes) if changes else machine
        if self.sampling is None or SAMPLE not in point:
            return machine
        uncertain, factors = self._factors(machine)
        return sampling.changed(machine, uncertain, factors[point[SAMPLE] - 1])

    def _factors(self, machine: Machine) -> Any:
        """What is uncertain of a machine, and the factors by sample: drawn once."""
        assert self.sampling is not None
        known = (machine.hash, *machine.changes.items())  # what was asked for is not drawn
        if known not in self._drawn:
            drawn = self.sampling
            uncertain = sampling.uncertain_among(machine, drawn.parameters)
            self._drawn[known] = uncertain, sampling.factors_at(uncertain, drawn.probabilities(len(uncertain)))
        return self._drawn[known]

    def run(self, index: int, point: Point, machines: dict[tuple[Any, ...], Machine] | None = None) -> StudyRun:
        """The run of a point; `machines`: those that were made already, by what of a point decides them."""
        machines = {} if machines is None else machines
        trace = self.traces[point[TRACE]]
        options = {name: value for name, value in point.items() if name in NAMES}
        if options.get("engine") == CLOSED_FORM:
            del options["engine"]
        machine = self.machines[point[MACHINE]]
        try:
            asked = _of_machine(point)
            if asked not in machines:
                machines[asked] = self._make(point)
            machine = machines[asked]
            options = {**threads_of(trace), **schedules_of(trace), **options}
            if "threads" not in options:
                raise UsageError("axis 'threads' is missing; allowed: threads=N, one number or several")
            run = StudyRun(index, point, trace, machine, RunSpec(machine, **options))
            return replace(run, key=_key(run))
        except Error as error:
            return StudyRun(index, point, trace, machine, None, words_of(error))

    def batches(self, points: Sequence[Point], size: int) -> Iterator[list[StudyRun]]:
        """All runs, some at a time, so that not all of their machines are in memory; those that may share work stand together."""
        for batch in _batches(points, size, apart=self._caches_see_samples()):
            machines: dict[tuple[Any, ...], Machine] = {}
            yield [self.run(index, points[index], machines) for index in batch]

    def _caches_see_samples(self) -> bool:
        """Whether sampled machines may differ in what the caches see, so that runs on them have nothing to share."""
        if self.sampling is None:
            return False
        drawn = self.sampling.parameters
        return drawn is None or any(name.startswith(_CACHES_SEE) for name in drawn)


def _batches(points: Sequence[Point], size: int, apart: bool) -> Iterator[list[int]]:
    """Numbers of points, at most `size` of them at a time.

    If runs on several machines have nothing to share (`apart`), a batch has all runs of its machines, so that each is made once.
    """
    of_machine: dict[tuple[Any, ...], list[int]] = {}
    for index, point in enumerate(points):
        of_machine.setdefault(_of_machine(point), []).append(index)
    groups = list(of_machine.values())
    if not apart or max(map(len, groups), default=0) > size:
        groups = [list(range(len(points)))]
    batch: list[int] = []
    for group in [*groups, []]:
        if batch and (not group or len(batch) + len(group) > size):
            batch.sort(key=lambda index: _together(points[index]))
            for begin in range(0, len(batch), size):
                yield batch[begin : begin + size]
            batch = []
        batch += group


def _together(point: Point) -> tuple[str, ...]:
    """By what caches see, then by machine: making one takes longer than finding out what it yields."""
    names = (TRACE, *_SHARED_BY)
    return (*(str(point.get(name, "")) for name in names), *(str(value) for _, value in _of_machine(point)))


def _of_machine(point: Point) -> tuple[tuple[str, Any], ...]:
    """What of a point decides its machine."""
    return tuple((name, value) for name, value in point.items() if name in (MACHINE, SAMPLE) or name.startswith(CHANGE))


class _NoMachineError(Exception):
    """What a condition asks for cannot be told."""


class _Known(Mapping[str, Any]):
    """What a condition may ask of a point: its axes, changes as numbers, and the cores, nodes and sockets of its machine."""

    _of_machine = ("cores", "nodes", "sockets")

    def __init__(self, plan: Plan, point: Point) -> None:
        self._plan = plan
        self._values = {column(name): _comparable(name, value) for name, value in point.items()}
        self._point = point

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if name in self._of_machine:
            try:
                machine = self._plan.machine_of(self._point)
            except Error as error:
                raise _NoMachineError from error
            return getattr(machine, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return itertools.chain(self._values, (name for name in self._of_machine if name not in self._values))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _comparable(name: str, value: Any) -> Any:
    if not name.startswith(CHANGE):
        return value
    number = _core.quantity(value)
    return value if number is None else number
