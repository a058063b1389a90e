"""The report's arithmetic, on made-up runs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from homenode import report

counts = st.integers(min_value=0, max_value=10**9)
histograms = st.dictionaries(
    st.sampled_from(["memory 0", "memory 1", "cache"]),
    st.dictionaries(st.integers(min_value=0, max_value=10**6), counts, min_size=1, max_size=8),
    max_size=3,
)

KEY = {
    "machine_hash": "m",
    "threads": 1,
    "engine": "flow",
    "seed": 0,
    "stores": "machine",
    "caches": "runs",
    "system": "s",
}


def raw(latency: dict[str, dict[int, int]], hit_lines: list[int], memory: int, transfers: int) -> dict[str, Any]:
    counts: dict[str, Any] = dict.fromkeys(
        ("accesses", "upgrade_lines", "tlb_misses", "sampling_error", "zeroed_bytes", "directory_bytes"), 0
    )
    counts |= {"nodes": 1, "traffic_bytes": [64], "read_bytes": [64], "write_bytes": [0], "link_bytes": [], "rings": []}
    counts |= {"side_cache_hits": [], "side_cache_misses": []}
    counts |= {"hit_lines": hit_lines, "memory_lines": memory, "transfer_lines": transfers, "latency_ns": latency}
    return {
        "seconds": 1.0, "regions": [], "threads": [], "counts": counts, "pages_by_node": [1], "page_faults": 1,
        "pages_by_symbol": [], "over_time": {"interval_seconds": 0.25, "resources": [], "regions": []},
        "migrated_pages": 0, "hinting_faults": 0, "thread_moves": 0, "remote_pages": 0, "huge_pages": 0,
        "overheads": dict.fromkeys(("fork", "barrier", "runtime", "page_work", "waiting"), 0.0), "threads_at_once": 1,
        "overflowed_pages": 0, "heap": None, "heap_name": "plain",
        "best_placement": None, "core": "classes", "caches": "runs", "caches_region": "", "caches_lines_per_touch": 0.0,
    }  # fmt: skip


@given(histograms)
def test_histogram_keeps_every_line(latency: dict[str, dict[int, int]]) -> None:
    histogram = report.run_entry({}, raw(latency, [], 0, 0))["latency_histogram_ns"]
    edges, totals = histogram["edges"], histogram["counts"]
    assert len(edges) == len(totals) + 1 <= 1001
    # every latency l lies in the bin with edge <= l < next edge, so sums over bins = sums over latencies
    assert sum(totals) == sum(sum(lines.values()) for lines in latency.values())
    for source, lines in latency.items():
        assert sum(histogram["by_source"][source]) == sum(lines.values())
        assert max(lines) < edges[-1]


@given(st.lists(counts, min_size=1, max_size=4), counts, counts)
def test_hit_rates_lose_no_line(hit_lines: list[int], memory: int, transfers: int) -> None:
    rates = report.run_entry({}, raw({}, hit_lines, memory, transfers))["cache_hit_rates"]
    # missing every level with rates r1, r2, ...: (1-r1)(1-r2)... = (memory + transfers) / all
    arriving = sum(hit_lines) + memory + transfers
    missed = 1.0
    for rate in rates.values():
        assert 0 <= rate <= 1
        missed *= 1 - rate
    if arriving:
        assert abs(missed - (memory + transfers) / arriving) < 1e-9


@given(st.lists(st.floats(min_value=1e-9, max_value=1e6), min_size=1, max_size=20))
def test_regret_is_the_time_lost_to_the_best(seconds: list[float]) -> None:
    runs = [{**KEY, "seconds": value, "regret": 0.0} for value in seconds]
    report.fill_regrets(runs)
    for run in runs:
        assert run["regret"] == run["seconds"] / min(seconds) - 1
    assert json.loads(report.to_text({"runs": runs})) == {"runs": runs}


def test_a_bound_has_no_rank_and_no_policy_a_regret_against_it() -> None:
    choice = {**KEY, "mapping": "compact", "distribution": "static", "heap": "plain", "pages": "4KiB", "regret": 0.0}
    best = {"bound_seconds": 0.8, "found_seconds": 1.5, "gap": 0.875}
    bound = {**choice, "placement": "optimal", "seconds": 0.8, "best_placement": best}
    runs: list[dict[str, Any]] = [
        bound,
        {**choice, "placement": "first-touch", "seconds": 2.0, "best_placement": None},
        {**choice, "placement": "stencil-aware", "seconds": 1.0, "best_placement": None},
        {**choice, "placement": "interleave", "mapping": "scatter", "seconds": 0.9, "best_placement": None},
    ]
    report.fill_regrets(runs)
    assert report.by_rank(runs) == ([3, 2, 1], [0])
    assert [run["regret"] for run in runs] == [0.8 / 0.9 - 1, 2.0 / 0.9 - 1, 1.0 / 0.9 - 1, 0.0]
    # the best placement found is no slower than one of the grid with the same mapping
    assert (best["found_seconds"], best["found_placement"], best["gap"]) == (1.0, "stencil-aware", 1.0 / 0.8 - 1)
    alone = {**bound, "best_placement": {**best, "found_seconds": 1.5}}
    report.fill_regrets([alone])
    assert (alone["regret"], alone["best_placement"]["found_seconds"]) == (0.0, 1.5)


def test_regret_compares_like_with_like() -> None:
    base = {**KEY, "regret": 0.0}
    runs: list[dict[str, Any]] = [
        {**base, "seconds": 1.0},
        {**base, "threads": 2, "seconds": 4.0},
        {**base, "threads": 2, "seconds": 5.0},
        {**base, "caches": "lines", "seconds": 3.0},
        {**base, "system": "t", "seconds": 6.0},
        {**base, "heap": "glibc", "pages": "2MiB", "seconds": 1.5},  # choices, as a placement is
    ]
    report.fill_regrets(runs)
    assert [run["regret"] for run in runs] == [0.0, 0.0, 0.25, 0.0, 0.0, 0.5]


def test_pages_of_many_objects_are_twenty_entries() -> None:
    entries = [
        {"kind": "heap", "symbol": f"a.c:{line}", "objects": 1, "placed_by_node": [100 - line, 1], "pages_by_node": [0, 101 - line]}
        for line in range(25)
    ]  # fmt: skip
    found = report.run_entry({"threads": 1}, raw({}, [], 0, 0) | {"pages_by_symbol": entries})["pages_by_object"]
    assert found[:19] == entries[:19]
    assert len(found) == 20
    # 81 + 80 + ... + 76 pages on node 0, and one of each on node 1; at the end all on node 1
    others = {"kind": "others", "symbol": "", "objects": 6, "placed_by_node": [471, 6], "pages_by_node": [0, 477]}
    assert found[19] == others
