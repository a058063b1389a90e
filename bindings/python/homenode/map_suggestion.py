"""Where each thread of a program should run: by a mapping that is named, or by the one that replays of the trace find fastest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.arguments import whole_number
from homenode.errors import UsageError
from homenode.grids import replay_grid
from homenode.machine import Machine
from homenode.policies import policies
from homenode.result import Result
from homenode.run_spec import NAMES, RunSpec, lists_options, schedules_of
from homenode.running_machine import running_on
from homenode.thread_map import MappedThread
from homenode.trace import Trace

AS_FAST = 1.01
"""Times within a hundredth are told apart by no model here: of such mappings the first in the list of policies is suggested."""
COMPARED = ("compact", "scatter")
"""What a mapping that is named is told beside: what OMP_PROC_BIND's `close` and `spread` do."""
NOT_TRIED = ("unpinned", "cores")
"""Mappings that leave the cores to the operating system, or to the user."""
OPTIONS = tuple(name for name in NAMES if name not in ("threads", "mapping", "oversubscribe", "energy"))
"""The options of a replay that a suggestion takes; it decides on the others itself."""


@dataclass(frozen=True)
class MapSuggestion:
    """What `suggest_mapping` says."""

    mapping: str
    """The mapping that the map is of."""
    threads: list[MappedThread]
    """The cores of each thread under it."""
    results: list[Result]
    """A replay of each mapping that was tried, fastest first; ``run["mapping"]`` says which it is."""
    refused: dict[str, str]
    """Mappings that cannot be made from this trace, and why."""
    remarks: list[str]
    """What is to be known of the number of threads."""
    at_once: int
    """Of the threads so many live at once."""

    @property
    def seconds(self) -> dict[str, float]:
        """Predicted time by mapping, fastest first."""
        return {result.run["mapping"]: result.seconds for result in self.results}


def candidates() -> list[str]:
    """The mappings that decide on a core for each thread; those that look at the machine alone come first."""
    return [policy["name"] for policy in policies("mapping") if policy["name"] not in NOT_TRIED]


def creates_its_threads(trace: Trace) -> bool:
    """Whether the program creates threads itself, so that no variable of OpenMP says how many there are or where they run."""
    return len(trace.inspect()["threads"]) > 1


def _remarks(
    trace: Trace, machine: Machine, asked: int | None, team: Sequence[dict[str, Any]], at_once: int
) -> list[str]:
    """Where the threads that are mapped are others than those that were asked for, or share cores."""
    found = []
    if asked is not None and asked != len(team):
        why = "it has no parallel region" if trace.is_serial else f"main and the {len(team) - 1} that it creates"
        mapped = "1 thread is" if len(team) == 1 else f"{len(team)} threads are"
        found.append(f"{mapped} mapped, not {asked}: {trace.program} has so many, whatever --threads says ({why}).")
    if at_once > machine.cores:
        found.append(f"{at_once} threads at once share the {machine.cores} cores of '{machine.name}'.")
    return found


def threads_to_map(trace: Trace, machine: Machine, threads: int | None) -> list[dict[str, Any]]:
    """The threads to map: those that the program creates, or a team as asked for, as captured, or, after a capture by one, one a core."""
    if threads is not None:
        threads = whole_number("threads", threads, 1)
    if trace.is_serial:
        threads = 1
    found: list[dict[str, Any]] = trace.thread_graph(threads)["threads"]
    if threads is not None or len(found) > 1 or machine.cores == 1:
        return found
    try:
        larger: list[dict[str, Any]] = trace.thread_graph(machine.cores)["threads"]
    except UsageError:  # the program's own thread numbers decide what runs: no other team can be told from this trace
        return found
    return larger


def _mapped(trace: Trace, machine: Machine, threads: Sequence[dict[str, Any]], mapping: str) -> list[MappedThread]:
    with running_on(machine):
        affinities = _core.affinities(trace._core, machine._core, mapping, len(threads))
    return [
        MappedThread(entry["thread"], entry["type"], tuple(cores), entry["routine"])
        for entry, cores in zip(threads, affinities, strict=True)
    ]


@lists_options(OPTIONS)
def suggest_mapping(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    *,
    threads: int | None = None,
    mapping: str | None = None,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
    **options: Any,
) -> MapSuggestion:
    """Replay a trace under each mapping that pins threads, and tell the fastest: ``hn.suggest_mapping(trace, machine, threads=8)``.

    `threads` is the size of the team of an OpenMP program: by default as captured, or one thread a core after a capture by one; a
    program that creates its threads itself has as many as it creates, whatever `threads` says.
    With `mapping` the map is of that one, which is replayed beside `compact` and `scatter`.
    """
    trace, machine = Trace.of(trace), Machine.of(machine)
    trace.check_usable()
    for name in options:
        if name not in OPTIONS:
            raise TypeError(_core.unknown_name("option", name, OPTIONS))
    team = threads_to_map(trace, machine, threads)
    at_once = trace.own_threads[1] if trace.own_threads else len(team)
    options = {**schedules_of(trace), **options}
    base = RunSpec(machine, threads=len(team), oversubscribe=at_once > machine.cores, **options)
    maps, refused = {}, {}
    for name in candidates() if mapping is None else dict.fromkeys([mapping, *COMPARED]):
        try:
            maps[name] = _mapped(trace, machine, team, name)
        except UsageError as error:  # an imported trace may not tell its threads apart
            if name == mapping:
                raise
            refused[name] = str(error)
    specs = [base.with_(mapping=name) for name in maps]
    results = sorted(
        replay_grid(trace, specs, workers=workers, advance=advance), key=lambda result: float(result.seconds)
    )
    as_fast = {str(result.run["mapping"]) for result in results if result.seconds <= AS_FAST * results[0].seconds}
    chosen = mapping or next(name for name in maps if name in as_fast)
    return MapSuggestion(
        chosen, maps[chosen], results, refused, _remarks(trace, machine, threads, team, at_once), at_once
    )


def thread_map(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    *,
    mapping: str | None = None,
    threads: int | None = None,
) -> list[MappedThread]:
    """Tell for each thread of a trace its type and the cores that `mapping` gives it, by default those of `suggest_mapping`.

    `threads` as there. With a `mapping` nothing is replayed.
    """
    if mapping is None:
        return suggest_mapping(trace, machine, threads=threads).threads
    trace, machine = Trace.of(trace), Machine.of(machine)
    trace.check_usable()
    return _mapped(trace, machine, threads_to_map(trace, machine, threads), mapping)
