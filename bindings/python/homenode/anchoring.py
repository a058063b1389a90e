"""Core time from the program's own time: what a capture measured on a host, against what the host's description predicts.

Where the core's part of a region's time can explain the difference, a factor on it does (`RunSpec.core_factors`). The factor goes to
other numbers of threads, policies and machines with the region's code; the ratio of two machines' core times stays that of their core
models. A time so obtained is `anchored`, and no prediction of the run that was timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from homenode.errors import UsageError
from homenode.grids import replay_grid
from homenode.machine import Machine
from homenode.run_spec import RunSpec
from homenode.trace import Trace

FACTORS = tuple(2 ** (step / 2) for step in range(-4, 5))
"""Core time is tried from a quarter to four times the model's: block models are seldom wrong by more (TACO 2025, section 5)."""


@dataclass(frozen=True)
class AnchoredPart:
    """Regions that were timed together."""

    regions: tuple[int, ...]  # by their number in the trace
    labels: tuple[str, ...]
    measured_seconds: float  # processor time of one thread, on the host of the capture
    predicted_seconds: float  # of one thread, by the description of that host
    factor: float | None  # on core time; None where no factor explains what was measured
    anchored_seconds: float  # predicted with the factor


@dataclass(frozen=True)
class Anchor:
    """What `hn.anchor` found."""

    machine: str
    parts: tuple[AnchoredPart, ...]

    @property
    def core_factors(self) -> str:
        """For the option of this name: ``hn.replay(..., core_factors=anchor.core_factors)``."""
        return _text({region: part.factor for part in self.parts if part.factor for region in part.regions})


def anchor(trace: Trace | str | Path, machine: Machine | str | Path, **options: Any) -> Anchor:
    """Factors on the core time of each part of a program, from its time on the host that `machine` describes.

    trace: a capture of that same host, which keeps the time of the program without instrumentation.
    machine: what `homenode machine calibrate` wrote there.
    options: of a replay on one thread, as of `hn.replay`.
    UsageError: a trace without measured times or code, a program that creates its threads, a core without a model.
    """
    trace = Trace.of(trace)
    if not trace.measured:
        raise UsageError(
            f"trace {trace.path} has no measured times; allowed: a whole capture, without aliased memory and threads that spin, "
            "of this homenode"
        )
    if trace.own_threads:
        raise UsageError(f"trace {trace.path} is of a program that creates its threads; allowed: OpenMP, or one thread")
    spec = RunSpec(machine, threads=1, core="blocks", **options)
    spec.check(trace)
    regions = range(len(trace.labels))
    tried = [spec.with_(core_factors=_text(dict.fromkeys(regions, factor))) for factor in FACTORS]
    curves = [_seconds(result.run, trace) for result in replay_grid(trace, tried, workers=1)]
    factors = [_factor([curve[part] for curve in curves], seconds) for part, (_, seconds) in enumerate(trace.measured)]
    chosen = {
        region: factor for (part, _), factor in zip(trace.measured, factors, strict=True) if factor for region in part
    }
    predicted, anchored = (
        _seconds(result.run, trace)
        for result in replay_grid(trace, [spec, spec.with_(core_factors=_text(chosen))], workers=1)
    )
    return Anchor(
        spec.machine.name,
        tuple(
            AnchoredPart(part, tuple(trace.labels[region] for region in part), seconds, before, factor, after)
            for (part, seconds), before, factor, after in zip(trace.measured, predicted, factors, anchored, strict=True)
        ),
    )


def _text(factors: dict[int, float]) -> str:
    return " ".join(f"{region}@{factor:.4g}" for region, factor in sorted(factors.items()))


def _seconds(run: dict[str, Any], trace: Trace) -> list[float]:
    """Of each part that was timed."""
    return [sum(run["regions"][region]["seconds"] for region in part) for part, _ in trace.measured]


def _factor(curve: Sequence[float], seconds: float) -> float | None:
    """Where a curve over FACTORS, which never falls, reaches these seconds; None if it does not, or is flat."""
    for (left, below), (right, above) in pairwise(zip(FACTORS, curve, strict=True)):
        if below <= seconds <= above and above > below:
            return left + (right - left) * (seconds - below) / (above - below)
    return None
