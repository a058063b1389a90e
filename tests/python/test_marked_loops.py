"""Loops whose iterations a library hands out: what homenode.h's marks of them put into a trace, and jacobi3d with TBB."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import _core, compiler, errors
from homenode.capturing import compiled_kernel
from homenode.compiler.stream_dump import Message, messages, record
from homenode.kernel_sources import Kernel, kernel
from support import ROOT
from test_kernels import INSTALLED

WITH_TBB = pytest.mark.skipif("jacobi3d_tbb" not in INSTALLED, reason="no libtbb-dev")
# Blocks that do not divide the grid: 3 x 4 x 3 of them.
GRID = {"ni": 20, "nj": 17, "nk": 13, "bi": 7, "bj": 5, "bk": 6, "sweeps": 3}
SITES = GRID["ni"] * GRID["nj"] * GRID["nk"]

Items = list[dict[int, list[tuple[int, int, str]]]]


def loops(found: list[Message], arrays: list[tuple[int, int]]) -> Items:
    """Of each loop, by iteration: (array, byte in it, kind) of each access to the arrays, in order."""
    result: Items = []
    item: int | None = None
    for message in found:
        if message.name == "loop_begin":
            result.append({})
        item = int(message.fields[0]) if message.name == "item" else None
        if item is not None:
            places = [
                (number, access.address - low, access.kind)
                for access in message.accesses
                for number, (low, bytes_) in enumerate(arrays)
                if low <= access.address < low + bytes_
            ]
            assert len(places) == len(message.accesses)
            result[-1][item] = places
    return result


def items_of(name: str, **more: Any) -> Items:
    words = [compiled_kernel(kernel(name)), *(f"{key}={value}" for key, value in {**GRID, **more}.items())]
    data, said, status = record(words)
    assert (status, said) == (0, f"{name}: self-check passed\n")
    found = list(messages(data))
    bytes_ = -(-SITES * 8 // 64) * 64
    arrays = [(int(m.fields[0]), bytes_) for m in found if m.name == "allocate" and m.fields[1] == bytes_]
    assert len(arrays) == 2
    return loops(found, arrays)


def region(trace: hn.Trace, label: str) -> Any:
    return trace.regions.set_index("label").loc[label]


@WITH_TBB
@pytest.mark.parametrize("partitioner", ["auto", "affinity"])
def test_items_of_the_tbb_version_are_the_blocks_of_jacobi3d(partitioner: str) -> None:
    found, expected = items_of("jacobi3d_tbb", partitioner=partitioner), items_of("jacobi3d")
    assert len(found) == 1 + GRID["sweeps"]
    assert [set(loop) for loop in found] == [set(range(3 * 4 * 3))] * len(found)
    assert found == expected


@WITH_TBB
@pytest.mark.parametrize("partitioner", ["auto", "affinity"])
def test_a_trace_of_the_tbb_version_repeats_and_is_replayed_by_items(partitioner: str) -> None:
    first, second = (hn.capture("jacobi3d_tbb", partitioner=partitioner, **GRID) for _ in range(2))
    assert first.hash == second.hash
    assert _core.check_trace(first.path) == []
    # what each loop must show by kernels.toml
    for described in kernel("jacobi3d_tbb").regions:
        row = region(first, described["label"])
        assert row.kind == "loop"
        assert (row.reads, row.writes) == (
            eval(described["reads"], {}, dict(GRID)),
            eval(described["writes"], {}, dict(GRID)),
        )
    # 36 items for 6 threads: each gets some, whatever hands them out
    for distribution in ("static", "dynamic:1", "guided"):
        result = hn.replay(first, "opteron-8431-4s", threads=6, distribution=distribution)
        assert (result.threads["busy_seconds"] > 0).all()


@WITH_TBB
def test_several_threads_of_tbb_are_refused_in_a_capture() -> None:
    with pytest.raises(errors.UsageError, match="parameter 'tbb_threads' of kernel 'jacobi3d_tbb' is '4'; allowed: 1"):
        hn.capture("jacobi3d_tbb", tbb_threads=4)


def test_a_kernel_without_its_library_says_what_to_install() -> None:
    known = kernel("jacobi3d")
    lacking = Kernel(**{**vars(known), "needs": {"no/such/header.h": "libnone-dev"}})
    with pytest.raises(errors.UsageError, match=r"kernel 'jacobi3d' needs the header no/such/header.h.*libnone-dev"):
        lacking.refuse_without_needs(["gcc"])


POOL = """
#include <stdlib.h>
#include "homenode.h"
#ifndef ITEM
#define ITEM i
#endif
#ifndef INSIDE
#define INSIDE
#endif
#ifndef SKIP
#define SKIP 0
#endif
#ifndef COUNT
#define COUNT N
#endif
enum { N = 6 };
double a[N], elsewhere[N];
int main(void) {
  HOMENODE_LABEL("pool");
  HOMENODE_LOOP_BEGIN(COUNT);
  for (int i = N - 1; i >= 0; --i) {
    elsewhere[i] = i; /* the pool's own */
    if (SKIP) continue;
    HOMENODE_ITEM_BEGIN(ITEM);
    INSIDE
    a[i] = i;
    HOMENODE_ITEM_END();
  }
  HOMENODE_LOOP_END();
  return 0;
}
"""


@pytest.fixture
def pool(tmp_path: Path) -> Callable[..., Path]:
    """POOL compiled for tracing."""

    def built(*flags: str) -> Path:
        (tmp_path / "pool.c").write_text(POOL)
        assert compiler.main(["-O1", "-g", *flags, str(tmp_path / "pool.c"), "-o", str(tmp_path / "pool")]) == 0
        return tmp_path / "pool"

    return built


def test_items_come_in_any_order_and_what_lies_between_is_a_loss(pool: Callable[..., Path]) -> None:
    trace = hn.capture(command=[pool()])
    assert _core.check_trace(trace.path) == []
    row = region(trace, "pool")
    # 6 items with a write each; the 6 writes between them are not there
    assert (row.kind, row["items"], row.reads, row.writes) == ("loop", 6, 0, 6)
    losses = [loss for loss in trace.inspect()["losses"] if "between its items" in loss["reason"]]
    assert [loss["count"] for loss in losses] == [1]
    assert hn.replay(trace, "opteron-8431-4s", threads=3).seconds > 0


def test_openmp_and_loops_within_an_item_are_part_of_it(pool: Callable[..., Path]) -> None:
    inside = (
        "HOMENODE_LOOP_BEGIN(2); HOMENODE_ITEM_BEGIN(0); HOMENODE_ITEM_END(); HOMENODE_LOOP_END(); "
        '_Pragma("omp parallel for") for (int j = 0; j < N; ++j) a[j] += 1;'
    )
    row = region(hn.capture(command=[pool("-fopenmp", f"-DINSIDE={inside}")], threads=3), "pool")
    # each item: 6 reads and writes of the inner loop, and its own write
    assert (row["items"], row.reads, row.writes) == (6, 6 * 6, 6 * 7)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (
            "-DITEM=i+1",
            "a marked loop of 6 iterations has an item for iteration 6; allowed: 0 to one less than their number",
        ),
        ("-DINSIDE=if(i==3)continue;", "begins in an item that has not ended iteration 2; allowed: one item at a time"),
        ("-DCOUNT=-2", "a marked loop of -2 iterations has -2; allowed: 0 or more"),
        ("-DSKIP=i==4", "a marked loop of 6 iterations has items in its own thread for 5; allowed: all"),
    ],
)
def test_wrong_marks_end_the_capture(
    pool: Callable[..., Path], capfd: pytest.CaptureFixture[str], flag: str, message: str
) -> None:
    assert not hn.capture(command=[pool(flag)]).complete
    said = capfd.readouterr().err
    assert message in said
    assert said.count("homenode capture:") == 1


def test_an_iteration_that_comes_twice_is_an_error(pool: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="runs iteration 0 of a loop twice"):
        hn.capture(command=[pool("-DITEM=i/2")], output=tmp_path / "twice.hnt")
    assert not (tmp_path / "twice.hnt").exists()


def test_the_marks_do_nothing_natively(tmp_path: Path) -> None:
    (tmp_path / "pool.c").write_text(POOL)
    words = [
        "gcc",
        f"-I{ROOT / 'traces' / 'capture' / 'runtime'}",
        "-DSKIP=i==4",
        str(tmp_path / "pool.c"),
        "-o",
        str(tmp_path / "pool"),
    ]
    subprocess.run(words, check=True)
    assert subprocess.run([str(tmp_path / "pool")], check=False).returncode == 0
