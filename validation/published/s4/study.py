"""S4 as a study: predicts the problem's trace from captures of fewer layers, replays it on each machine, and compares."""

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published import ONE_SOCKET
from validation.published.claims.figures import Figure
from validation.published.s4 import claim_figures
from validation.published.s4 import rows as compared
from validation.published.s4.arithmetic import Problem
from validation.published.s4.cases import MACHINES, PLACEMENTS, SMALL, THIN, paper_problem, references, threads_of
from validation.published.s4.replays import (
    Line,
    MachineFigures,
    flops_per_update,
    grid_bytes,
    line_of,
    parameters_of,
    second_execution,
    stream_parameters,
    stream_rate,
    task_figures,
)
from validation.published.s4.task_rows import task_rows
from validation.replay import replayed, replayed_all
from validation.rows import Row
from validation.traces import captured, enlarged


def _lines(trace: hn.Trace, machine: hn.Machine, threads: int, problem: Problem) -> dict[str, Line]:
    """Static worksharing by placement."""
    specs = {line: hn.RunSpec(machine, threads=threads, placement=placement) for line, placement in PLACEMENTS.items()}
    return {line: line_of(outcome, problem) for line, outcome in replayed_all(trace, specs).items()}


def _captured(folder: Path, problem: Problem) -> hn.Trace:
    """The problem's trace, predicted from four captures of fewer layers, one of which the prediction has to meet exactly."""
    return enlarged(folder, "jacobi3d", parameters_of(problem), "ni", THIN, problem.ni)


def rows(folder: Path, small: bool = False) -> Iterator[Row | Figure]:
    """Yield the rows of C57 to C63, C76 and C77."""
    printed = references()
    problem = SMALL if small else paper_problem(printed)
    parameters = parameters_of(problem)
    trace = captured(folder, "jacobi3d", parameters) if small else _captured(folder, problem)
    streams = [captured(folder, "stream", stream_parameters(repeats)) for repeats in (1, 2)]

    figures: dict[str, MachineFigures] = {}
    for name in MACHINES:
        machine, threads = hn.Machine.load(name), threads_of(printed, name)
        socket = threads // int(printed[name, "sockets"].value)
        lines = _lines(trace, machine, threads, problem)
        by_repeats = [
            replayed_all(stream, {team: hn.RunSpec(machine, threads=team) for team in (threads, socket)})
            for stream in streams
        ]
        system, alone = ([found[team] for found in by_repeats] for team in (threads, socket))
        figures[name] = MachineFigures(lines, stream_rate(*system), stream_rate(*alone), system[1].command)
        yield from compared.machine_rows(printed, name, figures[name], problem)
        yield from claim_figures.machine_figures(printed, name, figures[name], problem)
        if not small:  # the reduced problem's 288 tasks hardly meet a limit of 256
            tasks = task_figures(trace, machine, threads, problem)
            yield from task_rows(name, lines, tasks)
            yield from claim_figures.task_figures(name, lines, tasks)
    yield from compared.comparison_rows(figures)
    yield from claim_figures.comparison_figures(figures)

    static = figures[MACHINES[0]].lines["static"]
    footprint, flops = grid_bytes(trace, problem), flops_per_update(trace, problem)
    yield from compared.arithmetic_rows(printed, problem, footprint, flops, static.command)
    yield from claim_figures.arithmetic_figures(problem, footprint, flops, static.command)

    alone_machine = hn.Machine.load(ONE_SOCKET)
    lines = _lines(trace, alone_machine, alone_machine.cores, problem)
    yield compared.one_domain_row(lines, "xeon-x5550-1s")
    yield claim_figures.one_domain_figure(lines)

    # Serial initialisation itself, on the reduced problem's second sweep: after it the caches of one socket hold modified
    # lines, after a parallel one those of all, which the first sweep writes back.
    reduced = [
        [captured(folder, "jacobi3d", parameters_of(SMALL, init, sweeps)) for sweeps in (1, 2)]
        for init in ("parallel", "serial")
    ]
    for name in MACHINES:
        machine, threads = hn.Machine.load(name), threads_of(printed, name)
        lines_of_sweep: list[Line] = []
        for traces, placement in zip(reduced, ("bind:0", "first-touch"), strict=True):
            spec = hn.RunSpec(machine, threads=threads, placement=placement)
            once, twice = (replayed(one, spec) for one in traces)
            rate = SMALL.updates / second_execution(once, twice, "sweep")
            lines_of_sweep.append(Line(rate, twice.regions["sweep"].binding, twice.command))
        bound, initialised = lines_of_sweep
        yield compared.serial_row(bound, initialised, name)
