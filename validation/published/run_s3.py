"""Runs S3's cases: captures its kinds of programs, maps their threads by type and otherwise, and compares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import homenode as hn
from homenode.run_spec import command
from homenode.thread_map import thread_map
from validation.published import s3
from validation.rows import Row
from validation.traces import captured, trace_path

ONE_SOCKET = Path(__file__).with_name("machines") / "xeon-x5550-1s.toml"
# Two arrays of 2^10 numbers fit one core's first level; of 2^13, the first levels of four.
LOGARITHMS = (10, 13)
SIDE_BY_SIDE = (2, 4, 6, 8, 11)


def _machine(name: str) -> hn.Machine:
    return hn.Machine.load(ONE_SOCKET if name == s3.UMA else name)


def _mapped(
    folder: Path,
    kernel: str,
    parameters: Mapping[str, int | str],
    machine: str,
    *mappings: str,
    system: str | Path = "default",
) -> dict[str, s3.Mapped]:
    settings = {**parameters, "check": 0}
    trace, path = captured(folder, kernel, settings), trace_path(folder, kernel, settings)
    threads = len(trace.inspect()["threads"])
    choices = hn.grid([_machine(machine)], [threads], mapping=mappings, oversubscribe=True, system=system)
    repeat = command(path, choices)
    return {
        mapping: s3.figures(result.run, repeat)
        for mapping, result in zip(mappings, hn.replay_grid(trace, choices), strict=True)
    }


def _systems(folder: Path, keys: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """The default system with one number of its scheduler at either end of its interval."""
    described = hn.System.load("default")
    text = described.path.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for entry in described.parameters:
        key = entry["path"].removeprefix("scheduler.")
        for end in (entry["low"], entry["high"]) if key in keys else ():
            changed, count = re.subn(rf'(?m)^{key} = {{ value = "[^"]*"', f'{key} = {{ value = "{end}"', text)
            if count != 1:
                raise ValueError(f"{key} stands {count} times in {described.path}")
            path = folder / f"{key}-{end.replace(' ', '')}.toml"
            path.write_text(changed, encoding="utf-8")
            yield f"{key} {end}", path


def _balances(folder: Path, machine: hn.Machine, most: int) -> dict[tuple[int, int], int]:
    """By threads and cores: how far the numbers of autonomous threads on two cores are apart."""
    found = {}
    for workers in range(1, most + 1):
        settings: dict[str, int | str] = {"integer": workers, "floating": 0, "elements": 1, "rounds": 1, "check": 0}
        load = [0] * machine.cores
        for entry in thread_map(captured(folder, "threads_autonomous", settings), machine)[1:]:
            load[entry.cores[0]] += 1
        found[workers, machine.cores] = max(load) - min(load)
    return found


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C49 to C56."""
    printed = s3.references()
    # CPU-X: side-by-side threads, fewer than 12
    logarithm = 10 if small else 13
    ring = {"workers": 4, "logarithm": logarithm, "rounds": 4 if small else 50}
    for machine, quantity in ((s3.NUMA, "cpu_x_numa_gain"), (s3.UMA, "cpu_x_uma_gain")):
        found = _mapped(folder, "threads_side_by_side", ring, machine, *s3.MAPPINGS)
        yield s3.gain_row("C49", "CPU-X: power saved", printed["all", quantity], machine, found)
        if machine == s3.NUMA:
            yield s3.gain_row(
                "C50", "CPU-X: power of the cores saved", printed["all", "cpu_x_cpu_gain"], machine, found, cores=True
            )
    gains, command = {}, ""
    for threads in SIDE_BY_SIDE[:2] if small else SIDE_BY_SIDE:
        found = _mapped(folder, "threads_side_by_side", {**ring, "workers": threads}, s3.NUMA, *s3.MAPPINGS)
        gains[threads] = 1 - found["btdm"].watts / found["unpinned"].watts
        command = found["btdm"].command
    yield s3.growth_row(gains, printed["all", "cpu_x_best_gain"], command)

    # Flops and Iops: 2400 autonomous threads on 8 cores; CPU: few
    many = 20 if small else int(printed["all", "flops_iops_threads"].value)
    flops = {"integer": many // 2, "floating": many // 2, "elements": 1000, "rounds": 4}
    found = _mapped(folder, "threads_autonomous", flops, s3.NUMA, *s3.MAPPINGS)
    gained = printed["all", "flops_iops_seconds_gain"].value, printed["all", "flops_iops_seconds"].value
    yield s3.time_row("C52", f"Flops and Iops: time saved, {many} threads", *gained, s3.NUMA, found)
    yield s3.gain_row("C53", "Flops: power saved", printed["all", "flops_numa_gain"], s3.NUMA, found)
    few = _mapped(folder, "threads_autonomous", {**flops, "integer": 4, "floating": 4}, s3.NUMA, *s3.MAPPINGS)
    gained = printed["all", "cpu_seconds_gain"].value, printed["all", "cpu_seconds"].value
    yield s3.time_row("C52", "CPU: time saved, 8 threads", *gained, s3.NUMA, few)
    uma = _mapped(folder, "threads_autonomous", {**flops, "integer": 4, "floating": 4}, s3.UMA, *s3.MAPPINGS)
    yield s3.gain_row("C53", "Flops: power saved", printed["all", "flops_uma_gain"], s3.UMA, uma)

    # Context Switch: two threads
    players: dict[str, int | str] = {"turns": 50 if small else 2000}
    turns = _mapped(folder, "threads_pingpong", players, s3.NUMA, *s3.MAPPINGS)
    lost = -printed["all", "context_switch_seconds_lost"].value, printed["all", "context_switch_seconds"].value
    yield s3.time_row("C54", "Context Switch: time saved", *lost, s3.NUMA, turns)
    yield s3.gain_row("C54", "Context Switch: power saved", printed["all", "context_switch_gain"], s3.NUMA, turns)
    by_system = {
        name: _mapped(folder, "threads_pingpong", players, s3.NUMA, *s3.MAPPINGS, system=system)
        for name, system in _systems(folder / "systems", ("context_switch", "wakeup", "deep_wakeup"))
    }
    yield s3.sensitivity_row(*lost, s3.NUMA, turns, by_system)

    yield from s3.identity_rows(
        _balances(folder, _machine(s3.NUMA), 5 if small else 40), f"homenode map F.hnt --machine {s3.NUMA} --json"
    )
    for name in (s3.NUMA, "xeon-x7560-4s"):
        for logarithm in LOGARITHMS[:1] if small else LOGARITHMS:
            found = _mapped(folder, "threads_side_by_side", {**ring, "logarithm": logarithm}, name, "btdm", "scatter")
            yield from s3.together_rows(found["btdm"], found["scatter"], name, 2 << logarithm)
