"""Which regions a program has, what its time goes to, what is bound to a team, and threads of its own: programs of a few lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import compiler, errors
from support import Ended

pytestmark = pytest.mark.capture
MACHINE = "xeon-x7560-4s"

HOIST = """#include <stdlib.h>
int main(void) {
  int n = 1000;
  double *a = calloc(n, sizeof *a);
#pragma omp parallel
  for (int k = 0; k < 20; ++k) {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] += k;
  }
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i];
  return sum != 190.0 * n;
}
"""

RANK = """#include <omp.h>
#include <stdlib.h>
int main(void) {
  int n = 100000, first[64] = {0};
  double *a = malloc(n * sizeof *a);
#pragma omp parallel
  {
    STEP
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] = i;
  }
  return a[7] + first[0] < 7;
}
"""
OWN_SLOT = "first[omp_get_thread_num()] = 1;"
NEVER = "if (omp_get_thread_num() > 99) first[0] = 1;"

DIVIDED = """#include <omp.h>
#include <stdlib.h>
int main(void) {
  int n = 1000;
  double *a = malloc(n * sizeof *a);
#pragma omp parallel
  {
    int t = omp_get_thread_num(), team = omp_get_num_threads();
    for (int i = n * t / team; i < n * (t + 1) / team; ++i) a[i] = i;
  }
  return a[7] != 7;
}
"""

IN_LOOP = """#include <omp.h>
int count[64];
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) ++count[omp_get_thread_num()];
  return 0;
}
"""

WAVES = """#include <pthread.h>
static double part[2 * WAVE][1000];
static void *work(void *number) {
  double *mine = part[(long)number];
  for (int i = 0; i < 1000; ++i) mine[i] = i;
  return 0;
}
int main(void) {
  pthread_t thread[WAVE];
  for (long wave = 0; wave < 2; ++wave) {
    for (long t = 0; t < WAVE; ++t) pthread_create(&thread[t], 0, work, (void *)(WAVE * wave + t));
    for (long t = 0; t < WAVE; ++t) pthread_join(thread[t], 0);
  }
  return part[1][999] != 999;
}
"""

FORKS = """#include <stdlib.h>
int main(void) {
  int n = 64;
  double *a = calloc(n, sizeof *a);
  for (int k = 0; k < 200; ++k) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) a[i] += k;
  }
  return a[0] != 19900;
}
"""

Capture = Callable[..., hn.Trace]


@pytest.fixture
def capture(own_cache: None, tmp_path: Path) -> Capture:
    def build(source: str, *flags: str, threads: int = 1) -> hn.Trace:
        (tmp_path / "program.c").write_text(source)
        program = tmp_path / "program"
        words = ["-O2", "-fopenmp", "-pthread", *flags, str(tmp_path / "program.c"), "-o", str(program)]
        assert compiler.main(words) == 0
        return hn.capture(command=[program], threads=threads, output=tmp_path / "program.hnt")

    return build


def sums_to_its_time(run: dict[str, Any]) -> bool:
    regions = math.fsum(region["exclusive_seconds"] for region in run["regions"])
    return bool(
        math.isclose(regions, run["time_detail"]["regions"], rel_tol=1e-9)
        and math.isclose(math.fsum(run["time_detail"].values()), run["seconds"], rel_tol=1e-9)
    )


def test_a_loop_in_a_hoisted_region_is_one_region(capture: Capture) -> None:
    trace = capture(HOIST)
    regions = trace.regions.set_index("label")
    assert list(regions[regions.kind == "loop"].index) == ["main#0"]
    assert (regions.executions["main#0"], regions.accesses["main#0"]) == (20, 20 * 2000)
    # It can be named, and run otherwise than the rest.
    assert hn.replay(trace, MACHINE, threads=4, distribution="main#0@dynamic:10").seconds > 0


FOUR = """#include <pthread.h>
#include <stdlib.h>
static double part[4][20000];
static void* work(void* number) {
  double* mine = part[(long)number];
  for (int i = 0; i < 20000; ++i) mine[i] = i;
  return 0;
}
int main(void) {
  pthread_t thread[4];
  double *a = malloc(4000000);
  for (int i = 0; i < 500000; ++i) a[i] = i;
  for (long t = 0; t < 4; ++t) pthread_create(&thread[t], 0, work, (void*)t);
  for (long t = 0; t < 4; ++t) pthread_join(thread[t], 0);
  double sum = a[7];
  free(a);
  return sum != 7;
}
"""

SHORT = """#include <stdlib.h>
int main(void) {
  double *a = malloc(4000000);
  for (int i = 0; i < 500000; ++i) a[i] = i;
  for (int k = 0; k < 20; ++k) {
#pragma omp parallel for
    for (int i = 0; i < 64; ++i) a[i] += k;
  }
  double sum = a[7];
  free(a);
  return sum != 197;
}
"""


def explained(text: str, label: str) -> str:
    """The row of a region in what --explain prints."""
    return next(line for line in text.splitlines() if line.split()[:1] == [label])


def test_threads_that_run_one_routine_at_once_are_in_it_for_one_time(
    capture: Capture, homenode: Callable[..., Ended]
) -> None:
    trace = capture(FOUR)
    run = hn.replay(trace, MACHINE).run
    work = next(region for region in run["regions"] if region["label"] == "work")
    assert work["executions"] == 4
    # its threads work for most of the time that they are there, and none longer than it lasts
    assert max(work["thread_busy_seconds"]) <= work["seconds"] < run["seconds"]
    assert work["exclusive_seconds"] <= work["seconds"] < sum(work["thread_busy_seconds"])
    told = homenode("replay", trace.path, "--machine", MACHINE, "--idle").stdout
    table = told[told.index("in work") :].splitlines()
    shares = [float(line.split()[-2]) for line in table if line.strip()[:1] in tuple("1234")]
    assert len(shares) == 4
    assert min(shares) < 50


def test_what_holds_up_a_region_is_all_that_its_threads_do(capture: Capture, homenode: Callable[..., Ended]) -> None:
    for trace, options in ((capture(SHORT), {"threads": 4}), (capture(FOUR), {}), (capture(HOIST), {"threads": 8})):
        run = hn.replay(trace, MACHINE, distribution="dynamic:4", **options).run
        for region in run["regions"]:
            held = math.fsum(entry["seconds"] for entry in region["binding"])
            assert held == pytest.approx(sum(region["thread_busy_seconds"]), rel=1e-6, abs=1e-12)
        team = math.fsum(region["fork_and_barrier_seconds"] for region in run["regions"])
        assert team == pytest.approx(run["time_detail"]["fork"] + run["time_detail"]["barrier"])
    trace = capture(SHORT)
    told = homenode("replay", trace.path, "--machine", MACHINE, "--threads", 32, "--explain").stdout
    # free gives 4 MB back: munmap; 64 iterations are nothing beside the forks and barriers around them
    serial = [region["label"] for region in trace.inspect()["regions"] if region["kind"] == "serial"]
    assert "heap calls 100.0 %" in explained(told, serial[-1])
    assert "fork and barrier 9" in explained(told, "main#0")


def test_tasks_of_a_program_without_tasks_are_refused(capture: Capture, homenode: Callable[..., Ended]) -> None:
    trace = capture(HOIST)
    options = ("replay", trace.path, "--machine", MACHINE, "--threads", 4, "--distribution")
    for text in ("tasks", "locality-queues"):
        done = homenode(*options, text)
        assert (done.status, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert f"distribution '{text}' for a program without tasks; allowed: static, dynamic" in line
        assert f"LABEL@{text}" in line
    assert homenode(*options, "main#0@tasks").status == 0


def test_a_placement_pass_has_all_threads_of_waves(capture: Capture) -> None:
    trace = capture(WAVES, "-DWAVE=4")
    assert trace.own_threads == (9, 5)
    assert hn.replay(trace, "xeon-x5550-2s", placement="stencil-aware").seconds > 0  # of 8 cores


def test_advice_on_threads_of_the_programs_own(capture: Capture, homenode: Callable[..., Ended]) -> None:
    trace = capture(FOUR.replace("20000", "2000000"))  # four threads that write 64 MB: sockets apart are faster
    options = ("advise", trace.path, "--machine", MACHINE, "--samples", 2)
    done = homenode(*options)
    assert done.status == 0, done.stderr
    assert "the program creates its threads itself, and no schedule hands out their work." in done.stdout
    assert "Changes that gain, each tried alone" in done.stdout
    assert "'homenode map' compares all mappings" in done.stdout
    document = json.loads(homenode(*options, "--json").stdout)
    assert (document["pays_off"], document["weights"], document["threads"]) == (False, [], 5)
    assert document["changes"][0]["gain"] > 1.005
    for more in (("--engine", "closed-form"), ("--map", "map.html")):
        refused = homenode(*options, *more)
        assert (refused.status, refused.stdout) == (2, "")
        assert "allowed: --engine flow, no --map" in refused.stderr
    with pytest.raises(errors.UsageError, match=r"allowed: hn\.program_changes"):
        hn.advise(trace, MACHINE, threads=5, samples=2)


def test_serial_code_has_its_line_and_its_instructions(capture: Capture) -> None:
    regions = capture(HOIST).regions.set_index("label")
    serial = regions[regions.kind == "serial"]
    assert list(serial.index) == ["main:serial:4", "main:serial:11"]
    # sum += a[i]: an addition for each of 1000 elements, whatever else
    assert serial.work["main:serial:11"]["fp_add"] >= 500
    assert serial.accesses["main:serial:11"] == 1000


def test_code_after_a_construct_has_the_instructions_that_follow_it(capture: Capture) -> None:
    """gcc's basic block goes on behind the call of a parallel region: what follows it is counted there."""
    source = HOIST.replace(
        "  double sum = 0;\n  for (int i = 0; i < n; ++i) sum += a[i];\n", "  double sum = a[1] * n;\n"
    )
    serial = capture(source).regions.set_index("label").loc["main:serial:10"]
    assert serial.accesses == 1
    assert serial.work["instructions"] > 0


