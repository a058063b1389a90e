"""`./dev bench`: the arithmetic of its rows, and its rows of single accesses on a small trace; no speed is asserted."""

from __future__ import annotations

from pathlib import Path

import pytest

import homenode as hn
from homenode import bench, bench_page


def test_ratios_are_to_rows_of_the_same_run() -> None:
    speeds = {"native": 3e9, "cachegrind": 6e7, "line": 3e7}
    rows = bench.with_ratios([bench._row(name, speed, 1.0) for name, speed in speeds.items()])
    assert [row["ratio_to_native"] for row in rows] == pytest.approx([1, 0.02, 0.01])
    assert [row["ratio_to_cachegrind"] for row in rows] == pytest.approx([50, 1, 0.5])
    (alone,) = bench.with_ratios([bench._row("native", 1e9, 1.0)])
    assert alone["ratio_to_cachegrind"] is None


def test_a_page_keeps_its_text_and_tells_what_became_slower(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("# Performance\n\n<!-- rows -->\n<!-- end of rows -->\n\nNotes\n")
    speeds = {"native": 3e9, "cachegrind": 6e7, "line": 3e7}

    def renewed(line: float) -> str:
        rows = bench.with_ratios([bench._row(name, speed, 1.0) for name, speed in {**speeds, "line": line}.items()])
        return bench_page.renew(rows, page)

    assert renewed(3e7).endswith("no row became slower")
    assert renewed(2.5e7).endswith("no row became slower")
    assert renewed(1.9e7).endswith("slower than 0.8 of the page's ratio to native: line")
    text = page.read_text()
    assert text.startswith("# Performance\n\n<!-- rows -->\n")
    assert text.endswith("<!-- end of rows -->\n\nNotes\n")
    assert "| line | 19 | 0.006333 | 0.3167 | 0.76 |" in text


def test_rows_beside_others_are_told_of() -> None:
    rows = [{**bench._row(name, 1e9, 1.0), "others": share} for name, share in (("native", 0.0), ("flow", 0.95))]
    assert bench_page.beside_others(rows) == "After 1 of 2 rows others had work on these cores: flow."
    assert bench_page.beside_others(rows[:1]) == "After 0 of 1 rows others had work on these cores."


def test_raw_addresses_are_the_same_accesses(trace: hn.Trace) -> None:
    from_runs, raw = (bench._measure_engine("line", str(trace.path), "xeon-x5550-2s", "auto", raw) for raw in (0, 1))
    assert raw["accesses"] == from_runs["accesses"] == trace.accesses
    assert raw["peak_rss_bytes"] > 0


def test_a_row_of_raw_addresses(trace_file: Path) -> None:
    row = bench.engine("line", trace_file, machine="xeon-x5550-2s", raw=True)
    assert row["name"] == "line xeon-x5550-2s"
    assert row["accesses_per_second"] > 0
    assert row["peak_rss_bytes"] > 0
