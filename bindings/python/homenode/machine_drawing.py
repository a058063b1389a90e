"""A machine as a picture (SVG): sockets, their nodes, shared caches and cores as boxes, links as arcs below; the same bytes each time.

Lengths are in pixels of the picture. Letters of a monospaced font are 0.6 of its size wide, so texts fit the boxes made for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from homenode.machine import Machine
from homenode.visible import visible

_PAD = 8.0
_GAP = 8.0
_LETTER = 0.6  # of the font's size
_SIZES = {"head": 14.0, "name": 12.0, "fact": 11.0, "number": 9.0}
_CORE = (28.0, 16.0)
_MOST_CORES_IN_A_ROW = 8
_MOST_NAMED_ENDS = 12  # of links; of more, names are short
_KINDS_SHOWN = 8

# Each rule is of this picture alone: within a page they must not reach other drawings.
_STYLE = """
.machine text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1c2733}
.machine .head{font-size:14px;font-weight:bold}.machine .name{font-size:12px;font-weight:bold}
.machine .fact{font-size:11px}.machine .number{font-size:9px}
.machine rect{stroke:#5b6b7d;stroke-width:1}.machine .paper{fill:#ffffff;stroke:none}.machine .socket{fill:#f2f4f7}
.machine .node{fill:#dfeaf5}.machine .memory{fill:#f3e6cf}.machine .cache{fill:#e4eedd}.machine .core{fill:#ffffff}
.machine .end{fill:#f2f4f7}
.machine path{fill:none;stroke-width:1.5;stroke:#5b6b7d}.machine .kind1{stroke:#b4541a}.machine .kind2{stroke:#2f6fb0}
.machine .kind3{stroke:#3d8a4b}.machine .kind4{stroke:#8a4a9e}
@media (prefers-color-scheme:dark){.machine text{fill:#e4e9ef}.machine rect{stroke:#8896a6}.machine .paper{fill:#161b21}
.machine .socket,.machine .end{fill:#20272f}.machine .node{fill:#25384b}.machine .memory{fill:#4a3d22}
.machine .cache{fill:#2b3d27}.machine .core{fill:#161b21}.machine path{stroke:#8896a6}
.machine .kind1{stroke:#f0a05c}.machine .kind2{stroke:#7cb6ee}.machine .kind3{stroke:#7fcf8d}.machine .kind4{stroke:#cf97e0}}
""".strip()

_Draw = Callable[[float, float], Iterator[str]]


@dataclass
class _Block:
    """Something of a size that draws itself at a place."""

    width: float
    height: float
    draw: _Draw


@dataclass
class _Seen:
    """What is drawn of a machine, by numbers."""

    machine: Machine
    sockets: list[list[int]] = field(default_factory=list)  # nodes of each
    cores: list[list[int]] = field(default_factory=list)  # of each node

    def __post_init__(self) -> None:
        """Number the cores socket by socket, node by node."""
        topology = self.machine.topology
        self.sockets = [[] for _ in range(self.machine.sockets)]
        self.cores = [[] for _ in range(self.machine.nodes)]
        for node, socket in enumerate(topology["socket_of_node"]):
            self.sockets[socket].append(node)
        for core, node in enumerate(self.machine.node_of_core.tolist()):
            self.cores[node].append(core)


def machine_svg(machine: Machine) -> str:
    """The picture as one SVG document."""
    seen = _Seen(machine)
    sockets = [_socket(seen, socket) for socket in range(machine.sockets)]
    across = 2 if len(sockets) == 4 else max(2, round(math.sqrt(1.6 * len(sockets))))
    blocks = [_heading(seen), _in_rows(sockets, across)]
    if machine.topology["links"]:
        blocks.append(_links(machine))
    page = _in_rows(blocks, 1)
    width, height = page.width + 2 * _PAD, page.height + 2 * _PAD
    size = f"{_short(width)} {_short(height)}"
    name = quoteattr(f"machine {visible(machine.name)}")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_short(width)}" height="{_short(height)}" '
        f'class="machine" role="img" aria-label={name}>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" x="0" y="0" width="{_short(width)}" height="{_short(height)}"/>',
        *page.draw(_PAD, _PAD),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


# ---- parts


def _heading(seen: _Seen) -> _Block:
    machine = seen.machine
    private = [f"L{cache['level']} {cache['size']}" for cache in machine.caches if cache["cores_per_cache"] == 1]
    values = {one["path"]: one["value"] for one in machine.parameters}
    parts = {"socket": machine.sockets, "node": machine.nodes, "core": machine.cores}
    counts = (
        ", ".join(f"{count} {part}{'' if count == 1 else 's'}" for part, count in parts.items())
        + f" at {values['clock']}"
    )
    facts = [counts, *([f"each core: {', '.join(private)}"] if private else [])]
    if "ring.order" in values:
        facts.append(f"cores on a ring, {values['ring.hop']} a hop")
    assumed, numbers = machine.assumed
    facts.append(f"{assumed} of {numbers} numbers are assumed")
    return _text_lines([("head", visible(machine.name)), *(("fact", fact) for fact in facts)])


def _socket(seen: _Seen, socket: int) -> _Block:
    nodes = [_node(seen, node) for node in seen.sockets[socket]]
    across = max(1, round(math.sqrt(len(nodes))))
    title = _text_lines([("name", f"socket {socket}")])
    return _box("socket", {"data-socket": socket}, [title, _in_rows(nodes, across)] if nodes else [title])


def _node(seen: _Seen, node: int) -> _Block:
    machine, cores = seen.machine, seen.cores[node]
    topology = machine.topology
    near = next((one for one in _neighbours(seen, node) if seen.cores[one]), node) if not cores else node
    latency, bandwidth = topology["latency_ns"][near][node], topology["bandwidth_bytes_per_s"][near][node]
    facts = [_memory(machine, node)]
    facts += [line.removeprefix("memory  ") for line in node_memory(machine, node, latency, bandwidth)]
    if read := _value(machine, node, "link_read"):
        facts.append(f"own link {read} to cores, {_value(machine, node, 'link_write')} to memory")
    memory = _box("memory", {}, [_text_lines([("fact", fact) for fact in facts])])
    blocks = [_text_lines([("name", f"node {node}" if cores else f"node {node}, no cores")]), memory]
    if cores:
        shared = [cache for cache in reversed(machine.caches) if cache["cores_per_cache"] > 1]
        blocks.append(_cores(seen, node, cores, shared))
    return _box("node", {"data-node": node}, blocks)


def node_memory(machine: Machine, node: int, latency: float, bandwidth: float) -> list[str]:
    """Idle latency in nanoseconds and bytes a second to the cores, in words; of a memory-side cache its own, where they are described."""
    side, hit = (_value(machine, node, f"memory_side_{what}") for what in ("cache", "latency"))
    pace = f"{latency:.4g} ns, {bandwidth / 1e9:.4g} GB/s"
    if not hit:
        return [f"memory  {pace}", *([f"side cache {_size(side)}"] if side else [])]
    return [f"memory  {latency:.4g} ns", f"side cache {_size(side)}, {hit}, {bandwidth / 1e9:.4g} GB/s"]


def _neighbours(seen: _Seen, node: int) -> list[int]:
    return seen.sockets[seen.machine.topology["socket_of_node"][node]]


def _cores(seen: _Seen, node: int, cores: Sequence[int], shared: Sequence[dict[str, Any]]) -> _Block:
    """Cores within the caches that they share, outermost first; a cache of several nodes is drawn in each with the cores there."""
    if not shared:
        return _in_rows([_core(core) for core in cores], min(_MOST_CORES_IN_A_ROW, _columns(len(cores))), 4.0)
    cache, inner = shared[0], shared[1:]
    count = cache["cores_per_cache"]
    groups: dict[int, list[int]] = {}
    for core in cores:
        groups.setdefault(core // count, []).append(core)
    blocks = []
    for number, group in groups.items():
        beyond = "" if len(group) == count else f", {len(group)} of its {count} cores"
        label = f"L{cache['level']} {cache['size']}{beyond}"
        attributes = {"data-cache": f"{cache['level']}.{number}"}
        blocks.append(_box("cache", attributes, [_text_lines([("fact", label)]), _cores(seen, node, group, inner)]))
    return _in_rows(blocks, _columns(len(blocks)))


def _columns(count: int) -> int:
    """Of a block that is wider than high."""
    return max(1, math.ceil(math.sqrt(1.4 * count)))


def _core(core: int) -> _Block:
    width, height = _CORE

    def draw(x: float, y: float) -> Iterator[str]:
        yield _rect("core", x, y, width, height, {"data-core": core})
        left = x + (width - len(str(core)) * _SIZES["number"] * _LETTER) / 2
        yield _text("number", left, y + 11.5, str(core))

    return _Block(width, height, draw)


def _value(machine: Machine, node: int, name: str) -> str:
    found = {one["path"]: one["value"] for one in machine.parameters}
    return str(found.get(f"nodes.{node}.{name}", found.get(f"nodes.{name}", "")))


def _memory(machine: Machine, node: int) -> str:
    return f"memory {_size(_value(machine, node, 'memory'))}"


def _size(text: str) -> str:
    """A size in few digits: hwloc counts to the byte."""
    number, _, unit = text.partition(" ")
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    if unit not in units:
        return text
    value, place = float(number), units.index(unit)
    while value >= 1024 and place + 1 < len(units):
        value, place = value / 1024, place + 1
    return f"{value:.4g} {units[place]}"


# ---- links


def _links(machine: Machine) -> _Block:
    """Ends in a row, an arc a link, a line of words for each kind."""
    links = machine.topology["links"]
    kinds: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for link in links:
        kinds.setdefault((link["bandwidth"], link["latency"]), []).append((link["from"], link["to"]))
    hubs = max(0, max(max(link["from"], link["to"]) for link in links) + 1 - machine.sockets)
    short = machine.sockets + hubs > _MOST_NAMED_ENDS
    words_of_ends = ("s", "h") if short else ("socket ", "hub ")
    names = [f"{words_of_ends[0]}{end}" for end in range(machine.sockets)]
    names += [f"{words_of_ends[1]}{hub}" for hub in range(hubs)]
    box_width = max(map(len, names)) * _SIZES["fact"] * _LETTER + 8
    step = box_width + (6 if short else 16)
    widest = max(abs(one - other) for pairs in kinds.values() for one, other in pairs)
    arcs = 14.0 + 120.0 * math.sqrt(widest / max(1, len(names) - 1)) * min(1.0, 0.4 + widest / 12)
    words = [("name", "links")]
    for number, ((bandwidth, latency), pairs) in enumerate(list(kinds.items())[:_KINDS_SHOWN]):
        ends = f"{names[pairs[0][0]]} – {names[pairs[0][1]]}" if len(pairs) == 1 else f"{len(pairs)} links"
        words.append((f"fact kind{number % 5}", f"{ends}: {bandwidth} each way, {latency} a hop"))
    if len(kinds) > _KINDS_SHOWN:
        words.append(("fact", f"and {len(kinds) - _KINDS_SHOWN} more kinds (homenode machines NAME --json)"))
    legend = _text_lines(words)
    box_height = 22.0
    width = max(legend.width, len(names) * step)

    def draw(x: float, y: float) -> Iterator[str]:
        yield from legend.draw(x, y)
        top = y + legend.height + _GAP
        middles = [x + step * (place + 0.5) for place in range(len(names))]
        for place, name in enumerate(names):
            yield _rect("end", middles[place] - box_width / 2, top, box_width, box_height, {"data-end": place})
            yield _text("fact", middles[place] - len(name) * _SIZES["fact"] * _LETTER / 2, top + 15, name)
        bottom = top + box_height
        for number, pairs in enumerate(kinds.values()):
            for one, other in pairs:
                drop = (arcs - 8) * math.sqrt(abs(one - other) / widest) * 4 / 3
                begin, end = _short(middles[one]), _short(middles[other])
                curve = f"M{begin} {_short(bottom)}C{begin} {_short(bottom + drop)} {end} {_short(bottom + drop)} {end} {_short(bottom)}"
                yield f'<path class="kind{number % 5}" data-link="{one}-{other}" d="{curve}"/>'

    return _Block(width, legend.height + _GAP + box_height + arcs, draw)


# ---- boxes and texts


def _text_lines(lines: Sequence[tuple[str, str]]) -> _Block:
    """Lines of text, each with its class; the first word of a class tells the size."""
    sizes = [_SIZES[kind.split()[0]] for kind, _ in lines]
    width = max(len(text) * size * _LETTER for (_, text), size in zip(lines, sizes, strict=True))

    def draw(x: float, y: float) -> Iterator[str]:
        below = y
        for (kind, text), size in zip(lines, sizes, strict=True):
            below += size * 1.3
            if "kind" in kind:  # a piece of the arc's line in front of its words
                yield f'<path class="{kind.split()[1]}" d="M{_short(x)} {_short(below - 4)}H{_short(x + 16)}"/>'
            yield _text(kind.split()[0], x + (22 if "kind" in kind else 0), below - size * 0.2, text)

    return _Block(width + 22, sum(sizes) * 1.3, draw)


def _in_rows(blocks: Sequence[_Block], across: int, gap: float = _GAP) -> _Block:
    """Blocks from left to right, `across` in a row."""
    rows = [blocks[begin : begin + across] for begin in range(0, len(blocks), across)]
    width = max((sum(one.width for one in row) + gap * (len(row) - 1) for row in rows), default=0.0)
    heights = [max(one.height for one in row) for row in rows]

    def draw(x: float, y: float) -> Iterator[str]:
        top = y
        for row, height in zip(rows, heights, strict=True):
            left = x
            for one in row:
                yield from one.draw(left, top)
                left += one.width + gap
            top += height + gap

    return _Block(width, sum(heights) + gap * max(0, len(rows) - 1), draw)


def _box(kind: str, attributes: Mapping[str, object], blocks: Sequence[_Block]) -> _Block:
    """A frame round blocks that stand one below the other."""
    inside = _in_rows(blocks, 1, 4.0)
    width, height = inside.width + 2 * _PAD, inside.height + 2 * _PAD

    def draw(x: float, y: float) -> Iterator[str]:
        yield _rect(kind, x, y, width, height, attributes)
        yield from inside.draw(x + _PAD, y + _PAD)

    return _Block(width, height, draw)


def _rect(kind: str, x: float, y: float, width: float, height: float, attributes: Mapping[str, object]) -> str:
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    place = f'x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" height="{_short(height)}"'
    return f'<rect class="{kind}" {place} rx="3"{more}/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{_short(x)}" y="{_short(y)}">{escape(text)}</text>'


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
