"""The machines of today: every number has a source, and memory without cores gets pages but no threads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import homenode as hn
from support import ROOT

sys.path.insert(0, str(ROOT))

from validation.study import Options
from validation.todays_machines import STUDY, rows

NAMES = (
    "a64fx",
    "epyc-7763-2s-nps1",
    "epyc-7763-2s-nps4",
    "epyc-9654-2s",
    "grace-2s",
    "graviton2",
    "graviton3",
    "xeon-8380-2s",
    "xeon-8480-2s",
    "xeon-8480-2s-cxl",
    "xeon-8480-2s-snc4",
    "xeon-max-9480-2s-cache",
    "xeon-max-9480-2s-flat",
)
# One slice; hits of the first level are core work; one node a socket.
# Without `dram.burst` and what goes with it the bus has the measured bandwidths (HBM, LPDDR).
DIMMS = ("ranks", "burst", "refresh_interval", "refresh_time", "four_activates", "turn_around")
# No cut in the latency of waited loads.
DEFAULTS = (
    *("slices", "caches.1.bandwidth_per_core", "coherence.between_nodes_of_socket", "core.load_waits"),
    *(f"dram.{key}" for key in DIMMS),
)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_a_source(name: str) -> None:
    machine = hn.Machine.load(name)
    assert machine.name == name
    paths = [one["path"] for one in machine.parameters]
    assert len(set(paths)) == len(paths)
    for one in machine.parameters:
        if one["source"] == "default of homenode":
            assert one["path"].endswith(DEFAULTS), one["path"]
            continue
        assert one["confidence"], one["path"]
        assert set(one["source"].split(", ")) <= set(machine.sources), one["path"]
        unread = {"PRIOR", "CHOICE", "SKU"} & set(one["source"].split(", "))
        assert one["assumed"] or not unread, one["path"]


@pytest.mark.parametrize("name", ["xeon-8480-2s-cxl", "xeon-max-9480-2s-flat"])
def test_memory_without_cores_gets_pages_and_no_threads(name: str, trace: hn.Trace) -> None:
    machine = hn.Machine.load(name)
    assert machine.topology["cores_of_node"] == [56, 56, 0, 0]
    assert set(machine.node_of_core.tolist()) == {0, 1}
    far, spread = hn.replay_grid(
        trace, [hn.RunSpec(machine, threads=112, placement=placement) for placement in ("bind:2", "interleave")]
    )
    assert [pages > 0 for pages in far.run["pages_by_node"]] == [False, False, True, False]
    assert all(pages > 0 for pages in spread.run["pages_by_node"])
    # A socket's own memory without cores has the latency that stands there; the other's is a hop farther.
    near, hop = machine.latency_ns[0, 2], float(machine.topology["latency_ns"][0][1]) - machine.latency_ns[0, 0]
    assert machine.latency_ns[0, 3] == pytest.approx(near + hop)


TURBO = [name for name in NAMES if name.startswith(("epyc-", "xeon-"))]


@pytest.mark.parametrize("name", TURBO)
def test_clocks_by_active_cores_are_numbers_like_others(name: str) -> None:
    machine = hn.Machine.load(name)
    clocks = {one["path"]: one for one in machine.parameters}["clock_by_cores"]
    steps = [step.split(": ") for step in clocks["value"].split(", ")]
    (fewest, alone), (cores, together) = steps[0], steps[-1]
    assert fewest == ("28" if name.startswith("xeon-8480") else "1")
    assert int(cores) == machine.cores / machine.sockets
    assert hertz(alone) > hertz(together) > hertz({one["path"]: one for one in machine.parameters}["clock"]["value"])
    # Stated bounds: of the clock of all cores, the whole table in proportion.
    (uncertain,) = (one for one in machine.uncertainties if one["name"] == "clock_by_cores")
    lowest = hertz(uncertain["low"].split(": ")[-1])
    assert uncertain["low_factor"] == pytest.approx(lowest / hertz(together))
    for drawn in machine.sample(4, parameters=["clock_by_cores"]):
        assert lowest <= hertz(last_clock(drawn)) <= hertz(together)
    # A changed clock takes the table along, and the parameters tell so.
    assert hertz(last_clock(machine.with_changes(clock="x1.5"))) == pytest.approx(1.5 * hertz(together))


def test_clocks_by_vector_width_are_numbers_like_others() -> None:
    plain = hn.Machine.load("xeon-8480-2s")
    machine = plain.with_changes(clock_by_cores_512="1: 3.5 GHz, 56: 1.9 GHz")
    assert machine.hash != plain.hash and machine.with_changes(clock_by_cores_512="").hash == plain.hash
    # A changed clock takes the tables along; where narrow code is slower, all is.
    assert last_clock(machine.with_changes(clock="2.4 GHz"), "clock_by_cores_512") == "2.28 GHz"
    slow = machine.with_changes(clock_by_cores="", clock="1.8 GHz")
    assert last_clock(slow, "clock_by_cores_512") == "1.71 GHz"
    (value,) = (one["value"] for one in slow.parameters if one["path"] == "clock_by_cores_512")
    assert value == "1: 1.8 GHz, 56: 1.71 GHz"
    with pytest.raises(hn.errors.UsageError, match=r"clock_by_cores_512 with up to 56 cores at work is 3\.5 GHz"):
        plain.with_changes(clock_by_cores_512="56: 3.5 GHz")


def hertz(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"MHz": 1e6, "GHz": 1e9}[unit]


def last_clock(machine: hn.Machine, path: str = "clock_by_cores") -> str:
    (value,) = (str(one["value"]) for one in machine.parameters if one["path"] == path)
    return value.split(": ")[-1]


def test_the_studys_facts(tmp_path: Path) -> None:
    found = {row.what: row for row in rows(Options(tmp_path, small=True))}
    first = next(iter(found.values()))
    assert tuple(first.as_json()) == STUDY.columns
    # 64 B of data in messages of 72 B: the link of 128 GB/s carries more than the node's memory gives, 61.4 GB/s.
    assert found["reads of a node of the other socket"].model == pytest.approx(61.4)
    # 1 / (2 / 3 / 169.6 + 1 / 3 / 137.2), with 2 / 151.7 = 1 / 169.6 + 1 / 137.2
    assert found["reads and writes 2:1, all cores"].model == pytest.approx(157.2, rel=0.05)
