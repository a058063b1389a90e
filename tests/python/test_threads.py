"""Programs that create threads by themselves (POSIX): captured, checked, inspected, replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import compiler
from support import ROOT, Ended

pytestmark = pytest.mark.capture
PROGRAMS = ROOT / "tests" / "python" / "tracing_programs"
MACHINE = "xeon-x7560-4s"


@pytest.fixture(scope="session")
def programs(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str) -> Path:
        program = folder / name
        if not program.exists():
            source = PROGRAMS / f"{name}.c"
            assert compiler.main(["-O2", "-g", "-pthread", str(source), "-o", str(program)]) == 0
        return program

    return build


def captured(program: Path, *arguments: str) -> hn.Trace:
    return hn.capture(command=[program, *arguments], timeout=60)


def by_label(trace: hn.Trace) -> dict[str, dict[str, Any]]:
    return {entry["label"]: entry for entry in trace.inspect()["regions"]}


def parents(trace: hn.Trace) -> list[int | None]:
    return [entry["parent"] for entry in trace.thread_graph()["threads"]]


def test_accesses_of_threads_counted_by_hand(programs: Callable[[str], Path]) -> None:
    trace = captured(programs("adders"))
    add = by_label(trace)["add"]
    assert (add["kind"], add["executions"]) == ("thread", 3)
    # each of 3 threads: 100 elements written, then read; the total read and written
    assert (add["reads"], add["writes"]) == (3 * 101, 3 * 101)
    graph = trace.thread_graph()
    assert [entry["parent"] for entry in graph["threads"]] == [None, 0, 0, 0]
    assert [entry["joined_by"] for entry in graph["threads"]] == [None, 0, 0, 0]
    assert [entry["routine"] for entry in graph["threads"]] == ["main", "add", "add", "add"]
    # the total, 8 bytes, is all that two threads share, and all that main reads of them
    assert graph["shared_bytes"] == [[0, 0, 0, 0], [8, 0, 8, 8], [8, 8, 0, 8], [8, 8, 8, 0]]
    assert [entry["written_bytes"] for entry in graph["threads"][1:]] == [808, 808, 808]


def test_work_counts_are_each_threads_own(programs: Callable[[str], Path]) -> None:
    trace = captured(programs("adders"))
    add = by_label(trace)["add"]
    # two loops of 100 turns in each of 3 threads, with one store, one load; vectorised by two at most
    assert 3 * 100 <= add["work"]["instructions"] < 3 * 100 * 2 * 6
    assert 3 * 50 <= add["work"]["store"] < 3 * 100 + 3 * 10


def test_replay_needs_the_programs_threads(programs: Callable[[str], Path]) -> None:
    trace = captured(programs("adders"))
    assert hn.replay(trace, MACHINE, threads=4).seconds > 0
    with pytest.raises(hn.errors.UsageError, match="--threads 4"):
        hn.replay(trace, MACHINE, threads=3)


KERNELS: dict[str, tuple[dict[str, int], list[int | None]]] = {
    "threads_autonomous": ({"integer": 2, "floating": 2}, [None, 0, 0, 0, 0]),
    "threads_side_by_side": ({"workers": 4}, [None, 0, 0, 0, 0]),
    "threads_postponed": ({"workers": 3, "rounds": 2}, [None, 0, 0, 0, 0, 0, 0, 0]),
    "threads_pingpong": ({"turns": 20}, [None, 0, 0]),
    "threads_teams": ({"iterations": 20}, [None, *[0] * 14]),
    "threads_counters": ({"iterations": 20}, [None, 0, 0, 0, 0]),
    # main, the summariser, two leaders, three threads of each leader
    "threads_mix": ({"leaders": 2, "workers": 3}, [None, 0, 0, 0, 2, 2, 2, 3, 3, 3]),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_with_threads(name: str, homenode: Callable[..., Ended], tmp_path: Path) -> None:
    parameters, creators = KERNELS[name]
    file = tmp_path / f"{name}.hnt"
    trace = hn.capture(name, output=file, **parameters)
    assert hn.capture(name, **parameters).hash == trace.hash
    assert homenode("check", file).status == 0
    assert parents(trace) == creators
    assert [entry["joined_by"] for entry in trace.thread_graph()["threads"]] == creators  # each by whom created it
    for mapping in ("compact", "scatter"):
        assert hn.replay(trace, MACHINE, threads=len(creators), mapping=mapping).seconds > 0
    assert homenode("replay", file, "--machine", MACHINE, "--threads", len(creators)).status == 0
    shown = homenode("inspect", file, "--threads")
    assert shown.status == 0
    assert "Bytes that one thread writes and another reads" in shown.stdout


def shared(name: str) -> list[list[int]]:
    matrix: list[list[int]] = hn.capture(name, **KERNELS[name][0]).thread_graph()["shared_bytes"]
    return matrix


def test_autonomous_threads_share_nothing(programs: Callable[[str], Path]) -> None:
    matrix = shared("threads_autonomous")
    workers = range(1, 5)
    assert all(matrix[a][b] == 0 for a in workers for b in workers)
    assert [matrix[0][k] for k in workers] == [16] * 4  # elements and rounds, which main wrote


def test_side_by_side_threads_share_their_borders() -> None:
    matrix = shared("threads_side_by_side")
    # a ring of 4 parts in two arrays: of a neighbour's part one number of 8 bytes in each
    for writer in range(1, 5):
        for reader in range(1, 5):
            neighbours = (writer - reader) % 4 in (1, 3)
            assert matrix[writer][reader] == (16 if neighbours else 0)


def test_a_postponed_thread_hears_of_its_creator_only() -> None:
    matrix = shared("threads_postponed")
    logger = 1
    assert all(matrix[worker][logger] == 0 and matrix[logger][worker] == 0 for worker in range(2, 8))
    assert matrix[0][logger] > 0
    assert matrix[logger][0] == 8  # how many lines it took


def test_pingpong_shares_the_word_and_whose_turn_it_is() -> None:
    matrix = shared("threads_pingpong")
    assert matrix[1][2] == matrix[2][1] == 16


@pytest.mark.parametrize(
    ("way", "result"),
    [
        ("spin", 42),
        ("volatile", 43),
        ("poll", 44),
        ("semaphores", sum(i * 2 ** (10 - i) for i in range(1, 11))),
        ("timeouts", 3),
        ("kinds", 1 + 2 + 3 * 4 + 100 + 1000),
        ("once", 31),
        ("readers", 11),
        ("ends", 14),
        ("cancelled", 1),
        ("left_behind", 5),
        ("first_leaves", 6),
        ("awaited", 511),
        ("suspended", 71),
    ],
)
def test_ways_to_wait(
    way: str, result: int, programs: Callable[[str], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trace = hn.capture(command=[programs("waits"), way], output=tmp_path / "waits.hnt", timeout=60)
    assert capfd.readouterr().out.splitlines()[-1] == str(result)
    assert trace.complete
    assert captured(programs("waits"), way).hash == trace.hash
    threads = max(len(trace.thread_graph()["threads"]), 1)
    assert hn.replay(trace, MACHINE, threads=threads).seconds > 0


def test_what_is_replayed_otherwise_is_a_loss(programs: Callable[[str], Path]) -> None:
    def losses(way: str) -> list[str]:
        return [loss["reason"] for loss in captured(programs("waits"), way).inspect()["losses"]]

    assert any("spin on a word" in reason for reason in losses("spin"))
    assert any("no work counts" in reason for reason in losses("spin"))
    assert any("reader-writer" in reason for reason in losses("readers"))
    assert any("wait for a signal" in reason for reason in losses("suspended"))
    assert any("not atomic" in reason for reason in losses("volatile"))
    assert not any("spin" in reason or "lock" in reason or "thread" in reason for reason in losses("semaphores"))


def test_a_deadlock_is_told(programs: Callable[[str], Path], capfd: pytest.CaptureFixture[str]) -> None:
    trace = captured(programs("waits"), "deadlock")
    said = capfd.readouterr().err
    assert (
        "deadlock: no thread can go on; thread 0 waits in pthread_cond_wait, thread 1 waits in pthread_cond_wait"
        in said
    )
    assert not trace.complete


def test_threads_of_the_standard_library(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "std_threads"
    source = PROGRAMS / "std_threads.cpp"
    assert compiler.main(["-O2", "-g", "-std=c++17", "-pthread", str(source), "-o", str(program)], "c++") == 0
    trace = captured(program)
    # twice the sum of the squares below 50
    assert "80850 80850" in capfd.readouterr().out
    assert parents(trace) == [None, 0, 0, 0, 0]
    # named by the program's own functions, not by the library's
    routines = [entry["routine"] for entry in trace.thread_graph()["threads"][1:]]
    assert [routine.split("::")[-1] for routine in routines] == ["consume", "produce", "{lambda()#1}", "{lambda()#2}"]


POOL = """#include <mutex>
#include <thread>
#include <vector>
struct Pool {
  std::vector<std::thread> workers;
  std::mutex mutex;
  int next = 0;
  explicit Pool(unsigned long count, std::vector<double>* data) {
    for (unsigned long k = 0; k < count; ++k)
      workers.emplace_back([this, data] {
        for (;;) {
          int task;
          { std::lock_guard<std::mutex> guard(mutex); task = next++; }
          if (task >= 64) return;
          for (int i = 0; i < 1000; ++i) (*data)[task * 1000 + i] += 1;
        }
      });
  }
};
int main() {
  std::vector<double> data(64000);
  Pool pool(4, &data);
  for (auto& worker : pool.workers) worker.join();
  return 0;
}
"""


def test_the_workers_of_a_pool_take_turns(tmp_path: Path) -> None:
    (tmp_path / "pool.cpp").write_text(POOL)
    program = tmp_path / "pool"
    assert compiler.main(["-O2", "-g", str(tmp_path / "pool.cpp"), "-o", str(program)], "c++") == 0
    trace = hn.capture(command=[program])
    regions = [region for region in trace.inspect()["regions"] if region["kind"] == "thread"]
    # the whole of its function's name, whose parameters have commas and spaces
    assert all(region["label"].startswith("Pool::Pool(unsigned_long,std::vector<") for region in regions)
    busy = [thread["busy_seconds"] for thread in hn.replay(trace, "xeon-x7560-4s").run["threads_detail"][1:]]
    assert len(busy) == 4
    assert max(busy) < 1.5 * min(busy)
    assert captured(program).hash == trace.hash
    assert hn.replay(trace, MACHINE, threads=5).seconds > 0
    # starting and joining threads is in the trace, not in unseen code
    assert not {"std::thread::_M_start_thread", "std::thread::join"} & {
        e["function"] for e in trace.unseen["functions"]
    }


# What one thread at a time may have: a lock, conditions, barriers with unequal shares, semaphores. The same simulation loop replays
# synchronisation whatever the engine; what differs is how bandwidth is shared between two events.
CONTENDED = ["locked", "in_turn", "by_steps", "two_at_a_time"]


@pytest.fixture(scope="session")
def contended(programs: Callable[[str], Path]) -> Callable[[str], hn.Trace]:
    known: dict[str, hn.Trace] = {}

    def trace(way: str) -> hn.Trace:
        return known.setdefault(way, captured(programs("contended"), way))

    return trace


@pytest.mark.parametrize("placement", ["first-touch", "bind:0"])
@pytest.mark.parametrize("way", CONTENDED)
def test_synchronisation_is_the_same_on_both_engines(
    contended: Callable[[str], hn.Trace], way: str, placement: str
) -> None:
    flow, simgrid = (
        hn.replay(contended(way), MACHINE, threads=5, engine=engine, placement=placement)
        for engine in ("flow", "simgrid")
    )
    # |simgrid / flow - 1| <= 0.5 %
    assert simgrid.seconds == pytest.approx(flow.seconds, rel=0.005)
    assert list(simgrid.threads["busy_seconds"]) == pytest.approx(list(flow.threads["busy_seconds"]), rel=0.005)


@pytest.mark.parametrize("engine", ["flow", "simgrid"])
def test_threads_wait_for_what_another_has(contended: Callable[[str], hn.Trace], engine: str) -> None:
    def seconds(way: str) -> float:
        return float(hn.replay(contended(way), MACHINE, threads=5, engine=engine).seconds)

    # 6 rounds of one sweep alone and one under the lock, 4 threads: the lock's 24 sweeps follow each other, whoever waits
    # in_turn: likewise; two_at_a_time: 6 x 4 x 2 sweeps two at a time, and 24 one after the other; by_steps: 6 steps of 4 sweeps at most
    sweep = seconds("by_steps") / (6 * 4)
    assert seconds("locked") >= 24 * sweep * 0.99
    assert seconds("in_turn") >= 24 * sweep * 0.99
    assert seconds("two_at_a_time") >= 24 * sweep * 0.99


def test_whose_turn_it_is_not_waits_natively_and_in_a_replay() -> None:
    turns = 300
    trace = hn.capture("threads_pingpong", turns=turns, check=0)
    wakeup = 3e-6  # of the system `default`
    run = hn.replay(trace, "xeon-x5550-2s", threads=3, mapping="scatter", engine="line")
    # natively one change of threads for each turn (perf stat)
    assert 0.9 * 2 * turns * wakeup < run.seconds < 1.5 * 2 * turns * wakeup


@pytest.mark.parametrize("name", ["threads_pingpong", "threads_postponed", "threads_mix"])
def test_kernels_with_threads_on_both_engines(name: str) -> None:
    trace = hn.capture(name, **KERNELS[name][0])
    threads = len(KERNELS[name][1])
    flow, simgrid = (
        hn.replay(trace, MACHINE, threads=threads, engine=engine).seconds for engine in ("flow", "simgrid")
    )
    assert simgrid == pytest.approx(flow, rel=0.005)


@pytest.mark.parametrize("way", ["spin", "poll", "semaphores", "once", "readers", "ends", "cancelled"])
def test_ways_to_wait_on_both_engines(programs: Callable[[str], Path], way: str) -> None:
    trace = captured(programs("waits"), way)
    threads = max(len(trace.thread_graph()["threads"]), 1)
    flow, simgrid = (
        hn.replay(trace, MACHINE, threads=threads, engine=engine).seconds for engine in ("flow", "simgrid")
    )
    assert simgrid == pytest.approx(flow, rel=0.005)


@pytest.mark.parametrize("engine", ["flow", "simgrid"])
def test_a_deadlock_of_the_replay_names_its_cycle(contended: Callable[[str], hn.Trace], engine: str) -> None:
    # captured one thread after the other, two locks taken in either order go well; side by side they do not
    cycle = r"deadlock.*cycle: thread (\d) waits for lock \d, held by thread (\d); thread \2 waits for lock \d, held by thread \1"
    with pytest.raises(hn.errors.Error, match=cycle):
        hn.replay(contended("crossed"), MACHINE, threads=5, engine=engine)


ATOMICS = """#include <atomic>
std::atomic<long> shared{1};
double sum = 0;
int main() {
  long seen = 0;
  for (int i = 0; i < 1000; ++i) seen += shared.load();
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
    sum += i;
  }
  for (int i = 0; i < 1000; ++i) shared.store(i, std::memory_order_release);
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) shared.store(i);
  return seen != 1000;
}
"""


def test_atomic_loads_are_loads_and_updates_are_one_access(tmp_path: Path) -> None:
    (tmp_path / "atomics.cpp").write_text(ATOMICS)
    program = tmp_path / "atomics"
    assert compiler.main(["-O1", "-g", "-fopenmp", str(tmp_path / "atomics.cpp"), "-o", str(program)], "c++") == 0
    found = hn.capture(command=[program]).inspect()
    counts = {region["label"]: (region["reads"], region["writes"]) for region in found["regions"]}
    assert counts["main#0"] == counts["main#1"] == (1000, 1000)
    serial = sorted(count for label, count in counts.items() if ":serial" in label and sum(count) >= 1000)
    assert [(reads >= 1000, writes >= 1000) for reads, writes in serial] == [(False, True), (True, False)]
