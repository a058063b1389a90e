"""Estimates by the closed form, through the public package."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest

import homenode as hn
from homenode.errors import UsageError

MACHINE = "xeon-x5550-2s"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Four sweeps over 256 rows."""
    return hn.capture("jacobi2d", output=tmp_path_factory.mktemp("traces") / "j.hnt", n=256, sweeps=4)


@pytest.mark.parametrize("distribution", ["static", "latency-weighted", "auto:libomp"])
def test_estimates_are_near_a_replay(trace: hn.Trace, distribution: str) -> None:
    # |estimate / replay - 1| < 0.15: the closed form has the engine's physics, not its events, and knows no heap.
    estimate = hn.estimate(trace, MACHINE, threads=8, distribution=distribution)
    replayed = hn.replay(trace, MACHINE, threads=8, distribution=distribution, heap="plain")
    assert estimate.seconds == pytest.approx(replayed.seconds, rel=0.15)
    sweep = estimate.region("sweep")
    assert sweep.executions == 4
    assert sweep.thread_seconds.shape == (8,)
    assert numpy.isclose(sweep.weights.sum(), 1)


def test_chunks_have_boundaries_and_plain_values(trace: hn.Trace) -> None:
    estimate = hn.estimate(trace, MACHINE, threads=8)
    sweep = estimate.region("sweep")
    assert sweep.boundaries is not None
    # 254 inner rows for 8 threads: six have 32, two 31.
    assert numpy.diff(sweep.boundaries).tolist() == [32] * 6 + [31] * 2
    document = json.loads(estimate.to_json())
    assert document["schema"] == "homenode.estimate/1"
    assert [region["label"] for region in document["regions"]] == [region.label for region in estimate.regions]
    assert hn.estimate(trace, MACHINE, threads=8).to_json() == estimate.to_json()
    assert hn.estimate(trace, MACHINE, threads=8, distribution="static:1").region("sweep").boundaries is None


def test_what_it_does_not_estimate_is_refused(trace: hn.Trace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="9 threads"):
        hn.estimate(trace, MACHINE, threads=9)
    tasks = hn.capture("jacobi3d_tasks", output=tmp_path / "t.hnt", ni=16, nj=16, nk=16, sweeps=1)
    with pytest.raises(UsageError, match="consists of tasks"):
        hn.estimate(tasks, MACHINE, threads=4)


def test_collapsed_loops_are_cut_into_blocks_of_three_dimensions(tmp_path: Path) -> None:
    # 8 x 8 x 8 blocks of 4 x 4 x 4 sites, which the trace knows as 512 iterations
    size = {"ni": 32, "nj": 32, "nk": 32, "bi": 4, "bj": 4, "bk": 4}
    trace = hn.capture("jacobi3d", output=tmp_path / "j3.hnt", sweeps=2, check=0, **size)
    with pytest.raises(UsageError, match="how the 512 iterations of region 'init' form 3 dimensions"):
        hn.estimate(trace, MACHINE, threads=8, distribution="latency-weighted:dims=3")
    blocks = "latency-weighted:dims=3,rows=8,columns=8"
    schedule = hn.estimate(trace, MACHINE, threads=8, distribution=blocks).region("init").schedule
    assert sum(last - first for first, last, _ in schedule.tolist()) == 512
    # 2 x 2 x 2 blocks have the least surface; thread 5 = (1, 0, 1): i from 4, j to 3, k from 4 on
    of_thread = [(first, last) for first, last, thread in schedule.tolist() if thread == 5]
    assert of_thread == [((i * 8 + j) * 8 + 4, (i * 8 + j) * 8 + 8) for i in range(4, 8) for j in range(4)]
    replayed = hn.replay(trace, MACHINE, threads=8, distribution=blocks)
    assert hn.estimate(trace, MACHINE, threads=8, distribution=blocks).seconds == pytest.approx(
        replayed.seconds, rel=0.25
    )
    assert replayed.run["accesses"] == hn.replay(trace, MACHINE, threads=8).run["accesses"]
