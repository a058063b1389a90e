"""Capture from the user's side: kernels, programs of one's own, aliased memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode import _core, capturing, errors
from support import SCRIPTS, Ended, heed_signals

Run = Callable[..., Ended]

FILL = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  double* a = malloc(n * sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = i;
  printf("last %g\\n", a[n - 1]);
  free(a);
  return argc - 2;
}
"""


@pytest.fixture
def fill(homenode: Run, tmp_path: Path) -> Path:
    (tmp_path / "fill.c").write_text(FILL)
    ended = homenode("cc", "-O2", "-g", "-fopenmp", "fill.c", "-o", "fill")
    assert ended.status == 0, ended.stderr
    return tmp_path / "fill"


def test_own_program(homenode: Run, tmp_path: Path, fill: Path) -> None:
    ended = homenode("capture", "-o", "fill.hnt", "--json", "--", "./fill", "1000")
    assert ended.status == 0, ended.stderr
    assert "last 999" in ended.stderr  # the program's own output; stdout is the document's
    written = json.loads(ended.stdout)
    assert written["complete"] is True
    found = hn.Trace.open(tmp_path / "fill.hnt")
    assert found.hash == written["hash"]
    # the loop writes each of its 1000 elements once
    loops = found.regions[found.regions.kind == "loop"]
    assert loops.writes.sum() == 1000


