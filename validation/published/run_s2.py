"""Runs S2's cases: maps memory blocks, captures the searches, replays them under both heaps, and compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import homenode as hn
from homenode.run_spec import command
from validation.published import s2
from validation.rows import Row
from validation.traces import captured, trace_path

CORES = (4, 12, 20, 28, 36, 44, 52, 56, 60)
SEEDS = (0, 1, 2)
FEW = 12  # cores of the sensitivities
EXPANSIONS = 6000
TABLE = 12  # binary logarithm of buckets
HASHES = ("scattered", "parity", "modulo")
HEAPS = ("regular", "latency-aware")
# One choice at a time: what, changes of the machine, of the heap, of the program.
SENSITIVITIES: tuple[tuple[str, Mapping[str, str], str, Mapping[str, int | str]], ...] = (
    ("as above", {}, "latency-aware", {}),
    *((f"near = {near} %", {}, f"latency-aware:near={near}", {}) for near in (2, 5, 20, 50, 100)),
    *((f"2^{table} buckets", {}, "latency-aware", {"table": table}) for table in (8, 10, 14, 16)),
    *((f"order {order}", {"ring.order": order}, "latency-aware", {}) for order in ("paired", "grouped", "shuffled")),
    *(
        (f"hashes {name}", {"ring.directory_hash": name, "ring.controller_hash": name}, "latency-aware", {})
        for name in HASHES[1:]
    ),
    *((f"hop {hop}", {"ring.hop": hop}, "latency-aware", {}) for hop in ("1.4 ns", "1.8 ns")),
    *((f"instructions in {text} the time", {"core_time": text}, "latency-aware", {}) for text in ("x0.5", "x2")),
    ("2^8 buckets, instructions in x0.5 the time", {"core_time": "x0.5"}, "latency-aware", {"table": 8}),
    *((f"memory latency {text}", {"memory_latency": text}, "latency-aware", {}) for text in ("280 ns", "300 ns")),
)


def _compared(
    folder: Path, machine: hn.Machine, threads: int, seeds: Sequence[int], aware: str, settings: Mapping[str, int | str]
) -> list[s2.Compared]:
    program = {"instance": "korf12", "nodes": "heap", "table": TABLE, "expand": EXPANSIONS, "check": 0, **settings}
    # The team is the program's own: it is no parameter of the kernel.
    place = folder / f"threads{threads}"
    trace, path = captured(place, "sliding_tile", program, threads=threads), trace_path(place, "sliding_tile", program)
    found = []
    for seed in seeds:
        heaps = ("regular", aware)
        choices = hn.grid([machine], [threads], heap=heaps, engine="line", pages="2MiB", seed=seed)
        repeat = command(path, choices)
        regular, other = (s2.figures(result.run, repeat) for result in hn.replay_grid(trace, choices))
        found.append(s2.Compared(regular, other))
    return found


def _triad(folder: Path, elements: int, cores: Sequence[int]) -> tuple[dict[tuple[int, int], float], str]:
    """STREAM triad's bytes/s by cores and rings of each kind. The card computes with vectors of eight: an eighth of the core time."""
    settings = {"n": elements, "repeats": 1, "check": 0}
    trace, path = captured(folder, "stream", settings), trace_path(folder, "stream", settings)
    rates, repeat = {}, ""
    for rings in (1, 2):
        changes = {"core_time": "x0.125", "ring.address_rings": str(rings), "ring.acknowledge_rings": str(rings)}
        machine = hn.Machine.load(s2.MACHINE).with_changes(changes)
        for count in cores:
            spec = hn.RunSpec(machine, threads=count, engine="line", stores="nt", pages="2MiB")
            run = hn.replay_grid(trace, [spec])[0].run
            seconds = next(region["seconds"] for region in run["regions"] if region["label"] == "triad")
            rates[count, rings] = 24 * elements / seconds
            repeat = spec.command(path)
    return rates, repeat


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C40 to C48, and of the rings."""
    printed = s2.references()
    machine = hn.Machine.load(s2.MACHINE)
    values = {parameter["path"]: parameter["value"] for parameter in machine.parameters}
    described = {
        "cores": float(machine.cores),
        "l1_size": 32.0 * 1024 if machine.caches[0]["size"] == "32 KiB" else 0.0,
        "l2_size": 512.0 * 1024 if machine.caches[1]["size"] == "512 KiB" else 0.0,
        "directories": float(values["ring.directories"]),
    }
    yield from s2.config_rows(printed, described, f"homenode machines {s2.MACHINE}")

    blocks = 512 if small else 16384
    command = f"homenode machine latency-map {s2.MACHINE} --first 0x120000 --blocks {blocks} --json"
    maps = {
        name: machine.with_changes({"ring.directory_hash": name, "ring.controller_hash": name}).latency_map(
            0x120000, blocks
        )
        for name in HASHES
    }
    yield from s2.ratio_rows(printed, maps["scattered"], command)
    yield s2.block_row(maps, command)
    yield s2.correlation_row(maps, command)
    yield s2.usable_row(maps["scattered"], CORES, command)

    cores, seeds = ((4,), (0,)) if small else (CORES, SEEDS)
    by_cores = {count: _compared(folder, machine, count, seeds, "latency-aware", {}) for count in cores}
    yield from s2.gain_rows(printed, by_cores, len(seeds))
    yield from s2.explanation_rows(printed, by_cores)
    for what, changes, heap, program in SENSITIVITIES[:2] if small else SENSITIVITIES:
        changed = machine.with_changes(dict(changes)) if changes else machine
        found = _compared(folder, changed, 4 if small else FEW, seeds[:1], heap, program)
        yield s2.sensitivity_row(what, found)
    rates, command = _triad(folder, 1_000_000 if small else 4_000_000, (8, 16) if small else (16, 32, 48, 60))
    yield from s2.triad_rows(rates, printed[s2.MACHINE, "doubled_rings_gain"], command)
