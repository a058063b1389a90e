"""S4's tasks, locality queues and TBB against what was replayed: bars of its Figure 3, which it describes in words."""

from collections.abc import Iterator, Mapping
from statistics import median

from validation.published.s4.cases import COMBINATIONS
from validation.published.s4.replays import Line, TaskFigures
from validation.rows import Row, not_compared, predicted, within


def _median(lines: list[Line]) -> float:
    return median(line.million_updates for line in lines)


def _seeds(lines: list[Line]) -> str:
    rates = [line.million_updates for line in lines]
    return f"{median(rates):.0f} (seeds: {min(rates):.0f} to {max(rates):.0f})"


def _bars(lines: Mapping[tuple[str, str], Line]) -> str:
    return ", ".join(f"{init}/{order} {lines[init, order].million_updates:.0f}" for init, order in COMBINATIONS)


def task_rows(machine: str, lines: Mapping[str, Line], figures: TaskFigures) -> Iterator[Row]:
    """C65 to C74 on one machine; `lines` are those of static worksharing."""
    static, middle, serial = (lines[name].million_updates for name in ("static", "round robin", "serial"))
    tasks = {bar: line.million_updates for bar, line in figures.tasks.items()}
    queues = {bar: line.million_updates for bar, line in figures.queues.items()}
    worst = ("s", "ijk")

    def row(claim: str, what: str, published: str, model: str, holds: bool, command: str) -> Row:
        if what.startswith("what if"):  # made after the plain row, to separate causes: evidence of nothing
            said = f"{model} ({'holds' if holds else 'does not hold'})"
            return not_compared(claim, machine, what, published, said, command, "MLUP/s")
        return predicted(claim, machine, what, published, model, holds, command, "MLUP/s")

    best = max(tasks.values())
    yield row(
        "C65", "plain tasks never faster than round robin (within 2 %)", "all <= round robin",
        f"{_bars(figures.tasks)}; round robin {middle:.0f}", best <= 1.02 * middle, figures.tasks["s-1", "kji"].command,
    )  # fmt: skip
    yield row(
        "C66", "plain tasks: static initialisation with ijk is worst", "s/ijk is the least",
        f"{_bars(figures.tasks)}; serial {serial:.0f}", min(tasks, key=lambda bar: tasks[bar]) == worst,
        figures.tasks[worst].command,
    )  # fmt: skip
    ordered = tasks["s", "ijk"] < tasks["s-1", "ijk"] <= 1.02 * min(tasks["s", "kji"], tasks["s-1", "kji"])
    yield row(
        "C67", "plain tasks: s/ijk < s-1/ijk <= kji (within 2 %)", "s/ijk < s-1/ijk <= kji", _bars(figures.tasks), ordered,
        figures.tasks["s-1", "ijk"].command,
    )  # fmt: skip
    anyhow = {bar: line.million_updates for bar, line in figures.any_first.items()}
    ordered = anyhow["s", "ijk"] < anyhow["s-1", "ijk"] <= 1.02 * min(anyhow["s", "kji"], anyhow["s-1", "kji"])
    yield row(
        "C67", "what if threads got any of the queued tasks: s/ijk < s-1/ijk <= kji (within 2 %)", "s/ijk < s-1/ijk <= kji",
        _bars(figures.any_first), ordered, figures.any_first["s-1", "ijk"].command,
    )  # fmt: skip
    free = figures.any_unbounded.million_updates
    yield row(
        "C66", "what if threads got any of the queued tasks, s/ijk without a limit of them: faster", f"> {anyhow[worst]:.0f}",
        f"{free:.0f}", free > 1.02 * anyhow[worst], figures.any_unbounded.command,
    )  # fmt: skip
    near = [bar for bar in COMBINATIONS if bar != worst]
    yield row(
        "C69", "locality queues with kji or static,1 within 10 % of parallel first touch", f">= {0.9 * static:.0f}",
        f"{_bars(figures.queues)}; static {static:.0f}", min(queues[bar] for bar in near) >= 0.9 * static,
        figures.queues["s-1", "ijk"].command,
    )  # fmt: skip
    yield row(
        "C70", "locality queues with s/ijk serialise as plain tasks do (within 25 %)", f"{tasks[worst]:.0f}", f"{queues[worst]:.0f}",
        within(queues[worst], tasks[worst], 0.25), figures.queues[worst].command,
    )  # fmt: skip
    for claim, policy, limited in (("C66", "tasks", tasks[worst]), ("C70", "locality-queues", queues[worst])):
        free = figures.unbounded[policy].million_updates
        yield row(
            claim, f"what if {policy} with s/ijk had no limit of queued tasks: faster", f"> {limited:.0f}", f"{free:.0f}",
            free > 1.02 * limited, figures.unbounded[policy].command,
        )  # fmt: skip
    tbb, affinity = _median(figures.tbb), _median(figures.tbb_affinity)
    yield row(
        "C71", "TBB without affinity: about round robin (within 15 %)", f"{middle:.0f}", _seeds(figures.tbb),
        within(tbb, middle, 0.15), figures.tbb[0].command,
    )  # fmt: skip
    best_queue = max(queues.values())
    yield row(
        "C72", "TBB's affinity partitioner: about the best of locality queues (within 10 %)", f"{best_queue:.0f}",
        _seeds(figures.tbb_affinity), within(affinity, best_queue, 0.1), figures.tbb_affinity[0].command,
    )  # fmt: skip
    change = {bar: figures.parallel[bar].million_updates / tasks[bar] - 1 for bar in COMBINATIONS}
    yield row(
        "C74", "plain tasks created by all threads instead of one: no difference (within 5 %)", _bars(figures.tasks),
        _bars(figures.parallel), max(map(abs, change.values())) <= 0.05, figures.parallel[worst].command,
    )  # fmt: skip
