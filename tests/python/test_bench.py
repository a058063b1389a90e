"""`./dev bench`: the arithmetic of its rows, and its rows of single accesses on a small trace; no speed is asserted."""

from __future__ import annotations

from pathlib import Path

import pytest

import homenode as hn
from homenode import bench


def test_ratios_are_to_rows_of_the_same_run() -> None:
    speeds = {"native": 3e9, "cachegrind": 6e7, "line": 3e7}
    rows = bench.with_ratios([bench._row(name, speed, 1.0) for name, speed in speeds.items()])
    assert [row["ratio_to_native"] for row in rows] == pytest.approx([1, 0.02, 0.01])
    assert [row["ratio_to_cachegrind"] for row in rows] == pytest.approx([50, 1, 0.5])
    (alone,) = bench.with_ratios([bench._row("native", 1e9, 1.0)])
    assert alone["ratio_to_cachegrind"] is None


def test_raw_addresses_are_the_same_accesses(trace: hn.Trace) -> None:
    from_runs, raw = (bench._measure_engine("line", str(trace.path), "xeon-x5550-2s", "auto", raw) for raw in (0, 1))
    assert raw["accesses"] == from_runs["accesses"] == trace.accesses
    assert raw["peak_rss_bytes"] > 0


def test_a_row_of_raw_addresses(trace_file: Path) -> None:
    row = bench.engine("line", trace_file, machine="xeon-x5550-2s", raw=True)
    assert row["name"] == "line xeon-x5550-2s"
    assert row["accesses_per_second"] > 0
    assert row["peak_rss_bytes"] > 0
