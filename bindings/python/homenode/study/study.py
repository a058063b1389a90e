"""A study: axes over traces, machines, their parameters, systems, engines and policies, as one value that runs itself."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core, sampling
from homenode.arguments import whole_number
from homenode.errors import InputError, UsageError
from homenode.machine import Machine
from homenode.progress import Progress
from homenode.run_spec import one_or_many
from homenode.study import axes as axes_of
from homenode.study.axes import MACHINE, TRACE
from homenode.study.conditions import Condition
from homenode.study.executing import run_here
from homenode.study.results import StudyResults
from homenode.study.runs import Plan, Sampling, StudyRun, described_content
from homenode.study.store import Store, StoredRun
from homenode.trace import Trace

if TYPE_CHECKING:
    from homenode.study.break_even import BreakEven
    from homenode.study.optimising import Optimum
    from homenode.study.pareto import Pareto
    from homenode.study.sensitivity import Sensitivity

_BATCH = 256  # runs whose machines are in memory at a time


class Study:
    """Many runs as one value: ``hn.Study("a.hnt", "xeon-x7560-4s", threads=[8, 32], placement=["first-touch", "interleave"])``.

    Every axis takes one value or several; all are combined. An axis is `trace`, `machine`, any option of `hn.replay` (`engine` also
    takes ``"closed-form"``, an estimate), or a parameter of the machine: ``change={"link_bandwidth": ["10 GB/s", "25 GB/s"]}``, with
    ``sockets`` and ``topology`` among them. Traces and machines may be named: ``trace={"small": "a.hnt", "large": "b.hnt"}``.
    Immutable: `zip`, `points`, `sample` and `where` give another study.
    """

    def __init__(self, trace: Any, machine: Any, **axes: Any) -> None:
        """UsageError for unknown axes; what single values are wrong with, the row of the run says."""
        traces, machines = _labelled_traces(trace), _labelled_machines(machine)
        named = axes_of.named({TRACE: list(traces), MACHINE: list(machines), **axes})
        self._plan = Plan(traces, machines, tuple(axes_of.combined(named)))
        self._asked: list[dict[str, Any]] = [{"grid": named}]

    @staticmethod
    def from_toml(path: str | Path) -> Study:
        """Read a study (docs/studies.md has the keys); files that it names are looked for beside it. InputError says what is wrong."""
        path = Path(path)
        try:
            described = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"no study '{path}': {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: {error}") from None
        except RecursionError:
            raise InputError(f"{path}: tables or lists in each other by the hundreds; allowed: a few") from None
        from homenode.study.study_file import study_of

        try:
            study: Study = study_of(Study, described, path.parent)
        except UsageError as error:
            raise InputError(f"{path}: {error}") from None
        return study

    def zip(self, **axes: Any) -> Study:
        """Axes that go along with each other, as many values of each: ``zip(threads=[8, 16], mapping=["compact", "scatter"])``."""
        values = axes_of.named(axes)
        if not values:
            raise UsageError("zip without axes; allowed: two, as zip(threads=[8, 16], mapping=['compact', 'scatter'])")
        return self._with(axes_of.zipped(values), "zip", values)

    def points(self, points: Iterable[Mapping[str, Any]]) -> Study:
        """Values of some axes, point by point: ``points([{"threads": 8, "placement": "interleave"}, …])``."""
        factor = axes_of.listed(points)
        return self._with(factor, "points", list(factor.points))

    def sample(
        self, count: int, *, seed: int = 0, method: str = "latin-hypercube", parameters: Iterable[str] | None = None
    ) -> Study:
        """An axis ``sample``: machines drawn within the intervals of each machine's numbers (`Machine.sample`), 1 to `count`."""
        if self._plan.sampling is not None:
            raise UsageError("samples of samples; allowed: 'sample' once")
        if method not in sampling.METHODS:
            raise UsageError(_core.unknown_name("method", method, list(sampling.METHODS)))
        names = None if parameters is None else tuple(_names("parameters", parameters))
        drawn = Sampling(
            whole_number("count", count, 1, axes_of.MOST_POINTS),
            whole_number("seed", seed, 0, 2**64 - 1),
            method,
            names,
        )
        for machine in self._plan.machines.values():
            sampling.uncertain_among(machine, names)
        return self.drawn_as(drawn)

    def where(self, condition: str | Callable[[Mapping[str, Any]], bool]) -> Study:
        """Leave out the points for which the condition does not hold: ``where("threads <= cores")``, or a function of a point.

        It may name axes, parameters of the machine that are axes (numbers in SI units: ``link_bandwidth > "10 GB/s"``), and `cores`,
        `nodes` and `sockets` of the point's machine.
        """
        if not isinstance(condition, str) and not callable(condition):
            raise UsageError(f"a condition is {type(condition).__name__}; allowed: a text or a function of a point")
        one = Condition(condition) if isinstance(condition, str) else condition
        words = condition if isinstance(condition, str) else getattr(condition, "__name__", "a function")
        return self._copy(replace(self._plan, conditions=(*self._plan.conditions, one)), {"where": words})

    def at(self, points: Sequence[axes_of.Point]) -> Study:
        """The study's traces, machines and samples at these points instead of its own; each names all axes but ``sample``."""
        names = tuple(name for name in points[0] if name != axes_of.SAMPLE)
        rows = tuple({name: point[name] for name in names} for point in points)
        unique = {json.dumps(row, sort_keys=True, default=str): row for row in rows}
        factors = (axes_of.Factor(names, tuple(unique.values())),)
        return self._copy(replace(self._plan, factors=factors), {"points": list(unique.values())})

    def without_conditions_on(self, names: Iterable[str]) -> Study:
        """The study without the conditions in words that name one of these."""
        left_out = set(names)
        kept = tuple(one for one in self._plan.conditions if not isinstance(one, Condition) or not one.names & left_out)
        return self._copy(replace(self._plan, conditions=kept), {"without conditions on": sorted(left_out)})

    def drawn_as(self, drawn: Sampling) -> Study:
        """The study on machines that are drawn in this way."""
        asked = {
            "sample": {"count": drawn.count, "seed": drawn.seed, "method": drawn.method, "parameters": drawn.parameters}
        }
        return self._copy(replace(self._plan, sampling=drawn, _drawn={}), asked)

    def _with(self, factor: axes_of.Factor, how: str, asked: Any) -> Study:
        """With one more factor; the study's own traces and machines give way, and axes that have one value so far."""
        kept = [left for one in self._plan.factors if (left := _left_of(one, factor.names)) is not None]
        axes_of.check_apart([*kept, factor])
        points = list(factor.points)
        held: dict[str, dict[str, Any]] = {}
        for name, known, labelled in (
            (TRACE, self._plan.traces, _labelled_traces),
            (MACHINE, self._plan.machines, _labelled_machines),
        ):
            stay = {point[name] for one in kept if name in one.names for point in one.points}
            things = {label: thing for label, thing in known.items() if label in stay}
            if name in factor.names:
                labels, things = _relabelled([point[name] for point in points], known, things, labelled)
                points = [{**point, name: label} for point, label in zip(points, labels, strict=True)]
            held[name] = things
        factors = (*kept, axes_of.Factor(factor.names, tuple(points)))
        plan = replace(self._plan, traces=held[TRACE], machines=held[MACHINE], factors=factors)
        return self._copy(plan, {how: asked})

    def _copy(self, plan: Plan, asked: dict[str, Any]) -> Study:
        study = object.__new__(Study)
        study._plan = plan
        study._asked = [*self._asked, asked]
        return study

    @property
    def plan(self) -> Plan:
        """What is asked for."""
        return self._plan

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._plan.points())

    def run(
        self,
        *,
        store: Store | str | Path | bool | None = None,
        workers: int | None = None,
        scheduler: str | None = None,
        progress: bool | Callable[[int, int], None] | None = None,
        command: str = "",
    ) -> StudyResults:
        """Run what was not run before, and give all results. A failing run is a row with its error; it ends no other.

        `store`: a file for the runs (`hn.Store`), by default one in the user's cache; False keeps them in memory. Killed at any moment,
        a study goes on where it was. `workers`: threads of this process, by default one for each processor; `scheduler`: the address of
        a Dask scheduler, whose workers run instead. Results do not depend on either. `progress`: whether it is shown (by default in a
        terminal or a notebook), or a function of runs done and runs in all.
        """
        kept, points = _store(store), self._plan.points()
        passing = Store()  # results that no key stands for
        identities: list[dict[str, Any]] = [{} for _ in points]
        measured: list[dict[str, Any]] = [{} for _ in points]
        sources: list[tuple[Store, str] | None] = [None for _ in points]

        def done(run: StudyRun, found: StoredRun | str) -> None:
            if isinstance(found, str):
                measured[run.index] = {"error": found}
            else:
                key = keys[run.index]
                target, name = (kept, key) if key else (passing, str(run.index))
                target.put(name, found)
                measured[run.index] = found.measured_values()
                sources[run.index] = (target, name)
            shown.advance()

        keys: dict[int, str | None] = {}
        with Progress("runs", len(points), progress) as shown, _executor(scheduler, workers, self._plan) as execute:
            for batch in self._plan.batches(points, execute.batch):
                keys.clear()
                keys.update({run.index: run.key for run in batch})
                known = {key: json.loads(text) for key, text in kept.measured([k for k in keys.values() if k]).items()}
                missing = []
                for run in batch:
                    identities[run.index] = run.identity()
                    key = keys[run.index]
                    if key is None or key not in known:
                        missing.append(run)
                        continue
                    measured[run.index], sources[run.index] = known[key], (kept, key)
                    shown.advance()
                execute(missing, done)
        return StudyResults(identities, measured, sources, self._plan, self._provenance(command))

    def _provenance(self, command: str) -> dict[str, Any]:
        """What the results were made from and by."""
        machines = {
            label: {"name": machine.name, "hash": machine.hash, "changes": machine.changes}
            for label, machine in self._plan.machines.items()
        }
        described: dict[str, str] = {}
        for name in ("system", "energy"):
            for value in self._plan.values(name):
                described |= described_content(value)
        return {
            "schema": "homenode.study/1",
            "homenode": _core.version,
            "command": command,
            "traces": {label: {"hash": one.hash, "digest": one.digest} for label, one in self._plan.traces.items()},
            "machines": machines,
            "descriptions": described,
            "asked": json.loads(json.dumps(self._asked, default=str)),
        }

    def pareto(self, objectives: Sequence[str] = ("seconds", "joules"), **how: Any) -> Pareto:
        """The runs that no other one beats in all objectives; `how` as of `run`."""
        return self.run(**how).pareto(objectives)

    def sensitivity(
        self,
        samples: int = 32,
        *,
        of: str = "seconds",
        parameters: Iterable[str] | None = None,
        seed: int = 0,
        **how: Any,
    ) -> Sensitivity:
        """Sobol indices of the machine's uncertain numbers, for each point of the study: which of them the result depends on.

        ``samples x (parameters + 2)`` runs a point (A. Saltelli et al., Comput. Phys. Commun. 181, 2010, by SALib); take a power of
        two. `of`: a column. `how` as of `run`.
        """
        from homenode.study.sensitivity import sensitivity_of

        names = None if parameters is None else _names("parameters", parameters)
        return sensitivity_of(self, samples, of, names, seed, how)

    def break_even(
        self,
        axis: str,
        *,
        compare: str,
        values: Sequence[Any] | None = None,
        of: str = "seconds",
        refine: int = 0,
        **how: Any,
    ) -> BreakEven:
        """Where along a numeric axis two values of another axis change places: ``break_even("link_bandwidth", compare="placement")``.

        `values`: the two, if `compare` has more. Between neighbouring points the place is interpolated on logarithms; `refine` halves
        the stretch as often by further runs. `how` as of `run`.
        """
        from homenode.study.break_even import break_even_of

        return break_even_of(self, axis, compare, values, of, refine, how)

    def optimise(
        self,
        objective: str | Callable[[Any], float] = "seconds",
        budget: int = 100,
        *,
        each: Sequence[str] = (TRACE,),
        between: Mapping[str, tuple[str, str]] | None = None,
        seed: int = 0,
        **how: Any,
    ) -> Optimum:
        """The values of the axes for which the objective is least, by at most `budget` trials (Optuna's TPE); all, if there are no more.

        `objective`: a column, of which the geometric mean over the runs of a trial counts, or a function of a trial's table of runs
        (`StudyResults.frame`) that gives a number, ``inf`` for what is not allowed. A trial's runs are those of all values of the axes
        `each`. `between`: parameters of the machine that vary continuously, ``{"link_bandwidth": ("5 GB/s", "50 GB/s")}``.
        """
        from homenode.study.optimising import optimise

        return optimise(self, objective, whole_number("budget", budget, 1), tuple(each), dict(between or {}), seed, how)

    def __repr__(self) -> str:
        """Axes with their numbers of values."""
        sizes = ", ".join(f"{axes_of.column(name)} x {len(self._plan.values(name))}" for name in self._plan.varying())
        return f"Study({len(self)} runs: {sizes or 'no axis varies'})"

    def _repr_html_(self) -> str:
        """For notebooks: the axes and their values."""
        from html import escape

        rows = "".join(
            f"<tr><th>{escape(axes_of.column(name))}</th><td>{escape(_some(self._plan.values(name)))}</td></tr>"
            for name in self._plan.axes()
        )
        return f"<p>Study of {len(self)} runs</p><table>{rows}</table>"


