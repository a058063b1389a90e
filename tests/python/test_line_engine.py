"""The engine `line` as users meet it: replay, and latency under load."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from support import Ended

Run = Callable[..., Ended]

MACHINE = "xeon-x5550-2s"


@pytest.fixture(scope="module")
def trace() -> hn.Trace:
    return hn.capture("jacobi2d", n=512, sweeps=2)


def test_line_and_flow_count_the_same_for_one_thread(trace: hn.Trace) -> None:
    flow, line = (
        hn.replay(trace, MACHINE, threads=1, engine=engine, caches="lines").run for engine in ("flow", "line")
    )
    for name in ("accesses", "traffic_bytes", "cache_hit_rates", "page_faults"):
        assert line[name] == flow[name], name
    assert line["caches"] == "lines"


def test_line_refuses_caches_by_runs(trace: hn.Trace) -> None:
    with pytest.raises(hn.errors.UsageError, match="engine 'line' follows every line; found caches 'runs'"):
        hn.replay(trace, MACHINE, threads=1, engine="line", caches="runs")


@pytest.mark.parametrize("placement", ["first-touch+autonuma", "interleave", "first-touch+carrefour", "stencil-aware"])
def test_line_runs_every_kind_of_placement(trace: hn.Trace, placement: str) -> None:
    result = hn.replay(trace, MACHINE, threads=8, engine="line", placement=placement)
    # bytes conserved: what threads exchanged is at most all traffic; the rest was written back at the end
    by_threads = sum(thread["local_bytes"] + thread["remote_bytes"] for thread in result.run["threads_detail"])
    traffic = sum(map(sum, result.run["traffic_bytes"]))
    assert 0 < by_threads <= traffic
    assert max(thread["busy_seconds"] for thread in result.run["threads_detail"]) <= result.seconds


def test_loaded_latency(homenode: Run, tmp_path: Path) -> None:
    ended = homenode("machine", "loaded-latency", MACHINE, "--json", "-o", "curve.html")
    assert ended.status == 0, ended.stderr
    document = json.loads(ended.stdout)
    loads = document["loads"]
    # nothing is faster than the machine's idle latency but a few open rows; and no controller exceeds its bandwidth
    assert loads[0]["latency_ns"] == pytest.approx(66, abs=4)
    assert loads[-1]["latency_ns"] > loads[0]["latency_ns"]
    assert max(load["utilisation"] for load in loads) <= 1.001
    page = (tmp_path / "curve.html").read_text()
    assert "<figure " in page
    assert f"homenode machine loaded-latency {MACHINE} --node 0 -o curve.html" in re.sub(r"<[^>]+>", "", page)


def test_loaded_latency_of_no_node(homenode: Run) -> None:
    ended = homenode("machine", "loaded-latency", MACHINE, "--node", "7")
    assert ended.status == 2
    assert "no node 7; allowed: 0 to 1" in ended.stderr
