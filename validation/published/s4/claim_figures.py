"""S4's numbers by name, as validation/published/claims/s4.toml refers to them. Names end in the machine."""

from collections.abc import Iterator, Mapping
from statistics import median

from validation.published.claims.figures import Figure, figure, spread
from validation.published.s4.arithmetic import Problem
from validation.published.s4.cases import COMBINATIONS, References
from validation.published.s4.replays import Line, MachineFigures, TaskFigures
from validation.published.s4.rows import expected_static

WORST = ("s", "ijk")


def machine_figures(printed: References, machine: str, found: MachineFigures, problem: Problem) -> Iterator[Figure]:
    """C57 to C60, and what C61, C62 and C80 are made of."""
    static, middle, serial = (found.lines[name] for name in ("static", "round robin", "serial"))
    rate = {name: line.updates_per_second for name, line in found.lines.items()}
    bound, _ = expected_static(printed, machine, problem)
    sockets = printed[machine, "sockets"].value
    for name, value, command in (
        ("stream system", found.stream_system / 1e9, found.stream_command),
        ("stream socket", found.stream_socket / 1e9, found.stream_command),
        ("round robin over serial", rate["round robin"] / rate["serial"], middle.command),
        ("static over round robin", rate["static"] / rate["round robin"], middle.command),
        ("static over stream", rate["static"] / bound, static.command),
        ("serial", serial.million_updates, serial.command),
        ("static over serial", rate["static"] / rate["serial"], serial.command),
        ("static over serial by domain", rate["static"] / rate["serial"] / sockets, serial.command),
    ):
        yield figure(f"s4 {name}@{machine}", value, f"S4 lines, {machine}", command)


def task_figures(machine: str, lines: Mapping[str, Line], found: TaskFigures) -> Iterator[Figure]:
    """C65 to C74; without what-ifs, which are no part of any claim."""
    runs = f"S4 tasks, {machine}"
    static, middle = (lines[name].million_updates for name in ("static", "round robin"))
    tasks = {bar: line.million_updates for bar, line in found.tasks.items()}
    queues = {bar: line.million_updates for bar, line in found.queues.items()}
    slower_kji = min(tasks["s", "kji"], tasks["s-1", "kji"])
    tbb = [line.million_updates / middle for line in found.tbb]
    affinity = [line.million_updates / max(queues.values()) for line in found.tbb_affinity]
    changes = [found.parallel[bar].million_updates / tasks[bar] for bar in COMBINATIONS]
    slowest_queue = min(rate for bar, rate in queues.items() if bar != WORST)
    command = found.tasks[WORST].command
    for name, value in (
        ("fastest tasks over round robin", max(tasks.values()) / middle),
        ("other tasks over s/ijk", min(rate for bar, rate in tasks.items() if bar != WORST) / tasks[WORST]),
        ("s-1/ijk over s/ijk", tasks["s-1", "ijk"] / tasks[WORST]),
        ("kji over s-1/ijk", slower_kji / tasks["s-1", "ijk"]),
    ):
        yield figure(f"s4 {name}@{machine}", value, runs, command)
    command = found.queues[WORST].command
    yield figure(f"s4 locality queues over static@{machine}", slowest_queue / static, runs, command)
    yield figure(f"s4 queues over tasks, s/ijk@{machine}", queues[WORST] / tasks[WORST], runs, command)
    yield spread(f"s4 tbb over round robin@{machine}", tbb, median(tbb), runs, found.tbb[0].command)
    command = found.tbb_affinity[0].command
    yield spread(f"s4 tbb affinity over queues@{machine}", affinity, median(affinity), runs, command)
    yield spread(f"s4 producers@{machine}", changes, None, runs, found.parallel[WORST].command)


def comparison_figures(found: Mapping[str, MachineFigures]) -> Iterator[Figure]:
    """C61 and C62: the least of the other machines over the one that S4 names."""

    def rates(line: str) -> dict[str, float]:
        return {machine: one.lines[line].updates_per_second for machine, one in found.items()}

    static, middle, serial = rates("static"), rates("round robin"), rates("serial")
    kept = {machine: middle[machine] / static[machine] for machine in found}
    for name, values, named, line in (
        ("round robin kept elsewhere over x5550", kept, "xeon-x5550-2s", "round robin"),
        ("serial elsewhere over x7560", serial, "xeon-x7560-4s", "serial"),
    ):
        others = min(value for machine, value in values.items() if machine != named)
        command = found[named].lines[line].command
        yield figure(f"s4 {name}", others / values[named], f"S4 lines, {named}", command)


def arithmetic_figures(problem: Problem, footprint_bytes: int, flops: float, command: str) -> Iterator[Figure]:
    """C63, C64 and C77, of the traced program."""
    tasks, runs = problem.blocks[0] * problem.blocks[1], "S4 arithmetic"
    yield figure("s4 code balance", 16 / flops, runs, command)
    yield figure("s4 tasks", tasks, runs, command)
    yield figure("s4 footprint", footprint_bytes / 1e9, runs, command)


def one_domain_figure(lines: Mapping[str, Line]) -> Figure:
    """C76."""
    rates = [line.updates_per_second for line in lines.values()]
    return figure("s4 one domain", max(rates) / min(rates), "S4 one domain", lines["static"].command)
