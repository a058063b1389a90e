"""What gcc leaves out and what was never instrumented is said, once and by name."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import compiler
from homenode.compiler.instrumentation import COPY, STACK, TABLE, VECTOR
from homenode.compiler.stream_dump import messages, record

pytestmark = pytest.mark.capture
LEVELS = pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
MAIN = "int main(int count, char** words) {{ (void)words; {} return 0; }}\n"


def losses(folder: Path, text: str, *flags: str, name: str = "lost.c") -> dict[str, int]:
    """Compile and trace; the trace's losses by reason."""
    (folder / name).write_text(text)
    program = folder / "lost"
    driver = "c++" if name.endswith(".cpp") else "cc"
    assert compiler.main([*flags, "-g", str(folder / name), "-o", str(program)], driver) == 0
    entries: list[dict[str, Any]] = hn.capture(command=[program]).inspect()["losses"]
    return {entry["reason"]: entry["count"] for entry in entries}


# Functions, main's body, and the losses that are to be told.
ARRAYS: dict[str, tuple[str, str, dict[str, int]]] = {
    # one store and one load of `local`; `out` is recorded
    "on the stack of their function": (
        "__attribute__((noinline)) double sum(int n, const double* out) {\n  double local[64], s = 0;\n"
        "  for (int i = 0; i < n; i++) local[i] = i * 0.5;\n"
        "  for (int i = 0; i < n; i++) s += local[n - 1 - i] * out[i];\n  return s;\n}\n",
        "static double out[64]; if (sum(count + 60, out) != 0) return 1;",
        {f"sum: 'local' {STACK}": 2},
    ),
    "seen from outside": (
        "__attribute__((noinline)) void fill(double* p, int n) { for (int i = 0; i < n; i++) p[i] = i; }\n"
        "void (*hidden)(double*, int) = fill;\n",
        "double local[64]; hidden(local, 60 + count); return local[count] != 1;",
        {},
    ),
    "in registers in the end": (
        "__attribute__((noinline)) int dot(const int* p) { int t[3] = {p[0], p[1], p[2]}; return t[0] + t[1] * t[2]; }\n",
        "static int p[3]; return dot(p) + count - count;",
        {},
    ),
    "read-only tables": (
        "static const int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
        "__attribute__((noinline)) int look(int i, int* p) { return table[i & 7] + p[i]; }\n",
        "static int p[9]; return look(count, p) != 2;",
        {f"look: 'table' {TABLE}": 1},
    ),
}


@LEVELS
@pytest.mark.parametrize("arrays", ARRAYS)
def test_arrays(tmp_path: Path, arrays: str, level: str) -> None:
    functions, body, expected = ARRAYS[arrays]
    assert losses(tmp_path, functions + MAIN.format(body), level) == expected


@LEVELS
def test_vector_intrinsics(tmp_path: Path, level: str) -> None:
    text = (
        '#include <immintrin.h>\n#define F __attribute__((noinline, target("avx2")))\n'
        "F void twice(double* a) { _mm256_storeu_pd(a, _mm256_add_pd(_mm256_loadu_pd(a), _mm256_loadu_pd(a + 4))); }\n"
        "F void stream(double* a) { _mm256_stream_pd(a, _mm256_setzero_pd()); }\n"
        "F void gather(double* a) { _mm256_storeu_pd(a, _mm256_i32gather_pd(a, _mm_setzero_si128(), 8)); }\n"
        "F void masked(double* a) { _mm256_maskstore_pd(a, _mm256_setzero_si256(), _mm256_setzero_pd()); }\n"
        "double a[8] __attribute__((aligned(32)));\n"
        + MAIN.format('if (count > 9 || __builtin_cpu_supports("avx2")) twice(a), stream(a), gather(a), masked(a);')
    )
    # plain loads and stores of 32 bytes are recorded
    assert losses(tmp_path, text, level) == {
        f"gather: gathersiv4df: {VECTOR}": 1,
        f"masked: maskstorepd256: {VECTOR}": 1,
        f"stream: movntpd256: {VECTOR}": 1,
    }


@LEVELS
def test_atomic_updates_of_doubles(tmp_path: Path, level: str) -> None:
    text = (
        "__attribute__((noinline)) void add(double* s) {\n#pragma omp atomic\n  *s += 1;\n}\n"
        "__attribute__((noinline)) void count_up(int* s) {\n#pragma omp atomic\n  *s += 1;\n}\n"
        + MAIN.format("static double s; static int i; add(&s); count_up(&i); return s != 1 || i != count;")
    )
    assert losses(tmp_path, text, level, "-fopenmp") == {}  # recorded as one access: test_threads


