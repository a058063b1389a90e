"""The Python package: what architecture.md promises of it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import homenode as hn
from homenode import errors


def test_result_has_the_promised_members(trace: hn.Trace) -> None:
    result = hn.replay(
        trace, hn.Machine.load("xeon-x7560-4s"), threads=32, placement="first-touch", distribution="static"
    )
    assert result.seconds > 0
    assert list(result.threads.index) == list(range(32))
    assert {"busy_seconds", "idle_seconds", "local_bytes", "remote_bytes"} <= set(result.threads.columns)
    assert result.traffic.shape == (4, 4)
    assert "sweep" in result.regions.index
    document = json.loads(result.to_json())
    assert document["runs"][0]["seconds"] == result.seconds


def test_same_replay_same_bytes(trace: hn.Trace) -> None:
    first, second = (
        hn.replay(trace, "xeon-x5550-2s", threads=8, distribution="dynamic:3", seed=7).to_json() for _ in range(2)
    )
    assert first == second


def test_serial_initialisation_puts_every_page_on_its_node(trace: hn.Trace) -> None:
    # thread 0 runs on node 0 and initialises: first touch = bind:0, page for page and so second for second
    touched = hn.replay(trace, "xeon-x7560-4s", threads=16, placement="first-touch")
    bound = hn.replay(trace, "xeon-x7560-4s", threads=16, placement="bind:0")
    heap = touched.run["pages_by_node"]
    assert heap[0] > 0.8 * sum(heap)
    assert bound.run["pages_by_node"] == [sum(heap), 0, 0, 0]


def test_following_a_log_repeats_the_run(trace: hn.Trace) -> None:
    free = hn.replay(trace, "xeon-x5550-2s", threads=4, distribution="dynamic:2", keep_log=True)
    assert free.log is not None
    followed = hn.replay(trace, "xeon-x5550-2s", threads=4, distribution="dynamic:2", follow=free.log)
    assert followed.seconds == free.seconds


def test_a_grid_gives_what_each_run_gives_alone(trace: hn.Trace) -> None:
    # runs of a grid share what slices do to the caches where placement and latencies do not touch it; nothing of it shows
    slower = hn.Machine.load("xeon-x5550-2s").with_changes(link_bandwidth="6 GB/s")
    choices = hn.grid(
        [hn.Machine.load("xeon-x5550-2s"), slower],
        [8],
        placement=["interleave", "first-touch", "bind:1", "stencil-aware", "first-touch+autonuma"],
        distribution=["static", "dynamic:2"],
    )
    for choice, together in zip(choices, hn.replay_grid(trace, choices, workers=2), strict=True):
        alone = hn.replay_grid(trace, [choice])[0]
        assert {**together.run, "regret": 0} == {**alone.run, "regret": 0}


def test_runs_of_several_seeds_give_what_each_gives_alone(trace: hn.Trace) -> None:
    # where nothing pins the threads, the seed decides on which core each begins, and so what the caches of that core see
    machine = hn.Machine.load("xeon-x7560-4s")
    choices = [hn.RunSpec(machine, threads=16, mapping="unpinned", caches="runs", seed=seed) for seed in range(6)]
    together = [result.seconds for result in hn.replay_grid(trace, choices, workers=2)]
    assert together == [hn.replay_grid(trace, [choice])[0].seconds for choice in choices]


def test_machine_changes() -> None:
    machine = hn.Machine.load("xeon-x7560-4s")
    faster = machine.with_changes(link_bandwidth="25 GB/s")
    assert faster.hash != machine.hash
    assert faster.changes == {"link_bandwidth": "25 GB/s"}
    assert (faster.bandwidth >= machine.bandwidth).all()
    assert faster.with_changes({"link_bandwidth": "12.8 GB/s"}).hash == machine.hash
    assert hn.Machine.from_toml(faster.to_toml()).hash == faster.hash
    assert "link_bandwidth" in machine.changeable_names
    assert machine.latency_ns.shape == (4, 4)
    with pytest.raises(errors.UsageError, match="bogus"):
        machine.with_changes(bogus="1 ns")


def test_errors_are_classes_of_their_own(trace: hn.Trace, tmp_path: object) -> None:
    with pytest.raises(errors.UsageError, match="unknown machine"):
        hn.Machine.load("bogus")
    with pytest.raises(errors.InputError, match="no trace"):
        hn.Trace.open("missing.hnt")
    with pytest.raises(errors.UsageError, match="unknown kernel"):
        hn.capture("bogus")
    with pytest.raises(errors.UsageError, match="either a kernel or a command"):
        hn.capture()
    with pytest.raises(errors.UsageError, match="33 threads"):
        hn.replay(trace, "xeon-x7560-4s", threads=33)


class TestPythonPlacement:
    """Placements written in Python."""

    def test_equals_the_built_in_one_that_it_imitates(self, trace: hn.Trace) -> None:
        batches: list[int] = []

        @hn.page_placement("imitated-first-touch")
        def place(faults: hn.PageFaults) -> np.ndarray:
            batches.append(len(faults))
            return faults.node

        mine = hn.replay(trace, "opteron-8431-4s", threads=24, placement="imitated-first-touch")
        built_in = hn.replay(trace, "opteron-8431-4s", threads=24, placement="first-touch")
        assert mine.seconds == built_in.seconds
        assert mine.run["pages_by_node"] == built_in.run["pages_by_node"]
        assert 0 < len(batches) < sum(batches)  # called by the batch, not by the page

    def test_sees_every_column(self, trace: hn.Trace) -> None:
        seen: list[hn.PageFaults] = []

        @hn.page_placement("looking")
        def place(faults: hn.PageFaults) -> list[int]:
            seen.append(faults)
            return [0] * len(faults)

        result = hn.replay(trace, "xeon-x5550-2s", threads=8, placement="looking")
        assert result.run["pages_by_node"][1] == 0
        for faults in seen:
            assert (np.diff(faults.page.astype(np.int64)) >= 0).all()  # in address order
            assert (faults.thread < 8).all()
            assert (faults.node == faults.core // 4).all()  # 4 cores a node
            assert (faults.time_ps >= 0).all()
            assert faults.write.dtype == np.bool_
            assert (faults.object < len(trace.objects)).all()
            assert faults.machine.nodes == 2

    def test_a_class_is_created_anew_for_each_run(self, trace: hn.Trace) -> None:
        @hn.page_placement("round")
        class Round:
            def __init__(self) -> None:
                self.placed = 0

            def __call__(self, faults: hn.PageFaults) -> np.ndarray:
                nodes = (self.placed + np.arange(len(faults))) % faults.machine.nodes
                self.placed += len(faults)
                return nodes

        first, second = (hn.replay(trace, "xeon-x7560-4s", threads=8, placement="round").to_json() for _ in range(2))
        assert first == second

    def test_on_the_reference_engine(self, trace: hn.Trace) -> None:
        hn.page_placement("last-node")(lambda faults: [faults.machine.nodes - 1] * len(faults))
        result = hn.replay(trace, "xeon-x5550-2s", threads=2, placement="last-node", engine="simgrid")
        assert result.run["pages_by_node"][0] == 0

    def test_exception_is_the_cause(self, trace: hn.Trace) -> None:
        @hn.page_placement("dividing")
        def place(faults: hn.PageFaults) -> list[int]:
            return [1 // 0]

        with pytest.raises(errors.PolicyError, match="'dividing' raised ZeroDivisionError") as caught:
            hn.replay(trace, "xeon-x5550-2s", threads=2, placement="dividing")
        cause = caught.value.__cause__
        assert isinstance(cause, ZeroDivisionError)
        assert cause.__traceback__ is not None
        frames = []
        step = cause.__traceback__
        while step is not None:
            frames.append(step.tb_frame.f_code.co_name)
            step = step.tb_next
        assert "place" in frames

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (lambda faults: [0] * (len(faults) + 1), "one node for each"),
            (lambda faults: [], "one node for each"),
            (lambda faults: np.zeros((len(faults), 2), dtype=int), "one node for each"),
            (lambda faults: 0, "one node for each"),
            (lambda faults: np.full(len(faults), 0.5), "integers"),
            (
                lambda faults: faults.page - np.int64(1),
                r"float64 of uint64 and int64: .astype\('int64'\)\); allowed: integers",
            ),
            (lambda faults: None, "one node for each"),
            (lambda faults: ["node"] * len(faults), "integers"),
            (lambda faults: np.full(len(faults), 2), "on node 2; allowed"),
            (lambda faults: np.full(len(faults), -1), "on node -1; allowed"),
            (lambda faults: np.full(len(faults), 2**63, dtype=np.uint64), "allowed"),
        ],
    )
    def test_wrong_answers(self, trace: hn.Trace, answer: object, message: str) -> None:
        hn.page_placement("wrong")(answer)  # type: ignore[arg-type]
        with pytest.raises(errors.PolicyError, match=message):
            hn.replay(trace, "xeon-x5550-2s", threads=2, placement="wrong")

    def test_names(self) -> None:
        with pytest.raises(errors.UsageError, match="built in"):
            hn.page_placement("interleave")
        with pytest.raises(errors.UsageError, match="small letter"):
            hn.page_placement("Not A Name")
        hn.page_placement("listed")(lambda faults: faults.node)
        assert "listed" in [policy["name"] for policy in hn.policies("placement")]


def test_import_is_light() -> None:
    """`import homenode` loads neither pandas nor rich: command lines and workers start fast."""
    code = "import homenode, sys; print([name for name in ('pandas', 'rich', 'click', 'scipy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
