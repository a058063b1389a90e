"""What a capture says of its program's end, whoever ends it: nothing is lost without a reason, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode import _core, errors
from support import SCRIPTS, Ended, processes_with

pytestmark = pytest.mark.capture
Run = Callable[..., Ended]

LEAVES = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
long a[10000];
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 10000; ++i) a[i] = 3 * i; }
__attribute__((noinline)) static int deep(int n) {
  volatile char frame[4096];
  frame[n % 4096] = 1;
  return deep(n + 1) + frame[n % 100];
}
static void* dive(void* none) { deep(0); return none; }
int main(int count, char** words) {
  (void)count;
  work();
  const char* how = words[1];
  pthread_t thread;
  if (!strcmp(how, "execl")) execl("/bin/echo", "echo", "said", (char*)0);
  if (!strcmp(how, "execvp")) { static char* call[] = {"echo", "said", 0}; execvp("no-such-program", call); execvp("echo", call); }
  if (!strcmp(how, "daemon") && !daemon(1, 1)) work();
  if (!strcmp(how, "close")) { for (int file = 3; file < 4096; ++file) close(file); closefrom(3); close_range(3, ~0u, 0); work(); }
  if (!strcmp(how, "overflow")) deep(0);
  if (!strcmp(how, "overflow in a thread")) pthread_create(&thread, 0, dive, 0), pthread_join(thread, 0);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "at once")) { work(); _exit(0); }
  if (!strcmp(how, "quickly")) { work(); quick_exit(0); }
  if (!strcmp(how, "exit_group")) syscall(SYS_exit_group, 3);
  if (!strcmp(how, "fork")) { if (!fork()) { work(); _exit(0); } wait(0); }
  return 0;
}
"""


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaves")
    (folder / "leaves.c").write_text(LEAVES)
    call = [SCRIPTS / "homenode-gcc", "-O1", "-g", "-w", "-pthread", "leaves.c", "-o", "leaves"]
    subprocess.run(call, cwd=folder, check=True)
    return folder / "leaves"


# How it ends, how often it worked before, why the trace ends ("" for a complete one).
ENDS = {
    "execl": (1, "the program became /bin/echo"),
    "execvp": (1, "the program became echo"),
    "daemon": (1, "daemon(): the program went on in a process of its own"),
    "close": (2, ""),
    "overflow": (1, "signal 11 (SIGSEGV)"),
    "overflow in a thread": (1, "signal 11 (SIGSEGV)"),
    "abort": (1, "signal 6 (SIGABRT)"),
    "at once": (2, ""),
    "quickly": (2, ""),
    "exit_group": (1, "a system call of its own"),
    "fork": (1, ""),
}


@pytest.mark.parametrize("how", ENDS)
def test_what_a_program_did_before_it_left_is_kept_with_the_reason(leaves: Path, how: str) -> None:
    worked, why = ENDS[how]
    trace = hn.capture(command=[leaves, how])
    # each work() writes its 10,000 elements once, and main a few pointers; what deep() writes to its frames is told as lost
    assert 0 <= trace.regions.writes.sum() - worked * 10000 <= 10
    assert (why in trace.truncated_by) if why else (trace.truncated_by == "")
    assert trace.complete is not bool(why)
    assert _core.check_trace(trace.path) == []
    told = [loss["reason"] for loss in trace.inspect()["losses"]]
    assert any(reason.startswith("truncated: ") for reason in told) is bool(why)
    assert ("fork: what the child process does is not recorded" in told) is (how == "fork")


@pytest.mark.parametrize("how", ["at once", "quickly"])
def test_a_program_that_leaves_without_atexit_has_its_instructions_counted_and_timed(leaves: Path, how: str) -> None:
    trace = hn.capture(command=[leaves, how])
    # a store, an addition, a comparison and a jump for each element, twice
    assert trace.inspect()["work"]["instructions"] > 2 * 10000 * 3
    assert trace.measured