def test_calls_of_library_functions(tmp_path: Path) -> None:
    text = (
        "#include <search.h>\n#include <stdio.h>\nint numbers[9];\n"
        "static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }\n"
        + MAIN.format("size_t all = 9; return lfind(numbers, numbers, &all, sizeof *numbers, by_value) == 0;")
    )
    assert losses(tmp_path, text, "-O2") == {"main: what lfind does to memory is not recorded": 1}


def test_untraced_objects_and_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("object", "member", "unused", "shared"):
        Path(f"{name}.c").write_text(f"void {name}(int* p) {{ *p += 1; }}\nvoid {name}_too(int* p) {{ *p += 1; }}\n")
        subprocess.run(["gcc", "-O1", "-fPIC", "-c", f"{name}.c"], check=True)
    subprocess.run(["ar", "rcs", "libmember.a", "member.o", "unused.o"], check=True)
    subprocess.run(["gcc", "-shared", "shared.o", "-o", "libshared.so"], check=True)
    Path("traced.c").write_text("void traced(int* p) { *p += 1; }\n")
    assert compiler.main(["-c", "traced.c"]) == 0
    Path("main.c").write_text(
        "void object(int*), member(int*), shared(int*), traced(int*);\n"
        "int main(void) { static int i; object(&i); member(&i); shared(&i); traced(&i); return i != 4; }\n"
    )
    link = ["main.c", "object.o", "traced.o", "-L.", "-lmember", "-lshared", f"-Wl,-rpath,{tmp_path}", "-o", "main"]
    assert compiler.main(["-O1", "-g", *link]) == 0
    entries = hn.capture(command=[tmp_path / "main"]).inspect()["losses"]
    # two functions in each object that was linked, one of the library's is called; `unused` was not linked
    assert {(entry["reason"].split(":")[0], entry["count"]) for entry in entries} == {
        ("object.o", 2),
        ("libmember.a(member.o)", 2),
        ("libshared.so", 1),
    }


FORTRAN = """
module kinds
  type pair
    real(8) :: x, y, z
    integer(8) :: n
  end type
end module
subroutine pairs(a, b, n)
  use kinds
  integer :: n, i
  type(pair) :: a(n), b(n)
  do i = 1, n
    a(i) = b(i)
  end do
end subroutine
subroutine words(a, b, n)
  integer :: n, i
  character(len=24) :: a(n), b(n)
  do i = 1, n
    a(i) = b(i)
  end do
end subroutine
"""
COPIES = """
program copies
  use kinds
  type(pair), allocatable :: a(:), b(:)
  character(len=24), allocatable :: s(:), t(:)
  allocate (a(10), b(10), s(10), t(10))
  if (command_argument_count() == 0) call pairs(a, b, 10)
  if (command_argument_count() <= 1) call words(s, t, 10)
end program
"""


def bytes_in(program: Path, *arguments: str) -> dict[str, int]:
    """Bytes read and written in all."""
    data, _, status = record([program, *arguments])
    assert status == 0
    found = {"read": 0, "write": 0}
    for access in (access for message in messages(data) for access in message.accesses):
        found[access.kind] += access.width
    return found


@LEVELS
def test_fortran_s_copies_are_recorded_or_said(tmp_path: Path, level: str) -> None:
    (tmp_path / "parts.f90").write_text(FORTRAN)
    (tmp_path / "copies.f90").write_text(COPIES)
    program = tmp_path / "copies"
    words = [
        level,
        "-g",
        f"-J{tmp_path}",
        str(tmp_path / "parts.f90"),
        str(tmp_path / "copies.f90"),
        "-o",
        str(program),
    ]
    assert compiler.main(words, "fortran") == 0
    both, one, none = (bytes_in(program, *["word"] * arguments) for arguments in range(3))
    # 10 structures of 32 bytes; and the length n
    assert both["write"] - one["write"] == 10 * 32
    assert both["read"] - one["read"] - 10 * 32 in (4, 8, 12)
    # 10 character variables of 24 bytes: gfortran expands such copies whatever it is told
    assert one["write"] - none["write"] < 10 * 24
    told = {loss["reason"]: loss["count"] for loss in hn.capture(command=[program]).inspect()["losses"]}
    assert told.get(f"words_: {COPY}") == 1
    assert f"pairs_: {COPY}" not in told
