"""The Xeon Phi's ring from Python and the command line: the map of latencies, and S2's allocator on a small search."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from support import Ended

Run = Callable[..., Ended]

MACHINE = "knc-5110p"


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Four threads whose nodes exceed the second level of a core."""
    path = tmp_path_factory.mktemp("ring") / "search.hnt"
    settings = {"instance": "korf12", "nodes": "heap", "table": 10, "expand": 5000, "check": 0}
    hn.capture("sliding_tile", output=path, threads=4, **settings)
    return hn.Trace.open(path)


def test_latency_map_in_python() -> None:
    latencies = hn.Machine.load(MACHINE).latency_map(0x125000, 256)
    assert latencies.shape == (256, 60)
    assert list(latencies.index.names) == ["address", "directory", "controller"]
    addresses = latencies.index.get_level_values("address")
    assert list(addresses[:3]) == [0x125000, 0x125040, 0x125080]
    # C40: the slowest core takes at most 1.6 times what the fastest takes; 290 ns are the mean over all blocks and cores
    ratios = latencies.max(axis=1) / latencies.min(axis=1)
    assert 1.4 < ratios.max() < 1.65
    assert latencies.to_numpy().mean() == pytest.approx(290, rel=0.03)
    # what a core sees depends on directory and controller alone
    assert (latencies.groupby(level=["directory", "controller"]).std().fillna(0) < 1e-9).all(axis=None)


def test_latency_map_on_the_command_line(homenode: Run, tmp_path: Path) -> None:
    ended = homenode("machine", "latency-map", MACHINE, "--blocks", "20", "-o", "map.html", "-o", "map.csv", "--json")
    assert ended.status == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert [block["address"] for block in document["blocks"][:2]] == [0x125000, 0x125040]
    assert all(len(block["latency_ns"]) == 60 for block in document["blocks"])
    page = (tmp_path / "map.html").read_text()
    assert page.count("<figure ") == 2
    assert f"homenode machine latency-map {MACHINE} --first 0x125000 --blocks 20 -o map.html" in re.sub(
        r"<[^>]+>", "", page
    )
    lines = (tmp_path / "map.csv").read_text().splitlines()
    assert lines[0].startswith("address,directory,controller,0,1,")
    assert len(lines) == 21


def test_a_machine_says_that_it_has_a_ring(homenode: Run) -> None:
    ended = homenode("machines", MACHINE)
    assert ended.status == 0, ended.stderr
    assert "64 tag directories, 1.7 ns a hop, order interleaved" in " ".join(ended.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["xeon-x5550-2s"], "has no ring"),
        ([MACHINE, "--first", "0x1dcd65000"], "within the 8 GB"),
        ([MACHINE, "--first", "here"], "'here' is no address"),
        ([MACHINE, "-o", "map.png"], "allowed: .html, .csv"),
    ],
)
def test_latency_map_refuses(homenode: Run, arguments: list[str], said: str, tmp_path: Path) -> None:
    ended = homenode("machine", "latency-map", *arguments)
    assert ended.status == 2
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_latency_aware_cuts_latency_and_not_misses(search: hn.Trace) -> None:
    runs = {
        heap: hn.replay(search, MACHINE, threads=4, engine="line", heap=heap, pages="2MiB").run
        for heap in ("regular", "latency-aware")
    }
    lines = {heap: run["memory_lines"] for heap, run in runs.items()}
    assert lines["latency-aware"] == pytest.approx(lines["regular"], rel=0.05)
    # all that it gains is latency of memory
    assert runs["latency-aware"]["seconds"] < runs["regular"]["seconds"]


def test_latency_aware_hangs_on_frames_and_repeats(search: hn.Trace) -> None:
    def seconds(seed: int) -> float:
        heap = "latency-aware"
        return hn.replay(search, MACHINE, threads=4, engine="line", heap=heap, pages="2MiB", seed=seed).seconds

    assert seconds(1) == seconds(1)
    assert seconds(1) != seconds(2)


def test_latency_aware_needs_a_ring(search: hn.Trace) -> None:
    with pytest.raises(hn.errors.UsageError, match="has no ring; allowed: machines with one"):
        hn.replay(search, "xeon-x5550-2s", threads=4, heap="latency-aware")


def test_flow_takes_the_ring_for_its_means(search: hn.Trace) -> None:
    # without single lines, blocks of lines near and far cost the same
    times = [
        hn.replay(search, MACHINE, threads=4, heap=heap, pages="2MiB").seconds for heap in ("regular", "latency-aware")
    ]
    assert times[0] == pytest.approx(times[1], rel=0.02)


def test_with_one_socket_nothing_is_remote() -> None:
    # however core-to-core latencies are drawn within their intervals, it stays a machine
    assert hn.Machine.load(MACHINE).with_changes(core_to_core_local="x1.4").nodes == 1


def test_a_machine_without_links_offers_no_change_of_them() -> None:
    machine = hn.Machine.load(MACHINE)
    assert "link_latency" not in machine.changeable_names
    with pytest.raises(hn.errors.UsageError, match=r"'link_latency'; did you mean (?!.*link_latency)"):
        machine.with_changes(link_latency="x2")
