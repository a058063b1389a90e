"""Runs S4's cases: captures the problem once through aliased memory, replays it on each machine, and compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published import s4
from validation.published.s4_arithmetic import Problem
from validation.replay import Replayed, replayed
from validation.rows import Row
from validation.traces import captured, trace_path

ONE_DOMAIN = Path(__file__).with_name("machines") / "xeon-x5550-1s.toml"
# STREAM's vectors: 128 MB each, well beyond four last-level caches of 24 MB.
STREAM = {"n": 16_000_000, "repeats": 2, "check": 0}
# Both grids of 6.9 GB are mapped onto a small window: neither memory nor time would allow the problem otherwise.
ALIAS_OVER = 1_000_000_000


def _parameters(problem: Problem, init: str = "parallel") -> dict[str, int | str]:
    return {**problem.parameters(), "sweeps": 1, "init": init, "check": 0}


def _line(outcome: Replayed, problem: Problem) -> s4.Line:
    sweep = outcome.regions["sweep"]
    return s4.Line(problem.updates * sweep.executions / sweep.seconds, sweep.binding, outcome.command)


def _stream_rate(outcome: Replayed) -> float:
    copy = outcome.regions["copy"]
    return 16 * int(STREAM["n"]) * copy.executions / copy.seconds


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C57 to C63, C76 and C77."""
    printed = s4.references()
    problem = s4.SMALL if small else s4.paper_problem(printed)
    parameters = _parameters(problem)
    trace, path = captured(folder, "jacobi3d", parameters, ALIAS_OVER), trace_path(folder, "jacobi3d", parameters)
    stream, stream_path = captured(folder, "stream", STREAM), trace_path(folder, "stream", STREAM)

    figures: dict[str, s4.MachineFigures] = {}
    for name in s4.MACHINES:
        machine, threads = hn.Machine.load(name), s4.threads_of(printed, name)
        socket = threads // int(printed[name, "sockets"].value)
        lines = {
            line: _line(replayed(trace, path, machine, name, threads, placement), problem)
            for line, placement in s4.PLACEMENTS.items()
        }
        system = replayed(stream, stream_path, machine, name, threads, "first-touch")
        alone = replayed(stream, stream_path, machine, name, socket, "first-touch")
        figures[name] = s4.MachineFigures(lines, _stream_rate(system), _stream_rate(alone), system.command)
        yield from s4.machine_rows(printed, name, figures[name], problem)
    yield from s4.comparison_rows(figures)

    static = figures[s4.MACHINES[0]].lines["static"]
    yield from s4.arithmetic_rows(
        printed, problem, _grid_bytes(trace, problem), _flops_per_update(trace, problem), static.command
    )

    alone_machine = hn.Machine.load(ONE_DOMAIN)
    lines = {
        line: _line(replayed(trace, path, alone_machine, str(ONE_DOMAIN), alone_machine.cores, placement), problem)
        for line, placement in s4.PLACEMENTS.items()
    }
    yield s4.one_domain_row(lines, "xeon-x5550-1s")

    # Serial initialisation itself, on the reduced problem: its trace holds every access of one thread's pass.
    for name in s4.MACHINES:
        machine, threads = hn.Machine.load(name), s4.threads_of(printed, name)
        pair = []
        for init, placement in (("parallel", "bind:0"), ("serial", "first-touch")):
            small_parameters = _parameters(s4.SMALL, init)
            small_trace = captured(folder, "jacobi3d", small_parameters, ALIAS_OVER)
            small_path = trace_path(folder, "jacobi3d", small_parameters)
            pair.append(_line(replayed(small_trace, small_path, machine, name, threads, placement), s4.SMALL))
        yield s4.serial_row(pair[0], pair[1], name)


def _grid_bytes(trace: hn.Trace, problem: Problem) -> int:
    """Bytes of the trace's heap objects that are as large as a grid."""
    grid = problem.footprint_bytes // 2
    return sum(int(size) for size in trace.objects["bytes"] if size >= grid)


def _flops_per_update(trace: hn.Trace, problem: Problem) -> float:
    """Floating-point operations of an update: one sum less than its reads, and the factor."""
    sweep = trace.regions.set_index("label").loc["sweep"]
    return float(sweep["reads"]) / (problem.updates * int(sweep["executions"]))