def test_compiler_errors_are_the_compilers(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n")
    ended = homenode("cc", "-c", "bad.c", "-o", "bad.o")
    assert ended.status != 0
    assert "nothing" in ended.stderr
    assert not (tmp_path / "bad.o").exists()


def test_capturing_twice_gives_the_same_hash(tmp_path: Path) -> None:
    first, second = (hn.capture("stream", n=2000) for _ in range(2))
    assert first.path != second.path
    assert first.hash == second.hash
    other = hn.capture("stream", n=2001)
    assert other.hash != first.hash


def test_temporary_traces_go_with_their_object() -> None:
    trace = hn.capture("stream", n=1000)
    path = trace.path
    assert path.exists()
    del trace
    assert not path.exists()


def test_aliased_memory_gives_the_trace_of_real_memory() -> None:
    # addresses of the stencil do not depend on its values, so the window changes nothing
    settings = {"ni": 20, "nj": 20, "nk": 64, "check": 0}
    assert hn.capture("jacobi3d", alias_over=100_000, **settings).hash == hn.capture("jacobi3d", **settings).hash


def test_aliased_memory_is_refused_where_addresses_depend_on_values(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "branchy.c").write_text(
        "#include <stdlib.h>\n"
        "int main(void) {\n"
        "  double* a = malloc(1 << 20);\n"
        "  double* b = malloc(1 << 20);\n"
        "  for (int i = 0; i < 1000; ++i) if (a[i] > 1.2) b[i] = 2;\n"
        "  volatile double keep = b[7];\n"
        "  return keep > 1e300;\n"
        "}\n"
    )
    assert homenode("cc", "-O1", "-g", "branchy.c", "-o", "branchy").status == 0
    ended = homenode("capture", "--alias-over", "500000", "-o", "x.hnt", "--", "./branchy")
    assert ended.status == 2
    assert "aliased memory is unsound" in ended.stderr
    assert not (tmp_path / "x.hnt").exists()


def test_failing_kernel_is_an_error() -> None:
    with pytest.raises(errors.CaptureError, match="nothing was written"):
        hn.capture("hotspot", size=17)


HANGS = """
#include <stdio.h>
#include <unistd.h>
double a[1000];
volatile double sum;
int main(void) {
  int ends[2];
  char byte;
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) a[i] = i;
  double s = 0;
  for (int i = 0; i < 1000; ++i) s += a[i];
  sum = s;
  if (pipe(ends)) return 1;
  fputs("blocked\\n", stdout);
  fflush(stdout);
  return (int)read(ends[0], &byte, 1); /* nobody writes */
}
"""

SPINS = """
#include <stdlib.h>
int main(int argc, char** argv) {
  long* a = malloc(sizeof(long) << 16);
  for (unsigned long at = 0;; at += atoi(argv[1])) a[at % (1 << 16)] = 1;
}
"""


@pytest.fixture
def hangs(homenode: Run, tmp_path: Path) -> Path:
    (tmp_path / "hangs.c").write_text(HANGS)
    ended = homenode("cc", "-O1", "-g", "-fopenmp", "hangs.c", "-o", "hangs")
    assert ended.status == 0, ended.stderr
    return tmp_path / "hangs"


def until_blocked(folder: Path, program: Path, *options: str) -> subprocess.Popen[str]:
    """A capture of the program into hang.hnt, once the program has said that it blocks."""
    process = subprocess.Popen(
        [SCRIPTS / "homenode", "capture", "-o", "hang.hnt", *options, "--", program], cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=heed_signals,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if line == "blocked\n":
            return process
    raise AssertionError("the program ended")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_capture_keeps_all_that_the_program_did(
    tmp_path: Path, hangs: Path, number: signal.Signals
) -> None:
    process = until_blocked(tmp_path, hangs)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == 130
    kept, ended = [line for line in said.splitlines() if line][-2:]
    assert kept.endswith("hang.hnt holds what was recorded until then; it is marked truncated")
    assert ended == "homenode: interrupted"
    trace = hn.Trace.open(tmp_path / "hang.hnt")
    assert not trace.complete
    assert trace.truncated_by == "the capture was interrupted"
    assert _core.check_trace(tmp_path / "hang.hnt") == []
    regions = trace.regions
    # the loop wrote each of its 1000 elements, then serial code read each (and a few scalars)
    assert regions[regions.kind == "loop"].writes.sum() == 1000
    assert regions[regions.kind == "serial"].reads.sum() - 1000 in range(10)
    assert sorted(path.name for path in tmp_path.glob("*hang.hnt*")) == ["hang.hnt"]


def test_a_timeout_ends_the_program_and_marks_the_trace(homenode: Run, tmp_path: Path, hangs: Path) -> None:
    ended = homenode("capture", "--timeout", "0.3", "-o", "hang.hnt", "--json", "--", hangs)
    assert ended.status == 0, ended.stderr
    assert json.loads(ended.stdout)["complete"] is False
    trace = hn.Trace.open(tmp_path / "hang.hnt")
    assert not trace.complete
    # at most 1000 writes and reads of the elements, the sum, and what stands on main's stack
    assert trace.accesses <= 2010
    assert "truncated" in homenode("capture", "--timeout", "0.01", "-o", "hang.hnt", "--", hangs).stderr


@pytest.mark.parametrize("step", ["1", "7919"])  # one endless run; runs that break again and again
def test_a_program_ended_at_any_moment_leaves_a_whole_stream(homenode: Run, tmp_path: Path, step: str) -> None:
    (tmp_path / "spins.c").write_text(SPINS)
    assert homenode("cc", "-O1", "-g", "spins.c", "-o", "spins").status == 0
    for hundredths in range(1, 9):
        trace = hn.capture(command=[tmp_path / "spins", step], timeout=0.01 * hundredths)
        assert not trace.complete
        assert _core.check_trace(trace.path) == []


def test_a_team_is_ended_whichever_of_its_threads_runs(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "one_spins.c").write_text(
        "#include <omp.h>\n#include <stdio.h>\nlong a[4000];\nint main(void) {\n#pragma omp parallel\n  {\n"
        "    for (int i = 0; i < 1000; ++i) a[1000 * omp_get_thread_num() + i] = 1;\n#pragma omp barrier\n"
        "    if (omp_get_thread_num() == 3) {\n"
        '      puts("blocked");\n      fflush(0);\n      for (volatile long at = 0;; ++at);\n    }\n  }\n}\n'
    )
    assert homenode("cc", "-O1", "-g", "-fopenmp", "one_spins.c", "-o", "one_spins").status == 0
    process = until_blocked(tmp_path, tmp_path / "one_spins", "--threads", "4")
    process.terminate()  # the main thread sleeps, another one runs
    process.communicate()
    trace = hn.Trace.open(tmp_path / "hang.hnt")
    assert not trace.complete
    # each of 4 threads wrote its 1000 elements
    assert trace.regions[trace.regions.kind == "thread"].writes.sum() == 4000


def test_a_process_that_ignores_the_request_is_killed(
    homenode: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("homenode.capture_processes._GRACE", 0.01)
    (tmp_path / "stays.c").write_text(
        "#include <signal.h>\nint main(void) {\n  signal(SIGTERM, SIG_IGN);\n  for (;;);\n}\n"
    )
    assert homenode("cc", "-O1", "-g", "stays.c", "-o", "stays").status == 0
    assert not hn.capture(command=[tmp_path / "stays"], timeout=0.2).complete


def test_a_program_that_leaves_in_its_own_way_when_asked_is_truncated(homenode: Run, tmp_path: Path) -> None:
    # As pbzip2 does: a thread waits for signals and ends the program by exit(), so that its stream has an end.
    (tmp_path / "leaves.c").write_text(
        "#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\nsigset_t set;\n"
        "void* wait_for_signals(void* none) {\n  int number;\n  sigwait(&set, &number);\n  exit(1);\n  return none;\n}\n"
        "int main(void) {\n  pthread_t thread;\n  sigemptyset(&set);\n  sigaddset(&set, SIGTERM);\n"
        "  pthread_sigmask(SIG_BLOCK, &set, 0);\n  pthread_create(&thread, 0, wait_for_signals, 0);\n"
        "  for (volatile long at = 0;; ++at);\n}\n"
    )
    assert homenode("cc", "-O1", "-g", "-pthread", "leaves.c", "-o", "leaves").status == 0
    assert not hn.capture(command=[tmp_path / "leaves"], timeout=0.3).complete


def test_an_aliased_capture_cannot_be_cut(homenode: Run, tmp_path: Path, hangs: Path) -> None:
    ended = homenode("capture", "--timeout", "0.1", "--alias-over", "4000", "-o", "hang.hnt", "--", hangs)
    assert ended.status == 2
    assert "cannot be told whether aliased memory is sound" in ended.stderr
    assert not (tmp_path / "hang.hnt").exists()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_timeout_is_a_positive_time(homenode: Run, seconds: str) -> None:
    ended = homenode("capture", "stream", f"--timeout={seconds}", "-o", "x.hnt")
    assert ended.status == 2
    assert "allowed: more than 0" in ended.stderr


def test_hashes_do_not_depend_on_where_the_kernel_puts_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, dict[str, int]] = {
        "chase": {},
        "gather": {"n": 20000, "reads": 20000},
        "jacobi2d": {"n": 32},
        "fdtd3d": {"threads": 4, "patch": 8},
        "sliding_tile": {"threads": 4, "check": 0},
    }
    fixed = {name: hn.capture(name, **chosen).hash for name, chosen in settings.items()}
    monkeypatch.setattr("homenode.capture_processes.ADDRESSES", "random")
    for _ in range(3):
        assert {name: hn.capture(name, **chosen).hash for name, chosen in settings.items()} == fixed


# A library leaves a hole of so many bytes, as the loader does of the size of /etc/ld.so.cache; a program's mappings hold pointers.
HOLE = """
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((constructor)) static void hole(void) {
  const size_t bytes = (size_t)atol(getenv("HOLE"));
  void* high = mmap(0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(high, bytes);
}
"""
# Pointers are loaded long before what they point to: of some, the recorder has forgotten it by then.
MAPPED = """
#include <sys/mman.h>
enum { MAPPINGS = 300, WORDS = 1024, AHEAD = 500 };
static long* mapping[MAPPINGS];
static long* found[AHEAD];
static unsigned seed = 1;
static long* some_word(void) {
  seed = seed * 1664525 + 1013904223;
  return &mapping[(seed >> 8) % MAPPINGS][(seed >> 20) % WORDS];
}
int main(void) {
  for (int i = 0; i < MAPPINGS; ++i)
    mapping[i] = mmap(0, WORDS * sizeof(long), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < MAPPINGS * WORDS; ++i) mapping[i % MAPPINGS][i / MAPPINGS] = (long)some_word();
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < AHEAD; ++i) found[i] = (long*)*some_word();
    for (int i = 0; i < AHEAD; ++i) *found[i] = (long)some_word();
  }
  return 0;
}
"""


def test_hashes_do_not_depend_on_holes_between_the_libraries(
    monkeypatch: pytest.MonkeyPatch, homenode: Run, tmp_path: Path
) -> None:
    (tmp_path / "hole.c").write_text(HOLE)
    (tmp_path / "mapped.c").write_text(MAPPED)
    subprocess.run(["gcc", "-shared", "-fPIC", "hole.c", "-o", "hole.so"], cwd=tmp_path, check=True)
    assert homenode("cc", "-O1", "-g", "mapped.c", "-o", "mapped").status == 0
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "hole.so"))
    hashes = set()
    for hole in (4096, 40960, 409600, 4 << 20):
        monkeypatch.setenv("HOLE", str(hole))
        hashes.add(hn.capture(command=[tmp_path / "mapped"]).hash)
    assert len(hashes) == 1


