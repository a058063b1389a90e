"""Runs S4's cases: captures the problem once through aliased memory, replays it on each machine, and compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import homenode as hn
from validation.published import s4, s4_tasks
from validation.published.s4_arithmetic import Problem
from validation.replay import Replayed, replayed
from validation.rows import Row
from validation.traces import captured

ONE_DOMAIN = Path(__file__).with_name("machines") / "xeon-x5550-1s.toml"
# STREAM's vectors: 128 MB each, beyond four last-level caches of 24 MB.
STREAM_ELEMENTS = 16_000_000
# Both grids of 6.9 GB are mapped onto a small window: neither memory nor time would allow the problem otherwise.
ALIAS_OVER = 1_000_000_000


def _parameters(problem: Problem, init: str = "parallel", sweeps: int = 1) -> dict[str, int | str]:
    return {**problem.parameters(), "sweeps": sweeps, "init": init, "check": 0}


def _stream_parameters(repeats: int) -> dict[str, int | str]:
    return {"n": STREAM_ELEMENTS, "repeats": repeats, "check": 0}


def _line(outcome: Replayed, problem: Problem) -> s4.Line:
    sweep = outcome.regions["sweep"]
    return s4.Line(problem.updates * sweep.executions / sweep.seconds, sweep.binding, outcome.command)


def _second(once: Replayed, twice: Replayed, label: str) -> float:
    """Seconds of a region's second execution, from runs that differ in nothing else.

    The first one also writes back what initialisation left modified in the caches: 2 x 16 MB and more beside 256 MB.
    """
    return twice.regions[label].seconds - once.regions[label].seconds


def _stream_rate(once: Replayed, twice: Replayed) -> float:
    """STREAM's own rule: the first repeat does not count (J. D. McCalpin, stream.c)."""
    return 16 * STREAM_ELEMENTS / _second(once, twice, "copy")


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C57 to C63, C76 and C77."""
    printed = s4.references()
    problem = s4.SMALL if small else s4.paper_problem(printed)
    parameters = _parameters(problem)
    trace = _trace(folder, "jacobi3d", parameters, None if small else ALIAS_OVER)
    streams = [_trace(folder, "stream", _stream_parameters(repeats)) for repeats in (1, 2)]

    figures: dict[str, s4.MachineFigures] = {}
    for name in s4.MACHINES:
        machine, threads = hn.Machine.load(name), s4.threads_of(printed, name)
        socket = threads // int(printed[name, "sockets"].value)
        lines = {
            line: _line(replayed(trace, hn.RunSpec(machine, threads=threads, placement=placement)), problem)
            for line, placement in s4.PLACEMENTS.items()
        }
        system, alone = (
            [replayed(stream, hn.RunSpec(machine, threads=team)) for stream in streams] for team in (threads, socket)
        )
        figures[name] = s4.MachineFigures(lines, _stream_rate(*system), _stream_rate(*alone), system[1].command)
        yield from s4.machine_rows(printed, name, figures[name], problem)
        if not small:  # the reduced problem's 288 tasks hardly meet a limit of 256
            yield from s4_tasks.task_rows(name, lines, _task_figures(trace, machine, threads, problem))
    yield from s4.comparison_rows(figures)

    static = figures[s4.MACHINES[0]].lines["static"]
    yield from s4.arithmetic_rows(
        printed, problem, _grid_bytes(trace, problem), _flops_per_update(trace, problem), static.command
    )

    alone_machine = hn.Machine.load(ONE_DOMAIN)
    lines = {
        line: _line(
            replayed(trace, hn.RunSpec(alone_machine, threads=alone_machine.cores, placement=placement)), problem
        )
        for line, placement in s4.PLACEMENTS.items()
    }
    yield s4.one_domain_row(lines, "xeon-x5550-1s")

    # Serial initialisation itself, on the reduced problem's second sweep: after it the caches of one socket hold modified
    # lines, after a parallel one those of all, which the first sweep writes back.
    reduced = [
        [_trace(folder, "jacobi3d", _parameters(s4.SMALL, init, sweeps)) for sweeps in (1, 2)]
        for init in ("parallel", "serial")
    ]
    for name in s4.MACHINES:
        machine, threads = hn.Machine.load(name), s4.threads_of(printed, name)
        lines_of_sweep: list[s4.Line] = []
        for traces, placement in zip(reduced, ("bind:0", "first-touch"), strict=True):
            once, twice = (replayed(one, hn.RunSpec(machine, threads=threads, placement=placement)) for one in traces)
            rate = s4.SMALL.updates / _second(once, twice, "sweep")
            lines_of_sweep.append(s4.Line(rate, twice.regions["sweep"].binding, twice.command))
        bound, initialised = lines_of_sweep
        yield s4.serial_row(bound, initialised, name)


def _task_figures(trace: hn.Trace, machine: hn.Machine, threads: int, problem: Problem) -> s4_tasks.TaskFigures:
    def bar(distribution: str, seed: int = 0) -> s4.Line:
        return _line(
            replayed(trace, hn.RunSpec(machine, threads=threads, distribution=distribution, seed=seed)), problem
        )

    def bars(policy: str, **settings: int | str) -> dict[tuple[str, str], s4.Line]:
        return {
            (init, order): bar(s4_tasks.by_tasks(problem, init, order, policy, **settings))
            for init, order in s4_tasks.COMBINATIONS
        }

    all_of_them = s4_tasks.blocks(problem)
    policies = ("tasks", "locality-queues")
    return s4_tasks.TaskFigures(
        tasks=bars("tasks"),
        queues=bars("locality-queues"),
        unbounded={
            policy: bar(s4_tasks.by_tasks(problem, "s", "ijk", policy, queue=all_of_them)) for policy in policies
        },
        any_first=bars("tasks", take="any"),
        any_unbounded=bar(s4_tasks.by_tasks(problem, "s", "ijk", "tasks", queue=all_of_them, take="any")),
        parallel=bars("tasks", producers=0),
        tbb=[bar(s4_tasks.by_tbb(problem, affinity=False), seed) for seed in s4_tasks.SEEDS],
        tbb_affinity=[bar(s4_tasks.by_tbb(problem, affinity=True), seed) for seed in s4_tasks.SEEDS],
    )


def _trace(folder: Path, kernel: str, parameters: Mapping[str, int | str], alias_over: int | None = None) -> hn.Trace:
    return captured(folder, kernel, parameters, alias_over)


def _grid_bytes(trace: hn.Trace, problem: Problem) -> int:
    """Bytes of the trace's heap objects that are as large as a grid."""
    grid = problem.footprint_bytes // 2
    return sum(int(size) for size in trace.objects["bytes"] if size >= grid)


def _flops_per_update(trace: hn.Trace, problem: Problem) -> float:
    """Floating-point operations of an update: one sum less than its reads, and the factor."""
    sweep = trace.regions.set_index("label").loc["sweep"].to_dict()
    return float(sweep["reads"]) / (problem.updates * int(sweep["executions"]))
