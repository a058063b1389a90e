"""From hwloc's tree of parts to sockets, nodes, cores and caches as a description has them; says what does not fit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from math import gcd

from homenode.machine_files.facts import CacheSeen, Layout, NodeSeen
from homenode.machine_files.parts import Part
from homenode.machine_files.source_text import SourceText

MOST_NODES = 254  # sim/machine/machine.cpp
MOST_CORES = 4096
# hwloc's subtypes of memory that a system does not take first (doc of hwloc, "Heterogeneous memory").
_SECOND = ("HBM", "MCDRAM", "NVM", "SPM", "GPUMemory", "CXL-DRAM", "CXL-HBM", "CXL-NVM")


@dataclass(eq=False)
class _Node:
    part: Part
    at: Part  # whose cores it is local to
    side_cache: int | None


@dataclass(eq=False)
class _Core:
    package: int | None
    home: _Node | None
    threads: tuple[int, ...]


@dataclass
class _Seen:
    """What a walk over the tree finds."""

    nodes: list[_Node] = field(default_factory=list)
    cores: list[_Core] = field(default_factory=list)
    packages: int = 0
    range_of: dict[int, tuple[int, int]] = field(default_factory=dict)  # id of a part: its cores, from and up to
    caches: list[Part] = field(default_factory=list)


def _walk(seen: _Seen, part: Part, package: int | None, home: _Node | None) -> None:
    first = len(seen.cores)
    own: list[_Node] = []
    for child in part.below:
        if child.kind in ("NUMANode", "MemCache"):
            own += _memory(child, part, part.size if part.subtype == "MemorySideCache" else None)
    if own:
        seen.nodes += own
        home = next((node for node in own if node.part.subtype not in _SECOND), own[0])
    if part.kind == "Package":
        package = seen.packages
        seen.packages += 1
    if part.kind in ("Core", "PU"):
        threads = tuple(one.os_index or 0 for one in part.every() if one.kind == "PU")
        seen.cores.append(_Core(package, home, threads))
        seen.caches += [one for one in part.every() if one.cache_level is not None]
        for one in part.every():
            seen.range_of[id(one)] = (first, first + 1)
        return
    for child in part.below:
        if child.kind not in ("NUMANode", "MemCache"):
            _walk(seen, child, package, home)
    if part.cache_level is not None and part.subtype != "MemorySideCache":
        seen.caches.append(part)
    seen.range_of[id(part)] = (first, len(seen.cores))


def _memory(part: Part, at: Part, side_cache: int | None) -> list[_Node]:
    """The nodes behind a memory child, through memory-side caches."""
    if part.kind == "NUMANode":
        return [_Node(part, at, side_cache)]
    return [node for child in part.below for node in _memory(child, at, part.size or side_cache)]


def layout_of(source: SourceText, top: Part) -> tuple[Layout, list[str]]:
    """Sockets, nodes and caches, and where the description differs from the file."""
    seen = _Seen()
    _walk(seen, top, None, None)
    said: list[str] = []
    if not seen.cores:
        source.refuse(top.line, "has no core", "a topology with cores")
    if len(seen.cores) > MOST_CORES or len(seen.nodes) > MOST_NODES:
        found = f"has {len(seen.cores)} cores and {len(seen.nodes)} nodes"
        source.refuse(top.line, found, f"at most {MOST_CORES} cores and {MOST_NODES} nodes")
    _give_homes(seen, top, said)
    sockets = _sockets(seen, said)
    nodes = _nodes(seen, sockets)
    indexes = [node.os_index for node in nodes]
    if len(set(indexes)) != len(indexes):
        source.refuse(top.line, "has two nodes of one number", "another os_index for each NUMANode")
    if indexes != list(range(len(indexes))):
        listed = ", ".join(map(str, indexes[:16])) + (" …" if len(indexes) > 16 else "")
        said.append(f"the system's numbers of nodes: nodes are numbered as lstopo draws them, they were {listed}")
    if (threads := max(len(core.threads) for core in seen.cores)) > 1:
        said.append(f"{threads} hardware threads a core: a description has cores")
    caches = _caches(seen, sockets, said)
    return Layout(max(sockets) + 1, nodes, caches), said


def _give_homes(seen: _Seen, top: Part, said: list[str]) -> None:
    without = [core for core in seen.cores if core.home is None]
    if not seen.nodes:
        seen.nodes.append(_Node(Part("NUMANode", top.line, os_index=0), top, None))
        said.append("no NUMA node is in the file: all cores share one")
    elif without:
        said.append(f"{len(without)} cores are below no NUMA node: they are described on the first one")
    for core in without:
        core.home = seen.nodes[0]


def _sockets(seen: _Seen, said: list[str]) -> list[int]:
    """The socket of each core. Packages that share a node are one: a node belongs to one socket."""
    if seen.packages == 0:
        homes = list(dict.fromkeys(id(core.home) for core in seen.cores))
        if len(homes) > 1:
            said.append("no package is in the file: each node with cores is described as a socket")
        return [homes.index(id(core.home)) for core in seen.cores]
    joined: dict[int | None, int | None] = {}

    def root(package: int | None) -> int | None:
        while joined.get(package, package) != package:
            package = joined[package]
        return package

    first_of_node: dict[int, int | None] = {}
    for core in seen.cores:
        other = root(first_of_node.setdefault(id(core.home), core.package))
        if (mine := root(core.package)) != other:
            joined[mine] = other
    roots = [root(core.package) for core in seen.cores]
    order = list(dict.fromkeys(roots))
    packages = len({core.package for core in seen.cores})
    if len(order) < packages:
        said.append(f"{packages} packages that share memory nodes are described as {len(order)} socket(s)")
    return [order.index(one) for one in roots]


def _nodes(seen: _Seen, sockets: list[int]) -> tuple[NodeSeen, ...]:
    """In the tree's order, sockets ascending: cores are numbered socket by socket."""
    cores_of: dict[int, list[int]] = {}
    for number, core in enumerate(seen.cores):
        cores_of.setdefault(id(core.home), []).append(number)
    found: list[NodeSeen] = []
    for node in seen.nodes:
        cores = cores_of.get(id(node), [])
        below = range(*seen.range_of[id(node.at)])
        reached = sorted({sockets[core] for core in below})
        socket = sockets[cores[0]] if cores else (reached[0] if reached else 0)
        index = node.part.os_index if node.part.os_index is not None else len(found)
        joined = ""
        if not cores:
            kind = f" ({node.part.subtype})" if node.part.subtype else ""
            where = "" if len(reached) == 1 else f", which the file gives to {len(reached)} sockets"
            joined = f"node {index}{kind} without cores to socket {socket}{where}"
        threads = tuple(seen.cores[core].threads for core in cores)
        found.append(
            NodeSeen(
                socket,
                index,
                threads,
                node.part.size or None,
                node.side_cache,
                node.part.cpuset,
                node.part.gp_index,
                joined,
            )
        )
    return tuple(sorted(found, key=lambda node: node.socket))


