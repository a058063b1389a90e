"""Core time from the program's own time: what a capture measured on a host, against what the host's description predicts.

Where the core's part of a region's time can explain the difference, a factor on it does (`RunSpec.core_factors`). The factor goes to
other numbers of threads, policies and machines with the region's code; the ratio of two machines' core times stays that of their core
models. A time so obtained is `anchored`, and no prediction of the run that was timed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from homenode.errors import UsageError
from homenode.grids import replay_grid
from homenode.machine import Machine
from homenode.run_spec import RunSpec
from homenode.trace import Trace

FACTORS = tuple(2 ** (step / 2) for step in range(-4, 5))
"""Core time is tried from a quarter to four times the model's. Assumed: beyond that the memory's part is likelier to be wrong."""

_LEAST_SHARE = 0.25  # of a change of core time that must show in the part's time: below it memory binds
_REFINEMENTS = 2  # between two neighbours of FACTORS the curve may have a corner


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
            f"trace {trace.path} has no measured times; allowed: a whole capture by this homenode of a program that ends with exit code "
            "0 or one of capture's --success, has a PROGRAM.timed beside it and no threads that spin, without --alias-over and --no-times"
        )
    if trace.own_threads:
        raise UsageError(f"trace {trace.path} is of a program that creates its threads; allowed: OpenMP, or one thread")
    spec = RunSpec(machine, threads=1, core="blocks", **options)
    spec.check(trace)
    regions = range(len(trace.labels))
    tried = [spec.with_(core_factors=_text(dict.fromkeys(regions, factor))) for factor in FACTORS]
    curves = [_seconds(result.run, trace) for result in replay_grid(trace, tried, workers=1)]
    parts = range(len(trace.measured))
    brackets = [_bracket([curve[part] for curve in curves], trace.measured[part][1]) for part in parts]
    for _ in range(_REFINEMENTS):
        found = _replayed(trace, spec, brackets)
        brackets = [
            bracket and bracket.narrowed(found[part], trace.measured[part][1]) for part, bracket in enumerate(brackets)
        ]
    predicted = _seconds(replay_grid(trace, [spec], workers=1)[0].run, trace)
    anchored = _replayed(trace, spec, brackets)
    return Anchor(
        spec.machine.name,
        tuple(
            AnchoredPart(
                regions,
                tuple(trace.labels[region] for region in regions),
                seconds,
                predicted[part],
                bracket.factor(seconds) if (bracket := brackets[part]) else None,
                anchored[part],
            )
            for part, (regions, seconds) in enumerate(trace.measured)
        ),
    )


def _replayed(trace: Trace, spec: RunSpec, brackets: Sequence[_Bracket | None]) -> list[float]:
    """Seconds of each part with the factors in hand."""
    factors = {
        region: bracket.factor(seconds)
        for (regions, seconds), bracket in zip(trace.measured, brackets, strict=True)
        if bracket
        for region in regions
    }
    return _seconds(replay_grid(trace, [spec.with_(core_factors=_text(factors))], workers=1)[0].run, trace)


def _text(factors: dict[int, float]) -> str:
    return " ".join(f"{region}@{factor:.4g}" for region, factor in sorted(factors.items()))


def _seconds(run: dict[str, Any], trace: Trace) -> list[float]:
    """Of each part that was timed: what its regions add to the run's time, forks and barriers with it. Regions of tasks overlap."""
    told = ("exclusive_seconds", "fork_and_barrier_seconds")
    return [sum(run["regions"][region][key] for region in part for key in told) for part, _ in trace.measured]


@dataclass(frozen=True)
class _Bracket:
    """Two factors, and the seconds that they give: the measured ones lie between."""

    left: float
    below: float
    right: float
    above: float

    def factor(self, seconds: float) -> float:
        """Where the line between the two reaches these seconds."""
        if self.above <= self.below:
            return self.left
        return self.left + (self.right - self.left) * (seconds - self.below) / (self.above - self.below)

    def narrowed(self, found: float, seconds: float) -> _Bracket:
        """The part of it that holds these seconds, after its factor gave `found`."""
        factor = self.factor(seconds)
        if found < seconds:
            return replace(self, left=factor, below=min(found, self.above))
        return replace(self, right=factor, above=max(found, self.below))


def _bracket(curve: Sequence[float], seconds: float) -> _Bracket | None:
    """Where a curve over FACTORS, which never falls, passes these seconds; None if it does not, or hardly rises there."""
    for (left, below), (right, above) in pairwise(zip(FACTORS, curve, strict=True)):
        if below <= seconds <= above and math.log(above / below) >= _LEAST_SHARE * math.log(right / left):
            return _Bracket(left, below, right, above)
    return None