ARGUMENTS = """
#include <stdalign.h>
#include <string.h>
static int sum(const char* text) {
  alignas(256) char copy[256];
  strncpy(copy, text, sizeof copy);
  int n = 0;
  for (const char* at = copy; *at; ++at) n += *at;
  return n;
}
int main(int argc, char** argv) {
  long squares[40];
  memset(squares, 0, sizeof squares);
  for (int i = 1; i < argc; ++i)
    for (const char* at = argv[i]; *at; ++at) squares[*at % 40] += sum(argv[i]);
  return (int)squares[3] != 0;
}
"""


def test_hashes_do_not_depend_on_the_environment_or_the_folder(
    monkeypatch: pytest.MonkeyPatch, homenode: Run, tmp_path: Path
) -> None:
    (tmp_path / "words.c").write_text(ARGUMENTS)
    assert homenode("cc", "-O1", "-g", "words.c", "-o", "words").status == 0
    settings: dict[str, dict[str, int]] = {
        "jacobi2d": {"n": 32},
        "threads_pingpong": {"turns": 20},
        "threads_postponed": {"workers": 3, "rounds": 2},
        "sliding_tile": {"threads": 4},
    }

    def hashes() -> dict[str, str]:
        own = os.path.relpath(tmp_path / "words")
        found = {name: hn.capture(name, **chosen).hash for name, chosen in settings.items()}
        return found | {"words": hn.capture(command=[own, "a", "few words"], label="words").hash}

    expected = hashes()
    # Each place in a line that the stack could begin at; more than a page; more than the runtime skips.
    for folder, length in (("a", 16), ("a-longer-name", 32), ("b", 48), ("c/d", 3000), ("e", 100_000)):
        (tmp_path / folder).mkdir(parents=True)
        monkeypatch.chdir(tmp_path / folder)
        monkeypatch.setenv("LONG", "x" * length)
        assert hashes() == expected


