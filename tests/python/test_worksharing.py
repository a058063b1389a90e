"""Worksharing beside `omp for`: what is handed out by the runtime, and what is said of the rest."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode import compiler, errors
from homenode.compiler.fortran_pragmas import rewrite_fortran
from homenode.compiler.pragmas import rewrite
from homenode.compiler.twin import _defined
from support import Ended

Run = Callable[..., Ended]

LOOP = """double a[3000];
int main(void) {
PRAGMA
  for (int i = 0; i < 3000; ++i) a[i] = i;
  return a[7] != 7;
}
"""


def test_an_omp_loop_of_a_team_is_an_omp_for() -> None:
    for text, made in {
        "parallel loop": "parallel for schedule(runtime)",
        "loop bind(parallel) collapse(2)": "for collapse(2) schedule(runtime)",
        "for schedule(static, 4)": "for schedule(runtime)",
        "target teams distribute parallel for dist_schedule(static) nowait": (
            "target teams distribute parallel for dist_schedule(static) nowait schedule(runtime)"
        ),
        "teams loop bind(teams)": "teams distribute parallel for schedule(runtime)",
        "target parallel loop": "target parallel for schedule(runtime)",
        "distribute parallel for simd schedule(static)": "distribute parallel for simd schedule(runtime)",
    }.items():
        found = rewrite(f"#pragma omp {text}\nfor (;;) ;", ".")
        assert " ".join(found.text.split("\n")[0].split()) == f"#pragma omp {made}"
        assert (len(found.notes), found.left) == (1, [])
        assert not found.notes[0]["nowait"]
    for text in ("loop bind(thread)", "loop bind(teams)", "simd", "target teams", "distribute simd"):
        found = rewrite(f"#pragma omp {text}\nfor (;;) ;", ".")
        assert (found.text, found.notes) == (f"#pragma omp {text}\nfor (;;) ;", [])


def test_worksharing_that_stays_as_it_is_is_told() -> None:
    scan = "#pragma omp parallel for reduction(inscan, + : s)\nfor (;;) ;"
    found = rewrite(f'# 7 "scan.c"\n{scan}', ".")
    assert (found.text, found.notes) == (f'# 7 "scan.c"\n{scan}', [])
    assert found.left == [("scan.c", 7, "reduction(inscan, …)")]
    assert rewrite('# 3 "a.cc"\n[[omp::directive(parallel for)]]', ".").left == [("a.cc", 3, "[[omp::… for]]")]
    assert rewrite('# 3 "a.cc"\n[[omp::directive(barrier)]]', ".").left == []
    fortran = rewrite_fortran(
        "!$omp parallel workshare\na = 1\n!$omp end parallel workshare", "a.f90", ".", fixed=False
    )
    assert fortran.left == [("a.f90", 1, "workshare")]


@pytest.mark.capture
@pytest.mark.parametrize("threads", [1, 3])
def test_an_omp_loop_is_captured_by_its_iterations(tmp_path: Path, threads: int) -> None:
    source, program = tmp_path / "loop.c", tmp_path / "loop"
    source.write_text(LOOP.replace("PRAGMA", "#pragma omp parallel loop"))
    assert compiler.main(["-O1", "-fopenmp", str(source), "-o", str(program)], "cc") == 0
    loop = hn.capture(command=[program], threads=threads).regions.set_index("label").loc["main#0"]
    assert (loop.kind, loop["items"], loop.writes) == ("loop", 3000, 3000)


DEVICE = """#include <omp.h>
#include <stdlib.h>
struct three { double of[3]; };
double a[3000], sums[3];
int main(void) {
  struct three own = {{1, 2, 3}};
  double sum = 0;
#pragma omp target data map(from : a)
  {
#pragma omp target teams distribute parallel for firstprivate(own) num_teams(2)
    for (int i = 0; i < 3000; ++i) a[i] = own.of[i % 3];
#pragma omp target update from(a)
#pragma omp target firstprivate(own)
    own.of[0] = 7;
  }
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
  for (int i = 0; i < 3000; ++i) sum += a[i];
#pragma omp teams num_teams(3)
  sums[omp_get_team_num()] = omp_get_num_teams();
  return own.of[0] != 1 || sum != 6000 || sums[2] != 3 || omp_get_num_teams() != 1 || omp_get_num_devices() != 0;
}
"""


@pytest.mark.capture
@pytest.mark.parametrize("threads", [1, 3])
def test_code_for_a_device_is_captured_as_the_host_runs_it(tmp_path: Path, threads: int) -> None:
    source, program = tmp_path / "device.c", tmp_path / "device"
    source.write_text(DEVICE)
    assert compiler.main(["-O1", "-fopenmp", str(source), "-o", str(program)], "cc") == 0
    trace = hn.capture(command=[program], threads=threads)
    loops = trace.regions[trace.regions.kind == "loop"]
    assert loops.label.tolist() == ["main#0", "main#1"]
    assert loops["items"].tolist() == [3000, 3000]
    assert loops.executions.tolist() == [2, 1], "one for each team"
    assert (loops.writes.iloc[0], trace.inspect()["complete"]) == (3000, True)


@pytest.mark.capture
def test_code_for_a_device_in_fortran(tmp_path: Path) -> None:
    source, program = tmp_path / "device.f90", tmp_path / "device"
    source.write_text(
        "program device\n  integer :: i\n  real(8) :: a(3000)\n"
        "!$omp target teams distribute parallel do map(from: a)\n  do i = 1, 3000\n    a(i) = i\n  end do\n"
        "!$omp end target teams distribute parallel do\n  if (a(7) /= 7) stop 1\nend\n"
    )
    assert compiler.main(["-O1", "-fopenmp", str(source), "-o", str(program)], "fortran") == 0
    loops = hn.capture(command=[program], threads=2).regions.query("kind == 'loop'")
    assert (loops["items"].tolist(), loops.writes.tolist()) == ([3000], [3000])


@pytest.mark.capture
def test_an_inscan_reduction_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "scan.c"
    source.write_text(
        "int main(void) {\n  int s = 0, a[9] = {1}, b[9];\n#pragma omp parallel for reduction(inscan, + : s)\n"
        "  for (int i = 0; i < 9; ++i) {\n    s += a[i];\n#pragma omp scan inclusive(s)\n    b[i] = s;\n  }\n  return b[8] != 1;\n}\n"
    )
    assert compiler.main(["-O1", "-fopenmp", str(source), "-o", str(tmp_path / "scan")], "cc") == 2
    said = capfd.readouterr().err
    assert said.startswith(f"homenode: {source}:3: found 'omp scan'")


def test_an_alias_of_a_function_is_one() -> None:
    """gcc's complete constructors are aliases of base ones, without a type."""
    assembly = "\t.type base, @function\nbase:\n\tret\n\t.weak whole\n\t.set whole,base\n\t.set offset,4\n"
    functions, outside = _defined(assembly)
    assert functions == {"base", "whole"}
    assert outside == ["whole"]


