"""One replay, as the cases need it: seconds and binding resource of a region, and the command that repeats it."""

from dataclasses import dataclass

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


def replayed(trace: hn.Trace, spec: hn.RunSpec) -> Replayed:
    """Replay a run."""
    result = hn.replay_grid(trace, [spec])[0]
    regions = {
        region["label"]: RegionFigures(region["seconds"], region["executions"], str(region["binding_resource"]))
        for region in result.run["regions"]
    }
    return Replayed(regions, float(result.traffic.sum()), f"{spec.command(trace)} --explain")
