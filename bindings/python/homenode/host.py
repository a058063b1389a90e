"""This host: its description, how its kernel is set, and what its operating system calls its cores."""

from __future__ import annotations

import re
from pathlib import Path

from homenode import _core
from homenode.core_model import with_core_of_host
from homenode.machine import Machine

NAME = "this-host"
"""What `machine detect` and `machine calibrate` call the machine that they run on."""
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
BALANCING = Path("/proc/sys/kernel/numa_balancing")
_CPUS = Path("/sys/devices/system/cpu")
_NODES = Path("/sys/devices/system/node")


def detected_host() -> Machine:
    """Describe this host from libhwloc; latencies and bandwidths are guesses until `homenode machine calibrate` measures them."""
    return Machine(with_core_of_host(_core.detect()))


def is_this_host(machine: Machine) -> bool:
    """Whether a description was made on this host, as far as its name and its numbers of sockets, nodes and cores tell."""
    if machine.name != NAME:
        return False
    host = _core.detect()
    return (machine.sockets, machine.nodes, machine.cores) == (host.sockets, host.nodes, host.cores)


def huge_pages() -> str:
    """The mode of transparent huge pages: ``always``, ``madvise`` or ``never``; also ``never`` where the kernel has none."""
    found = re.search(r"\[(\w+)\]", _text(HUGE_PAGES))
    return found[1] if found else "never"


def balances_pages() -> bool:
    """Whether automatic NUMA balancing is on."""
    return _text(BALANCING).strip() not in ("", "0")


def cpus_of_cores(cores: int) -> list[int] | None:
    """By core, numbered socket by socket as in a description, the number of its first CPU in the operating system.

    None where the kernel shows another number of cores than `cores`.
    """
    nodes = [_numbers(_text(folder / "cpulist")) for folder in sorted(_NODES.glob("node[0-9]*"))]
    places: dict[int, tuple[int, ...]] = {}
    for folder in _CPUS.glob("cpu[0-9]*"):
        cpu = int(folder.name[3:])
        package = _numbers(_text(folder / "topology" / "package_cpus_list"))
        siblings = _numbers(_text(folder / "topology" / "thread_siblings_list"))
        if cpu != min(siblings, default=-1):
            continue
        node = next((cpus for cpus in nodes if cpu in cpus), package)
        last_level = _numbers(_text(folder / "cache" / "index3" / "shared_cpu_list")) or node
        places[cpu] = (min(package, default=cpu), min(node, default=cpu), min(last_level, default=cpu), cpu)
    return sorted(places, key=lambda cpu: places[cpu]) if len(places) == cores else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _numbers(ranges: str) -> set[int]:
    """``0-3,8`` as the kernel writes sets of CPUs."""
    found: set[int] = set()
    for part in ranges.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            found |= set(range(int(first), int(last or first) + 1))
    return found
