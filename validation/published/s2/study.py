"""S2 as a study: maps memory blocks, replays the searches under both heaps, and compares."""

from collections.abc import Iterator
from pathlib import Path

import homenode as hn
from validation.published.claims.figures import Figure
from validation.published.s2 import claim_figures
from validation.published.s2 import rows as compare
from validation.published.s2.cases import CORES, FEW, HASHES, LISTS, MACHINE, SEEDS, SENSITIVITIES, references, seeds_of
from validation.published.s2.replays import compared, triad
from validation.rows import Row


def rows(folder: Path, small: bool = False) -> Iterator[Row | Figure]:
    """Yield the rows of C40 to C48, and of the rings."""
    printed = references()
    machine = hn.Machine.load(MACHINE)
    values = {parameter["path"]: parameter["value"] for parameter in machine.parameters}
    described = {
        "cores": float(machine.cores),
        "l1_size": 32.0 * 1024 if machine.caches[0]["size"] == "32 KiB" else 0.0,
        "l2_size": 512.0 * 1024 if machine.caches[1]["size"] == "512 KiB" else 0.0,
        "directories": float(values["ring.directories"]),
    }
    yield from compare.config_rows(printed, described, f"homenode machines {MACHINE}")

    blocks = 512 if small else 16384
    command = f"homenode machine latency-map {MACHINE} --first 0x120000 --blocks {blocks} --json"
    maps = {
        name: machine.with_changes({"ring.directory_hash": name, "ring.controller_hash": name}).latency_map(
            0x120000, blocks
        )
        for name in HASHES
    }
    yield from compare.ratio_rows(printed, maps["scattered"], command)
    yield compare.block_row(maps, command)
    yield compare.correlation_row(maps, command)
    yield compare.usable_row(maps["scattered"], CORES, command)
    yield from claim_figures.map_figures(described, maps["scattered"], CORES, command)

    cores = (4,) if small else CORES
    by_cores = {count: compared(folder, LISTS, {}, count, (0,) if small else seeds_of(count)) for count in cores}
    yield from compare.gain_rows(printed, by_cores)
    yield from compare.explanation_rows(printed, by_cores)
    yield from claim_figures.search_figures(by_cores)
    for what, search, changes, heap in SENSITIVITIES[:2] if small else SENSITIVITIES:
        yield compare.sensitivity_row(what, compared(folder, search, changes, FEW, SEEDS[:1], heap))
    rates, command = triad(folder, 1_000_000 if small else 4_000_000, (8, 16) if small else (16, 32, 48, 60))
    yield from compare.triad_rows(rates, printed[MACHINE, "doubled_rings_gain"], command)
