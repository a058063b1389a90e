"""Runs of a grid that share what they did to the caches: which they are, in which order they come, and that nothing else shows it."""

from __future__ import annotations

import threading
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import homenode as hn
from homenode import _core, workers
from homenode.errors import Error
from homenode.workers import _Turns

MACHINE = "xeon-x5550-2s"


@pytest.fixture(scope="module")
def stencil(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    return hn.capture("jacobi2d", n=64, sweeps=3, output=tmp_path_factory.mktemp("shared") / "stencil.hnt")


def all_of(turns: _Turns) -> list[int]:
    """In the order in which one worker takes them."""
    order = []
    while (place := turns.take()) is not None:
        order.append(place)
        turns.ran(place)
    return order


def test_a_record_is_read_to_its_end_before_another_begins() -> None:
    assert all_of(_Turns(["a", "b", "a", None, "b", "a"])) == [0, 2, 5, 1, 4, 3]


def test_another_group_comes_before_one_that_is_being_recorded() -> None:
    turns = _Turns(["a", "a", "b", "b", None])
    assert [turns.take(), turns.take(), turns.take()] == [0, 2, 4]
    assert turns.take() == 1  # nothing is left but to wait
    turns.ran(2)
    assert turns.take() == 3
    assert turns.take() is None


def test_behind_a_stop_nothing_comes() -> None:
    turns = _Turns(["a", "a", "b", None])
    turns.take()
    turns.stop()
    turns.ran(0)
    assert turns.take() is None


def test_behind_a_run_that_failed_only_those_before_it_come() -> None:
    turns = _Turns(["a", "b", "a", "b", None, "a"])
    assert turns.take() == 0
    turns.ran(0)
    assert turns.take() == 2
    turns.stop(behind=2)
    assert all_of(turns) == [1]


@given(groups=st.lists(st.sampled_from(["a", "b", "c", None])), busy=st.integers(1, 4))
def test_every_run_has_one_turn(groups: list[Hashable | None], busy: int) -> None:
    """`busy`: so many run at a time."""
    turns, running, seen = _Turns(groups), [], []
    while (place := turns.take()) is not None:
        seen.append(place)
        running.append(place)
        if len(running) == busy:
            turns.ran(running.pop(0))
    assert sorted(seen) == list(range(len(groups)))


@pytest.mark.parametrize(
    ("change", "shares"),
    [
        ({"link_latency": "x2"}, True),
        ({"core_time": "x1.5"}, True),
        ({"core.miss_buffers": "8"}, False),
        ({"caches.2.size": "64 KiB"}, False),
    ],
)
def test_machines_share_unless_the_caches_see_a_difference(change: dict[str, str], shares: bool) -> None:
    machine = hn.Machine.load(MACHINE)
    run, other = hn.RunSpec(machine), hn.RunSpec(machine.with_changes(change))
    assert (run.what_caches_see() == other.what_caches_see()) is shares


@pytest.mark.parametrize("distribution", ["static", "dynamic:2"])
def test_a_grid_of_several_groups_has_the_times_of_its_runs_alone(stencil: hn.Trace, distribution: str) -> None:
    machine = hn.Machine.load(MACHINE)
    machines = [
        machine.with_changes({"core.miss_buffers": buffers, "link_latency": latency})
        for latency in ("x1", "x2", "x3")
        for buffers in ("6", "8")
    ]
    specs = [
        hn.RunSpec(each, threads=8, caches="lines", distribution=distribution, placement="interleave")
        for each in machines
    ]
    alone = [hn.replay_grid(stencil, spec)[0].seconds for spec in specs]
    for number in (1, 2, 3):
        assert [result.seconds for result in hn.replay_grid(stencil, specs, workers=number)] == alone
    assert len(set(alone)) > 2  # the two groups differ, and machines of one


def test_runs_that_read_a_record_were_not_worked_out_again(stencil: hn.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = hn.Machine.load(MACHINE)
    records: list[_core.CacheRecord | None] = []
    before, lock = workers.replay_here, threading.Lock()

    def noted(trace: hn.Trace, spec: hn.RunSpec, **extras: object) -> dict[str, object]:
        with lock:
            records.append(extras["record"])  # type: ignore[arg-type]
        return before(trace, spec, **extras)

    monkeypatch.setattr(workers, "replay_here", noted)
    buffers = ("6", "8", "6", "9")
    hn.replay_grid(
        stencil,
        [hn.RunSpec(machine.with_changes({"core.miss_buffers": each}), threads=2) for each in buffers],
        workers=1,
    )
    assert records[0] is records[1] is not None  # of the two with 6
    assert records[2:] == [None, None]  # alone in their groups: nobody would read a record


def test_of_runs_that_fail_the_first_one_is_told(stencil: hn.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(trace: hn.Trace, spec: hn.RunSpec, **extras: object) -> dict[str, object]:
        ran.append(spec.machine.name)
        if spec.machine.name == MACHINE:
            return before(trace, spec, **extras)
        raise Error(f"of {spec.machine.name}")

    before, ran = workers.replay_here, list[str]()
    monkeypatch.setattr(workers, "replay_here", failing)
    specs = [hn.RunSpec(name, threads=2) for name in (MACHINE, "xeon-x7560-4s", "opteron-8431-4s", MACHINE)]
    for number in (1, 2, 4):
        with pytest.raises(Error, match="of xeon-x7560-4s"):
            hn.replay_grid(stencil, specs, workers=number)
    ran.clear()
    with pytest.raises(Error, match="of xeon-x7560-4s"):
        hn.replay_grid(stencil, specs, workers=1)
    assert ran == [MACHINE, MACHINE, "xeon-x7560-4s"]  # the last of the grid reads the first one's record