def test_a_program_without_constructs_is_main(capture: Capture) -> None:
    options = "double a[100];\n__attribute__((noinline)) void read_options(void) { a[0] = 1; }\n"
    source = options + "int main(void) { read_options(); return a[1] != 0; }\n"
    assert capture(source).labels == ["main:serial"]


def test_forks_are_what_bounds_a_program_of_small_loops(capture: Capture) -> None:
    run = hn.replay(capture(FORKS), MACHINE, threads=32).run
    assert sums_to_its_time(run)
    team = run["time_detail"]["fork"] + run["time_detail"]["barrier"]
    assert team > 0.5 * run["seconds"]
    assert run["bound_by"] == {"resource": "fork and barrier", "region": None, "seconds": pytest.approx(team)}


def test_explain_sums_to_the_time(capture: Capture, homenode: Callable[..., Ended]) -> None:
    capture(FORKS)
    shown = homenode("replay", "program.hnt", "--machine", MACHINE, "--threads", "8", "--explain").stdout
    assert "fork and barrier (" in shown
    for row in ("(fork)", "(barrier)", "in all"):
        assert row in shown


def test_a_thread_number_binds_its_line_alone(capture: Capture, homenode: Callable[..., Ended]) -> None:
    trace = capture(RANK.replace("STEP", OWN_SLOT), threads=4)
    ranks = {region["label"]: region["ranks"] for region in trace.inspect()["regions"]}
    assert ranks == {"main:serial:4": 0, "main#0:code": 4, "main#0": 0} | {
        label: 0 for label in ranks if "serial" in label
    }
    few, many = (hn.replay(trace, MACHINE, threads=threads) for threads in (4, 32))
    assert many.regions.seconds["main#0"] < 0.5 * few.regions.seconds["main#0"]
    busy = next(region for region in many.run["regions"] if region["label"] == "main#0:code")["thread_busy_seconds"]
    assert [seconds > 0 for seconds in busy] == [True] * 4 + [False] * 28
    assert "bound to a team of 4 threads" in homenode("inspect", "program.hnt").stdout
    shown = homenode("replay", "program.hnt", "--machine", MACHINE, "--threads", "16")
    assert "main#0:code runs on 4 of the 16 threads" in shown.stdout
    with pytest.raises(
        errors.UsageError, match=r"'main#0:code' is bound to the ranks of a team of 4.*4 or more, found 2"
    ):
        hn.replay(trace, MACHINE, threads=2)


