"""Estimates by the closed form: a program's time under one choice of policies, without a replay."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from homenode.machine import Machine
from homenode.run_spec import CLOSED_FORM, RunSpec, asked, lists_options, schedules_of
from homenode.run_types import EstimateOptions
from homenode.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RegionEstimate:
    """One region, over all its executions."""

    label: str
    seconds: float  # from the threads' entry to the end of the barrier
    executions: int
    binding_resource: str  # of the execution that takes longest, named as in a report
    thread_seconds: NDArray[np.float64]  # of work, by thread
    weights: NDArray[np.float64]  # share of the last execution's iterations, by thread
    schedule: NDArray[np.int64]  # of the last execution: first iteration, last one (exclusive), thread

    @property
    def boundaries(self) -> NDArray[np.int64] | None:
        """Where the chunk of each thread begins, and the number of iterations; none if a thread has several chunks."""
        import numpy

        threads = self.schedule[:, 2]
        if len(numpy.unique(threads)) < len(threads) or (numpy.diff(threads) < 0).any():
            return None
        end = int(self.schedule[-1, 1]) if len(threads) else 0
        begins = numpy.full(len(self.weights) + 1, end, dtype=numpy.int64)
        begins[threads] = self.schedule[:, 0]
        for thread in range(len(self.weights) - 1, -1, -1):
            begins[thread] = min(begins[thread], begins[thread + 1])
        return begins

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        boundaries = self.boundaries
        return {
            "label": self.label,
            "seconds": self.seconds,
            "executions": self.executions,
            "binding_resource": self.binding_resource,
            "thread_seconds": self.thread_seconds.tolist(),
            "weights": self.weights.tolist(),
            "boundaries": None if boundaries is None else boundaries.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the closed form makes of a program."""

    choice: dict[str, Any]  # machine, threads, placement ..., as in a report
    seconds: float
    regions: tuple[RegionEstimate, ...]  # in the trace's order
    table_seconds: float  # what the host took to read the trace; no part of the result
    microseconds_per_estimate: float  # what the host took for one execution of a region; likewise

    def region(self, label: str) -> RegionEstimate:
        """Find a region by its label."""
        for region in self.regions:
            if region.label == label:
                return region
        raise KeyError(label)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without what the host took."""
        return {**self.choice, "seconds": self.seconds, "regions": [region.to_dict() for region in self.regions]}

    def to_json(self) -> str:
        """As a JSON document."""
        return json.dumps({"schema": "homenode.estimate/1", **self.to_dict()}, indent=1)


@lists_options(CLOSED_FORM)
def estimate(trace: Trace | str | Path, machine: Machine | str | Path, **options: Unpack[EstimateOptions]) -> Estimate:
    """Estimate what a replay by `flow` would take, by the closed form: ``hn.estimate(trace, machine, threads=8)``.

    It knows loops and serial code, and no heap (``heap="plain"``); programs with tasks or with threads of their own are refused.
    Distributions that hand out on demand are taken as if all threads were equally fast. validation/closed_form.md says how far it is
    from `flow`.
    """
    trace = Trace.of(trace)
    return estimate_one(trace, asked(machine, {**schedules_of(trace), **options}, CLOSED_FORM))


def estimate_one(trace: Trace, spec: RunSpec) -> Estimate:
    """What `estimate` does, for a run as one value; of its options only those that the closed form depends on count."""
    spec = RunSpec(spec.machine, **spec.options(CLOSED_FORM))
    spec.check(trace)
    raw = spec.estimate(trace)
    return Estimate(
        {**spec.keys(), "engine": "closed-form"},
        raw["seconds"],
        tuple(RegionEstimate(**region) for region in raw["regions"]),
        raw["table_seconds"],
        raw["microseconds_per_estimate"],
    )