def _caches(seen: _Seen, sockets: list[int], said: list[str]) -> tuple[CacheSeen, ...]:
    """One kind of cache for each level: the one that most cores have."""
    counts = list(Counter(sockets).values())
    levels = sorted({part.cache_level for part in seen.caches if part.cache_level is not None})
    found: list[CacheSeen] = []
    for level in levels:
        kinds: Counter[CacheSeen] = Counter()
        for part in seen.caches:
            first, end = seen.range_of[id(part)]
            if part.cache_level == level and part.size and end > first:
                kinds[CacheSeen(level, part.size, end - first, part.ways, part.cache_line, part.inclusive)] += (
                    end - first
                )
        if not kinds:
            continue
        chosen = kinds.most_common(1)[0][0]
        if len(kinds) > 1:
            said.append(f"{len(kinds)} kinds of caches of level {level}: the one of most cores stands for all")
        if (covered := sum(kinds.values())) < len(seen.cores):
            said.append(f"that {len(seen.cores) - covered} of {len(seen.cores)} cores have no cache of level {level}")
        found.append(replace(chosen, cores=_shared(chosen, counts, found, said)))
    return tuple(found)


def _shared(cache: CacheSeen, counts: list[int], inner: list[CacheSeen], said: list[str]) -> int:
    """By how many cores: a divisor of each socket's, a multiple of the level inside."""
    shared = gcd(cache.cores, *counts)
    within = inner[-1].cores if inner else 1
    if shared % within:
        shared = within
    if shared != cache.cores:
        said.append(f"caches of level {cache.level} of {cache.cores} cores: {shared} share one, to fit the sockets")
    return shared