def test_a_thread_number_that_changes_nothing_binds_nothing(capture: Capture) -> None:
    trace = capture(RANK.replace("STEP", NEVER), threads=4)
    assert {region["ranks"] for region in trace.inspect()["regions"]} == {0}
    assert hn.replay(trace, MACHINE, threads=2).seconds > hn.replay(trace, MACHINE, threads=16).seconds


def test_work_that_is_divided_by_ranks_alone_is_refused(capture: Capture) -> None:
    trace = capture(DIVIDED, threads=4)
    with pytest.raises(errors.UsageError, match=r"no other part can be shared; allowed: --threads 4, found 8"):
        hn.replay(trace, MACHINE, threads=8)


def test_iterations_that_ask_are_a_loss(capture: Capture) -> None:
    trace = capture(IN_LOOP, threads=2)
    losses = {loss["reason"]: loss["count"] for loss in trace.inspect()["losses"]}
    assert losses["an iteration of a loop asks for its thread number: it keeps the one that it got"] == 100
    assert hn.replay(trace, MACHINE, threads=8).seconds > 0


def test_threads_of_its_own_count_while_they_are_alive(capture: Capture, homenode: Callable[..., Ended]) -> None:
    trace = capture(WAVES, "-DWAVE=4")
    assert trace.own_threads == (9, 5)
    result = hn.replay(trace, "xeon-x5550-2s")  # 8 cores
    assert (result.run["threads"], result.run["threads_at_once"]) == (9, 5)
    assert sums_to_its_time(result.run)
    cores = [thread["core"] for thread in result.run["threads_detail"]]
    assert cores == [0, 1, 2, 3, 4, 1, 2, 3, 4]
    shown = homenode("replay", "program.hnt", "--machine", "xeon-x5550-2s")
    assert shown.status == 0, shown.stderr
    assert "9 with its first one, at most 5 at once" in homenode("inspect", "program.hnt").stdout


