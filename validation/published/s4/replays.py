"""S4's replays: sweeps by placement and by task policy, and STREAM's second repeat."""

from collections.abc import Mapping
from dataclasses import dataclass

import homenode as hn
from validation.published.s4.arithmetic import Problem
from validation.published.s4.cases import (
    AFFINITY_SEEDS,
    COMBINATIONS,
    SEEDS,
    STREAM_ELEMENTS,
    blocks,
    by_tasks,
    by_tbb,
)
from validation.replay import Replayed, replayed_all


@dataclass(frozen=True)
class Line:
    """One of the paper's lines on one machine, as the model has it."""

    updates_per_second: float
    binding: str  # the bottleneck of the sweep
    command: str

    @property
    def million_updates(self) -> float:
        """Sites updated in a second, MLUP/s."""
        return self.updates_per_second / 1e6


@dataclass(frozen=True)
class MachineFigures:
    """What the model says of one machine."""

    lines: Mapping[str, Line]  # static, round robin, serial
    stream_system: float  # STREAM copy as reported, bytes/s
    stream_socket: float
    stream_command: str


@dataclass(frozen=True)
class TaskFigures:
    """One machine's bars."""

    tasks: Mapping[tuple[str, str], Line]  # by initialisation and order
    queues: Mapping[tuple[str, str], Line]  # locality queues
    unbounded: Mapping[str, Line]  # s/ijk without a limit of queued tasks, by policy
    any_first: Mapping[tuple[str, str], Line]  # threads get any of the queued tasks, not the oldest
    any_unbounded: Line  # the same without a limit, s/ijk
    parallel: Mapping[tuple[str, str], Line]  # all threads create tasks
    tbb: list[Line]  # one for each seed
    tbb_affinity: list[Line]


def parameters_of(problem: Problem, init: str = "parallel", sweeps: int = 1) -> dict[str, int | str]:
    """jacobi3d's."""
    return {**problem.parameters(), "sweeps": sweeps, "init": init, "check": 0}


def stream_parameters(repeats: int) -> dict[str, int | str]:
    """STREAM's."""
    return {"n": STREAM_ELEMENTS, "repeats": repeats, "check": 0}


def line_of(outcome: Replayed, problem: Problem) -> Line:
    """Updates by the time of all sweeps."""
    sweep = outcome.regions["sweep"]
    return Line(problem.updates * sweep.executions / sweep.seconds, sweep.binding, outcome.command)


def second_execution(once: Replayed, twice: Replayed, label: str) -> float:
    """Seconds of a region's second execution, from runs that differ in nothing else.

    The first one also writes back what initialisation left modified in the caches: 2 x 16 MB and more beside 256 MB.
    """
    return twice.regions[label].seconds - once.regions[label].seconds


def stream_rate(once: Replayed, twice: Replayed) -> float:
    """STREAM's own rule: the first repeat does not count (J. D. McCalpin, stream.c)."""
    return 16 * STREAM_ELEMENTS / second_execution(once, twice, "copy")


def task_figures(trace: hn.Trace, machine: hn.Machine, threads: int, problem: Problem) -> TaskFigures:
    """Every bar of tasks, locality queues and TBB on one machine."""
    all_of_them, policies = blocks(problem), ("tasks", "locality-queues")
    asked: dict[tuple[str, object], hn.RunSpec] = {}

    def ask(bar: str, key: object, distribution: str, seed: int = 0) -> None:
        asked[bar, key] = hn.RunSpec(machine, threads=threads, distribution=distribution, seed=seed)

    for init, order in COMBINATIONS:
        ask("tasks", (init, order), by_tasks(problem, init, order))
        ask("queues", (init, order), by_tasks(problem, init, order, "locality-queues"))
        ask("any first", (init, order), by_tasks(problem, init, order, take="any"))
        ask("parallel", (init, order), by_tasks(problem, init, order, producers=0))
    for policy in policies:
        ask("unbounded", policy, by_tasks(problem, "s", "ijk", policy, queue=all_of_them))
    ask("any unbounded", "", by_tasks(problem, "s", "ijk", queue=all_of_them, take="any"))
    for seed in SEEDS:
        ask("tbb", seed, by_tbb(problem, affinity=False), seed)
    for seed in AFFINITY_SEEDS:
        ask("tbb affinity", seed, by_tbb(problem, affinity=True), seed)
    found = {name: line_of(outcome, problem) for name, outcome in replayed_all(trace, asked).items()}

    def bars(name: str) -> dict[tuple[str, str], Line]:
        return {bar: found[name, bar] for bar in COMBINATIONS}

    return TaskFigures(
        tasks=bars("tasks"),
        queues=bars("queues"),
        unbounded={policy: found["unbounded", policy] for policy in policies},
        any_first=bars("any first"),
        any_unbounded=found["any unbounded", ""],
        parallel=bars("parallel"),
        tbb=[found["tbb", seed] for seed in SEEDS],
        tbb_affinity=[found["tbb affinity", seed] for seed in AFFINITY_SEEDS],
    )


def grid_bytes(trace: hn.Trace, problem: Problem) -> int:
    """Bytes of the trace's heap objects that are as large as a grid."""
    grid = problem.footprint_bytes // 2
    return sum(int(size) for size in trace.objects["bytes"] if size >= grid)


def flops_per_update(trace: hn.Trace, problem: Problem) -> float:
    """Floating-point operations of an update: one sum less than its reads, and the factor."""
    sweep = trace.regions.set_index("label").loc["sweep"].to_dict()
    return float(sweep["reads"]) / (problem.updates * int(sweep["executions"]))
