"""`homenode cc` in place of gcc: its options, builds, libraries; and what is recorded however a program ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from homenode.compiler.stream_dump import messages, record
from streams import build, compile_with, kinds, regions, stream, work_of
from support import SCRIPTS


@pytest.mark.parametrize("compiler", ["clang", "clang-14", "/usr/lib/llvm-14/bin/clang"])
def test_clang_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    monkeypatch.setenv("HOMENODE_GCC", compiler)
    (tmp_path / "a.c").write_text("int main(void) { return 0; }")
    ended = compile_with("a.c", "-o", "a", cwd=tmp_path)
    assert ended.returncode == 2
    assert f"HOMENODE_GCC is '{compiler}'; allowed: gcc" in ended.stderr
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(("driver", "name"), [("cc", "gcc"), ("c++", "g++"), ("fortran", "gfortran")])
def test_help_is_homenode_s_own(driver: str, name: str) -> None:
    scripts = Path(sys.executable).parent
    said = [
        subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout
        for words in ([scripts / "homenode", driver, "--help"], [scripts / f"homenode-{driver}", "--help"])
    ]
    assert said[0] == said[1]
    assert said[0].startswith(f"Usage: homenode {driver} ARGUMENTS")
    assert f"a drop-in for {name} " in said[0]
    assert len(said[0].splitlines()) < 24
    # with a class of options it is the compiler's
    theirs = subprocess.run(
        [scripts / "homenode", driver, "--help=common"], capture_output=True, text=True, check=True
    ).stdout
    assert "-fsanitize=" in theirs


def test_another_compiler_may_have_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOMENODE_GCC", "gcc -m64 -DANSWER=7")
    (tmp_path / "a.c").write_text("int main(void) { return ANSWER; }")
    assert compile_with("a.c", "-o", "a", cwd=tmp_path).returncode == 0
    assert subprocess.run([tmp_path / "a"], check=False).returncode == 7
    assert subprocess.run([tmp_path / "a.twin"], check=False).returncode == 7
    monkeypatch.setenv("HOMENODE_GCC", "ccache clang-14")
    assert "HOMENODE_GCC is 'ccache clang-14'; allowed: gcc" in compile_with("a.c", "-o", "b", cwd=tmp_path).stderr


def test_separate_compilation_archives_and_dependencies(tmp_path: Path) -> None:
    (tmp_path / "part.h").write_text("double part(double* a, int n);\n")
    (tmp_path / "part.c").write_text(
        '#include "part.h"\ndouble part(double* a, int n) {\n  double s = 0;\n'
        "#pragma omp parallel for reduction(+ : s) schedule(dynamic, 2)\n  for (int i = 0; i < n; i++) s += a[i];\n  return s;\n}\n"
    )
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "part.h"\nint main(void) { double a[SIZE]; for (int i = 0; i < SIZE; i++) a[i] = i; '
        'printf("%g\\n", part(a, SIZE)); return 0; }\n'
    )
    (tmp_path / "Makefile").write_text(
        "CFLAGS = -O2 -fopenmp -MMD -DSIZE=100\n"
        "program: main.o libpart.a\n\t$(CC) -fopenmp main.o -L. -lpart -lm -o $@\n"
        "libpart.a: part.o\n\tar rcs $@ $^\n"
    )
    make = subprocess.run(
        ["make", f"CC={sys.executable} -m homenode.compiler cc"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert make.returncode == 0, make.stderr
    assert "part.h" in (tmp_path / "part.d").read_text()
    assert (tmp_path / "part.d").read_text().startswith("part.o:")
    found = stream(tmp_path / "program")
    # 100 elements read once
    assert kinds(regions(found)[0])["read"] == 100
    assert subprocess.run([tmp_path / "program.twin"], capture_output=True, text=True, check=True).stdout == "4950\n"
    work = work_of(tmp_path / "program.twin", tmp_path)
    # the loop stands in the archive: 100 floating-point additions there, and the reduction's own
    assert 100 <= work[1]["fp_add"] <= 104


def test_losses_are_noted(tmp_path: Path) -> None:
    (tmp_path / "vector.c").write_text(
        "#include <immintrin.h>\n__attribute__((noinline)) void twice(double* a) {\n"
        "  _mm256_storeu_pd(a, _mm256_add_pd(_mm256_loadu_pd(a), _mm256_loadu_pd(a + 4)));\n}\n"
        "__attribute__((noinline)) void masked(double* a) {\n"
        "  _mm256_maskstore_pd(a, _mm256_setzero_si256(), _mm256_setzero_pd());\n}\n"
        "int main(void) { double a[8] = {0}; twice(a); masked(a); return 0; }\n"
    )
    ended = compile_with("-O2", "-mavx", "-fopenmp", "-c", "vector.c", "-o", "vector.o", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    subprocess.run(
        ["objcopy", "-O", "binary", "--only-section=.homenode.loss", "--set-section-flags", ".homenode.loss=alloc",
         "vector.o", "loss"], cwd=tmp_path, check=True,
    )  # fmt: skip
    losses = [json.loads(line) for line in (tmp_path / "loss").read_text().splitlines()]
    # gcc tells of plain loads and stores of 32 bytes, not of masked ones
    assert [loss["function"] for loss in losses] == ["masked"]


@pytest.mark.parametrize(
    "words",
    [["--version"], ["-dumpversion"], ["-print-file-name=libc.so"], ["-E", "empty.c"], ["-S", "empty.c", "-o", "-"]],
)
def test_probes_pass_through(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    ended = compile_with(*words, cwd=tmp_path)
    plain = subprocess.run(["gcc", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (ended.returncode, ended.stdout) == (0, plain.stdout)


def test_fences_are_no_error_of_ours(tmp_path: Path) -> None:
    """gcc warns of them under -fsanitize=thread, which is no option of the user's."""
    text = "#include <atomic>\nint x;\nint main() { x = 1; std::atomic_thread_fence(std::memory_order_release); return 0; }\n"
    (tmp_path / "fence.cpp").write_text(text)
    words = ["-O2", "-Wall", "-Wextra", "-Werror", "fence.cpp", "-o", "fence"]
    ended = subprocess.run(
        [SCRIPTS / "homenode-g++", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


ENDINGS = """
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int a[1000];
int main(int count, char** words) {
  for (int i = 0; i < 1000; i++) a[i] = i * count;
  switch (atoi(words[1])) {
    case 0: abort();
    case 1: *(volatile int*)0 = 1;
    case 2: _exit(3);
    case 3: raise(SIGTERM);
    case 4: exit(5);
  }
  return 0;
}
"""


@pytest.mark.parametrize(("ending", "status"), [(0, -6), (1, -11), (2, 3), (3, -15), (4, 5), (5, 0)])
def test_what_was_recorded_arrives_however_a_program_ends(tmp_path: Path, ending: int, status: int) -> None:
    (tmp_path / "ending.c").write_text(ENDINGS)
    assert compile_with("-O2", "ending.c", "-o", "ending", cwd=tmp_path).returncode == 0
    data, _, ended = record([tmp_path / "ending", str(ending)])
    assert ended == status
    found = list(messages(data))
    # the 1000 writes of the loop
    assert kinds(found)["write"] >= 1000
    if status >= 0:
        assert found[-1].name == "end"
        assert found[-1].fields[0] == status


def test_a_program_without_a_reader_runs_as_ever(tmp_path: Path) -> None:
    program = build(tmp_path, "stencil")
    with_pipe = record([program, "20"])[1]
    plain = subprocess.run([program, "20"], capture_output=True, text=True, check=True).stdout
    gone = subprocess.run(
        ["bash", "-c", f"exec {{fd}}> >(exec true); HOMENODE_STREAM_FD=$fd {program} 20"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert with_pipe == plain == gone


def test_children_do_not_disturb_the_stream(tmp_path: Path) -> None:
    found = stream(build(tmp_path, "own_threads", "-O2", "-pthread"))
    # 100 sweeps over 1000 elements of each of two threads, each read and written
    counts = kinds(found)
    assert counts["write"] - 200_000 in range(10)
    assert counts["read"] - 200_000 in range(10)
    assert len([message for message in found if message.name == "end"]) == 1


def test_programs_without_openmp_may_stub_its_functions(tmp_path: Path) -> None:
    (tmp_path / "stub.c").write_text(
        "int omp_get_thread_num(void) { return 0; }\nint main(void) { return omp_get_thread_num(); }\n"
    )
    (tmp_path / "words").write_text("-O2 stub.c\n-o 'stub'")
    ended = compile_with("@words", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert stream(tmp_path / "stub")


def test_shared_libraries_record_through_the_program_that_loads_them(tmp_path: Path) -> None:
    (tmp_path / "fill.c").write_text("void fill(int* a, int n) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    (tmp_path / "main.c").write_text("void fill(int*, int);\nint a[500];\nint main(void) { fill(a, 500); return 0; }\n")
    for words in (
        ["-O2", "-fPIC", "-shared", "fill.c", "-o", "libfill.so"],
        ["-O2", "main.c", "-L.", "-lfill", "-Wl,-rpath,$ORIGIN", "-o", "main"],
    ):
        ended = compile_with(*words, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
    # 500 elements written once, and whatever the call itself stores
    assert kinds(stream(tmp_path / "main"))["write"] == 500


def test_assembly_beside_c_is_linked(tmp_path: Path) -> None:
    (tmp_path / "seven.s").write_text(
        '\t.globl seven\n\t.text\nseven:\n\tmovl $7, %eax\n\tret\n\t.section .note.GNU-stack,"",@progbits\n'
    )
    (tmp_path / "main.c").write_text(
        "int seven(void);\nint a[7];\nint main(void) { for (int i = 0; i < seven(); i++) a[i] = i; return a[6] != 6; }\n"
    )
    ended = compile_with("-O1", "main.c", "seven.s", "-o", "main", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert kinds(stream(tmp_path / "main")) == {"read": 1, "write": 7}
