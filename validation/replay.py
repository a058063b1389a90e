"""One replay, as the cases need it: seconds and binding resource of a region, and the command that repeats it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import homenode as hn


@dataclass(frozen=True)
class RegionFigures:
    """A region over all its executions."""

    seconds: float
    executions: int
    binding: str


@dataclass(frozen=True)
class Replayed:
    """What one replay says."""

    regions: dict[str, RegionFigures]
    traffic_bytes: float
    command: str


def replayed(
    trace: hn.Trace,
    path: Path,
    machine: hn.Machine,
    machine_name: str,
    threads: int,
    placement: str,
    distribution: str = "static",
    stores: str = "machine",
    seed: int = 0,
) -> Replayed:
    """Replay with compact mapping on the fast engine."""
    result = hn.replay(
        trace,
        machine,
        threads=threads,
        placement=placement,
        mapping="compact",
        distribution=distribution,
        stores=stores,
        seed=seed,
    )
    regions = {
        region["label"]: RegionFigures(region["seconds"], region["executions"], str(region["binding_resource"]))
        for region in result.run["regions"]
    }
    command = (
        f"homenode replay {path} --machine {machine_name} --threads {threads} --placement {placement} "
        f"--mapping compact --distribution '{distribution}' --stores {stores} --seed {seed} --explain"
    )
    return Replayed(regions, float(result.traffic.sum()), command)
