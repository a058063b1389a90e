"""S3 as a study: maps the threads of its kinds of programs by type and otherwise, and compares."""

from collections.abc import Iterator
from pathlib import Path

from validation.published.claims.figures import Figure
from validation.published.s3 import claim_figures
from validation.published.s3 import rows as compared
from validation.published.s3.cases import LARGER, LOGARITHMS, MAPPINGS, NUMA, SIDE_BY_SIDE, UMA, references
from validation.published.s3.replays import balances, machine_named, mapped, systems
from validation.rows import Row


def rows(folder: Path, small: bool = False) -> Iterator[Row | Figure]:
    """Yield the rows of C49 to C56."""
    printed = references()
    # CPU-X: side-by-side threads, fewer than 12
    logarithm = 10 if small else 13
    ring = {"workers": 4, "logarithm": logarithm, "rounds": 4 if small else 50}
    for machine, quantity in ((NUMA, "cpu_x_numa_gain"), (UMA, "cpu_x_uma_gain")):
        found = mapped(folder, "threads_side_by_side", ring, machine, *MAPPINGS)
        yield compared.gain_row("C49", "CPU-X: power saved", printed["all", quantity], machine, found)
        yield claim_figures.power_saved("cpu-x", machine, found)
        if machine == NUMA:
            yield compared.gain_row(
                "C50", "CPU-X: power of the cores saved", printed["all", "cpu_x_cpu_gain"], machine, found, cores=True
            )
            yield claim_figures.core_power_saved(found)
    gains, command = {}, ""
    for threads in SIDE_BY_SIDE[:2] if small else SIDE_BY_SIDE:
        found = mapped(folder, "threads_side_by_side", {**ring, "workers": threads}, NUMA, *MAPPINGS)
        gains[threads] = 1 - found["btdm"].watts / found["unpinned"].watts
        command = found["btdm"].command
    yield compared.growth_row(gains, printed["all", "cpu_x_best_gain"], command)
    yield from claim_figures.growth(gains, command)

    # Flops and Iops: four workers that count; CPU: teams of 1, 2 and 4 threads (S3's reference 26, read in its source)
    counting = {"iterations": 1000 if small else 30_000_000}
    for machine, quantity in ((NUMA, "flops_numa_gain"), (UMA, "flops_uma_gain")):
        found = mapped(folder, "threads_counters", counting, machine, *MAPPINGS)
        if machine == NUMA:
            gained = printed["all", "flops_iops_seconds_gain"].value, printed["all", "flops_iops_seconds"].value
            yield compared.work_row("C52", "Flops: time of the same work by four workers that count", NUMA, found)
            yield claim_figures.sleeping()
        yield compared.gain_row("C53", "Flops: power saved", printed["all", quantity], machine, found)
        yield claim_figures.power_saved("flops", machine, found)
    many = 20 if small else int(printed["all", "flops_iops_threads"].value)
    as_told = {"integer": many // 2, "floating": many // 2, "elements": 1000, "rounds": 4}
    found = mapped(folder, "threads_autonomous", as_told, NUMA, *MAPPINGS)
    what = f"Flops and Iops as S3's text has them, {many} threads of microseconds: time saved"
    yield compared.time_row("C52", what, *gained, NUMA, found)
    teams = {"iterations": 1000 if small else 1_500_000}
    gained = printed["all", "cpu_seconds_gain"].value, printed["all", "cpu_seconds"].value
    for machine in (NUMA, LARGER):
        found = mapped(folder, "threads_teams", teams, machine, *MAPPINGS)
        yield compared.time_row("C52", "CPU: time saved, teams of 1, 2 and 4 threads", *gained, machine, found)
        if machine == NUMA:
            yield claim_figures.time_saved("cpu", found)

    # Context Switch: two threads
    players: dict[str, int | str] = {"turns": 50 if small else 2000}
    turns = mapped(folder, "threads_pingpong", players, NUMA, *MAPPINGS)
    lost = -printed["all", "context_switch_seconds_lost"].value, printed["all", "context_switch_seconds"].value
    yield compared.time_row("C54", "Context Switch: time saved", *lost, NUMA, turns)
    yield compared.gain_row("C54", "Context Switch: power saved", printed["all", "context_switch_gain"], NUMA, turns)
    by_system = {
        name: mapped(folder, "threads_pingpong", players, NUMA, *MAPPINGS, system=system)
        for name, system in systems(folder / "systems", ("context_switch", "wakeup", "deep_wakeup"))
    }
    yield compared.sensitivity_row(*lost, NUMA, turns, by_system)
    yield claim_figures.time_saved("context switch", turns, *by_system.values())
    yield claim_figures.power_saved("context switch", "", turns)

    differences = balances(folder, machine_named(NUMA), 5 if small else 40)
    command = f"homenode map F.hnt --machine {NUMA} --json"
    yield from compared.identity_rows(differences, command)
    yield claim_figures.balance(differences, command)
    for name in (NUMA, "xeon-x7560-4s"):
        for logarithm in LOGARITHMS[:1] if small else LOGARITHMS:
            found = mapped(folder, "threads_side_by_side", {**ring, "logarithm": logarithm}, name, "btdm", "scatter")
            yield from compared.together_rows(found["btdm"], found["scatter"], name, 2 << logarithm)
            yield from claim_figures.together(found["btdm"], found["scatter"], name, logarithm)
