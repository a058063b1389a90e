"""hwloc's XML, versions 2 and 3 (`lstopo machine.xml`), read by expat: no entities, bounded depth and number of elements.

The format is hwloc's tests/hwloc/xml and hwloc/topology-xml.c of version 3. Version 1 has other names of objects and puts nodes above
cores; lstopo of hwloc 2 converts it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from homenode.machine_files.facts import Facts, Layout, Matrix
from homenode.machine_files.layout import MOST_NODES, layout_of
from homenode.machine_files.parts import MOST_DEPTH, MOST_PARTS, Part
from homenode.machine_files.source_text import SourceText, quoted

_VERSIONS = "XML of hwloc 2 or 3"
_LARGEST = 1 << 50
_MOST_DISTANCE_TEXT = 2 << 20  # characters; 254 nodes have 64516 distances
_NOT_HARDWARE = ("Bridge", "PCIDev", "OSDev", "Misc")
_KINDS = re.compile(
    r"Machine|Package|Die|Group|NUMANode|MemCache|L[1-5]Cache|L[1-3]iCache|Core|PU|Bridge|PCIDev|OSDev|Misc"
)


@dataclass
class _Element:
    name: str
    attributes: dict[str, str]
    line: int
    below: list[_Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _Elements:
    """The elements of one document."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._entity
        self._parser.SkippedEntityHandler = self._skipped
        self._open: list[_Element] = []
        self._root: _Element | None = None
        self._count = 0

    def read(self) -> _Element:
        """The root, or one refusal."""
        try:
            self._parser.Parse(self._source.text, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            self._source.refuse(error.lineno, f"is no whole XML ({reason})", _VERSIONS)
        assert self._root is not None
        return self._root

    def _refuse(self, found: str, allowed: str) -> NoReturn:
        self._source.refuse(self._parser.CurrentLineNumber, found, allowed)

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            self._refuse(
                "has declarations of its own in its DOCTYPE", '<!DOCTYPE topology SYSTEM "hwloc2.dtd">, or none'
            )

    def _entity(self, *_: object) -> None:
        self._refuse("declares an entity", "XML without entities of its own")

    def _skipped(self, name: str, *_: object) -> None:
        self._refuse(f"names the entity {quoted(name)}", "XML without entities of its own")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_PARTS:
            self._refuse(f"has more than {MOST_PARTS} elements", "a topology of one machine")
        if len(self._open) >= MOST_DEPTH:
            self._refuse(f"nests elements more than {MOST_DEPTH} deep", "a topology of one machine")
        element = _Element(name, attributes, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].below.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, name: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open[-1].name in ("indexes", "u64values"):
            self._open[-1].text.append(text)


def read_hwloc_xml(source: SourceText) -> Facts:
    """Sockets, nodes, cores and caches; SLIT and the firmware's figures where the file has them."""
    root = _Elements(source).read()
    version = _version(source, root)
    machines = [element for element in root.below if element.name == "object"]
    if len(machines) != 1:
        source.refuse(root.line, f"holds {len(machines)} machines", 'one <object type="Machine">')
    top = _part(source, machines[0])
    layout, left_out = layout_of(source, top)
    left_out += _not_described(root, top)
    clock, clock_note = _clock(root, top)
    slit, unused = _distances(source, root, layout)
    told, of_firmware = _attributes(source, root, layout)
    return Facts(
        source.name,
        f"XML of hwloc {version}",
        layout=layout,
        clock=clock,
        clock_note=clock_note,
        slit=slit,
        idle=told["Latency"],
        bandwidth=told["Bandwidth"],
        write_bandwidth=told["WriteBandwidth"],
        firmware=True,
        left_out=(*left_out, *unused, *of_firmware),
    )


def _version(source: SourceText, root: _Element) -> str:
    old = root.name == "root" or (root.name == "topology" and "version" not in root.attributes)
    if old:
        source.refuse(root.line, "is XML of hwloc 1", f"{_VERSIONS}; `lstopo old.xml new.xml` of hwloc 2 converts it")
    if root.name != "topology":
        source.refuse(root.line, f"begins with <{root.name[:40]}>", f"{_VERSIONS}, which begins with <topology>")
    version = root.attributes["version"]
    if not re.fullmatch(r"[23]\.[0-9]{1,3}", version):
        source.refuse(root.line, f"is of version {quoted(version)}", "versions 2.0 to 3")
    return version


def _part(source: SourceText, element: _Element) -> Part:
    """The tree below an <object>; its depth is bounded by the document's."""
    given = element.attributes
    kind = given.get("type", "")
    if not _KINDS.fullmatch(kind):
        source.refuse(element.line, f"the type of an object is {quoted(kind)}", "the types of hwloc 2 and 3")

    def whole(name: str, most: int) -> int | None:
        return source.whole(element.line, given[name], f"'{name}' of {kind}", 0, most) if name in given else None

    infos = {
        one.attributes.get("name", ""): one.attributes.get("value", "") for one in element.below if one.name == "info"
    }
    part = Part(
        kind,
        element.line,
        os_index=whole("os_index", 1 << 32) if kind not in _NOT_HARDWARE else None,
        subtype=given.get("subtype", infos.get("Type", "")),
        cpuset=given.get("cpuset", ""),
        gp_index=given.get("gp_index", ""),
        infos=infos,
    )
    if kind == "NUMANode":
        part.size = whole("local_memory", _LARGEST)
    elif part.cache_level is not None or kind == "MemCache":
        part.size = whole("cache_size", _LARGEST)
        part.cache_line = whole("cache_linesize", 1 << 16)
        ways = given.get("cache_associativity", "0")
        part.ways = None if ways in ("0", "-1") else whole("cache_associativity", 1 << 24)
        inclusive = given.get("cache_inclusive", infos.get("Inclusive"))
        part.inclusive = None if inclusive is None else inclusive == "1"
    part.below = [_part(source, one) for one in element.below if one.name == "object"]
    return part


def _not_described(root: _Element, top: Part) -> list[str]:
    counts: dict[str, int] = {}
    for part in top.every():
        counts[part.kind] = counts.get(part.kind, 0) + 1
    said = []
    devices = sum(counts.get(kind, 0) for kind in ("PCIDev", "OSDev"))
    if devices:
        said.append(f"{devices} PCI and operating system devices: a description has cores and memory only")
    if counts.get("Misc", 0):
        said.append(f"{counts['Misc']} objects of type Misc")
    instructions = sum(count for kind, count in counts.items() if kind.endswith("iCache"))
    if instructions:
        said.append(f"{instructions} instruction caches: only accesses to data are replayed")
    kinds = sum(element.name == "cpukind" for element in root.below)
    if kinds > 1:
        said.append(f"{kinds} kinds of cores: all cores are described alike")
    allowed = root.below and next(one for one in root.below if one.name == "object").attributes
    if allowed and allowed.get("allowed_cpuset", "") not in ("", allowed.get("cpuset", "")):
        said.append("that some hardware threads were not allowed to the process that wrote the file: they count")
    return said


def _clock(root: _Element, top: Part) -> tuple[float | None, str]:
    """The nominal clock: as the kernel tells it, or as the processor's name ends."""
    for element in root.below:
        if element.name == "cpukind":
            infos = {one.attributes.get("name"): one.attributes.get("value", "") for one in element.below}
            base = infos.get("FrequencyBaseMHz", "")
            if re.fullmatch(r"[1-9][0-9]{2,4}", base):
                return int(base) * 1e6, "FrequencyBaseMHz of the first kind of cores"
    for part in top.every():
        if found := re.search(r"@ ([0-9]{1,2}\.[0-9]{1,3})GHz$", part.infos.get("CPUModel", "").rstrip()):
            clock = float(found[1]) * 1e9
            return (clock, "nominal, by CPUModel") if clock > 0 else (None, "")
    return None, ""


def _distances(source: SourceText, root: _Element, layout: Layout) -> tuple[Matrix, list[str]]:
    """The table of relative distances among nodes (ACPI's SLIT), and what else there is of distances."""
    found: dict[tuple[int, int], float] = {}
    unused = []
    for element in root.below:
        if element.name not in ("distances2", "distances2hetero"):
            continue
        given = element.attributes
        name = given.get("name", "without a name")
        means_latency = given.get("kind", "").isdecimal() and int(given["kind"][:9]) & 4
        if found or element.name != "distances2" or given.get("type") != "NUMANode" or not means_latency:
            unused.append(f"distances {quoted(name)} among {quoted(given.get('type', 'several kinds of objects'))}")
            continue
        if sum(len(piece) for one in element.below for piece in one.text) > _MOST_DISTANCE_TEXT:
            source.refuse(element.line, "has too many distances", f"those among {MOST_NODES} nodes")
        by_index = {node.os_index if given.get("indexing") == "os" else node.gp_index: node for node in layout.nodes}
        words = {
            part: " ".join("".join(one.text) for one in element.below if one.name == part).split()
            for part in ("indexes", "u64values")
        }
        indexes = [source.whole(element.line, word, "an index of distances", 0, 1 << 32) for word in words["indexes"]]
        if len(words["u64values"]) != len(indexes) ** 2:
            count = len(words["u64values"])
            source.refuse(
                element.line, f"{len(indexes)} nodes have {count} distances", f"{len(indexes) ** 2} distances"
            )
        keys = indexes if given.get("indexing") == "os" else [str(index) for index in indexes]
        for place, word in enumerate(words["u64values"]):
            row, column = (by_index.get(keys[at]) for at in divmod(place, len(indexes)))
            value = source.number(element.line, word, "a distance", 0, 1e9)
            if row is not None and column is not None and value > 0:
                found[row.os_index, column.os_index] = value
    return found, unused


def _attributes(source: SourceText, root: _Element, layout: Layout) -> tuple[dict[str, Matrix], list[str]]:
    """Latency and bandwidths of a node from its own cores as the firmware has them (HMAT), and what else there is.

    Those of a node without cores are from the cores that it is local to.
    """
    nodes = {node.gp_index: node for node in layout.nodes}
    taken: dict[str, dict[tuple[int, int], float]] = {"Latency": {}, "Bandwidth": {}, "WriteBandwidth": {}}
    other = []
    for element in root.below:
        if element.name != "memattr":
            continue
        name = element.attributes.get("name", "")
        if name in ("Capacity", "Locality") or not element.below:
            continue
        into = taken.get(name.removeprefix("Read"))
        skipped = 0
        for one in element.below:
            node = nodes.get(one.attributes.get("target_obj_gp_index", ""))
            if into is None or node is None or one.attributes.get("initiator_cpuset", "?") != node.cpuset:
                skipped += 1
                continue
            most, factor = (1e6, 1.0) if into is taken["Latency"] else (1e9, float(1 << 20))
            value = source.number(one.line, one.attributes.get("value", ""), f"'{name}' of a node", 0, most)
            if value > 0:
                into[node.os_index, node.os_index] = value * factor
        if skipped:
            other.append(f"{skipped} values of the memory attribute {quoted(name)} (not of a node from its own cores)")
    return dict(taken), other
