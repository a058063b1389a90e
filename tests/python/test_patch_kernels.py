"""The programs after JArena and Gerofi, captured: patches with owners, the heap benchmark, A* searches."""

from __future__ import annotations

from typing import Any

import pytest

import homenode as hn
from homenode import _core

SMALLEST: list[tuple[str, dict[str, int | str]]] = [
    ("advection2d", {"patch": 5, "patches": 3, "temporaries": "anew"}),
    ("advection2d", {"patch": 5, "patches": 3, "temporaries": "scratch"}),
    ("advection3d", {"patch": 4, "patches": 2, "layout": "compact"}),
    ("advection3d", {"patch": 4, "patches": 2, "temporaries": "scratch"}),
    ("fdtd3d", {"patch": 4, "steps": 2}),
    ("jacobi3d_tasks", {"ni": 20, "nj": 20, "nk": 16, "order": "kji"}),
    ("heap_list1", {"blocks": 5, "bytes": 10000, "passes": 2}),
    ("sliding_tile", {"moves": 20, "table": 6}),
    ("sliding_tile", {"moves": 20, "table": 6, "nodes": "heap"}),
]


def region(trace: hn.Trace, label: str) -> dict[str, Any]:
    found = [entry for entry in trace.inspect()["regions"] if entry["label"].split(":")[0] == label]
    assert len(found) == 1, f"{label}: {trace.labels}"
    return found[0]


@pytest.mark.capture
@pytest.mark.parametrize(("name", "settings"), SMALLEST)
def test_captured(capfd: pytest.CaptureFixture[str], name: str, settings: dict[str, Any]) -> None:
    first, second = (hn.capture(name, threads=2, **settings) for _ in range(2))
    assert capfd.readouterr().err.count(f"{name}: self-check passed") == 2
    assert _core.check_trace(first.path) == []
    assert first.hash == second.hash
    # small arrays of indices on the stack, which gcc does not instrument; nothing else
    assert {loss["reason"].split(":")[-1] for loss in first.inspect()["losses"]} <= {" gcc does not instrument it"}


@pytest.mark.capture
@pytest.mark.parametrize("temporaries", ["reuse", "anew"])
def test_accesses_of_advection2d(temporaries: str) -> None:
    n, patches, steps, threads = 6, 3, 2, 2
    trace = hn.capture("advection2d", threads=threads, patch=n, patches=patches, steps=steps, temporaries=temporaries)
    exchange, compute = region(trace, "exchange"), region(trace, "compute")
    times = threads * patches * steps
    # exchange: 4 sides of n cells, read and written; compute: each of the 2 n (n + 1) fluxes is read from the field, written, and
    # read by the cells on either side of it, n^2 cells are read and written: 4 n^2 + n^2 + 2 n (n + 1) reads
    assert exchange["writes"] == times * 4 * n
    assert exchange["reads"] == times * (4 * n + 5)  # and 5 pointers a patch
    pointers = times * (3 if temporaries == "reuse" else 5)  # those that it frees are read again
    assert compute["reads"] - pointers == times * (5 * n**2 + 2 * n * (n + 1))
    assert compute["writes"] - (times * 2 if temporaries == "anew" else 0) == times * (n**2 + 2 * n * (n + 1))


@pytest.mark.capture
def test_advection_s_blocks_are_one_for_each_patch_and_variable() -> None:
    n, patches, threads = 8, 3, 2
    for temporaries, allocations in (("reuse", 1), ("anew", 5)):
        trace = hn.capture("advection3d", threads=threads, patch=n, patches=patches, steps=5, temporaries=temporaries)
        sizes = [entry["bytes"] for entry in trace.inspect()["objects"]]
        # a field of (n + 2)^3 doubles, three fluxes of n^2 (n + 1) doubles in blocks of whole lines
        assert sizes.count((n + 2) ** 3 * 8) == threads * patches
        assert sizes.count(n**2 * (n + 1) * 8) == threads * patches * 3 * allocations


@pytest.mark.capture
def test_scratch_is_one_pair_of_temporaries_for_each_thread_and_step() -> None:
    n, patches, steps, threads = 8, 3, 2, 2
    trace = hn.capture("advection2d", threads=threads, patch=n, patches=patches, steps=steps, temporaries="scratch")
    sizes = [entry["bytes"] for entry in trace.inspect()["objects"]]
    # a field of (n + 2)^2 doubles for each patch, 800 bytes in whole lines of 64; two fluxes of n (n + 1) doubles for each thread
    # in each step
    assert sizes.count(832) == threads * patches
    assert sizes.count(n * (n + 1) * 8) == threads * steps * 2


@pytest.mark.capture
def test_list_1_frees_the_neighbour_s_blocks() -> None:
    blocks, size, passes, threads = 4, 8192, 3, 2
    trace = hn.capture("heap_list1", threads=threads, blocks=blocks, bytes=size, passes=passes)
    sizes = [entry["bytes"] for entry in trace.inspect()["objects"]]
    assert sizes.count(size) == threads * blocks * passes
    # every block is written whole, and so is the table of their addresses
    assert trace.inspect()["footprint_bytes"] >= threads * blocks * (passes * size + 8)


@pytest.mark.capture
def test_accesses_of_fdtd3d() -> None:
    n, patches, steps, threads = 5, 2, 2, 2
    trace = hn.capture("fdtd3d", threads=threads, patch=n, patches=patches, steps=steps)
    update, exchange = region(trace, "update_h"), region(trace, "exchange_e")
    # a cell of H: three components, each read and written, from four values of E of which the three components' own are shared
    # within the cell: 3 + 3 own + 6 ahead reads; pointers to the six fields
    cells = threads * patches * steps * n**3
    assert update["writes"] == 3 * cells
    assert update["reads"] - threads * patches * steps * 6 in (12 * cells, 15 * cells)
    # the two tangential components on each of three planes, on two where the domain ends in the first direction
    assert exchange["writes"] == steps * n**2 * (threads * patches * 6 - patches * 2)
