"""Types of threads from traces (S3, section 3), against what the programs mark them as."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from support import Ended

pytestmark = pytest.mark.capture

# Threads after the first, by HOMENODE_THREAD_TYPE in each kernel's routines.
KERNELS: dict[str, tuple[dict[str, int], list[str]]] = {
    "threads_autonomous": ({"integer": 2, "floating": 2}, ["autonomous"] * 4),
    "threads_side_by_side": ({"workers": 4}, ["side-by-side"] * 4),
    "threads_postponed": ({"workers": 3, "rounds": 2}, ["postponed"] + ["autonomous"] * 6),
    "threads_pingpong": ({"turns": 20}, ["side-by-side"] * 2),
    "threads_teams": ({"iterations": 20}, ["autonomous"] * 14),
    "threads_counters": ({"iterations": 20}, ["postponed"] * 4),
    "threads_mix": ({"leaders": 2, "workers": 3}, ["postponed"] + ["autonomous"] * 2 + ["side-by-side"] * 6),
}


@pytest.mark.parametrize("name", KERNELS)
def test_types_are_those_that_the_programs_mark(name: str) -> None:
    parameters, expected = KERNELS[name]
    threads = hn.capture(name, **parameters).thread_graph()["threads"]
    assert [entry["type"] for entry in threads[1:]] == expected


def test_whom_side_by_side_threads_share_with(homenode: Callable[..., Ended], tmp_path: Path) -> None:
    file = tmp_path / "mix.hnt"
    hn.capture("threads_mix", output=file, leaders=2, workers=3)
    shown = homenode("inspect", file, "--threads", "--json")
    assert shown.status == 0
    graph = json.loads(shown.stdout)["thread_graph"]
    threads = graph["threads"]
    # main 0, summariser 1, leaders 2 and 3, their threads 4 to 6 and 7 to 9: each shares with its leader's others only
    assert threads[4]["side_by_side_with"] == [5, 6]
    assert threads[9]["side_by_side_with"] == [7, 8]
    assert [entry["level"] for entry in threads] == [1, 2, 2, 2, 3, 3, 3, 3, 3, 3]
    # communication tree: the first of a group depends on its creator, the next on those before it
    assert [entry["communication_parents"] for entry in threads[4:7]] == [[2], [4], [4, 5]]
    assert threads[1]["communication_parents"] == [0]
    # what main hands over before it creates a leader is shared and no dependence
    assert graph["shared_bytes"][0][2] > 0
    assert graph["dependent_bytes"][0][2] == 0
    assert graph["dependent_bytes"][0][1] > 0
    text = homenode("inspect", file, "--threads")
    assert "side-by-side with 5, 6" in text.stdout
    for shown in (text, homenode("map", file, "--machine", "xeon-x5550-2s"), homenode("classify", "threads_mix")):
        assert "autonomous: exchanges data with no other thread while it runs; side-by-side: " in shown.stdout
        assert "postponed: with its creator alone" in shown.stdout
