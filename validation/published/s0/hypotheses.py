"""Why srad_v2's weighted chunks could have gained S0's 1.1: changes of a machine's description or of the pages, none of them fitted."""

from collections.abc import Callable
from dataclasses import dataclass

import homenode as hn


@dataclass(frozen=True)
class Hypothesis:
    """What is switched on or off."""

    name: str
    changes: Callable[[str], dict[str, str]] = lambda machine: {}  # by machine, as `--change` takes them
    pages: str = "4KiB"


def _value(machine: str, path: str) -> str:
    return str(next(one["value"] for one in hn.Machine.load(machine).parameters if one["path"] == path))


def _as_in_a_socket(machine: str) -> dict[str, str]:
    return {"core_to_core_remote": _value(machine, "coherence.core_to_core_local")}


def _remote_lines_alone(machine: str) -> dict[str, str]:
    """Remote lines one at a time, not `depth` in flight: depth x (local + link) is what the engine then divides by the depth."""
    depth = int(_value(machine, "core.prefetched_lines"))
    latency = hn.Machine.load(machine).latency_ns
    link = depth * latency[0, 1] - latency[0, 0]
    return {"core_to_core_remote": f"x{depth}", "link_latency": f"{link:.4g} ns"}


FAST_CORES = {"core_time": "x0.25"}
AS_DESCRIBED = Hypothesis("as described")
HYPOTHESES = (
    AS_DESCRIBED,
    Hypothesis("off: dirty lines from other sockets as fast as from the own", _as_in_a_socket),
    Hypothesis("dirty lines from other sockets take four times as long", lambda machine: {"core_to_core_remote": "x4"}),
    Hypothesis("remote memory four times as far", lambda machine: {"link_latency": "x4"}),
    Hypothesis("pages of 2 MiB straddle the borders of chunks", pages="2MiB"),
    Hypothesis("remote lines are not prefetched: one in flight", _remote_lines_alone),
    Hypothesis("no line is prefetched", lambda machine: {"prefetched_lines": "1"}),
    Hypothesis("cores four times as fast, so that memory decides", lambda machine: FAST_CORES),
    Hypothesis(
        "both: fast cores, remote lines not prefetched", lambda machine: FAST_CORES | _remote_lines_alone(machine)
    ),
    Hypothesis("and pages of 2 MiB", lambda machine: FAST_CORES | _remote_lines_alone(machine), "2MiB"),
)
