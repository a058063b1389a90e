"""`homenode cc` and the recording runtime, by the stream that a traced program sends."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from homenode.compiler.stream_dump import Message, messages, record
from homenode.kernel_sources import kernel
from streams import PROGRAMS, accesses, build, compile_with, kinds, regions, stream, work_of


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


def test_aliased_arrays_take_little_memory(tmp_path: Path) -> None:
    program = build(tmp_path, "large")
    data, output, status = record([program], {"HOMENODE_ALIAS_OVER": "1000000000"})
    assert status == 0
    (copies,) = regions(list(messages(data)))
    # 16 pieces of 256 MiB, one byte read and one written every 64 KiB
    assert kinds(copies) == {"read": 16 * 4096, "write": 16 * 4096}
    # 8 GiB of addresses; the windows are 4 MiB
    assert 0 < int(output) < 100_000


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