def _some(values: Sequence[Any]) -> str:
    """Values for people, of many the first."""
    words = ", ".join(str(value) for value in values[:8])
    return words if len(values) <= 8 else f"{words}, … ({len(values)})"


def _names(argument: str, given: Any) -> list[str]:
    """One name or several."""
    found: list[str] = one_or_many(given)
    for name in found:
        if not isinstance(name, str):
            raise UsageError(f"argument '{argument}' has {name!r}; allowed: names")
    return found


def _executor(scheduler: str | None, workers: int | None, plan: Plan) -> Any:
    """What runs batches: this process, or a cluster."""
    if scheduler is None:
        return _Here(workers)
    if workers is not None:
        raise UsageError("workers and a scheduler; allowed: one or the other")
    from homenode.study.dask_cluster import DaskCluster

    return DaskCluster(scheduler, plan.traces.values())


class _Here:
    """This process."""

    batch = _BATCH

    def __init__(self, workers: int | None) -> None:
        self._workers = None if workers is None else whole_number("workers", workers, 1)

    def __enter__(self) -> _Here:
        """Nothing to open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def __call__(self, runs: Sequence[StudyRun], done: Callable[[StudyRun, StoredRun | str], None]) -> None:
        """Run them all."""
        run_here(runs, self._workers, done)


def _store(store: Store | str | Path | bool | None) -> Store:
    if isinstance(store, Store):
        return store
    if store is False:
        return Store()
    return Store.default() if store is None or store is True else Store(store)


def _left_of(one: axes_of.Factor, names: Sequence[str]) -> axes_of.Factor | None:
    """What stays of a factor when others set these axes anew: its other axes, if it has one point; it as a whole, if it has several."""
    if not set(one.names) & set(names):
        return one
    if one.names in ((TRACE,), (MACHINE,)):
        return None
    if len(one.points) > 1:
        return one  # an axis comes twice then, which is refused
    others = tuple(name for name in one.names if name not in names)
    points = tuple({name: point[name] for name in others} for point in one.points)
    return axes_of.Factor(others, points) if others else None


def _relabelled(
    values: Sequence[Any], known: Mapping[str, Any], stay: Mapping[str, Any], labelled: Callable[[Any], dict[str, Any]]
) -> tuple[list[str], dict[str, Any]]:
    """A label for each value, and what the labels stand for: known ones as before, others by names of their own."""
    things = dict(stay)
    unknown: list[Any] = []
    for value in values:
        label = next((one for one, thing in known.items() if value is thing or value == one), None)
        if label is not None:
            things[label] = known[label]
        elif not any(value is one or value == one for one in unknown):
            unknown.append(value)
    new = labelled(unknown) if unknown else {}
    for label, thing in new.items():
        if things.setdefault(label, thing) is not thing:
            raise UsageError(f"'{label}' is another one already; allowed: labels of your own, {{'label': …}}")
    pairs = [*((thing, label) for label, thing in known.items()), *((label, label) for label in known)]
    pairs += zip(unknown, new, strict=True)
    return [next(label for one, label in pairs if value is one or value == one) for value in values], things


def _labelled_traces(given: Any) -> dict[str, Trace]:
    if isinstance(given, Mapping):
        return {str(label): Trace.of(trace) for label, trace in given.items()}
    traces = [Trace.of(trace) for trace in _several(TRACE, given)]
    return _labelled(traces, [trace.path.stem for trace in traces], [str(trace.path) for trace in traces])


def _labelled_machines(given: Any) -> dict[str, Machine]:
    if isinstance(given, Mapping):
        return {str(label): Machine.of(machine) for label, machine in given.items()}
    machines = [Machine.of(machine) for machine in _several(MACHINE, given)]
    words = [", ".join(f"{name}={value}" for name, value in machine.changes.items()) for machine in machines]
    long = [f"{machine.name} ({word})" if word else machine.name for machine, word in zip(machines, words, strict=True)]
    return _labelled(machines, [machine.name for machine in machines], long)


def _several(name: str, given: Any) -> list[Any]:
    found: list[Any] = one_or_many(given)
    if not found:
        raise UsageError(f"axis '{name}' is empty; allowed: one value, or several")
    return found


def _labelled(things: Sequence[Any], short: Sequence[str], long: Sequence[str]) -> dict[str, Any]:
    """Things by their short names, or by the long ones where the short ones are not enough."""
    labels = short if len(set(short)) == len(short) else long
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if list(labels).count(label) > 1)
        raise UsageError(f"'{twice}' comes twice; allowed: each once, or labels of your own, {{'label': …}}")
    return dict(zip(labels, things, strict=True))