LIBRARY = """#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;
static void *work(void *nothing) {
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return nothing;
}
void start(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, 0, work, 0);
  while (!done) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
}
"""


@pytest.mark.capture
def test_a_thread_of_a_library_may_wake_the_program(tmp_path: Path) -> None:
    """As OpenMPI's, which is compiled without homenode and starts threads while main waits in it."""
    (tmp_path / "library.c").write_text(LIBRARY)
    library = tmp_path / "libwakes.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-pthread", str(tmp_path / "library.c"), "-o", str(library)], check=True)
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text("void start(void);\nint main(void) { start(); return 0; }\n")
    words = ["-O1", "-pthread", str(source), str(library), f"-Wl,-rpath,{tmp_path}", "-o", str(program)]
    assert compiler.main(words, "cc") == 0
    trace = hn.capture(command=[program], timeout=60)
    assert trace.complete


LENDING = """#include <pthread.h>
static void (*work)(void);
static void* run(void* none) { work(); return none; }
void on_a_thread_of_its_own(void (*given)(void)) {
  pthread_t thread;
  work = given;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
}
"""
LENT = """void on_a_thread_of_its_own(void (*given)(void));
double a[1000], b[1000];
static void mine(void) { for (int i = 0; i < 1000; ++i) a[i] = i; }
int main(void) {
  on_a_thread_of_its_own(mine);
  for (int i = 0; i < 1000; ++i) b[i] = i;
  return 0;
}
"""