def test_more_threads_at_once_than_cores_are_refused(capture: Capture) -> None:
    trace = capture(WAVES, "-DWAVE=8")
    with pytest.raises(errors.UsageError, match="9 threads at once on the 8 cores"):
        hn.replay(trace, "xeon-x5550-2s")
    assert hn.replay(trace, "xeon-x5550-2s", oversubscribe=True).run["threads"] == 17


def test_an_openmp_program_needs_a_number(capture: Capture, homenode: Callable[..., Ended]) -> None:
    trace = capture(HOIST)
    with pytest.raises(errors.UsageError, match="option 'threads' is missing; allowed: threads=N"):
        hn.replay(trace, MACHINE)
    said = homenode("replay", "program.hnt", "--machine", MACHINE).stderr
    assert "Missing option '--threads'; allowed: how many threads" in said
    assert "--threads 4,8" in said


def test_a_serial_program_has_one_thread_unless_more_are_asked_for(
    capture: Capture, homenode: Callable[..., Ended]
) -> None:
    trace = capture("int main(void) { static int a[1000]; for (int i = 0; i < 1000; ++i) a[i] = i; return a[7] > 7; }")
    assert trace.is_serial
    assert hn.replay(trace, MACHINE).run["threads"] == 1
    assert hn.replay(trace, MACHINE, threads=2).run["threads"] == 2
    done = homenode("replay", "program.hnt", "--machine", MACHINE, "--no-confidence")
    assert (done.status, "· 1 thread ·" in done.stdout) == (0, True), done


