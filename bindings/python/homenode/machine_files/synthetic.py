"""Topology strings as hwloc takes them: "Package:2 [NUMANode(memory=32GB)] L3Cache:2(size=16MB) L2Cache:4 Core:1 PU:2".

Grammar after hwloc's documentation, "Synthetic topologies": levels from outside in, each `type:arity` or an arity alone, memory in
square brackets where it hangs, attributes in parentheses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from homenode.machine_files.facts import Facts
from homenode.machine_files.layout import layout_of
from homenode.machine_files.parts import MOST_DEPTH, MOST_PARTS, Part
from homenode.machine_files.source_text import SourceText, quoted

_TOKEN = re.compile(r"\s*(\[?)\s*([A-Za-z][A-Za-z0-9]*)?(:?)([0-9]{1,9})?(\(([^()]*)\))?\s*(\]?)")
_SIZES = {"": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}
_SIZES |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
# hwloc takes the beginnings of its types, in any case.
_TYPES = {
    "machine": "Machine",
    "package": "Package",
    "socket": "Package",
    "pack": "Package",
    "die": "Die",
    "group": "Group",
    "numanode": "NUMANode",
    "numa": "NUMANode",
    "node": "NUMANode",
    "core": "Core",
    "pu": "PU",
    "memcache": "MemCache",
    **{
        f"l{level}{end}": f"L{level}Cache"
        for level in range(1, 6)
        for end in ("", "cache", "d", "dcache", "u", "ucache")
    },
    **{f"l{level}{end}": f"L{level}iCache" for level in range(1, 4) for end in ("i", "icache")},
}
_ALLOWED = "levels such as 'Package:2 [NUMANode] L3Cache:1 L2Cache:8 L1dCache:1 Core:1 PU:2'"


@dataclass
class _Level:
    kind: str
    arity: int
    size: int | None = None
    memory: list[_Level] = field(default_factory=list)
    old_style: bool = False  # a NUMANode among the levels: what is below hangs at a group beside it


def is_synthetic(text: str) -> bool:
    """Whether a text can be meant as one: words with numbers on one line, nothing else."""
    body = text.strip()
    return "\n" not in body and re.match(r"\[|\(|[A-Za-z][A-Za-z0-9]*:[0-9]", body) is not None and ":" in body


def read_synthetic(source: SourceText) -> Facts:
    """Sockets, nodes, cores, caches by their sizes."""
    levels, top_memory = _levels(source)
    count = 1
    for level in levels:
        count *= level.arity
        if count > MOST_PARTS:
            source.refuse(1, f"describes more than {MOST_PARTS} parts", "a topology of at most 4096 cores")
    top = Part("Machine", 1)
    numbers: dict[str, int] = {}
    for memory in top_memory:
        _hang(top, memory, numbers)
    _grow(top, levels, numbers)
    layout, left_out = layout_of(source, top)
    return Facts(
        source.name, "a synthetic topology of hwloc", layout=replace(layout, numbered=False), left_out=tuple(left_out)
    )


def _levels(source: SourceText) -> tuple[list[_Level], list[_Level]]:
    text = " ".join(source.text.split())
    levels: list[_Level] = []
    at_top: list[_Level] = []
    place = 0
    if text.startswith("("):  # attributes of the machine
        place = text.find(")") + 1 or len(text)
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or found.end() == place or (found[2] is None and found[4] is None):
            source.refuse(1, f"{quoted(text[place:])} is no level of a topology", _ALLOWED)
        place = found.end()
        is_memory = found[1] == "["
        if is_memory != (found[7] == "]") or (found[2] and (found[3] == ":") != (found[4] is not None)):
            source.refuse(1, f"{quoted(found[0])} is no level of a topology", _ALLOWED)
        kind = "" if found[2] is None else _TYPES.get(found[2].lower(), "")
        if found[2] and not kind:
            source.refuse(
                1,
                f"{quoted(found[2])} is no type of hwloc",
                "Package, NUMANode, Group, Die, L1Cache to L5Cache, Core, PU",
            )
        arity = int(found[4]) if found[4] else 1
        if arity == 0 or (found[4] is None and not is_memory):
            source.refuse(1, f"{quoted(found[0].strip())} has no number of its parts", "at least 1")
        level = _Level(kind, arity, _size(source, found[6] or ""))
        if is_memory:
            if kind != "NUMANode" or found[4] is not None:
                source.refuse(1, f"{quoted(found[0])} is no memory", "[NUMANode], as often as there are")
            (levels[-1].memory if levels else at_top).append(level)
        else:
            levels.append(level)
        if len(levels) > MOST_DEPTH // 2 or sum(len(one.memory) for one in levels) > MOST_DEPTH:
            source.refuse(1, "has too many levels", f"at most {MOST_DEPTH // 2}")
    if not levels:
        source.refuse(1, "has no level of a topology", _ALLOWED)
    return _with_kinds(source, levels), at_top


def _with_kinds(source: SourceText, levels: list[_Level]) -> list[_Level]:
    """Arities without a type: the innermost are hardware threads; of the others the outermost are groups (as hwloc has it)."""
    if levels[-1].kind == "":
        levels[-1].kind = "PU"
    if levels[-1].kind != "PU":
        levels.append(_Level("PU", 1))
    kinds = [level.kind for level in levels]
    for kind in set(kinds) - {"", "Group"}:
        if kinds.count(kind) > 1:
            source.refuse(1, f"has the type {kind} twice", "each type once, but for Group")
    for level in levels:
        level.kind = level.kind or "Group"
        level.old_style = level.kind == "NUMANode"
    return levels


def _size(source: SourceText, attributes: str) -> int | None:
    """Bytes from `size=` or `memory=`; `indexes=` numbers parts and changes no count."""
    for word in attributes.split():
        name, _, value = word.partition("=")
        if name not in ("size", "memory", "memorysidecachesize"):
            continue
        found = re.fullmatch(r"([0-9]{1,15})([kKmMgGtT]?i?[bB])?", value)
        size = (
            int(found[1]) * _SIZES[(found[2] or "").lower().removesuffix("b") + "b" if found[2] else ""] if found else 0
        )
        if not 0 < size <= 1 << 50:
            source.refuse(1, f"{quoted(word)} is no size", "such as size=32MB, at most 1024 TB")
        return size
    return None


def _numbered(level: _Level, numbers: dict[str, int]) -> Part:
    number = numbers.get(level.kind, 0)
    numbers[level.kind] = number + 1
    return Part(level.kind, 1, os_index=number, size=level.size)


def _hang(at: Part, memory: _Level, numbers: dict[str, int]) -> None:
    at.below.append(_numbered(memory, numbers))


def _grow(at: Part, levels: list[_Level], numbers: dict[str, int]) -> None:
    if not levels:
        return
    level, inner = levels[0], levels[1:]
    for _ in range(level.arity):
        part = _numbered(level, numbers)
        if level.old_style:
            group = Part("Group", 1, below=[part])
            at.below.append(group)
            part = group
        else:
            at.below.append(part)
        for memory in level.memory:
            _hang(part, memory, numbers)
        _grow(part, inner, numbers)
