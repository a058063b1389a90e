"""Which format a file has, by what is in it, and what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from homenode.errors import UsageError
from homenode.machine_files.facts import Facts
from homenode.machine_files.hwloc_xml import read_hwloc_xml
from homenode.machine_files.kerncraft import is_kerncraft, read_kerncraft
from homenode.machine_files.mlc import is_mlc, read_mlc
from homenode.machine_files.source_text import SourceText, checked, quoted, read_source
from homenode.machine_files.synthetic import is_synthetic, read_synthetic
from homenode.machine_files.tables import (
    is_number,
    numeric_rows,
    read_core_latencies,
    read_curve,
    read_distances,
    read_numactl,
)

MOST_FILES = 64
FORMATS = (
    "hwloc XML 2 or 3, a synthetic topology of hwloc, Intel MLC's text, `numactl --hardware`, a table of distances, a table of "
    "latencies between cores, a curve of bandwidth and latency, a machine file of kerncraft"
)


def facts_of(files: Sequence[Path], synthetic: str | None = None) -> list[Facts]:
    """What each file says, in order; a synthetic topology given as text comes first."""
    if not files and synthetic is None:
        raise UsageError(f"nothing to import; allowed: files ({FORMATS}), or --synthetic")
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files)} files; allowed: at most {MOST_FILES}, all of one machine")
    found = []
    if synthetic is not None:
        found.append(read_synthetic(checked(SourceText("--synthetic", "--synthetic", synthetic))))
    return found + [read_facts(read_source(path)) for path in files]


def read_facts(source: SourceText) -> Facts:
    """What a file says; InputError for a format that nobody knows."""
    text = source.text
    if text.lstrip().startswith("<"):
        return read_hwloc_xml(source)
    if is_kerncraft(text):
        return read_kerncraft(source)
    of_numactl = re.search(r"^\s*(available: \d+ nodes|node distances:)", text, re.MULTILINE) is not None
    if is_mlc(text):
        facts = read_mlc(source)
        beside = ("what numactl printed into the same file: give it as a file of its own",)
        return replace(facts, left_out=facts.left_out + beside) if of_numactl else facts
    if of_numactl:
        return read_numactl(source)
    if is_synthetic(text):
        return read_synthetic(source)
    return _read_table(source)


def _read_table(source: SourceText) -> Facts:
    rows = numeric_rows(source)
    cells = [cell for _, row in rows[1:] for cell in row if cell]
    if len(rows) < 2 or not cells or not is_number(cells[0]):
        first = quoted(next(line.strip() for line in source.lines if line.strip()))
        source.refuse(None, f"begins with {first}, which no known format does", FORMATS)
    square = all(len(row) == len(rows) for _, row in rows)
    if square and all(row[at] in ("10", "10.0") for at, (_, row) in enumerate(rows)):
        return read_distances(source)
    if len(rows[-1][1]) == 2 and not (square and "" in rows[0][1]):
        return read_curve(source)
    return read_core_latencies(source)
