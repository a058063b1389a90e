"""What a virtual machine shares with its neighbours, and its clock, measured beside each native run: they change within seconds."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import homenode as hn
from homenode import _core

STEADY = 1.3  # two measurements within this factor are of one state
MOST_OTHERS = (
    0.1  # of the time: a core's two threads have half of its front end each (models/machines/native/other_thread.hpp)
)
_STEADY = 6  # so many numbers of `Shared` have to be


class Shared(NamedTuple):
    """What neighbours leave at the moment; times in nanoseconds.

    Bytes of the last level that serve loads that wait for each other, and loads that do not; a load from memory, and from core to core, as
    the hypervisor has put them; bytes a second of all cores together, loads and copies; a page fault as `machine calibrate` takes it, and
    of more memory than a last level; the share of the time in which others had work on these cores; the clock in hertz, 0 if not known.
    """

    last_level_dependent: float
    last_level_independent: float
    memory_latency: float
    core_to_core: float
    read_bandwidth: float
    one_to_one: float
    page_fault: float
    cold_page_fault: float
    other_thread: float = 0.0
    clock: float = 0.0

    def near(self, other: "Shared") -> bool:
        """Whether a run between the two had steady neighbours, and its cores to itself.

        Page faults, which swing by more, are not asked.
        """
        pairs = zip(self[:_STEADY], other[:_STEADY], strict=True)
        return max(self.other_thread, other.other_thread) <= MOST_OTHERS and all(
            max(a, b) <= STEADY * max(1.0, min(a, b)) for a, b in pairs
        )

    def between(self, other: "Shared") -> "Shared":
        """Geometric means; of the share of others the larger."""
        means = Shared(*(math.sqrt(a * b) for a, b in zip(self, other, strict=True)))
        return means._replace(other_thread=max(self.other_thread, other.other_thread))


def shared_now(machine: hn.Machine) -> Shared:
    """About a second. `machine`: this host as calibrated."""
    return Shared(**_core.shared_capacity(machine._core))


def machine_beside(machine: hn.Machine, shared: Shared) -> hn.Machine:
    """The calibrated machine with what its neighbours leave now, and at its clock, within what the description allows.

    The last level is as large as loads find it that do not wait for each other. Neighbours fill it while a program is away from a line, and
    a program that waits for each line is away for longer: such a program finds less. No replay knows that.
    """
    values = {one["path"]: str(one["value"]) for one in machine.parameters}
    levels = sorted(path for path in values if path.startswith("caches.") and path.endswith(".size"))
    changes: dict[str, str] = {}
    found = max(shared.last_level_independent, shared.last_level_dependent)
    if len(levels) > 1 and found > 1.5 * _bytes(values[levels[-2]]):
        changes[levels[-1]] = f"{_whole_sets(found, values, levels[-1].removesuffix('.size'))} B"
    if shared.memory_latency > 0 and len(machine.latency_ns) == 1:
        changes["nodes.0.latency"] = f"{shared.memory_latency:.3f} ns"
    if shared.core_to_core > 0:
        changes.update(
            dict.fromkeys(
                ("coherence.core_to_core_local", "coherence.core_to_core_remote"), f"{shared.core_to_core:.3f} ns"
            )
        )
        if levels and are_apart(machine, shared):
            changes[levels[-1].replace(".size", ".cores_per_cache")] = "1"
    changes.update(_faults(values, shared))
    changes.update(_clock(values, levels, shared))
    nodes = max(
        1, sum(re.fullmatch(r"controllers\.\d+\.read_only", name) is not None for name in machine.changeable_names)
    )
    read, copy = shared.read_bandwidth / nodes, shared.one_to_one / nodes
    changes["controllers.read_only"] = f"{read / 1e6:.0f} MB/s"
    changes["controllers.one_to_one"] = f"{min(copy, 1.9 * read) / 1e6:.0f} MB/s"
    return machine.with_changes(changes)


def _clock(values: dict[str, str], levels: Sequence[str], shared: Shared) -> dict[str, str]:
    """The clock, and what the levels inside the last one take, which go with it."""
    if shared.clock <= 0:
        return {}
    slower = _hertz(values["clock"]) / shared.clock
    changes = {"clock": f"{shared.clock / 1e6:.0f} MHz"}
    for level in (path.removesuffix(".size") for path in levels[:-1]):
        changes[f"{level}.latency"] = changes[f"{level}.same_set"] = f"x{slower:.4f}"
        changes[f"{level}.bandwidth_per_core"] = f"x{1 / slower:.4f}"
    return {path: change for path, change in changes.items() if path in values}


def _whole_sets(size: float, values: dict[str, str], level: str) -> int:
    """Bytes: the size in steps of 64 KiB to twice that, each of as many lines in all ways and slices."""
    of_a_set = int(_bytes(values[f"{level}.line"])) * int(values[f"{level}.ways"]) * int(values[f"{level}.slices"])
    step = math.ceil(65536 / of_a_set) * of_a_set
    return math.floor(size / step) * step


def _faults(values: dict[str, str], shared: Shared) -> dict[str, str]:
    """The calibrated parts of a fault in proportion; a cold one takes as much more as it does now."""
    parallel, serial = (_nanoseconds(values.get(f"system.faults.{part}", "0 ns")) for part in ("parallel", "serial"))
    if not (parallel + serial > 0 and shared.page_fault > 0):
        return {}
    scale = shared.page_fault / (parallel + serial)
    more = max(0.0, shared.cold_page_fault - shared.page_fault)
    return {
        "system.faults.parallel": f"{scale * parallel:.3f} ns",
        "system.faults.serial": f"{scale * serial:.3f} ns",
        "system.faults.cold": f"{scale * parallel + more:.3f} ns",
    }


def are_apart(machine: hn.Machine, shared: Shared) -> bool:
    """Whether a line comes from the other core as from memory, so that each core has a last level of its own: chiplets, sockets.

    A line from a core of the same last level takes a few latencies of that level.
    """
    return math.log(shared.core_to_core) > (math.log(_last_level_ns(machine)) + math.log(machine.latency_ns[0, 0])) / 2


def _last_level_ns(machine: hn.Machine) -> float:
    return _nanoseconds(str(machine.caches[-1]["latency"]))


def _nanoseconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6}[unit]


def _bytes(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


def _hertz(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"kHz": 1e3, "MHz": 1e6, "GHz": 1e9}[unit]
