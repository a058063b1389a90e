"""`homenode cc` and the recording runtime, by the stream that a traced program sends."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from homenode.compiler.stream_dump import Access, Message, messages, record
from homenode.kernel_sources import kernel

PROGRAMS = Path(__file__).parent / "programs"


def compile_with(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "homenode.compiler", "cc", *(str(word) for word in words)],
        cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


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


def build(folder: Path, name: str, *flags: str) -> Path:
    program = folder / name
    ended = compile_with("-fopenmp", *(flags or ("-O2",)), PROGRAMS / f"{name}.c", "-o", program, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return program


def stream(program: Path, *arguments: str, **environment: str) -> list[Message]:
    data, _, status = record([program, *arguments], environment)
    assert status == 0
    found = list(messages(data))
    assert found[-1].name == "end"
    # the runtime's own count of all it recorded
    assert found[-1].fields[1] == sum(len(message.accesses) for message in found)
    return found


def regions(found: list[Message]) -> list[list[Message]]:
    """The messages of each parallel region, in order."""
    result: list[list[Message]] = []
    inside = False
    for message in found:
        if message.name == "parallel_begin":
            result.append([])
            inside = True
        elif message.name == "parallel_end":
            inside = False
        if inside:
            result[-1].append(message)
    return result


def accesses(found: list[Message]) -> Iterator[Access]:
    return (access for message in found for access in message.accesses)


def kinds(found: list[Message]) -> dict[str, int]:
    return dict(Counter(access.kind for access in accesses(found)))


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_stencil_counts_are_the_hand_counts(tmp_path: Path, level: str) -> None:
    n = 20
    fill, sweep = regions(stream(build(tmp_path, "stencil", level), str(n)))
    # n^2 cells written once
    assert kinds(fill) == {"write": n * n}
    # (n - 2)^2 inner points: 5 reads, 1 write each
    assert kinds(sweep) == {"read": 5 * (n - 2) ** 2, "write": (n - 2) ** 2}


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_matrix_vector_counts_are_the_hand_counts(tmp_path: Path, level: str) -> None:
    n = 20
    (product,) = regions(stream(build(tmp_path, "matvec", level), str(n)))
    # n rows: n elements of A, n of x, one write of y
    assert kinds(product) == {"read": 2 * n * n, "write": n}


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_chase_counts_and_distances(tmp_path: Path, level: str) -> None:
    one, four, gather = regions(stream(build(tmp_path, "chase", level)))
    steps, elements = 20000, 4096
    # one chain: each of the 20000 loads takes its address from the load before it
    distances = Counter(access.distance for access in accesses(one) if access.kind == "read")
    assert distances.total() == steps
    assert distances[1] >= 0.99 * steps  # in whatever message they came, pairs by chance too
    # four chains interleaved: from the load four before
    distances = Counter(access.distance for access in accesses(four) if access.kind == "read")
    assert distances.total() == 4 * steps
    assert distances[4] >= 0.99 * 4 * steps
    # a gather: an index, which streams (0), and the element it names (1)
    distances = Counter(
        access.distance for access in accesses(gather) if access.width in (4, 8) and access.kind == "read"
    )
    assert distances[0] >= elements
    assert distances[1] >= 0.99 * elements
    assert distances[0] + distances[1] >= 2 * elements


def test_every_iteration_is_an_item_with_its_own_accesses(tmp_path: Path) -> None:
    n = 20
    _, sweep = regions(stream(build(tmp_path, "stencil"), str(n)))
    items = [message for message in sweep if message.name == "item"]
    assert [item.fields[0] for item in items] == list(range(n - 2))
    for item in items:
        # sequence numbers without holes: 6 (n - 2) accesses a row
        assert [access.sequence for access in item.accesses] == list(range(6 * (n - 2)))


@pytest.mark.parametrize("team", [1, 2, 7, 32])
def test_constructs_come_out_right_for_any_team(tmp_path: Path, team: int) -> None:
    # sum of i + j over 40 x 40: 40 * 2 * (0 + ... + 39) = 62400; tasks in order of dependence: 1234
    expected = "sum 62400 ranks 0 named 0 singles 11 ordered 1 doacross 1 tasks 1234 sections 111 locked 0\n"
    program = build(tmp_path, "constructs")
    _, output, status = record([program], {"HOMENODE_TEAM": str(team)})
    assert (output, status) == (expected, 0)
    twin = subprocess.run(
        [f"{program}.twin"], env={"HOMENODE_TEAM": str(team)}, capture_output=True, text=True, check=True
    )
    assert twin.stdout == expected


@pytest.mark.parametrize("team", [1, 2, 7])
def test_streams_repeat_byte_for_byte(tmp_path: Path, team: int) -> None:
    program = build(tmp_path, "constructs")
    # setarch -R: the same addresses, so that whole streams can be compared
    first, second = (record(["setarch", "-R", program], {"HOMENODE_TEAM": str(team)})[0] for _ in range(2))
    assert first == second
    # and the team is what was asked for, each rank with its barriers
    found = list(messages(first))
    assert {message.fields[1] for message in found if message.name == "parallel_begin"} == {team}
    assert len([m for m in found if m.name == "user_rank"]) == team


def test_variables_behind_a_closure_are_the_programs(tmp_path: Path) -> None:
    found = stream(build(tmp_path, "heap"))
    # 8 iterations: near[i] written, far[i] read and written
    assert kinds(regions(found)[0]) == {"read": 8, "write": 16}


def test_heap_events_and_bulk_copies(tmp_path: Path) -> None:
    found = stream(build(tmp_path, "heap"))
    allocations = [message.fields for message in found if message.name == "allocate"]
    # malloc, realloc, strdup; libc's own buffers are not the program's
    assert [fields[1] for fields in allocations][:2] == [1000, 100000]
    assert len(allocations) == 3
    assert allocations[1][4] == allocations[0][0]
    assert len([message for message in found if message.name == "release"]) == 2
    copied = next(message for message in found if message.name == "allocate").accesses
    base = allocations[0][0]
    # memcpy of 512 bytes: each byte of the target written once
    target = [a for a in copied if a.kind == "write" and isinstance(base, int) and base <= a.address < base + 1000]
    assert sum(access.width for access in target) == 512


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


def work_of(twin: Path, folder: Path, *arguments: str) -> list[dict[str, int]]:
    subprocess.run(
        [twin, *arguments], env={"HOMENODE_WORK": str(folder / "work")}, stdout=subprocess.DEVNULL, check=True
    )
    lines = [json.loads(line) for line in (folder / "work").read_text().splitlines()]
    assert lines.pop() == {"kind": "end"}
    return [line for line in lines if line["kind"] in ("serial", "parallel", "thread")]


@pytest.mark.parametrize("program", ["stencil", "matvec"])
def test_work_counts_are_the_instructions_executed(tmp_path: Path, program: str) -> None:
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    flags = ("-O2", "-fno-openmp")
    twin = Path(f"{build(tmp_path, program, *flags)}.twin")
    subprocess.run(["gcc", "-O2", PROGRAMS / f"{program}.c", "-o", tmp_path / "native"], check=True)
    totals = []
    for size in ("300", "500"):
        counted = sum(line["instructions"] for line in work_of(twin, tmp_path, size))
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={tmp_path}/out", tmp_path / "native", size],
            capture_output=True, check=True,
        )  # fmt: skip
        summary = next(
            line for line in (tmp_path / "out").read_text().splitlines() if line.startswith(("summary:", "totals:"))
        )
        totals.append((counted, int(summary.split()[1])))
    # what start-up and libc execute is the same for both sizes (the arrays come zeroed from the kernel): the difference is the program's
    counted = totals[1][0] - totals[0][0]
    executed = totals[1][1] - totals[0][1]
    assert counted == pytest.approx(executed, rel=0.03)


def test_work_counts_are_the_hand_counts(tmp_path: Path) -> None:
    n = 50
    work = work_of(Path(f"{build(tmp_path, 'stencil', '-O2', '-fno-tree-vectorize')}.twin"), tmp_path, str(n))
    assert [line["kind"] for line in work] == ["serial", "parallel", "serial", "parallel", "serial"]
    # 4 additions, 1 multiplication for each of (n - 2)^2 points
    assert work[3]["fp_add"] == 4 * (n - 2) ** 2
    assert work[3]["fp_multiply"] == (n - 2) ** 2
    assert work[3]["flops"] == 5 * (n - 2) ** 2


def test_original_schedules_travel_in_the_program(tmp_path: Path) -> None:
    program = build(tmp_path, "constructs")
    subprocess.run(
        ["objcopy", "-O", "binary", "--only-section=.homenode.clauses", "--set-section-flags", ".homenode.clauses=alloc",
         program, tmp_path / "clauses"], check=True,
    )  # fmt: skip
    text = (tmp_path / "clauses").read_text().replace("\0", "")
    notes = [json.loads(line) for line in text.splitlines()]
    assert [note["schedule"] for note in notes] == ["dynamic,3", "guided", "static,2", "auto", "dynamic", None]
    source = (PROGRAMS / "constructs.c").read_text().splitlines()
    for note in notes:
        assert "#pragma omp" in source[note["line"] - 1]
        assert source[note["for_line"] - 1].strip().startswith("for ")
    assert [note["collapse"] for note in notes] == [2, 1, 1, 1, 1, 1]
    assert notes[1]["reduction"] and notes[2]["nowait"] and notes[4]["ordered"]


def test_losses_are_noted(tmp_path: Path) -> None:
    (tmp_path / "vector.c").write_text(
        "#include <immintrin.h>\n__attribute__((noinline)) void twice(double* a) {\n"
        "  _mm256_storeu_pd(a, _mm256_add_pd(_mm256_loadu_pd(a), _mm256_loadu_pd(a + 4)));\n}\n"
        "__attribute__((noinline)) void add(double* s) {\n#pragma omp atomic\n  *s += 1;\n}\n"
        "int main(void) { double a[8] = {0}; twice(a); add(a); return 0; }\n"
    )
    ended = compile_with("-O2", "-mavx", "-fopenmp", "-c", "vector.c", "-o", "vector.o", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    subprocess.run(
        ["objcopy", "-O", "binary", "--only-section=.homenode.loss", "--set-section-flags", ".homenode.loss=alloc",
         "vector.o", "loss"], cwd=tmp_path, check=True,
    )  # fmt: skip
    losses = [json.loads(line) for line in (tmp_path / "loss").read_text().splitlines()]
    # gcc tells of plain loads and stores of 32 bytes, not of the atomic update of a double
    assert [loss["function"] for loss in losses] == ["add"]


def test_aliased_arrays_take_little_memory(tmp_path: Path) -> None:
    program = build(tmp_path, "large")
    data, output, status = record([program], {"HOMENODE_ALIAS_OVER": "1000000000"})
    assert status == 0
    (copies,) = regions(list(messages(data)))
    # 16 pieces of 256 MiB, one byte read and one written every 64 KiB
    assert kinds(copies) == {"read": 16 * 4096, "write": 16 * 4096}
    # 8 GiB of addresses; the windows are 4 MiB
    assert 0 < int(output) < 100_000


@pytest.mark.parametrize(
    "words",
    [["--version"], ["-dumpversion"], ["-print-file-name=libc.so"], ["-E", "empty.c"], ["-S", "empty.c", "-o", "-"]],
)
def test_probes_pass_through(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    ended = compile_with(*words, cwd=tmp_path)
    plain = subprocess.run(["gcc", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (ended.returncode, ended.stdout) == (0, plain.stdout)


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


def marks(found: list[Message]) -> list[tuple[int | str, ...]]:
    """Kind, value and text of each mark."""
    return [(m.fields[0], m.fields[1], m.fields[4]) for m in found if m.name == "mark"]


LABEL, STEP, STREAMABLE, OWNER, THREAD_TYPE = range(5)
NO_STEP = 2**64 - 1  # -1


def test_marks_arrive_with_their_values(tmp_path: Path) -> None:
    (tmp_path / "marked.c").write_text(
        '#include "homenode.h"\ndouble a[8];\nint main(void) {\n  HOMENODE_LABEL("begin");\n  HOMENODE_STEP(7);\n'
        '  HOMENODE_STREAMABLE(a, sizeof a);\n  HOMENODE_OWNER(a, 3);\n  HOMENODE_THREAD_TYPE("reader");\n  HOMENODE_STEP(-1);\n'
        "  return 0;\n}\n"
    )
    ended = compile_with("-O2", "marked.c", "-o", "marked", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    found = stream(tmp_path / "marked")
    assert marks(found) == [
        (LABEL, 0, "begin"), (STEP, 7, ""), (STREAMABLE, 0, ""), (OWNER, 3, ""), (THREAD_TYPE, 0, "reader"), (STEP, NO_STEP, ""),
    ]  # fmt: skip
    assert [m.fields[3] for m in found if m.name == "mark" and m.fields[0] == STREAMABLE] == [8 * 8]


@pytest.mark.parametrize(
    ("name", "settings"),
    [("jacobi2d", ["n=16", "sweeps=3"]), ("jacobi3d", ["ni=8", "nj=8", "nk=8", "sweeps=3"]), ("hotspot", ["size=32", "steps=3"])],
)  # fmt: skip
def test_kernels_mark_their_steps(tmp_path: Path, name: str, settings: list[str]) -> None:
    chosen = kernel(name)
    ended = compile_with(*chosen.flags, chosen.source, "-o", name, "-lm", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    found = marks(stream(tmp_path / name, *settings))
    assert [value for kind, value, _ in found if kind == STEP] == [0, 1, 2, NO_STEP]


NESTED = """
int a[4], ones[4];
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 4; i++) {
#pragma omp parallel for
    for (int j = 0; j < 2; j++) a[i] += j;
#pragma omp parallel num_threads(1)
    ones[i] = 1;
  }
  return a[3] != 1;
}
"""


def test_serialised_inner_teams_are_losses(tmp_path: Path) -> None:
    (tmp_path / "nested.c").write_text(NESTED)
    ended = compile_with("-O1", "-fopenmp", "nested.c", "-o", "nested", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    losses = [m.fields for m in stream(tmp_path / "nested") if m.name == "loss"]
    # the inner loop's region ran 4 times; the one that asks for a team of one gets what it asks for
    assert sum(int(fields[0]) for fields in losses) == 4
    assert {fields[3] for fields in losses} == {"nested parallel region: its team was serialised"}
    assert len({fields[1:3] for fields in losses}) == 1


MANY_SITES = """
#include <string.h>
#include <sys/mman.h>
void __tsan_write4(void*) __attribute__((weak));
enum { SITES = 70000, BYTES = 22 };
int target[16];
int main(void) {
  unsigned char* code = mmap(0, SITES * BYTES + 64, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char* at = code;
  void (*callback)(void*) = __tsan_write4;
  void* address = target;
  if (!callback) return 0;
  __builtin_memcpy(at, "\\x48\\x83\\xec\\x08", 4), at += 4; /* sub rsp, 8 */
  for (int i = 0; i < SITES; i++) {
    __builtin_memcpy(at, "\\x48\\xbf", 2), __builtin_memcpy(at + 2, &address, 8);   /* mov rdi, address */
    __builtin_memcpy(at + 10, "\\x48\\xb8", 2), __builtin_memcpy(at + 12, &callback, 8); /* mov rax, callback */
    __builtin_memcpy(at + 20, "\\xff\\xd0", 2), at += BYTES;                          /* call rax */
  }
  __builtin_memcpy(at, "\\x48\\x83\\xc4\\x08\\xc3", 5); /* add rsp, 8; ret */
  for (int round = 0; round < 2; round++) ((void (*)(void))code)();
  return 0;
}
"""


def test_any_number_of_sites_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "sites.c").write_text(MANY_SITES)
    ended = compile_with("-O1", "sites.c", "-o", "sites", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    # 70000 places that write one integer, twice
    writes = Counter(access.pc for access in accesses(stream(tmp_path / "sites")) if access.kind == "write")
    assert len([pc for pc, count in writes.items() if count == 2]) >= 70000