def test_code_that_runs_on_threads_of_a_library_is_told_to_be_lost(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "lending.c").write_text(LENDING)
    (tmp_path / "lent.c").write_text(LENT)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-pthread", "lending.c", "-o", "liblending.so"], cwd=tmp_path, check=True
    )
    assert homenode("cc", "-O1", "-g", "lent.c", "-L.", "-llending", "-Wl,-rpath,$ORIGIN", "-o", "lent").status == 0
    done = homenode("capture", "-o", "lent.hnt", "--", "./lent")
    assert done.status == 0, done
    said = "a part of the program ran on threads of a library, where it is not recorded"
    assert done.stderr.count(said) == 1
    assert 1000 <= hn.Trace.open(tmp_path / "lent.hnt").accesses < 1100
    assert homenode("replay", "lent.hnt", "--machine", "xeon-x5550-2s").stderr.count(said) == 1


# For gcc both questions of a team's thread have one answer: the master's serves the workshare.
WORKSHARE = """program shares
  real(8), save :: a(3000), b(3000)
  integer, save :: n = 0
  a = 1
  b = 2
!$omp parallel
!$omp master
  n = n + 1
!$omp end master
!$omp workshare
  a = a + 0.5d0 * b
!$omp end workshare
!$omp end parallel
  if (a(1) /= 2 .or. a(3000) /= 2) error stop
end program
"""


@pytest.mark.capture
def test_a_workshare_is_captured_by_the_shares_of_its_team(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shares.f90").write_text(WORKSHARE)
    assert compiler.main(["-O1", "-fopenmp", "shares.f90", "-o", "shares"], "fortran") == 0
    assert "shares.f90:10: gcc divides 'workshare' among the threads itself" in capfd.readouterr().err
    for threads in (1, 3):
        trace = hn.capture(command=["./shares"], threads=threads, output=f"{threads}.hnt")
        (region,) = [
            region
            for region in trace.inspect()["regions"]
            if region["label"].startswith("MAIN__#0") or "main#0" in region["label"]
        ]
        assert (region["writes"] // 3000, region["reads"] // 6000, region["ranks"]) == (1, 1, threads)
        assert hn.replay(trace, "xeon-x5550-2s", threads=threads).seconds > 0
    with pytest.raises(errors.UsageError, match=r"team of 1 .* found 3; or a capture with --threads 3"):
        hn.replay("1.hnt", "xeon-x5550-2s", threads=3)


MASTER = """#include <omp.h>
double a[3000];
int main(void) {
  int team = 0;
#pragma omp parallel
  {
    int size = omp_get_num_threads();
#pragma omp master
    team = size;
    for (int i = 0; i < 3000; ++i) a[i] = i;
  }
  return team < 1;
}
"""


@pytest.mark.capture
def test_a_master_construct_binds_nothing(tmp_path: Path) -> None:
    source, program = tmp_path / "master.c", tmp_path / "master"
    source.write_text(MASTER)
    assert compiler.main(["-O2", "-fopenmp", str(source), "-o", str(program)], "cc") == 0
    trace = hn.capture(command=[program], threads=3)
    assert {region["ranks"] for region in trace.inspect()["regions"]} == {0}
