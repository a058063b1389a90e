"""Replays, as the cases need them: seconds and binding resource of a region, and the command that repeats it."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import homenode as hn

K = TypeVar("K", bound=Hashable)


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


def replayed(trace: hn.Trace, spec: hn.RunSpec) -> Replayed:
    """Replay a run."""
    return replayed_all(trace, {"": spec})[""]


def replayed_all(trace: hn.Trace, specs: Mapping[K, hn.RunSpec]) -> dict[K, Replayed]:
    """Replay several runs in one grid, side by side on the host's cores; placements of one team share what its caches see."""
    results = hn.replay_grid(trace, list(specs.values()))
    return {name: _of(trace, spec, result) for (name, spec), result in zip(specs.items(), results, strict=True)}


def _of(trace: hn.Trace, spec: hn.RunSpec, result: hn.Result) -> Replayed:
    regions = {
        region["label"]: RegionFigures(region["seconds"], region["executions"], str(region["binding_resource"]))
        for region in result.run["regions"]
    }
    return Replayed(regions, float(result.traffic.sum()), f"{spec.command(trace.path.name)} --explain")
