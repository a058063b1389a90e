"""What files say of a machine, each thing with the file that says it. Times in ns, sizes in bytes, bandwidths in bytes a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Matrix = Mapping[tuple[int, int], float]
"""By (from, to): numbers of NUMA nodes as the operating system counts them. Pairs may be missing."""


@dataclass(frozen=True)
class NodeSeen:
    """A NUMA node: its socket from 0, its number in the operating system, and the hardware threads of each of its cores."""

    socket: int
    os_index: int
    cores: tuple[tuple[int, ...], ...] = ()
    memory: int | None = None
    side_cache: int | None = None
    cpuset: str = ""  # as the file writes it
    gp_index: str = ""
    joined: str = ""  # of a node without cores: which one, and to what it is joined, in words


@dataclass(frozen=True)
class CacheSeen:
    """A level of caches: size of one, and how many cores share it. What the file leaves open is None."""

    level: int
    size: int
    cores: int
    ways: int | None = None
    line: int | None = None
    inclusive: bool | None = None
    bytes_per_cycle: float | None = None  # of lines delivered to one core


@dataclass(frozen=True)
class Layout:
    """Sockets, nodes in the order of the description, cores and caches."""

    sockets: int
    nodes: tuple[NodeSeen, ...]
    caches: tuple[CacheSeen, ...] = ()
    sure: bool = True  # whether the file tells sockets and cores, not only nodes and hardware threads
    numbered: bool = True  # whether the file has the system's numbers of hardware threads


@dataclass(frozen=True)
class CoreToCore:
    """Time until a core has a line that another core wrote. `remote` by socket, from and to, or by node if `by_node`."""

    local: float | None = None
    local_low: float | None = None
    remote: Matrix = field(default_factory=dict)
    remote_other: Matrix = field(default_factory=dict)  # the line's home is the reader's
    by_node: bool = False
    threads: Matrix = field(default_factory=dict)  # by hardware thread, from a table
    thread_count: int = 0


@dataclass(frozen=True)
class Facts:
    """What one file says. `kind` names its format in words; `left_out`: what it holds and a description cannot say."""

    file: str
    kind: str
    layout: Layout | None = None
    clock: float | None = None  # Hz
    clock_note: str = ""
    idle: Matrix = field(default_factory=dict)
    bandwidth: Matrix = field(default_factory=dict)  # of reads
    write_bandwidth: Matrix = field(default_factory=dict)
    firmware: bool = False  # idle and bandwidth are the firmware's words (HMAT), not measured
    peak_reads: float | None = None  # of all nodes together
    peak_one_to_one: float | None = None
    peaks_are_of_a_node: bool = False
    curve: tuple[tuple[float, float], ...] = ()  # bandwidth, latency
    core_to_core: CoreToCore | None = None
    slit: Matrix = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
