"""S4's blocks by reading: 600 x 10 x 10 sites, which give the text's 14400 tasks, and 600 x 10 x 100 as printed, which give 1440.

Both on S4's grid with both slower directions, and the blocks in them, divided by 2.5: as many layers, tasks a layer and tasks as there,
in minutes. The whole grid's 14400 tasks stand on S4's own page.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import homenode as hn
from validation.published.s4.arithmetic import Problem
from validation.published.s4.cases import (
    COMBINATIONS,
    MACHINES,
    PLACEMENTS,
    SMALL,
    by_tasks,
    references,
    threads_of,
)
from validation.published.s4.cases import blocks as tasks_of
from validation.published.s4.replays import line_of, parameters_of
from validation.replay import replayed
from validation.rows import Row, predicted, within
from validation.traces import captured

GRID = Problem(ni=960, nj=240, nk=600, bi=4, bj=4, bk=600)
TIMES = 10  # as many layers in a block as printed over those that the text's number of tasks asks for


def readings(small: bool) -> dict[str, Problem]:
    """The problem by what it is called: the text's number of tasks, and that of the block as printed."""
    problem = SMALL if small else GRID
    printed = replace(problem, bi=problem.bi * TIMES)
    return {f"{named}, {tasks_of(one)} tasks": one for named, one in (("text", problem), ("block as printed", printed))}


def rows(folder: Path, small: bool) -> Iterator[Row]:
    """C65 to C67, C69 and C70 under both readings."""
    for named, problem in readings(small).items():
        trace = captured(folder, "jacobi3d", parameters_of(problem))
        for machine in MACHINES:
            yield from _rows_of(trace, machine, named, problem)


def _rows_of(trace: hn.Trace, machine: str, named: str, problem: Problem) -> Iterator[Row]:
    spec = hn.RunSpec(hn.Machine.load(machine), threads=threads_of(references(), machine))

    def rate(**choices: str) -> float:
        return line_of(replayed(trace, spec.with_(**choices)), problem).million_updates

    lines = {name: rate(placement=placement) for name, placement in PLACEMENTS.items()}
    tasks, queues = (
        {bar: rate(distribution=by_tasks(problem, *bar, policy=policy)) for bar in COMBINATIONS}
        for policy in ("tasks", "locality-queues")
    )
    yield from verdicts(machine, named, lines, tasks, queues, spec.with_(distribution="tasks").command("jacobi3d.hnt"))


Bars = dict[tuple[str, str], float]


def verdicts(
    machine: str, named: str, lines: dict[str, float], tasks: Bars, queues: Bars, command: str
) -> Iterator[Row]:
    """The claims of S4's Figure 3 on MLUP/s that were replayed."""

    def row(claim: str, what: str, published: str, model: str, holds: bool) -> Row:
        return predicted(claim, machine, f"{named}: {what}", published, model, holds, command, "MLUP/s")

    def said(bars: Bars) -> str:
        return ", ".join(f"{init}/{order} {bars[init, order]:.0f}" for init, order in COMBINATIONS)

    worst, middle, static = ("s", "ijk"), lines["round robin"], lines["static"]
    beside = f"{said(tasks)}; round robin {middle:.0f}"
    yield row(
        "C65",
        "plain tasks never faster than round robin (within 2 %)",
        "all <= round robin",
        beside,
        max(tasks.values()) <= 1.02 * middle,
    )
    least = min(tasks, key=lambda bar: tasks[bar])
    yield row(
        "C66", "plain tasks: static initialisation with ijk is worst", "s/ijk is the least", said(tasks), least == worst
    )
    ordered = tasks["s", "ijk"] < tasks["s-1", "ijk"] <= 1.02 * min(tasks["s", "kji"], tasks["s-1", "kji"])
    yield row("C67", "plain tasks: s/ijk < s-1/ijk <= kji (within 2 %)", "s/ijk < s-1/ijk <= kji", said(tasks), ordered)
    near = min(rate for bar, rate in queues.items() if bar != worst)
    beside = f"{said(queues)}; static {static:.0f}"
    yield row(
        "C69",
        "locality queues but for s/ijk within 10 % of parallel first touch",
        f">= {0.9 * static:.0f}",
        beside,
        near >= 0.9 * static,
    )
    serialised = within(queues[worst], tasks[worst], 0.25)
    yield row(
        "C70",
        "locality queues with s/ijk as plain tasks (within 25 %)",
        f"{tasks[worst]:.0f}",
        f"{queues[worst]:.0f}",
        serialised,
    )
