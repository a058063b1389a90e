"""The most that latency-weighted chunks could gain at another halo share and another cost of remote accesses, by the closed form.

In a loop thread t works T_t = L_t + h (R_t - L_t): L_t where other nodes' memory and caches are as near as its own, R_t as the machine
is, h the halo share over that of the trace (the lines that come from elsewhere, not the chunk, decide R_t - L_t). L_t is that of as
many iterations as all others have: what a division with a remainder leaves uneven no weight can mend. Equal chunks take max T_t,
chunks by weight mean T_t (Metzger et al. 2018, section 4); what lies between the threads' last and the barrier stays.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode.estimating import Estimate, estimate_one
from homenode.machine import Machine
from homenode.run_spec import RunSpec
from homenode.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORTH = 1.02  # the gain from which weighting pays off
HALO_SCALES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
HOP_SCALES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
_NEAR = 1e-3  # of a hop's latency, where remote is to be as near as local


def remote_ratio(machine: Machine) -> float:
    """Idle latency of other nodes' memory over the own, on average; 1 on a machine of one node."""
    latency = machine.latency_ns
    nodes = len(latency)
    if nodes < 2:
        return 1.0
    local = float(latency.trace()) / nodes
    return (float(latency.sum()) - nodes * local) / (nodes * (nodes - 1)) / local


def _described(machine: Machine, path: str) -> str:
    return next(str(one["value"]) for one in machine.parameters if one["path"] == path)


def _seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


def with_hops(machine: Machine, scale: float) -> Machine:
    """The machine with a hop's latency scaled, and lines of other sockets' caches as much nearer or farther, but not below the own's.

    Where one socket has all nodes, a hop is from one of them to another.
    """
    if machine.nodes < 2 or scale == 1:
        return machine
    hop = "links.latency" if machine.topology["links"] else "coherence.between_nodes_of_socket"
    scaled = machine.with_changes({hop: f"x{scale:g}"})
    local, remote = (_described(machine, f"coherence.core_to_core_{which}") for which in ("local", "remote"))
    moved = _seconds(remote) * remote_ratio(scaled) / remote_ratio(machine)
    return scaled.with_changes(core_to_core_remote=f"{1e9 * moved:.9g} ns" if moved > _seconds(local) else local)


def near(machine: Machine) -> Machine:
    """The machine with other nodes' memory and caches as near as the own; links keep their bandwidth."""
    return with_hops(machine, _NEAR).with_changes(
        core_to_core_remote=_described(machine, "coherence.core_to_core_local")
    )


@dataclass(frozen=True)
class _Loop:
    local: NDArray[np.float64]  # L_t, seconds by thread
    halo: NDArray[np.float64]  # R_t - L_t
    rest: float  # of the loop: forks, barriers


class GainModel:
    """Gains of a trace on a machine with a team, over halo share and cost of remote accesses."""

    def __init__(self, trace: Trace, spec: RunSpec) -> None:
        """`spec`: its distribution does not count."""
        self._trace, self._machine, self._spec = trace, spec.machine, spec
        self._loops = {region["label"] for region in trace.inspect()["regions"] if region["kind"] == "loop"}
        self.nearest = self._estimate(near(spec.machine))
        self._known: dict[float, tuple[list[_Loop], float]] = {}

    def _estimate(self, machine: Machine) -> Estimate:
        return estimate_one(self._trace, self._spec.with_(machine=machine, distribution="static"))

    def _at(self, hop_scale: float) -> tuple[list[_Loop], float]:
        """The loops at a cost of hops, and the time of everything else."""
        import numpy

        if hop_scale not in self._known:
            made = self._estimate(with_hops(self._machine, hop_scale))
            loops = []
            for label in self._loops & {region.label for region in made.regions}:
                region = made.region(label)
                local = self.nearest.region(label).thread_seconds
                halo = numpy.maximum(0.0, region.thread_seconds - local)
                working = region.weights > 0
                even = numpy.where(
                    working, local / numpy.where(working, region.weights, 1) / max(1, working.sum()), 0.0
                )
                loops.append(_Loop(even, halo, max(0.0, region.seconds - float(region.thread_seconds.max()))))
            inside = sum(
                made.region(label).seconds for label in self._loops & {region.label for region in made.regions}
            )
            self._known[hop_scale] = loops, max(0.0, made.seconds - inside)
        return self._known[hop_scale]

    def gain(self, halo_scale: float = 1.0, hop_scale: float = 1.0) -> float:
        """Time with equal chunks over time with chunks by weight."""
        loops, outside = self._at(hop_scale)
        equal = weighted = outside
        for loop in loops:
            times = loop.local + halo_scale * loop.halo
            equal += float(times.max()) + loop.rest
            weighted += float(times.mean()) + loop.rest
        return equal / weighted if weighted > 0 else 1.0

    def break_even_halo_scale(self) -> float | None:
        """Where the gain reaches `WORTH`, in halo shares of the trace; None if it does not up to 1000 of them, 0 if it always does."""
        if self.gain(0.0) >= WORTH:
            return 0.0
        return _crossing(self.gain, 1e-3, 1e3)

    def break_even_ratio(self) -> float | None:
        """The remote over local latency where the gain reaches `WORTH`; None if it does not up to the largest cost of hops, 1 if always."""
        if self.gain(0.0) >= WORTH:
            return 1.0
        if self.gain(1.0, HOP_SCALES[0]) >= WORTH:
            return remote_ratio(with_hops(self._machine, HOP_SCALES[0]))
        for low, high in itertools.pairwise(HOP_SCALES):
            before, after = self.gain(1.0, low), self.gain(1.0, high)
            if before < WORTH <= after:
                scale = low + (high - low) * (WORTH - before) / (after - before)
                return remote_ratio(with_hops(self._machine, scale))
        return None

    def table(self, halo_share: float) -> list[dict[str, float]]:
        """The map, row by row, as far as halo shares may go; `halo_share`: of the trace."""
        return [
            {
                "halo_scale": halo,
                "halo_share": halo * halo_share,
                "remote_ratio": remote_ratio(with_hops(self._machine, hop)),
                "gain": self.gain(halo, hop),
            }
            for halo in (HALO_SCALES if halo_share > 0 else (1.0,))
            if halo * halo_share <= 1
            for hop in HOP_SCALES
        ]


def _crossing(gain: Any, low: float, high: float) -> float | None:
    """Where a rising gain passes `WORTH`, by bisection of the logarithm."""
    if gain(high) < WORTH:
        return None
    if gain(low) >= WORTH:
        return low
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gain(middle) < WORTH else (low, middle)
    return high
