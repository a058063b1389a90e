"""OpenMP tasks as the recorder cuts them out of the code that creates them, and what a replay makes of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import _core, compiler, errors
from support import ROOT, Ended

PROGRAMS = ROOT / "tests" / "python" / "tracing_programs"
MACHINE = "xeon-x5550-2s"
TASKS, EACH = 16, 2048
MODES = [
    "independent",
    "chain",
    "diamonds 5",
    "nested 8",
    "producers",
    "in_a_loop",
    "loops",
    "groups",
    "undeferred",
    "reductions",
]

Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tasks") / "tasks"
    assert compiler.main(["-O2", "-g", "-fopenmp", str(PROGRAMS / "tasks.c"), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same program with gcc's own OpenMP."""
    path = tmp_path_factory.mktemp("native") / "tasks"
    subprocess.run(["gcc", "-O2", "-fopenmp", str(PROGRAMS / "tasks.c"), "-o", str(path)], check=True)
    return path


def captured(program: Path, mode: str, threads: int = 1, **settings: Any) -> hn.Trace:
    return hn.capture(command=[program, *mode.split()], threads=threads, **settings)


def task_regions(trace: hn.Trace) -> list[dict[str, Any]]:
    return [entry for entry in trace.inspect()["regions"] if entry["kind"] == "task"]


def losses(trace: hn.Trace) -> list[str]:
    return [loss["reason"] for loss in trace.inspect()["losses"]]


def seconds_of_tasks(trace: hn.Trace, threads: int, **choice: Any) -> float:
    result = hn.replay(trace, MACHINE, threads=threads, **choice)
    return float(sum(result.regions.seconds[entry["label"]] for entry in task_regions(trace)))


@pytest.mark.parametrize("mode", MODES)
def test_programs_with_tasks_compute_what_they_do_natively(
    program: Path, native: Path, mode: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "3"}
    done = subprocess.run([native, *mode.split()], capture_output=True, text=True, check=True, env=environment)
    hashes = set()
    for _ in range(2):
        trace = captured(program, mode, threads=3, output=tmp_path / "trace.hnt")
        hashes.add(trace.hash)
        assert _core.check_trace(tmp_path / "trace.hnt") == []
        # every event of tasks is one that a replay understands
        assert hn.replay(trace, MACHINE, threads=3).seconds > 0
    assert done.stdout in capfd.readouterr().out
    assert len(hashes) == 1


def test_independent_tasks_are_counted_by_hand_and_run_at_once(program: Path) -> None:
    trace = captured(program, "independent")
    (tasks,) = task_regions(trace)
    # each task reads and writes its EACH elements once, and reads its number
    assert tasks["items"] == TASKS
    assert (tasks["reads"], tasks["writes"]) == (TASKS * (EACH + 1), TASKS * EACH)
    # 16 equal tasks take two rounds on eight threads: 8 times as fast, less what they share and the last round's ragged end
    one, eight = (seconds_of_tasks(trace, threads) for threads in (1, 8))
    assert one / 8 <= eight < one / 4


def test_a_chain_of_dependences_stays_serial(program: Path) -> None:
    trace = captured(program, "chain")
    one, eight = (seconds_of_tasks(trace, threads) for threads in (1, 8))
    # who depends on who came before runs after it: the sum of the tasks is the least time, wherever they run
    assert eight >= 0.99 * one


def test_readers_of_one_writer_run_at_once(program: Path) -> None:
    trace = captured(program, "diamonds 40")
    # four places create tasks, forty each
    assert [entry["items"] for entry in task_regions(trace)] == [40] * 4


def test_nested_tasks_wait_for_their_children(program: Path) -> None:
    def created(n: int) -> int:
        return 0 if n < 2 else 2 + created(n - 1) + created(n - 2)

    trace = captured(program, "nested 12")
    assert sum(entry["items"] for entry in task_regions(trace)) == created(12) == 464
    # x and y lie in the frame of the call that waits: shared, and each call of a task has its own
    frames = [entry for entry in trace.inspect()["objects"] if entry["kind"] == "stack" and entry["symbol"] == "fib"]
    assert len(frames) > 100


def test_several_producers_bind_the_construct_to_its_team(program: Path) -> None:
    trace = captured(program, "producers", threads=4)
    assert [entry["items"] for entry in task_regions(trace)] == [3 * 4]
    with pytest.raises(
        errors.UsageError, match=r"bound to the ranks of a team of 4 .* allowed: --threads 4 or more, found 2"
    ):
        hn.replay(trace, MACHINE, threads=2)
    # four threads create the tasks, any thread runs them
    assert hn.replay(trace, MACHINE, threads=8).run["threads"] == 8


def test_tasks_of_a_loops_iterations_run_with_any_team(program: Path) -> None:
    trace = captured(program, "in_a_loop", threads=2)
    assert [entry["items"] for entry in task_regions(trace)] == [TASKS]
    assert hn.replay(trace, MACHINE, threads=8, distribution="dynamic:1").seconds > 0