def test_a_program_that_was_not_compiled_for_tracing_is_refused(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.c").write_text("int a[9];\nint main(void) { for (int i = 0; i < 9; ++i) a[i] = i; return 0; }\n")
    subprocess.run(["gcc", "plain.c", "-o", "plain"], cwd=tmp_path, check=True)
    ended = homenode("capture", "-o", "plain.hnt", "--", "./plain")
    assert ended.status == 2
    assert "'./plain' recorded nothing" in ended.stderr
    assert "compile it by 'homenode cc'" in ended.stderr
    assert [path.name for path in tmp_path.glob("*.hnt*")] == []
    with pytest.raises(errors.CaptureError, match="recorded nothing"):
        hn.capture(command=["sleep", "1000"], timeout=0.2)  # ended before its end, and still no word from it
    # a script may become, or start, a program that was
    assert homenode("cc", "plain.c", "-o", "plain").status == 0
    (tmp_path / "script").write_text("#!/bin/sh\n./plain; exec ./plain\n")
    (tmp_path / "script").chmod(0o755)
    assert homenode("capture", "-o", "plain.hnt", "--", "./script").status == 0


def test_a_trace_without_accesses_is_never_ranked(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "idle.c").write_text("int main(void) { return 0; }\n")
    assert homenode("cc", "idle.c", "-o", "idle").status == 0
    captured = homenode("capture", "--", "./idle")  # into idle.hnt
    assert captured.status == 0
    assert "warning: idle.hnt: it holds no accesses" in captured.stderr
    assert "compiled by 'homenode cc'" in homenode("check", "idle.hnt").stderr
    assert "it holds no accesses" in homenode("inspect", "idle.hnt").stdout
    for words in (("replay", "--threads", "1"), ("advise", "--threads", "1"), ("map",)):
        ended = homenode(words[0], "idle.hnt", "--machine", "xeon-x5550-2s", *words[1:])
        assert (ended.status, ended.stdout) == (2, ""), words
        assert "idle.hnt: it holds no accesses" in ended.stderr
    with pytest.raises(errors.InputError, match="it holds no accesses"):
        hn.replay(tmp_path / "idle.hnt", "xeon-x5550-2s", threads=1)


def test_a_program_that_is_killed_early_says_so(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "killed.c").write_text(
        "#include <signal.h>\nint cells[8];\n"
        "int main(void) { for (int i = 0; i < 8; ++i) cells[i] = i; return raise(SIGKILL); }\n"
    )
    assert homenode("cc", "-g", "killed.c", "-o", "killed").status == 0
    captured = homenode("capture", "--", "./killed")
    assert "it holds no accesses: the program was ended before it had handed on its first ones, or " in captured.stderr
    assert "truncated: the program was ended by signal 9 (SIGKILL)" in captured.stderr


LOCAL = """#include <stdio.h>
int main(void) {
  double cells[1000], sum = 0;
  for (int i = 0; i < 1000; ++i) cells[i] = i;
  for (int i = 0; i < 1000; ++i) sum += cells[i] * cells[i * 7 % 1000];
  printf("%g\\n", sum);
}
"""


def test_an_array_that_cannot_be_recorded_is_named(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "local.c").write_text(LOCAL)
    assert homenode("cc", "-O2", "-g", "local.c", "-o", "local").status == 0
    captured = homenode("capture", "--", "./local")
    assert (
        "it holds no accesses: what the compiled code did to memory is not recorded (cells: on the stack"
        in captured.stderr
    )
    assert "compiled by 'homenode cc'" not in captured.stderr


def test_every_ranking_of_a_truncated_trace_warns(homenode: Run, tmp_path: Path, leaves: Path) -> None:
    hn.capture(command=[leaves, "abort"], output=tmp_path / "cut.hnt")
    said = "warning: cut.hnt is truncated: the program was ended by signal 6 (SIGABRT)"
    for words in (("replay", "--threads", "1"), ("advise", "--threads", "1"), ("map",)):
        ended = homenode(words[0], "cut.hnt", "--machine", "xeon-x5550-2s", *words[1:])
        assert ended.status == 0, ended.stderr
        assert ended.stderr.count(said) == 1, words
    assert "cut.hnt: truncated: the program was ended" in homenode("check", "cut.hnt").stderr
    with pytest.warns(errors.TruncatedTrace, match="SIGABRT"):
        hn.replay(tmp_path / "cut.hnt", "xeon-x5550-2s", threads=1)


READS = """
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
  int* seen = calloc(256, sizeof *seen);
  for (int c; (c = getchar()) != EOF;) ++seen[c & 255];
  printf("%d lines\\n", seen['\\n']);
  fprintf(stderr, "%s\\n", count > 1 ? words[1] : "done");
  if (count > 2) for (volatile long at = 0;; ++at) seen[at & 255] = 1;
}
"""


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reads")
    (folder / "reads.c").write_text(READS)
    subprocess.run([SCRIPTS / "homenode-cc", "-O1", "-g", "reads.c", "-o", "reads"], cwd=folder, check=True)
    return folder / "reads"


@pytest.mark.parametrize("source", ["file", "pipe"])
def test_a_program_reads_and_writes_what_it_would_without_homenode(tmp_path: Path, reads: Path, source: str) -> None:
    lines = "one\n" * 100_000  # more than a pipe holds
    (tmp_path / "lines").write_text(f"a line that was read before\n{lines}")
    call = [SCRIPTS / "homenode", "capture", "-o", "x.hnt", "--", reads]
    if source == "file":
        with (tmp_path / "lines").open("rb") as file:
            os.lseek(file.fileno(), len("a line that was read before\n"), os.SEEK_SET)
            done = subprocess.run(call, cwd=tmp_path, stdin=file, capture_output=True, text=True, check=False)
    else:
        done = subprocess.run(call, cwd=tmp_path, input=lines, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "100000 lines\n")
    assert "done\n" in done.stderr
    assert "x.hnt: " in done.stderr
    # the twin read the same: 400,000 bytes cost it an addition each, at least
    assert hn.Trace.open(tmp_path / "x.hnt").inspect()["work"]["integer"] >= 400_000


def captured_until(line: str, folder: Path, program: Path, *arguments: str) -> tuple[subprocess.Popen[bytes], str]:
    """A capture into x.hnt that has said this line, and what marks its processes."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [SCRIPTS / "homenode", "capture", "-o", "x.hnt", "--", program, *arguments], cwd=folder, env={**os.environ, "MARK": mark},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    for said in process.stderr:
        if said.decode().startswith(line):
            return process, mark
    raise AssertionError(f"it never said {line}")


def await_end_of(mark: str) -> None:
    """Until no process is left; the supervisor gives a program five seconds at most."""
    while processes_with(mark):
        os.sched_yield()


# What it has said when it is killed, and how many accesses there are then at least.
@pytest.mark.parametrize(("line", "arguments", "least"), [("tracing", ("x", "stays"), 0), ("x", ("x", "stays"), 1)])
def test_a_killed_capture_ends_its_program_and_keeps_what_it_did(
    homenode: Run, tmp_path: Path, reads: Path, line: str, arguments: tuple[str, ...], least: int
) -> None:
    process, mark = captured_until(line, tmp_path, reads, *arguments)
    refused = homenode("capture", "-o", "x.hnt", "--", reads)
    assert refused.status == 2
    assert "another capture is writing 'x.hnt.part'" in refused.stderr or line == "tracing"
    process.kill()
    process.communicate()
    await_end_of(mark)
    left = sorted(path.name for path in tmp_path.glob("x.hnt*"))
    assert left == ["x.hnt.part"]
    if line == "tracing" and (tmp_path / "x.hnt.part").stat().st_size == 0:
        return  # the program had not begun
    again = homenode("capture", "-o", "x.hnt", "--", reads)
    assert again.status == 2
    assert "'x.hnt.part' is left of a capture that was killed" in again.stderr
    recovered = homenode("recover", "x.hnt.part", "-o", "x.hnt")
    if least == 0 and "nothing to recover" in recovered.stderr:
        assert not (tmp_path / "x.hnt").exists()
        return
    assert recovered.status == 0
    trace = hn.Trace.open(tmp_path / "x.hnt")
    assert trace.accesses >= least
    assert trace.truncated_by == "homenode capture was killed"
    assert _core.check_trace(tmp_path / "x.hnt") == []


def test_a_terminated_capture_keeps_the_trace(tmp_path: Path, reads: Path) -> None:
    process, mark = captured_until("x", tmp_path, reads, "x", "stays")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 130
    await_end_of(mark)
    assert hn.Trace.open(tmp_path / "x.hnt").truncated_by == "the capture was interrupted"


def test_names_and_arguments_need_not_be_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / f"{name}.c").write_text(
        "#include <stdlib.h>\nint main(void) {\n  double* a = calloc(100, sizeof *a);\n"
        "#pragma omp parallel for schedule(dynamic)\n  for (int i = 0; i < 100; ++i) a[i] = i;\n  return 0;\n}\n"
    )
    run = {"cwd": tmp_path, "capture_output": True, "check": False}
    homenode = SCRIPTS / "homenode"
    built = subprocess.run([homenode, "cc", "-O1", "-g", "-fopenmp", f"{name}.c", "-o", name], **run)  # type: ignore[call-overload]
    assert built.returncode == 0, built.stderr
    done = subprocess.run([homenode, "capture", "-o", f"{name}.hnt", "--", f"./{name}", name], **run)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    trace = hn.Trace.open(tmp_path / f"{name}.hnt")
    assert (trace.program, trace.arguments) == ("caf\\xe9", "caf\\xe9")
    (loop,) = (region for region in trace.inspect()["regions"] if region["kind"] == "loop")
    # the loop's own clause is found by the name of its file
    assert (loop["site"], loop["schedule"]) == ("caf\\xe9.c:4", "dynamic")


def test_a_kernel_that_fails_says_why() -> None:
    with pytest.raises(errors.CaptureError, match=r"hotspot ended with exit code 2: .*size.*; nothing was written"):
        hn.capture("hotspot", size=17)
