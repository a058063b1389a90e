"""S4 as a study: captures the problem once through aliased memory, replays it on each machine, and compares."""

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published import ONE_SOCKET
from validation.published.s4 import rows as compared
from validation.published.s4.cases import ALIAS_OVER, MACHINES, PLACEMENTS, SMALL, paper_problem, references, threads_of
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
from validation.replay import replayed
from validation.rows import Row
from validation.traces import captured


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C57 to C63, C76 and C77."""
    printed = references()
    problem = SMALL if small else paper_problem(printed)
    parameters = parameters_of(problem)
    trace = captured(folder, "jacobi3d", parameters, None if small else ALIAS_OVER)
    streams = [captured(folder, "stream", stream_parameters(repeats)) for repeats in (1, 2)]

    figures: dict[str, MachineFigures] = {}
    for name in MACHINES:
        machine, threads = hn.Machine.load(name), threads_of(printed, name)
        socket = threads // int(printed[name, "sockets"].value)
        lines = {
            line: line_of(replayed(trace, hn.RunSpec(machine, threads=threads, placement=placement)), problem)
            for line, placement in PLACEMENTS.items()
        }
        system, alone = (
            [replayed(stream, hn.RunSpec(machine, threads=team)) for stream in streams] for team in (threads, socket)
        )
        figures[name] = MachineFigures(lines, stream_rate(*system), stream_rate(*alone), system[1].command)
        yield from compared.machine_rows(printed, name, figures[name], problem)
        if not small:  # the reduced problem's 288 tasks hardly meet a limit of 256
            yield from task_rows(name, lines, task_figures(trace, machine, threads, problem))
    yield from compared.comparison_rows(figures)

    static = figures[MACHINES[0]].lines["static"]
    yield from compared.arithmetic_rows(
        printed, problem, grid_bytes(trace, problem), flops_per_update(trace, problem), static.command
    )

    alone_machine = hn.Machine.load(ONE_SOCKET)
    lines = {
        line: line_of(
            replayed(trace, hn.RunSpec(alone_machine, threads=alone_machine.cores, placement=placement)), problem
        )
        for line, placement in PLACEMENTS.items()
    }
    yield compared.one_domain_row(lines, "xeon-x5550-1s")

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
            once, twice = (replayed(one, hn.RunSpec(machine, threads=threads, placement=placement)) for one in traces)
            rate = SMALL.updates / second_execution(once, twice, "sweep")
            lines_of_sweep.append(Line(rate, twice.regions["sweep"].binding, twice.command))
        bound, initialised = lines_of_sweep
        yield compared.serial_row(bound, initialised, name)