def test_nested_teams_are_reported_as_lost(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "nested.c").write_text(
        "int a[9];\nint main(void) {\n#pragma omp parallel for\n  for (int i = 0; i < 9; ++i) {\n"
        "#pragma omp parallel for\n    for (int j = 0; j < 2; ++j) a[i] += j;\n  }\n  return 0;\n}\n"
    )
    assert homenode("cc", "-O1", "-g", "-fopenmp", "nested.c", "-o", "nested").status == 0
    (loss,) = hn.capture(command=[tmp_path / "nested"]).inspect()["losses"]
    # the inner region runs once in each of 9 iterations
    assert (loss["count"], loss["site"]) == (9, "nested.c:5")
    assert "its team was serialised" in loss["reason"]


def test_irregular_accesses_take_at_most_three_bytes() -> None:
    gather = hn.capture("gather", n=300_000, reads=300_000)
    loop = gather.regions[gather.regions.label == "gather"]
    # an index and the element it names for each read; all else in the trace is regular and weighs next to nothing
    assert 600_000 <= loop.accesses.sum() <= 600_010
    assert gather.path.stat().st_size <= 3 * loop.accesses.sum()
    chase = hn.capture("chase", nodes=100_000, steps=300_000)
    # each step is a jump; making the cycle jumps as well
    assert chase.accesses >= 600_000
    assert chase.path.stat().st_size <= 3 * chase.accesses


def test_serial_code_is_named_by_its_function(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "parts.c").write_text(
        "double a[100], b[100];\nvolatile double sum;\n"
        "__attribute__((noinline)) void prepare(void) { for (int i = 0; i < 100; ++i) a[i] = i; }\n"
        "__attribute__((noinline)) void reduce(void) {\n  double s = 0;\n"
        "  for (int i = 0; i < 100; ++i) s += b[i];\n  sum = s;\n}\n"
        "int main(void) {\n  prepare();\n  for (int step = 0; step < 3; ++step) {\n"
        "#pragma omp parallel for\n    for (int i = 0; i < 100; ++i) b[i] = a[i];\n    reduce();\n  }\n  return 0;\n}\n"
    )
    assert homenode("cc", "-O1", "-g", "-fopenmp", "parts.c", "-o", "parts").status == 0
    regions = hn.capture(command=[tmp_path / "parts"]).regions.set_index("label")
    serial = regions[regions.kind == "serial"]
    # prepare once, writing 100 elements; reduce after each of 3 loops, reading 100 each time
    assert list(serial.index) == ["prepare:serial:3", "reduce:serial:6"]
    assert list(serial.executions) == [1, 3]
    assert (serial.writes["prepare:serial:3"], serial.reads["reduce:serial:6"]) == (100, 300)


@pytest.mark.parametrize(
    ("runs", "seconds", "traced_seconds", "again"),
    [
        (0, 0.0, 0.0, True),
        (1, 9.0, 1.0, True),  # twice, whatever it takes
        (2, 0.2, 2.0, False),  # a third run would take more than a tenth of what tracing took
        (2, 0.2, 4.0, True),
        (8, 0.1, 100.0, False),
    ],
)
def test_a_program_is_timed_as_often_as_a_tenth_of_its_capture_allows(
    runs: int, seconds: float, traced_seconds: float, again: bool
) -> None:
    assert capturing.is_timed_again(runs, seconds, traced_seconds) is again
