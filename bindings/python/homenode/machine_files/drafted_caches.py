"""Levels of caches of a description: sizes and sharing from a file, the rest from the donor, all fitted to the model's rules."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any

from homenode.machine_files.described_value import (
    Described,
    bytes_per_second,
    from_donor,
    hertz,
    nanoseconds,
    size_in_bytes,
)
from homenode.machine_files.drafting import Draft
from homenode.machine_files.facts import CacheSeen


def cache_tables(draft: Draft) -> str:
    """The [[caches]] of a description."""
    donors = {entry["level"]: entry for entry in draft.donor["caches"]}
    seen = {cache.level: cache for cache in draft.merged.caches}
    tables = []
    inner = CacheSeen(0, 0, 1)
    line = next((cache.line for cache in seen.values() if cache.line), None)
    for level in range(1, max(seen or donors) + 1):
        if level not in donors:
            draft.left_out.append(
                f"caches of level {level}: no file has their latency, and the donor has no such level"
            )
            break
        body, cache = _level(draft, level, seen.get(level), donors[level], line, inner)
        if cache.size <= inner.size:
            draft.left_out.append(f"caches of level {level}: {cache.size} B are not more than the level inside has")
            break
        tables.append(f"[[caches]]\nlevel = {level}\n" + "\n".join(body))
        inner = cache
    return "\n\n".join(tables)


def cache_line(draft: Draft) -> int:
    """Of all levels, in bytes."""
    found = next((cache.line for cache in draft.merged.caches if cache.line), None)
    return found or size_in_bytes(draft.donor["caches"][0]["line"]["value"])


def _level(
    draft: Draft, level: int, seen: CacheSeen | None, donor: dict[str, Any], line: int | None, inner: CacheSeen
) -> tuple[list[str], CacheSeen]:
    key = draft.merged.caches_key
    values: dict[str, Described] = {}

    def told(name: str, value: Any, fallback: Any, note: str = "") -> Any:
        values[name] = Described(value, key, "A") if value is not None else from_donor(fallback, note)
        return values[name].value

    size = seen.size if seen else size_in_bytes(donor["size"]["value"])
    told("size", f"{size} B" if seen else None, donor["size"]["value"])
    # Levels of one machine have one line; the donor's where no file says it.
    used_line = line or size_in_bytes(donor["line"]["value"])
    told("line", f"{line} B" if line else None, donor["line"]["value"])
    cores = seen.cores if seen else _donors_sharing(draft, donor, inner)
    told("cores_per_cache", cores if seen else None, cores)
    ways = told("ways", seen.ways if seen else None, donor["ways"]["value"])
    fitting = _fitting_ways(size, used_line, ways)
    if fitting != ways:
        if seen and seen.ways:
            draft.left_out.append(
                f"caches of level {level}: {ways} ways make no whole sets of {size} B; {fitting} are described"
            )
        values["ways"] = from_donor(fitting, "whole sets of the size")
    inclusion = None if seen is None or seen.inclusive is None else "inclusive" if seen.inclusive else "non_inclusive"
    told("inclusion", inclusion, donor["inclusion"]["value"])
    values["latency"] = from_donor(_in_cycles(draft, donor["latency"]["value"]), "the donor's cycles")
    rate = draft.merged.rates.get(level)
    of_donor = bytes_per_second(donor["bandwidth_per_core"]["value"]) / hertz(draft.of_donor("clock"))
    values["bandwidth_per_core"] = (
        Described(f"{rate.value:g} B/cycle", rate.key, "B")
        if rate is not None
        else from_donor(f"{of_donor:.6g} B/cycle", "the donor's bytes a cycle")
    )
    values["slices"] = from_donor(gcd(donor["slices"]["value"], size // used_line // fitting))
    return list(_lines(values)), CacheSeen(level, size, cores)


def _lines(values: dict[str, Described]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{name} = {value.toml()}"


def _fitting_ways(size: int, line: int, ways: int) -> int:
    """The most ways, at most as many as told, of which the size holds whole sets."""
    lines = size // line
    fitting = max(1, min(ways, lines))
    while lines % fitting:
        fitting -= 1
    return fitting


def _donors_sharing(draft: Draft, donor: dict[str, Any], inner: CacheSeen) -> int:
    """As many cores as on the donor, fitted to this machine's sockets."""
    counts = [0] * draft.layout.sockets
    for node in draft.nodes:
        counts[node.socket] += len(node.cores)
    shared = gcd(donor["cores_per_cache"]["value"], *counts)
    return shared if shared % inner.cores == 0 else inner.cores


def _in_cycles(draft: Draft, time: str) -> str:
    return f"{nanoseconds(time) * hertz(draft.of_donor('clock')) / 1e9:.4g} cycles"
