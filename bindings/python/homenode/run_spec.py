"""A run as one value: what it is asked to do. Its options come from the table in models/run/run_fields.cpp; none is named twice."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, Unpack

from homenode import _core
from homenode.energy import EnergyModel
from homenode.errors import UsageError
from homenode.extensions import loaded_extensions
from homenode.machine import Machine
from homenode.registering import is_from_here
from homenode.run_types import GridOptions, Options
from homenode.running_machine import running_on
from homenode.system import System
from homenode.trace import Trace

FIELDS = tuple(_core.run_fields())
NAMES = tuple(field.name for field in FIELDS)
AXES = tuple(field.name for field in FIELDS if field.is_axis)
CLOSED_FORM = tuple(field.name for field in FIELDS if field.closed_form)
"""The options that an estimate depends on."""
_OWN_SYSTEM = "auto"  # the machine's own, if it has one (system_of in models/run/run_spec.hpp)
_REPORTED = tuple(field.name for field in sorted(FIELDS, key=lambda field: field.report) if field.report)


@dataclass(frozen=True, init=False, repr=False)
class RunSpec:
    """What one run is asked to do: a machine, and the options of `hn.replay`. Immutable and hashable; `with_` gives another one.

    The machine may be left open, for what is to be asked on several; it is needed to run.
    """

    _machine: Machine | None
    _options: _core.RunSpec

    def __init__(self, machine: Machine | str | Path | None = None, **options: Unpack[Options]) -> None:
        """`options` that are not given are the default's. TypeError for an unknown one, UsageError for a wrong value."""
        object.__setattr__(self, "_machine", None if machine is None else Machine.of(machine))
        object.__setattr__(self, "_options", _core.RunSpec(**options))

    @property
    def machine(self) -> Machine:
        """Where it runs."""
        if self._machine is None:
            raise UsageError("a run without a machine; allowed: RunSpec(machine, ...), or with_(machine=...)")
        return self._machine

    def __getattr__(self, name: str) -> Any:
        """An option's value."""
        if name in NAMES:
            return getattr(self._options, name)
        raise AttributeError(f"a run has no '{name}'", name=name, obj=self)

    def with_(self, **changes: Any) -> RunSpec:
        """The run with another machine or other options."""
        return RunSpec(changes.pop("machine", self._machine), **{**self.options(), **changes})

    def options(self, names: Iterable[str] = NAMES) -> dict[str, Any]:
        """The options by name, as `hn.replay` takes them."""
        return {name: getattr(self._options, name) for name in names}

    def keys(self) -> dict[str, Any]:
        """The report's keys, in its order."""
        machine = {"machine": self.machine.name, "machine_hash": self.machine.hash}
        return {
            **machine,
            "machine_changes": self.machine.changes,
            **self.options(_REPORTED),
            "system": self._system_name(),
            **({"core_factors": self.core_factors} if self.core_factors else {}),
        }

    def _system_path(self) -> str:
        """The description of the system that was asked for; empty for the machine's own, or the default one."""
        return "" if self.system == _OWN_SYSTEM else System.path_of(self.system)

    def _system_name(self) -> str:
        """The system that the run is on, by its name."""
        return self.machine.system_name if self.system == _OWN_SYSTEM else System.load(self.system).name

    def what_caches_see(self) -> tuple[str, str]:
        """Equal for runs of one trace that may share what they did to the caches; seeds and hand-outs the extension looks at itself."""
        return _core.what_caches_see_of(self.machine._core), _core.what_caches_see(self._options)

    def command(self, trace: Trace | str | Path) -> str:
        """The command line that repeats this run."""
        return command(trace, [self])

    def check(self, trace: Trace) -> None:
        """Refuse what can be refused before anything runs: unknown names, parameters and labels, threads that do not fit, empty traces."""
        trace.check_usable()
        own = trace.own_threads
        with running_on(self.machine):
            _core.check_run(self._options, self.machine._core, trace.labels, own[1] if own else 0, trace.has_tasks)
        self._check_descriptions()

    def check_values(self) -> None:
        """Of `check`, what needs no trace: names, parameters, numbers."""
        _core.check_values(self._options)
        self._check_descriptions()

    def needs_this_process(self) -> bool:
        """Whether another process cannot do it: of its policies one was registered by code that is in no file or package to load."""
        return is_from_here(self._options)

    def has_extensions(self) -> bool:
        """Whether one of its policies is not built in. UsageError on a malformed text."""
        return not all(built_in for _, _, built_in in _core.used_policies(self._options))

    def _check_descriptions(self) -> None:
        if self.system != _OWN_SYSTEM:
            System.check(self.system)
        EnergyModel.check(self.energy)

    def replay(self, trace: Trace, **extras: Any) -> dict[str, Any]:
        """What the extension says of the run, in this process; `extras`: of `_core.RunExtras`."""
        told = _core.RunExtras(system=self._system_path(), **extras)
        with running_on(self.machine):
            return _core.replay(trace._core, self.machine._core, self._options, told, EnergyModel.path_of(self.energy))

    def estimate(self, trace: Trace) -> dict[str, Any]:
        """What the extension's closed form says of it."""
        told = _core.RunExtras(system=self._system_path())
        with running_on(self.machine):
            return _core.estimate(trace._core, self.machine._core, self._options, told)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its machine and its options."""
        return _restored, (self._machine, self.options())

    def __repr__(self) -> str:
        """The machine, and the options that are not the default's."""
        chosen = [
            f"{field.name}={value!r}" for field in FIELDS if (value := getattr(self, field.name)) != field.default
        ]
        return f"RunSpec({', '.join([repr(self._machine), *chosen])})"


