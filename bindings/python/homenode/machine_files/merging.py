"""What several files of one machine say together: each thing from one file, or one refusal that names both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from homenode.errors import UsageError
from homenode.machine_files.facts import CacheSeen, CoreToCore, Facts, Layout, Matrix


@dataclass(frozen=True)
class From:
    """A thing with the key of the file that says it."""

    value: Any
    key: str


@dataclass
class Merged:
    """Of one machine. Times in ns, bandwidths in bytes a second; None where no file says it."""

    sources: dict[str, str] = field(default_factory=dict)
    layout: Layout | None = None
    layout_key: str = ""
    caches: tuple[CacheSeen, ...] = ()
    caches_key: str = ""
    rates: dict[int, From] = field(default_factory=dict)  # bytes a cycle, by level
    clock: From | None = None
    clock_note: str = ""
    idle: Matrix = field(default_factory=dict)
    idle_key: str = ""
    idle_of_firmware: bool = False
    bandwidth: Matrix = field(default_factory=dict)
    bandwidth_key: str = ""
    bandwidth_of_firmware: bool = False
    write_bandwidth: Matrix = field(default_factory=dict)
    write_bandwidth_key: str = ""
    write_bandwidth_of_firmware: bool = False
    peak_reads: From | None = None
    peak_one_to_one: From | None = None
    peaks_are_of_a_node: bool = False
    curve: From | None = None
    core_to_core: CoreToCore | None = None
    core_to_core_key: str = ""
    core_table: CoreToCore | None = None
    core_table_key: str = ""
    slit: Matrix = field(default_factory=dict)
    slit_key: str = ""
    left_out: list[str] = field(default_factory=list)


def merged(found: Sequence[Facts]) -> Merged:
    """UsageError where two files say the same thing, or contradict each other."""
    result = Merged()
    for number, facts in enumerate(found, 1):
        key = f"F{number}"
        result.sources[key] = f"{facts.file}: {facts.kind}"
        result.left_out += [f"{facts.file}: {text}" for text in facts.left_out]
    _merge_layouts(result, found)
    _merge_matrices(result, found)
    for number, facts in enumerate(found, 1):
        key = f"F{number}"
        if facts.clock is not None:
            _once(result.clock, found, key, "the clock", facts.clock)
            result.clock, result.clock_note = From(facts.clock, key), facts.clock_note
        if facts.peak_reads is not None or facts.peak_one_to_one is not None:
            _once(result.peak_reads or result.peak_one_to_one, found, key, "peak bandwidths", None)
            result.peak_reads = None if facts.peak_reads is None else From(facts.peak_reads, key)
            result.peak_one_to_one = None if facts.peak_one_to_one is None else From(facts.peak_one_to_one, key)
            result.peaks_are_of_a_node = facts.peaks_are_of_a_node
        if facts.curve:
            _once(result.curve, found, key, "latencies under load", None)
            result.curve = From(facts.curve, key)
        between = facts.core_to_core
        if between is not None and between.threads:
            _once(
                _from(result.core_table, result.core_table_key), found, key, "a table of latencies between cores", None
            )
            result.core_table, result.core_table_key = between, key
        elif between is not None:
            _once(_from(result.core_to_core, result.core_to_core_key), found, key, "latencies between caches", None)
            result.core_to_core, result.core_to_core_key = between, key
    return result


def _from(value: Any, key: str) -> From | None:
    return From(value, key) if value else None


def _file(found: Sequence[Facts], key: str) -> str:
    return found[int(key[1:]) - 1].file


def _once(before: From | None, found: Sequence[Facts], key: str, what: str, value: Any) -> None:
    """Refuse the same thing from two files, unless it is the same number."""
    if before is not None and (value is None or value != before.value):
        raise UsageError(
            f"two files say {what}: {_file(found, before.key)} and {_file(found, key)}; allowed: one of them, for one machine"
        )


def _merge_layouts(result: Merged, found: Sequence[Facts]) -> None:
    """hwloc's topology before kerncraft's, both before nodes alone; they must agree."""
    having = [(f"F{number}", facts) for number, facts in enumerate(found, 1) if facts.layout is not None]
    having.sort(key=lambda one: (not one[1].layout.sure, one[1].peaks_are_of_a_node) if one[1].layout else ())
    for key, facts in having:
        layout = facts.layout
        assert layout is not None
        if result.layout is None:
            result.layout, result.layout_key = layout, key
            if not layout.sure:
                result.left_out.append(
                    f"{facts.file}: sockets and cores: each node is described as a socket, each hardware thread as a core"
                )
        elif _counts(layout) != _counts(result.layout, layout.sure):
            mine, other = _counts(layout), _counts(result.layout, layout.sure)
            raise UsageError(
                f"{_file(found, result.layout_key)} has {other}, {facts.file} {mine}; allowed: files of one machine"
            )
        if layout.caches and not result.caches:
            result.caches, result.caches_key = layout.caches, key
        for cache in layout.caches:
            if cache.bytes_per_cycle is not None:
                result.rates.setdefault(cache.level, From(cache.bytes_per_cycle, key))


def _counts(layout: Layout, sure: bool | None = None) -> str:
    """What two layouts must have in common: nodes, and where both tell them, sockets and cores."""
    nodes = len([node for node in layout.nodes if node.cores] if layout.sure else layout.nodes)
    if not (layout.sure if sure is None else sure):
        return f"{len(layout.nodes)} nodes"
    return f"{layout.sockets} sockets, {nodes} nodes with cores, {sum(len(node.cores) for node in layout.nodes)} cores"


def _merge_matrices(result: Merged, found: Sequence[Facts]) -> None:
    """What was measured goes before what the firmware says."""
    for number, facts in sorted(enumerate(found, 1), key=lambda one: one[1].firmware):
        key = f"F{number}"
        for name, what in (
            ("idle", "idle latencies"),
            ("bandwidth", "bandwidths between nodes"),
            ("write_bandwidth", "bandwidths of writes between nodes"),
        ):
            matrix = getattr(facts, name)
            if not matrix:
                continue
            if before := getattr(result, name):
                if not facts.firmware:
                    _once(From(before, getattr(result, f"{name}_key")), found, key, what, None)
                result.left_out.append(
                    f"{facts.file}: {what} of the firmware: {_file(found, getattr(result, f'{name}_key'))} measured them"
                )
                continue
            setattr(result, name, matrix)
            setattr(result, f"{name}_key", key)
            setattr(result, f"{name}_of_firmware", facts.firmware)
        if facts.slit:
            if result.slit and dict(result.slit) != dict(facts.slit):
                _once(From(result.slit, result.slit_key), found, key, "different distances", None)
            result.slit, result.slit_key = facts.slit, key
    if result.slit:
        measured = bool(result.idle) and not result.idle_of_firmware
        rest = " and are not used, as latencies were measured" if measured else ": what they give is assumed"
        name = _file(found, result.slit_key)
        result.left_out.append(f"{name}: distances (SLIT) are the firmware's relative numbers and no latencies{rest}")
