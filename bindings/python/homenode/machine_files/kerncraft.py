"""kerncraft's machine files (YAML): clock, sockets, cores, caches, bandwidths that likwid-bench measured.

Read as a graph of nodes with their lines, so nothing of YAML is constructed; aliases and deep nesting are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from homenode.errors import UsageError
from homenode.machine_files.facts import CacheSeen, Facts, Layout, NodeSeen
from homenode.machine_files.source_text import SourceText, quoted

if TYPE_CHECKING:
    import yaml

_MOST_DEPTH = 32
_MOST_EVENTS = 500_000
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
_SHAPE = "a machine file of kerncraft"


def is_kerncraft(text: str) -> bool:
    """Whether it has the keys that every machine file has."""
    return all(re.search(rf"^{key}:", text, re.MULTILINE) for key in ("memory hierarchy", "cores per socket", "clock"))


def read_kerncraft(source: SourceText) -> Facts:
    """What it says; InputError with the line of what is wrong."""
    return _Kerncraft(source).read()


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise UsageError(
            "machine files of kerncraft need PyYAML, which is not installed; allowed: pip install 'homenode[import]'"
        ) from None
    return yaml


class _Kerncraft:
    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._left_out: list[str] = []

    def read(self) -> Facts:
        top = self._keys(self._document(), "the file")
        clock = self._quantity(top, "clock", "Hz", 1e6, 1e12)
        sockets = self._whole(top, "sockets", 254)
        cores = self._whole(top, "cores per socket", 4096)
        per_socket = self._whole(top, "NUMA domains per socket", 254) if "NUMA domains per socket" in top else 1
        threads = self._whole(top, "threads per core", 64) if "threads per core" in top else 1
        if cores % per_socket or sockets * cores > 4096 or sockets * per_socket > 254:
            found = f"{sockets} sockets of {cores} cores and {per_socket} NUMA domains"
            self._source.refuse(
                self._line(top["cores per socket"]), found, "whole cores a domain, at most 4096 cores and 254 domains"
            )
        if threads > 1:
            self._left_out.append(f"{threads} hardware threads a core: a description has cores")
        reads, one_to_one = self._bandwidths(top, cores // per_socket)
        for key in ("FLOPs per cycle", "in-core model"):
            if key in top:
                self._left_out.append(
                    f"'{key}': it counts results and ports, a description instructions a cycle by class"
                )
        nodes = self._nodes(sockets, per_socket, cores // per_socket, threads)
        return Facts(
            self._source.name,
            "a machine file of kerncraft",
            layout=Layout(sockets, nodes, self._caches(top), numbered=False),
            clock=clock,
            peak_reads=reads,
            peak_one_to_one=one_to_one,
            peaks_are_of_a_node=True,
            left_out=tuple(self._left_out),
        )

    @staticmethod
    def _nodes(sockets: int, per_socket: int, cores: int, threads: int) -> tuple[NodeSeen, ...]:
        """Hardware threads as likwid numbers them on most machines: all first threads, then all second ones."""
        total = sockets * per_socket * cores
        return tuple(
            NodeSeen(
                node // per_socket,
                node,
                tuple(
                    tuple(node * cores + core + thread * total for thread in range(threads)) for core in range(cores)
                ),
            )
            for node in range(sockets * per_socket)
        )

    # ---- YAML

    def _document(self) -> yaml.Node:
        yaml = _yaml()
        depth = events = 0
        try:
            for event in yaml.parse(self._source.text, Loader=yaml.SafeLoader):
                events += 1
                begins = isinstance(event, yaml.CollectionStartEvent)
                depth += begins - isinstance(event, yaml.CollectionEndEvent)
                line = event.start_mark.line + 1
                if isinstance(event, yaml.AliasEvent):
                    self._source.refuse(line, f"refers to {quoted('*' + event.anchor)}", "YAML without aliases")
                if depth > _MOST_DEPTH or events > _MOST_EVENTS:
                    self._source.refuse(line, "is too deep or too long", f"{_SHAPE}, at most {_MOST_DEPTH} levels")
            return yaml.compose(self._source.text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            reason = str(getattr(error, "problem", "") or "no YAML")
            self._source.refuse(mark.line + 1 if mark else None, f"is no YAML ({reason})", _SHAPE)

    @staticmethod
    def _line(node: yaml.Node) -> int:
        return int(node.start_mark.line) + 1

    def _keys(self, node: yaml.Node, what: str) -> dict[str, yaml.Node]:
        if node.id != "mapping":
            self._source.refuse(self._line(node), f"{what} is no table", f"{_SHAPE} with keys and values")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = key.value if key.id == "scalar" else ""
            if name in found:
                self._source.refuse(self._line(key), f"{what} has {quoted(name)} twice", "each key once")
            found[name] = value
        return found

    def _text(self, table: dict[str, yaml.Node], key: str) -> str:
        node = table.get(key)
        if node is None:
            self._source.refuse(None, f"'{key}' is missing", _SHAPE)
        if node.id != "scalar":
            self._source.refuse(self._line(node), f"'{key}' is no single value", _SHAPE)
        return str(node.value)

    def _whole(self, table: dict[str, yaml.Node], key: str, most: int) -> int:
        text = self._text(table, key)
        plain = re.sub(r"^([0-9]+)(\.0| B)$", r"\1", text)  # some files have "1.0" cores and lines of "64 B"
        return self._source.whole(self._line(table[key]) if key in table else 1, plain, f"'{key}'", 1, most)

    def _quantity(self, table: dict[str, yaml.Node], key: str, unit: str, least: float, most: float) -> float:
        return self._measure(
            self._line(table[key]) if key in table else 1, self._text(table, key), key, unit, least, most
        )

    def _measure(self, line: int, text: str, what: str, unit: str, least: float, most: float) -> float:
        found = re.fullmatch(rf"\s*(\S+)\s+([kMGT]?i?){re.escape(unit)}\s*", " ".join(text.split()))
        if found is None or found[2] not in _UNITS:
            self._source.refuse(line, f"'{what}' is {quoted(text)}", f"a number and a unit, such as 2.7 G{unit}")
        value = self._source.number(line, found[1], f"'{what}'", 0, 1e18) * _UNITS[found[2]]
        if not least <= value <= most:
            self._source.refuse(line, f"'{what}' is {quoted(text)}", f"{least:g} to {most:g} {unit}")
        return value

    # ---- caches and memory

    def _caches(self, top: dict[str, yaml.Node]) -> tuple[CacheSeen, ...]:
        node = top["memory hierarchy"]
        if node.id != "sequence":
            self._source.refuse(self._line(node), "'memory hierarchy' is no list", _SHAPE)
        found: list[CacheSeen] = []
        for place, entry in enumerate(node.value):
            level = self._keys(entry, "a level of the memory hierarchy")
            name = self._text(level, "level")
            if name == "MEM":
                continue
            if name != f"L{place + 1}":
                self._source.refuse(self._line(level["level"]), f"the level is {quoted(name)}", f"L{place + 1} or MEM")
            cores = self._whole(level, "cores per group", 4096) if "cores per group" in level else 1
            if "cache per group" not in level:
                self._source.refuse(self._line(entry), "'cache per group' is missing", "sets, ways and cl_size")
            shape = self._keys(level["cache per group"], "'cache per group'")
            sets, ways = (self._whole(shape, key, 1 << 26) for key in ("sets", "ways"))
            line = self._whole(shape, "cl_size", 4096)
            rate = self._rate(level) if place > 0 else None
            found.append(CacheSeen(place + 1, sets * ways * line, cores, ways, line, bytes_per_cycle=rate))
        return tuple(found)

    def _rate(self, level: dict[str, yaml.Node]) -> float | None:
        """Bytes a cycle from this level towards the core (of the first level: of loads, by ports, which is no number)."""
        node = level.get("upstream throughput") or level.get("non-overlap upstream throughput")
        if node is None or node.id != "sequence" or not node.value or node.value[0].id != "scalar":
            return None
        found = re.fullmatch(r"([0-9.]+) B/cy", node.value[0].value)
        return self._source.number(self._line(node), found[1], "'upstream throughput'", 0.01, 1e6) if found else None

    def _bandwidths(self, top: dict[str, yaml.Node], cores: int) -> tuple[float | None, float | None]:
        """Of one NUMA domain with all its cores: `load` reads alone; `update` reads and writes each line, one to one."""
        here: dict[str, yaml.Node] = top
        for key in ("benchmarks", "measurements", "MEM", "1"):
            if key not in here or here[key].id != "mapping":
                return None, None
            here = self._keys(here[key], f"'{key}'")
        if "cores" not in here or "results" not in here or here["cores"].id != "sequence":
            return None, None
        counts = [str(one.value) for one in here["cores"].value]
        if str(cores) not in counts:
            self._left_out.append(f"bandwidths: none is of the {cores} cores of a NUMA domain")
            return None, None
        results = self._keys(here["results"], "'results'")
        found = []
        for kernel in ("load", "update"):
            value = None
            if (row := results.get(kernel)) is not None and row.id == "sequence" and len(row.value) == len(counts):
                one = row.value[counts.index(str(cores))]
                value = self._measure(self._line(one), str(one.value), kernel, "B/s", 1e3, 1e15)
            found.append(value)
        if set(results) - {"load", "update"}:
            self._left_out.append("bandwidths of other kernels than load and update, and of caches")
        return found[0], found[1]