REGISTERS = """int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100000; ++i) {
    double x = i + 0.5;
    sum += 1 / (1 + x * x);
  }
  return sum < 0;
}
"""


def test_a_loop_that_accesses_nothing_has_its_instructions(capture: Capture) -> None:
    trace = capture(REGISTERS)
    loop = trace.regions.set_index("label").loc["main#0"]
    assert (loop.accesses, loop["items"]) == (0, 100000)
    assert loop.work["divide"] >= 50000  # two to a vector at most
    alone, team = (hn.replay(trace, MACHINE, threads=threads).regions["seconds"]["main#0"] for threads in (1, 8))
    assert math.isclose(alone, 8 * team, rel_tol=0.05)


COUNTER = """long counter[65];
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100000; ++i) {
#pragma omp atomic
    counter[32] += i;
  }
  return counter[32] != 4999950000;
}
"""


@pytest.mark.parametrize("distribution", ["static", "dynamic:1000"])
def test_a_team_adds_no_faster_to_one_counter_than_a_thread(capture: Capture, distribution: str) -> None:
    trace = capture(COUNTER)
    alone = hn.replay(trace, MACHINE, threads=1).seconds
    team = hn.replay(trace, MACHINE, threads=8, distribution=distribution)
    assert team.seconds > 1.5 * alone  # the line's way comes on top of the additions
    assert team.regions["binding_resource"]["main#0"] == "contended line"
    assert team.run["transfer_lines"] > 1000


MUTEX = """#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double mine[2][512];
static long rounds;
static void *work(void *which) {
  double *own = mine[(long)which];
  for (int round = 0; round < 2000; ++round) {
    for (int i = 0; i < 512; ++i) own[i] += round;
    LOCK
    ++rounds;
    UNLOCK
  }
  return 0;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, (void *)1);
  work(0);
  pthread_join(other, 0);
  return rounds > 4000;
}
"""


def test_threads_that_meet_at_a_mutex_now_and_then_do_not_sleep_in_turn(capture: Capture) -> None:
    without = capture(MUTEX.replace("UNLOCK", "").replace("LOCK", ""))
    locked = MUTEX.replace("UNLOCK", "pthread_mutex_unlock(&mutex);").replace("LOCK", "pthread_mutex_lock(&mutex);")
    alone, together = (hn.replay(trace, MACHINE).seconds for trace in (without, capture(locked)))
    # A wake-up for every one of 4000 rounds would be 12 ms.
    assert alone < together < alone + 4e-3


def test_advice_on_a_program_of_tasks(homenode: Callable[..., Ended], tmp_path: Path) -> None:
    trace = tmp_path / "tasks.hnt"
    hn.capture("jacobi3d_tasks", output=trace, ni=64, nj=64, nk=64, bk=64, init="serial")
    options = ("advise", trace, "--machine", MACHINE, "--threads", 8, "--samples", 2)
    document = json.loads(homenode(*options, "--json").stdout)
    assert (document["pays_off"], document["weights"], document["threads"]) == (False, [], 8)
    assert document["reason"] == "the program shares out tasks, and weights size chunks of loops"
    assert document["changes"][0]["gain"] > 1.005  # pages that one thread initialised are better elsewhere
    done = homenode(*options)
    assert done.status == 0, done.stderr
    assert "'homenode recommend' tries placements, mappings and teams together." in done.stdout
    with pytest.raises(errors.UsageError, match="shares out tasks"):
        hn.advise(trace, MACHINE, threads=8, samples=2)