def _restored(machine: Machine | None, options: dict[str, Any]) -> RunSpec:
    """A pickled run."""
    return RunSpec(machine, **options)


AS_WRITTEN = "program"
"""The distribution that gives each loop the schedule of its source."""


def schedules_of(trace: Trace) -> dict[str, str]:
    """The option `distribution` of a program whose loops have schedules of their own, which need not be said; empty for others."""
    return {"distribution": AS_WRITTEN} if trace.has_own_schedules else {}


def threads_of(trace: Trace) -> dict[str, int]:
    """The option `threads` of a program that creates its threads or is serial, which need not be said; empty for others."""
    if trace.own_threads:
        return {"threads": trace.own_threads[0]}
    return {"threads": 1} if trace.is_serial else {}


def asked(
    machine: Machine | str | Path, options: Mapping[str, Any], names: Sequence[str] = NAMES, trace: Trace | None = None
) -> RunSpec:
    """The run that a call's keywords ask for, of which it knows `names`; what the trace says itself need not be asked for."""
    if trace is not None:
        own = {name: value for name, value in schedules_of(trace).items() if name in names}
        options = {**threads_of(trace), **own, **options}
    for name in options:
        if name not in names:
            raise TypeError(_core.unknown_name("option", name, names))
    for field in FIELDS:
        if field.required and field.name not in options:
            meaning = field.meaning[0].lower() + field.meaning[1:]
            raise UsageError(f"option '{field.name}' is missing; allowed: {field.name}={field.sign} ({meaning})")
    return RunSpec(machine, **options)


def one_or_many(values: Any) -> list[Any]:
    """A list of what is given: one value, or a sequence of them. A text, a path and a table are one."""
    is_one = isinstance(values, str | bytes | Path | Mapping) or not isinstance(values, Iterable)
    return [values] if is_one else list(values)


def grid(
    machines: Machine | str | Path | Iterable[Machine | str | Path],
    threads: int | Iterable[int],
    **options: Unpack[GridOptions],
) -> list[RunSpec]:
    """Every combination of machines, threads and of what is given for placement, mapping, distribution and heap: one value or several.

    ``hn.grid("xeon-x5550-2s", [4, 8], placement=["first-touch", "interleave"])``. Machines may be names and paths. The last option
    varies fastest; other options are the same for all.
    """
    given: dict[str, Any] = {"threads": threads, **options}
    axes = {name: one_or_many(given[name]) for name in AXES if name in given}
    for name, values in {"machines": machines, **axes}.items():
        if isinstance(values, Sized) and not len(values):
            raise UsageError(f"argument '{name}' is empty; allowed: one value, or several")
    same = {name: value for name, value in given.items() if name not in AXES}
    loaded = [Machine.of(machine) for machine in one_or_many(machines)]
    specs = [
        RunSpec(machine, **same, **dict(zip(axes, chosen, strict=True)))
        for machine, *chosen in itertools.product(loaded, *axes.values())
    ]
    for spec in specs:
        spec.check_values()
    return specs


def several(specs: RunSpec | Iterable[RunSpec]) -> list[RunSpec]:
    """Runs as a list; UsageError for what is no run."""
    found = one_or_many(specs)
    for spec in found:
        if not isinstance(spec, RunSpec):
            raise UsageError(
                f"a run is {type(spec).__name__}; allowed: an hn.RunSpec, or several as hn.grid gives them"
            )
    return found


def check(trace: Trace, specs: Iterable[RunSpec]) -> None:
    """Refuse what can be refused of several runs before the first of them."""
    for spec in specs:
        spec.check(trace)


def option_of(field: _core.RunField) -> str:
    """As the command line writes it; a flag changes the default."""
    return ("--no-" if field.default is True else "--") + field.name.replace("_", "-")


def command(trace: Trace | str | Path, specs: Sequence[RunSpec]) -> str:
    """The command line that repeats a grid; what is the default's everywhere is left out."""
    words = ["homenode", "replay", str(trace.path if isinstance(trace, Trace) else trace)]
    for machine in dict.fromkeys(spec.machine.source for spec in specs):
        words += ["--machine", machine]
    changes = [change for spec in specs for change in spec.machine.changes.items()]
    for name, text in dict.fromkeys(changes):
        words += ["--change", f"{name}={text}"]
    if any(spec.has_extensions() for spec in specs):
        words += [word for file in loaded_extensions() for word in ("--extension", str(file))]
    own = schedules_of(trace) if isinstance(trace, Trace) else {}
    for field in FIELDS:
        values = list(dict.fromkeys(getattr(spec, field.name) for spec in specs))
        if values == [own.get(field.name, field.default)] and not field.required:
            continue
        for value in values:
            words += [option_of(field)] if isinstance(value, bool) else [option_of(field), str(value)]
    return shlex.join(words)


Function = TypeVar("Function", bound=Callable[..., Any])


def lists_options(names: Sequence[str] = NAMES) -> Callable[[Function], Function]:
    """Put what each option means behind a function's docstring."""

    def row(field: _core.RunField) -> str:
        taken = f" ({', '.join(field.names)})" if field.names else ""
        return f"    {field.name}: {field.meaning}{taken}; {'required' if field.required else f'default {field.default!r}'}."

    rows = [row(field) for field in FIELDS if field.name in names]

    def with_list(function: Function) -> Function:
        function.__doc__ = (function.__doc__ or "").rstrip() + "\n\n    Options:\n\n" + "\n".join(rows) + "\n    "
        return function

    return with_list
