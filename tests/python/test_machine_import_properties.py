"""Random topologies and matrices through `homenode machine import`, against libhwloc and against what was put in."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import homenode as hn
import machine_texts as texts
from homenode.errors import Error
from homenode.machine_files.described_value import nanoseconds
from homenode.machine_files.drafted_memory import rising
from homenode.machine_files.importing import import_machine

few = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def of_text(text: str, **settings: str) -> hn.Machine:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_text(text, encoding="utf-8")
        return import_machine([path], **settings).machine


@st.composite
def topologies(draw: st.DrawFn) -> str:
    """Packages, dies or groups with memory, up to three levels of caches, cores and hardware threads."""
    memory = f"[NUMANode(memory={draw(st.integers(1, 64))}GB)]"
    parts = [f"Package:{draw(st.integers(1, 5))}"]
    if draw(st.booleans()):
        parts.append(f"{draw(st.sampled_from(('Group', 'Die')))}:{draw(st.integers(1, 3))}")
    parts.append(memory)
    for level, size in (("L3Cache", "32MB"), ("L2Cache", "1MB"), ("L1dCache", "32kB")):
        if draw(st.booleans()):
            parts.append(f"{level}:{draw(st.integers(1, 3))}(size={size})")
    return " ".join([*parts, f"Core:{draw(st.integers(1, 4))}", f"PU:{draw(st.integers(1, 3))}"])


@few
@given(topologies())
def test_a_synthetic_topology_is_what_libhwloc_makes_of_it(text: str) -> None:
    mine, theirs = of_text(text), of_text(texts.lstopo_xml(text))
    assert (mine.sockets, mine.nodes, mine.cores) == (theirs.sockets, theirs.nodes, theirs.cores)
    assert mine.node_of_core.tolist() == theirs.node_of_core.tolist()
    assert [(one["level"], one["cores_per_cache"]) for one in mine.caches] == [
        (one["level"], one["cores_per_cache"]) for one in theirs.caches
    ]


@st.composite
def latencies(draw: st.DrawFn) -> list[list[int]]:
    """Symmetric idle latencies of two to six nodes in tenths of ns; all nodes have the same local latency."""
    count = draw(st.integers(2, 6))
    local = draw(st.integers(500, 1500))
    far = [[draw(st.integers(local + 50, 5000)) for _ in range(count)] for _ in range(count)]
    return [
        [local if row == column else far[min(row, column)][max(row, column)] for column in range(count)]
        for row in range(count)
    ]


@few
@given(latencies())
def test_a_measured_matrix_is_the_machines_matrix(matrix: list[list[int]]) -> None:
    count = len(matrix)
    lines = ["Measuring idle latencies (in ns)...", "Numa node " + " ".join(map(str, range(count)))]
    lines += [" ".join([str(row), *(f"{value / 10:.1f}" for value in values)]) for row, values in enumerate(matrix)]
    machine = of_text("\n".join(lines) + "\n", synthetic=f"Package:{count} [NUMANode] Core:2 PU:1")
    found = machine.latency_ns.tolist()
    assert [[round(10 * value) for value in row] for row in found] == matrix


@few
@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**4)), min_size=2, max_size=40))
def test_a_described_curve_has_points_of_the_file(points: list[tuple[int, int]]) -> None:
    text = "MB/s, ns\n" + "\n".join(f"{bandwidth}, {latency}" for bandwidth, latency in points) + "\n"
    machine = of_text(text)
    told = next(one["value"] for one in machine.parameters if one["path"] == "controllers.loaded_latency")
    idle, full = min(latency for _, latency in points), max(bandwidth for bandwidth, _ in rising(tuple(points)))
    assert machine.latency_ns[0][0] == idle
    for point in told.split(", "):
        share, extra = point.split(": ")
        latency = idle + round(nanoseconds(extra))
        assert any(one == latency and abs(bandwidth / full - float(share)) <= 1e-4 for bandwidth, one in points), point
    assert float(share) == 1


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_a_damaged_file_is_refused_or_read(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from((texts.TWO_SOCKETS, texts.MLC, texts.NUMACTL, texts.KERNCRAFT)))
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 40)))
    damaged = text[:begin] + data.draw(st.text(max_size=8)) + text[end:]
    try:
        machine = of_text(damaged)
    except Error as error:
        assert "allowed" in str(error)
    else:
        assert machine.cores > 0