def test_taskloops_are_cut_as_libgomp_cuts_them(program: Path) -> None:
    trace = captured(program, "loops", threads=4)
    # 32 iterations of at least 5: 32 / 5 = 6 tasks; num_tasks(3); one a thread; none where there is no iteration
    assert [entry["items"] for entry in task_regions(trace)] == [6, 3, 4]
    assert [entry["writes"] for entry in task_regions(trace)] == [32, 10, 20]
    assert not [reason for reason in losses(trace) if "taskloop" in reason]
    alone = captured(program, "loops")
    assert [entry["items"] for entry in task_regions(alone)] == [6, 3, 1]
    assert [reason for reason in losses(alone) if "taskloop without grainsize or num_tasks" in reason]


def test_tasks_that_nobody_else_may_run_stay_where_they_are(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = captured(program, "undeferred")
    # of tasks outside of parallel regions, if(0), a final task and its child, only the final one may be deferred
    assert [entry["items"] for entry in task_regions(trace)] == [1]
    assert "undeferred 0: 1" in capfd.readouterr().out


def test_reductions_over_tasks_are_told_of(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = captured(program, "reductions", threads=2)
    # 1 + 0 + ... + 9; the largest i (19 - i) is 9 * 10; 0 + ... + 9 and the even ones once more; the odd ones; 7
    assert f"reductions 0: {46 * 1000000 + 90 * 10000 + 65 * 100 + 25 + 7}" in capfd.readouterr().out
    assert [entry["items"] for entry in task_regions(trace)] == [10, 10, 6]
    assert [reason for reason in losses(trace) if reason.startswith("task reduction: ")]


def test_a_task_that_asks_for_its_thread_is_noted(program: Path) -> None:
    assert [reason for reason in losses(captured(program, "asks")) if "asks for its thread number" in reason]


def test_cxx_tasks_copy_their_objects(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program"
    assert compiler.main(["-O2", "-g", "-fopenmp", str(PROGRAMS / "tasks.cpp"), "-o", str(path)], "c++") == 0
    trace = captured(path, "", threads=2)
    # task n sums n ... 8 n numbers from 8 n on: m m + m (m - 1) / 2 with m = 8 n
    total = sum(m * m + m * (m - 1) // 2 for m in range(8, 81, 8))
    assert f"10 {total}" in capfd.readouterr().out
    (tasks,) = task_regions(trace)
    assert tasks["items"] == 10
    assert hn.replay(trace, MACHINE, threads=8).seconds > 0


def test_a_detached_task_is_refused_by_name(homenode: Run, tmp_path: Path) -> None:
    built = homenode("cc", "-fopenmp", str(PROGRAMS / "tasks_detached.c"), "-o", "detached")
    assert built.status == 0, built.stderr
    ended = homenode("capture", "-o", "detached.hnt", "--", "./detached")
    assert "a task has a detach clause, which cannot be recorded" in ended.stderr


@pytest.fixture(scope="module")
def jacobi(tmp_path_factory: pytest.TempPathFactory) -> dict[str, hn.Trace]:
    """S4's two orders of creation."""
    return {order: hn.capture("jacobi3d_tasks", order=order, threads=2) for order in ("ijk", "kji")}


def test_jacobi3d_tasks_are_replayed_block_by_block(jacobi: dict[str, hn.Trace]) -> None:
    by_order = {
        order: {entry["label"]: entry for entry in trace.inspect()["regions"]} for order, trace in jacobi.items()
    }
    for regions in by_order.values():
        # (48 / 8)^2 blocks of 8 x 8 x 48 sites and two sweeps; six reads and a write for each of 46^3 inner sites
        assert regions["sweep:task"]["items"] == 2 * 36
        assert regions["sweep:task"]["writes"] == 2 * 46**3
        assert 0 <= regions["sweep:task"]["reads"] - 2 * 6 * 46**3 < 2 * 36 * 20
    assert jacobi["ijk"].hash != jacobi["kji"].hash
    assert by_order["ijk"]["sweep:task"]["accesses"] == by_order["kji"]["sweep:task"]["accesses"]


def test_jacobi3d_tasks_run_faster_with_more_threads(jacobi: dict[str, hn.Trace]) -> None:
    blocks = hn.replay(hn.capture("jacobi3d"), MACHINE, threads=1).regions.seconds["sweep"]
    for trace in jacobi.values():
        one, eight = (seconds_of_tasks(trace, threads, distribution="tasks") for threads in (1, 8))
        # one thread does the same work in the same order, however it is cut
        assert one == pytest.approx(blocks, rel=0.02)
        # who runs a block does not own its pages: links and controllers hold eight threads up, so not eight times as fast
        assert eight < one / 2


def test_a_loops_distribution_is_refused_for_tasks(jacobi: dict[str, hn.Trace]) -> None:
    with pytest.raises(errors.UsageError, match="consists of tasks, which distribution 'static' does not run"):
        hn.replay(jacobi["ijk"], MACHINE, threads=4, distribution="sweep:task@static")


def test_traces_of_tasks_are_extrapolated(tmp_path: Path) -> None:
    """The events that create tasks are numbers like any other: more steps, and blocks, create more of them."""
    files = {}
    for n in (48, 64, 80, 96, 112):
        files[n] = tmp_path / f"{n}.hnt"
        hn.capture("jacobi3d_tasks", output=files[n], ni=n, nj=24, nk=24, bk=24, init="serial", check=0)
    held_out = files.pop(96)
    expected = hn.Trace.open(files.pop(112)).hash
    made = hn.extrapolate(*files.values(), check=held_out, output=tmp_path / "made.hnt", ni=112)
    assert made.hash == expected
