"""What gcc and gfortran build, `homenode` builds: spellings of options and directives, kinds of libraries, functions of OpenMP."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from homenode import unseen
from homenode.capturing import capture
from homenode.cli.main import command as homenode
from homenode.compiler.archives import members_of
from homenode.compiler.fortran_pragmas import rewrite_fortran
from homenode.compiler.pragmas import rewrite, without_schedule
from homenode.compiler.shared_libraries import plain_library, plain_soname
from homenode.compiler.twin import with_counters
from homenode.errors import UncountedProgram, UsageError
from streams import compile_with

_C = """
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
int main(int argc, char** argv) {
  int n = 1000; long t = 0; static double a[1000]; (void)argv;
#pragma omp parallel for schedule(dynamic, MAX(1, n / (8 * 4)))
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp parallel for collapse(2) reduction(+ : t)
  for (int i = 0; i < 100; i++) for (int j = 0; j < i; j++) t += j;
  switch (argc) {
  case 1:
    n++;
    /* fall through */
  case 2:
    n++;
    break;
  default: break;
  }
  printf("%g %ld %d %s", a[5], t, n, "use __builtin_memcpy here");
  return 0;
}
"""


def run(program: Path) -> str:
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def test_directives_with_calls_triangles_and_comments(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(_C)
    # the options in one word and in two
    ended = compile_with("-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", "--sysroot", "/", "a.c", "-oa", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "collapse(2)" in ended.stderr  # gcc divides this one itself, which is said
    assert run(tmp_path / "a") == "5 161700 1002 use __builtin_memcpy here"


@pytest.mark.parametrize(
    ("clauses", "schedule"),
    [
        ("for schedule(static)", "static"),
        ("for schedule(dynamic, f((1), g(2))) nowait", "dynamic,f((1),g(2))"),
        ("for nowait, SCHEDULE ( guided , 4 )", "guided,4"),
        ("for nowait", None),
    ],
)
def test_schedules_are_found_whatever_is_in_them(clauses: str, schedule: str | None) -> None:
    left, found = without_schedule(clauses)
    assert found == schedule
    assert "chedule" not in left
    assert left.startswith("for")
    assert ("nowait" in left) == ("nowait" in clauses)


def test_only_nests_whose_bounds_depend_on_each_other_keep_their_schedule() -> None:
    square = "#pragma omp for collapse(2) schedule(static)\nfor (int i = 0; i < 9; i++)\n for (int j = 0; j < 9; j++) x(i, j);"
    assert "schedule(runtime)" in rewrite(square, "/").text
    members = square.replace("j < 9", "j < d.i + p->i")
    assert "schedule(runtime)" in rewrite(members, "/").text
    triangle = rewrite(square.replace("j < 9", "j < i + 1"), "/")
    assert "schedule(runtime)" not in triangle.text
    assert triangle.notes == []
    assert len(triangle.left) == 1


def test_text_of_raw_strings_is_no_directive() -> None:
    text = 'const char* k = R"x(\n#pragma omp parallel for\n)" )x";\n#pragma omp parallel for\nfor (;;) {}'
    made = rewrite(text, "/")
    assert made.text == text[: text.rindex("\nfor")] + " schedule(runtime)\nfor (;;) {}"
    assert [note["line"] for note in made.notes] == [4]


_FREE = """  !$omp parallel do &
  !$omp schedule(static,4) &
  ! a comment

  !$omp& reduction(+:s)
  do i = 1, n"""
_COMMAS = """  !$omp parallel do schedule(static,4), private(i), &
  !$omp   &reduction(+:s),
  do i = 1, n"""
_FIXED = """c$omp parallel do
c a comment
c$omp& schedule(static,max(1,(n/4)))
c$omp& reduction(+:s)
      do i = 1, n"""


@pytest.mark.parametrize(
    ("text", "schedule"), [(_FREE, "static,4"), (_COMMAS, "static,4"), (_FIXED, "static,max(1,(n/4))")]
)
def test_fortran_directives_over_lines_and_comments(text: str, schedule: str) -> None:
    made = rewrite_fortran(text, "a.f90", "/", fixed=text is _FIXED)
    assert [note["schedule"] for note in made.notes] == [schedule]
    lines = made.text.split("\n")
    assert len(lines) == len(text.split("\n"))  # each under its own number
    directive = " ".join(line for line in lines if "$omp" in line)
    assert directive.count("schedule(runtime)") == 1
    assert "reduction(+:s)" in directive
    assert ", ," not in directive
    assert made.notes[0]["for_line"] == len(lines)


def test_gfortran_takes_what_is_made_of_them(tmp_path: Path) -> None:
    body = "  real(8) :: s\n  integer :: i, n\n  n = 1000; s = 0\n{}\n    s = s + 1\n  end do\n  print '(f6.1)', s\n"
    (tmp_path / "a.f90").write_text("program a\n" + body.format(_FREE) + "end program\n")
    fixed = body.replace("\n", "\n      ").replace("{}", "{}").rstrip(" ")
    (tmp_path / "b.f").write_text(
        "      program b\n      " + fixed.format("\n" + _FIXED).replace("      \nc$", "c$") + "      end\n"
    )
    for name in ("a.f90", "b.f"):
        words = ("fortran", "-O2", "-fopenmp", name, "-o", "made")
        ended = subprocess.run(
            [sys.executable, "-m", "homenode.compiler", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert run(tmp_path / "made").split() == ["1000.0"]


def test_static_libraries_with_two_members_of_one_name(tmp_path: Path) -> None:
    for folder, value in (("x", 1), ("y", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "util.c").write_text(f"int of_{folder}(void) {{ return {value}; }}")
        assert compile_with("-c", "util.c", "-o", "util.o", cwd=tmp_path / folder).returncode == 0
    (tmp_path / "m.c").write_text("int of_x(void), of_y(void); int main(void) { return of_x() + of_y() - 3; }")
    contents = [(tmp_path / folder / "util.o").read_bytes() for folder in ("x", "y")]
    both = ("x/util.o", "y/util.o")
    for library, options, of in (
        ("whole.a", "qcs", both),
        ("thin.a", "qcsT", both),
        ("nested.a", "qcsT", ("whole.a",)),
    ):
        subprocess.run(["ar", options, library, *of], cwd=tmp_path, check=True)
        assert [content for _, content in members_of(tmp_path / library)] == contents
        ended = compile_with("m.c", library, "-o", "m", cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (0, "")
        for program in ("m", "m.twin", "m.timed"):
            assert subprocess.run([str(tmp_path / program)], check=False).returncode == 0


_LIBRARY = """
double work(double* a, int n) {
  double s = 0;
  for (int r = 0; r < 20; r++) for (int i = 0; i < n; i++) { a[i] = a[i] * 0.5 + i; s += a[i]; }
  return s;
}
"""
_CALLER = """
#include <stdlib.h>
double work(double*, int);
int main(void) { double* a = calloc(100000, 8); return work(a, 100000) < 0; }
"""


def test_traced_shared_libraries_are_timed_as_calls(tmp_path: Path) -> None:
    (tmp_path / "w.c").write_text(_LIBRARY)
    (tmp_path / "m.c").write_text(_CALLER)
    undefined = ("-Wl,--no-undefined", "-Wl,-z,defs", "-z", "defs")
    named = compile_with(
        "-O2", "-fPIC", "-shared", *undefined, "-Wl,-soname,libw.so.1", "w.c", "-o", "libw.so.1.2", cwd=tmp_path
    )
    assert named.returncode == 0, named.stderr
    (tmp_path / "libw.so.1").symlink_to("libw.so.1.2")
    (tmp_path / "libw.so").symlink_to("libw.so.1")
    ended = compile_with("-O2", "m.c", "-L.", "-lw", f"-Wl,-rpath,{tmp_path}", "-o", "m", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    trace = capture(command=[tmp_path / "m"], output=tmp_path / "m.hnt")
    assert trace.accesses >= 2 * 20 * 100000  # the library's, too
    functions = {one["function"]: one for one in trace.unseen["functions"]}
    assert "but for those of libraries that were traced" in str(unseen.sentence(trace.unseen, by_blocks=True))
    assert functions["work"]["calls"] == 1
    assert functions["work"]["instructions"] >= 3 * 20 * 100000 / 4  # vectors of four at the most


def test_names_of_libraries_however_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "w.c").write_text("int w(void) { return 0; }")
    undefined = ("-Xlinker", "-z", "-Xlinker", "defs", "-Wl,-z", "-Wl,defs", "-Xlinker", "--no-undefined")
    named = (("-Xlinker", "-soname", "-Xlinker", "libw.so.1"), ("-Wl,-soname", "-Wl,libw.so.1"), ("-Wl,-hlibw.so.1",))
    for words in named:
        ended = compile_with("-shared", "-fPIC", *words, *undefined, "w.c", "-o", "libw.so", cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert plain_soname(tmp_path / "libw.so", Path("x.timed")) == ["-Wl,-soname,x.timed"]
        listed = subprocess.run(
            ["objdump", "-p", "libw.so.timed"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert listed.stdout.split("SONAME")[1].split()[0] == "libw.so.timed"
    assert plain_library(tmp_path / "libw.so") == tmp_path / "libw.so.timed"
    subprocess.run(["gcc", "-shared", "-fPIC", "w.c", "-o", "libw.so"], cwd=tmp_path, check=True)
    assert plain_library(tmp_path / "libw.so") is None  # another library now
    assert plain_soname(tmp_path / "libw.so", Path("x.timed")) == []


def test_a_twin_that_misses_a_library_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "w.c").write_text("int w(int x) { return x; }")
    (tmp_path / "m.c").write_text("int w(int); static int a[100]; int main(void) { return w(a[w(5)] = 0); }")
    for words in (
        ("-shared", "-fPIC", "-Wl,-soname,libw.so", "w.c", "-o", "libw.so"),
        ("m.c", "libw.so", f"-Wl,-rpath,{tmp_path}", "-o", "m"),
    ):
        assert compile_with("-O1", *words, cwd=tmp_path).returncode == 0
    (tmp_path / "libw.so.timed").unlink()
    with pytest.warns(UncountedProgram, match=r"m.twin does not start.*LIBRARY.timed"):
        capture(command=[tmp_path / "m"], output=tmp_path / "m.hnt")


_THREADS_OF_A_LIBRARY = """
#include <pthread.h>
static void* few(void* p) { long* n = p; for (int i = 0; i < 1000; ++i) ++*(volatile long*)n; return 0; }
int go(long* n) { pthread_t t; return pthread_create(&t, 0, few, n) || pthread_join(t, 0); }
"""
_THREADS_OF_ITS_CALLER = """
#include <pthread.h>
int go(long*);
static void* many(void* p) { long* n = p; for (int i = 0; i < 100000; ++i) ++*(volatile long*)n; return 0; }
int main(void) { static long n; pthread_t t; return go(&n) || pthread_create(&t, 0, many, &n) || pthread_join(t, 0); }
"""


def test_threads_of_a_traced_library_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "l.c").write_text(_THREADS_OF_A_LIBRARY)
    (tmp_path / "m.c").write_text(_THREADS_OF_ITS_CALLER)
    assert compile_with("-O2", "-fPIC", "-shared", "-pthread", "l.c", "-o", "libl.so", cwd=tmp_path).returncode == 0
    ended = compile_with("-O2", "-pthread", "m.c", str(tmp_path / "libl.so"), "-o", "m", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    trace = capture(command=[tmp_path / "m"], output=tmp_path / "m.hnt")
    work = {region["label"]: region["work"]["instructions"] for region in trace.inspect()["regions"]}
    assert work["many"] >= 3 * 100000
    assert work["few"] < 3 * 10000


_PROBE = """
double work(double* a, int n) {
  double s = 0;
  __asm__ volatile("nop\\n\\t.pushsection .note.probe,\\"\\",@note\\n\\t.long 1\\n\\t.popsection\\n\\tnop");
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
"""


def test_code_behind_an_asm_that_visits_another_section_is_counted(tmp_path: Path) -> None:
    def counted(text: str) -> int:
        (tmp_path / "p.c").write_text(text)
        subprocess.run(["gcc", "-O2", "-S", "p.c", "-o", "p.s"], cwd=tmp_path, check=True)
        made = with_counters((tmp_path / "p.s").read_text())
        (tmp_path / "counted.s").write_text(made)
        subprocess.run(["gcc", "-c", "counted.s", "-o", "counted.o"], cwd=tmp_path, check=True)
        return made.count("\n\tleaq -128(%rsp),%rsp")

    plain = counted(_PROBE.replace('\\n\\t.pushsection .note.probe,\\"\\",@note\\n\\t.long 1\\n\\t.popsection', ""))
    assert plain >= 3  # before, in and behind the loop
    assert counted(_PROBE) == plain + 1  # and what the asm comes back to


def test_an_asm_in_intels_syntax_is_built_and_not_counted(tmp_path: Path) -> None:
    (tmp_path / "i.c").write_text('int main(void) { int x = 1; __asm__("add eax, 2" : "+a"(x)); return x - 3; }')
    ended = compile_with("-O2", "-masm=intel", "i.c", "-o", "i", cwd=tmp_path)
    assert ended.returncode == 0
    assert "i.c: its code is not counted" in ended.stderr
    assert subprocess.run([str(tmp_path / "i")], check=False).returncode == 0


@pytest.mark.parametrize("word", ["-static", "-static-pie"])
def test_static_programs_are_linked_with_shared_libraries(tmp_path: Path, word: str) -> None:
    (tmp_path / "s.c").write_text("int main(void) { return 0; }")
    ended = compile_with("-O2", word, "s.c", "-o", "s", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert f"{word} is left out" in ended.stderr
    for program in ("s", "s.twin", "s.timed"):
        assert subprocess.run([str(tmp_path / program)], check=False).returncode == 0


_OPENMP = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* a program may have an allocator of its own */
static char pool[1 << 20];
static size_t used;
void* malloc(size_t n) { void* p = pool + used; used += (n + 63) & ~(size_t)63; return p; }
void free(void* p) { (void)p; }
int main(void) {
  omp_sched_t kind; int chunk, n = 0;
  omp_set_schedule(omp_sched_dynamic, 17);
  omp_get_schedule(&kind, &chunk);
  double* a = omp_alloc(80, omp_default_mem_alloc);
  a[9] = chunk;
#pragma omp parallel num_threads(2)
  {
#pragma omp cancel parallel if (a[9] < 0)
#pragma omp barrier
#pragma omp atomic
    n += 1;
  }
  printf("%d %d %g %d %d %d\\n", (int)kind, chunk, a[9], omp_get_num_places(), omp_get_max_task_priority(), n);
  omp_free(a, omp_default_mem_alloc);
  char* text = strdup("text");
  if (text < pool || text >= pool + sizeof pool) return 2;
  free(text);
  return (char*)a < pool || (char*)a >= pool + sizeof pool;
}
"""


def test_openmp_answers_as_libgomp_and_an_allocator_of_the_programs_own(tmp_path: Path) -> None:
    (tmp_path / "o.c").write_text(_OPENMP)
    subprocess.run(["gcc", "-O2", "-fopenmp", "o.c", "-o", "native"], cwd=tmp_path, check=True)
    ended = compile_with("-O2", "-fopenmp", "o.c", "-o", "o", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert run(tmp_path / "o") == run(tmp_path / "native")


_BESIDE = """
#include <pthread.h>
#include <stdio.h>
static double a[20000];
static long sum;
static void part(int b, int e) {
#pragma omp parallel for num_threads(2)
  for (int i = b; i < e; i++) {
    a[i] += i;
#pragma omp critical
    sum += 1;
  }
}
static void* work(void* x) { for (int r = 0; r < 50; ++r) part(0, 10000); return x; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, work, 0);
  pthread_create(&u, 0, work, 0);
  part(10000, 20000);
  pthread_join(t, 0);
  pthread_join(u, 0);
  printf("%g %ld", a[19999], sum);
  return 0;
}
"""


def test_parallel_regions_of_several_threads_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "b.c").write_text(_BESIDE)
    ended = compile_with("-O2", "-fopenmp", "-pthread", "b.c", "-o", "b", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    for program in ("b", "b.timed"):
        assert run(tmp_path / program) == "19999 1010000"
    capture(command=[tmp_path / "b"], output=tmp_path / "b.hnt")
    replay = CliRunner().invoke(homenode, ["replay", str(tmp_path / "b.hnt"), "--machine", "xeon-x5550-2s"])
    assert isinstance(replay.exception, UsageError)
    assert "thread 1, which the program created itself, has not ended where a team begins" in str(replay.exception)
