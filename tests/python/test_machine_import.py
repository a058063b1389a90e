"""`homenode machine import`: each format, several files of one machine, and what comes from the donor."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
import machine_texts as texts
from homenode.errors import UsageError
from homenode.machine_files.importing import Imported, import_machine
from support import ROOT, Ended

sys.path.insert(0, str(ROOT))

from validation.imported_machines import has_alike_nodes, rows, shape_of
from validation.study import Options

Run = Callable[..., Ended]


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., Imported]:
    """Imports texts by the names of their files."""

    def run(files: dict[str, str], **settings: Any) -> Imported:
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return import_machine([tmp_path / name for name in files], **settings)

    return run


def values(machine: hn.Machine) -> dict[str, dict[str, Any]]:
    return {one["path"]: one for one in machine.parameters}


def test_a_topology_tells_sockets_nodes_cores_and_caches(imported: Callable[..., Imported]) -> None:
    found = imported({"box.xml": texts.TWO_SOCKETS})
    machine = found.machine
    assert (machine.name, machine.sockets, machine.nodes, machine.cores) == ("box", 2, 2, 8)
    told = values(machine)
    assert told["clock"]["value"] == "2.5 GHz"
    assert told["nodes.memory"]["value"] == "4 GiB"
    assert told["caches.3.cores_per_cache"]["value"] == "4"
    assert told["caches.3.ways"]["value"] == "16"
    assert told["caches.1.size"]["source"] == told["nodes.cores"]["source"] == "F1"
    assert machine.sources["F1"] == "box.xml: XML of hwloc 2.0"
    # The second level is in no file.
    assert told["caches.2.size"]["source"] == "DONOR"
    assert told["caches.2.size"]["assumed"]
    assert "xeon-e5-2697v2-2s" in machine.sources["DONOR"]


def test_every_number_has_a_file_or_is_assumed(imported: Callable[..., Imported]) -> None:
    machine = imported({"box.xml": texts.TWO_SOCKETS, "mlc.txt": texts.MLC}).machine
    for one in machine.parameters:
        files = [word for word in one["source"].split(", ") if word in ("F1", "F2")]
        if one["path"] == "core.fill_serial":  # of a core that no file names; below
            assert one["source"] == "default of homenode"
            continue
        assert files or (one["source"] == "DONOR" and one["assumed"] and one["confidence"] == "M"), one
    assert hn.Machine.from_toml(machine.to_toml()).hash == machine.hash


def test_the_default_donor_stands_in_for_cores_of_any_maker(imported: Callable[..., Imported]) -> None:
    told = values(imported({"box.xml": texts.TWO_SOCKETS}).machine)
    assert not {"tlb.ways", "tlb.walks"} & set(told)
    assert told["core.fill_serial"]["value"] == "0"
    named = values(imported({"box.xml": texts.TWO_SOCKETS}, donor="xeon-x7560-4s").machine)
    assert [named[path]["value"] for path in ("tlb.ways", "tlb.walks", "core.fill_serial")] == ["4", "1", "1"]


def test_distances_are_no_latencies(imported: Callable[..., Imported]) -> None:
    found = imported({"box.xml": texts.TWO_SOCKETS})
    link = values(found.machine)["links.latency"]
    assert link["assumed"]
    assert link["value"] == "67.87 ns"  # the donor's 61.7 ns x (21 / 10 - 1)
    assert any("no latencies: what they give is assumed" in text for text in found.left_out)


def test_figures_of_mlc(imported: Callable[..., Imported]) -> None:
    found = imported({"box.xml": texts.TWO_SOCKETS, "mlc.txt": texts.MLC})
    told = values(found.machine)
    assert [told[f"nodes.{node}.latency"]["value"] for node in (0, 1)] == ["80 ns", "82 ns"]
    # (130 - 82 + 134 - 80) / 2
    assert told["links.latency"]["value"] == "51 ns"
    assert (told["links.latency"]["low"], told["links.latency"]["high"]) == ("48 ns", "54 ns")
    assert told["controllers.0.read_only"]["value"] == "100 GB/s"
    assert told["controllers.1.read_only"]["value"] == "101 GB/s"
    assert told["controllers.0.one_to_one"]["value"] == "75 GB/s"
    # The line has a header of 8 B in a message of 72 B.
    assert told["links.bandwidth"]["value"] == "36 GB/s"
    assert told["controllers.0.loaded_latency"]["value"] == "0.02: 0 ps, 0.5: 19 ns, 0.9: 79 ns, 1: 159 ns"
    assert told["coherence.core_to_core_local"]["value"] == "44 ns"
    assert told["coherence.core_to_core_local"]["low"] == "40 ns"
    assert told["coherence.core_to_core_remote"]["value"] == "141 ns"
    assert found.machine.latency_ns.tolist() == [[80.0, 133.0], [131.0, 82.0]]
    left = "\n".join(found.left_out)
    assert "3:1 Reads-Writes" in left
    assert "Stream-triad like" in left
    assert "not used, as latencies were measured" in left


def test_figures_of_mlc_need_nodes(imported: Callable[..., Imported]) -> None:
    machine = imported({"mlc.txt": texts.MLC}).machine  # the donor has two nodes, too
    assert machine.cores == hn.Machine.load("xeon-e5-2697v2-2s").cores
    with pytest.raises(UsageError, match=r"mlc.txt: Intel MLC says nothing of node 2; allowed"):
        imported({"mlc.txt": texts.MLC}, donor="xeon-x7560-4s")
    one = texts.hwloc_xml(texts.package(0, 4, texts.node(0)))
    with pytest.raises(UsageError, match=r"mlc.txt: Intel MLC has node 1; box.xml: XML of hwloc 2.0 has 1 nodes"):
        imported({"box.xml": one, "mlc.txt": texts.MLC})


def test_numactl_alone_gives_nodes(imported: Callable[..., Imported]) -> None:
    found = imported({"numactl.txt": texts.NUMACTL})
    assert (found.machine.sockets, found.machine.cores) == (2, 8)
    assert values(found.machine)["sockets"]["assumed"]
    assert any("each node is described as a socket" in text for text in found.left_out)
    both = imported(
        {
            "box.xml": texts.hwloc_xml(texts.package(0, 4, texts.node(0)) + texts.package(1, 4, texts.node(1))),
            "numactl.txt": texts.NUMACTL,
        }
    )
    assert not values(both.machine)["sockets"]["assumed"]
    assert values(both.machine)["links.latency"]["source"] == "F2"


def test_latencies_between_cores(imported: Callable[..., Imported]) -> None:
    rows = []
    for row in range(8):
        rows.append(",".join("" if column >= row else "30" if row // 4 == column // 4 else "90" for column in range(8)))
    told = values(imported({"box.xml": texts.TWO_SOCKETS, "cores.csv": "\n".join(rows) + "\n"}).machine)
    assert told["coherence.core_to_core_local"]["value"] == "30 ns"
    assert told["coherence.core_to_core_remote"]["value"] == "90 ns"
    assert told["coherence.core_to_core_remote"]["source"] == "F2"
    with pytest.raises(UsageError, match=r"has 8 rows; the machine has 24 cores"):
        imported({"cores.csv": "\n".join(rows) + "\n"})


def test_groups_of_cores_have_a_latency_of_their_own(imported: Callable[..., Imported]) -> None:
    rows = [
        ",".join("0" if row == column else "20" if row // 4 == column // 4 else "80" for column in range(8))
        for row in range(8)
    ]
    found = imported({"cores.csv": "\n".join(rows)}, synthetic="Package:1 [NUMANode] L3Cache:2(size=32MB) Core:4 PU:1")
    told = values(found.machine)
    assert told["coherence.core_to_core_shared_cache"]["value"] == "20 ns"
    assert told["coherence.core_to_core_shared_cache"]["source"] == "F2"
    assert told["coherence.core_to_core_local"]["value"] == "80 ns"
    assert told["coherence.core_to_core_remote"]["assumed"]
    # One figure stands for all of a socket where no file tells groups apart.
    plain = imported({"box.xml": texts.TWO_SOCKETS})
    assert "coherence.core_to_core_shared_cache" not in values(plain.machine)


def test_memory_behind_a_link_of_its_own(imported: Callable[..., Imported], trace: hn.Trace) -> None:
    own = '<object type="NUMANode" os_index="1" gp_index="101" subtype="CXL-DRAM" cpuset="0x0f" local_memory="4294967296"/>'
    told_by = '<memattr_value target_obj_type="NUMANode" target_obj_gp_index="101" value="{}" initiator_cpuset="0x0f"/>'
    after = "".join(
        f'<memattr name="{name}" flags="5">{told_by.format(value)}</memattr>'
        for name, value in (("ReadBandwidth", 20_000), ("WriteBandwidth", 10_000), ("Latency", 250))
    )
    found = imported({"box.xml": texts.hwloc_xml(texts.package(0, 4, texts.node(0) + own), after)})
    told = values(found.machine)
    # MiB/s, in messages of 72 B for 64 B
    assert told["nodes.1.link_read"]["value"] == "23.59296 GB/s"
    assert told["nodes.1.link_write"]["value"] == "11.79648 GB/s"
    assert told["nodes.1.link_read"]["confidence"] == "C"
    assert told["nodes.1.latency"]["value"] == "250 ns"
    assert not any("no link of its own" in text for text in found.left_out)
    spread = hn.replay_grid(trace, [hn.RunSpec(found.machine, threads=4, placement="bind:1")])[0]
    assert spread.run["pages_by_node"][1] > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10 80\n50 90\n100 200\n", True),
        ("MB/s, ns\n10000, 80\n50000, 90\n100000, 200\n", False),
        ("# made up\nlatency (ns);bandwidth (GB/s)\n80;10\n90;50\n200;100\n", False),
    ],
)
def test_curves(imported: Callable[..., Imported], text: str, said: bool) -> None:
    found = imported({"box.xml": texts.TWO_SOCKETS, "curve.csv": text})
    told = values(found.machine)
    assert told["controllers.loaded_latency"]["value"] == "0.1: 0 ps, 0.5: 10 ns, 1: 120 ns"
    assert told["nodes.latency"]["value"] == "80 ns"
    assert any("taken as GB/s and ns" in line for line in found.left_out) == said


def test_figures_of_the_firmware_count_less_than_measured_ones(imported: Callable[..., Imported]) -> None:
    own = '<object type="NUMANode" os_index="0" gp_index="100" cpuset="0x0f" local_memory="4294967296"/>'
    packages = texts.package(0, 4, own) + texts.package(1, 4, texts.node(1))
    told_by = '<memattr_value target_obj_type="NUMANode" target_obj_gp_index="100" value="{}" initiator_cpuset="0x0f"/>'
    after = "".join(
        f'<memattr name="{name}" flags="5">{told_by.format(value)}</memattr>'
        for name, value in (("Bandwidth", 50_000), ("Latency", 95))
    )
    text = texts.hwloc_xml(packages, after)
    told = values(imported({"box.xml": text}).machine)
    assert (told["nodes.0.latency"]["value"], told["nodes.0.latency"]["confidence"]) == ("95 ns", "C")
    assert told["controllers.0.read_only"]["value"] == "52.4288 GB/s"  # MiB/s
    assert told["nodes.1.latency"]["source"] == "DONOR"
    both = imported({"box.xml": text, "mlc.txt": texts.MLC})
    assert values(both.machine)["nodes.0.latency"]["source"] == "F2"
    assert sum("of the firmware: mlc.txt measured them" in line for line in both.left_out) == 2
    latencies = texts.MLC[: texts.MLC.index("Measuring Peak")]
    mixed = values(imported({"box.xml": text, "mlc.txt": latencies}).machine)
    assert mixed["controllers.0.read_only"]["source"] == "F1"


def test_a_table_of_distances_is_told_from_latencies(imported: Callable[..., Imported]) -> None:
    found = imported(
        {
            "box.xml": texts.hwloc_xml(texts.package(0, 4, texts.node(0)) + texts.package(1, 4, texts.node(1))),
            "slit.txt": "10 32\n32 10\n",
        }
    )
    assert values(found.machine)["links.latency"]["value"] == "135.74 ns"  # 61.7 ns x 2.2


def test_machine_files_of_kerncraft(imported: Callable[..., Imported]) -> None:
    found = imported({"made-up.yml": texts.KERNCRAFT})
    told = values(found.machine)
    assert (found.machine.sockets, found.machine.cores) == (2, 8)
    assert told["clock"]["value"] == "2 GHz"
    assert told["caches.2.bandwidth_per_core"]["value"] == "64 GB/s"  # 32 B a cycle
    assert told["caches.3.size"]["value"] == "8 MiB"
    assert told["controllers.read_only"]["value"] == "40 GB/s"
    assert told["controllers.one_to_one"]["value"] == "30 GB/s"
    assert any("FLOPs per cycle" in text for text in found.left_out)


def test_memory_of_its_own_and_side_caches(imported: Callable[..., Imported], trace: hn.Trace) -> None:
    near = texts.node(0) + texts.node(1, 2, "HBM")
    shape = 'depth="1" cache_linesize="64" cache_associativity="1" cache_type="0"'
    cached = f'<object type="MemCache" cache_size="1073741824" {shape}>{texts.node(2)}</object>\n'
    text = texts.hwloc_xml(texts.package(0, 4, near) + texts.package(1, 4, cached), version="3.0")
    found = imported({"box.xml": text})
    machine = found.machine
    assert machine.topology["cores_of_node"] == [4, 0, 4]
    assert machine.topology["socket_of_node"] == [0, 0, 1]
    assert values(machine)["nodes.2.memory_side_cache"]["value"] == "1 GiB"
    assert any("node 1 (HBM) without cores" in text for text in found.left_out)
    runs = [hn.RunSpec(machine, threads=8, placement=placement) for placement in ("first-touch", "interleave")]
    local, spread = hn.replay_grid(trace, runs)
    assert local.seconds > 0
    assert local.run["pages_by_node"][1] == 0
    assert spread.run["pages_by_node"][1] > 0


def test_24_sockets_replay(imported: Callable[..., Imported], trace: hn.Trace) -> None:
    found = imported(
        {},
        synthetic="Package:24 [NUMANode(memory=32GB)] L3Cache:1(size=20MB) L2Cache:8(size=256kB) L1dCache:1 Core:1 PU:2",
    )
    assert (found.machine.sockets, found.machine.cores) == (24, 192)
    assert len(found.machine.topology["links"]) == 24 * 23 // 2
    assert hn.replay_grid(trace, [hn.RunSpec(found.machine, threads=192)])[0].seconds > 0


def test_packages_that_share_a_node_are_one_socket(imported: Callable[..., Imported]) -> None:
    shared = texts.node(0) + texts.package(0, 4, "") + texts.package(1, 4, "")
    found = imported({"box.xml": texts.hwloc_xml(shared)})
    assert (found.machine.sockets, found.machine.cores) == (1, 8)
    assert any("2 packages that share memory nodes" in text for text in found.left_out)


def test_files_of_two_machines_are_refused(imported: Callable[..., Imported]) -> None:
    other = texts.hwloc_xml(texts.package(0, 4, texts.node(0)))
    with pytest.raises(UsageError, match=r"a.xml has 2 sockets.*b.xml 1 sockets.*; allowed: files of one machine"):
        imported({"a.xml": texts.TWO_SOCKETS, "b.xml": other})
    with pytest.raises(UsageError, match=r"two files say idle latencies: a.txt and b.txt"):
        imported({"box.xml": texts.TWO_SOCKETS, "a.txt": texts.MLC, "b.txt": texts.MLC})


@pytest.mark.parametrize("name", [name for name in hn.Machine.names() if name != "knc-5110p"])
def test_what_lstopo_prints_for_a_shipped_machine_has_its_counts(name: str, imported: Callable[..., Imported]) -> None:
    machine = hn.Machine.load(name)
    if not has_alike_nodes(machine):
        return  # test_memory_of_its_own_and_side_caches
    text = texts.lstopo_xml(shape_of(machine))
    found = imported({"lstopo.xml": text}).machine
    assert (found.sockets, found.nodes, found.cores) == (machine.sockets, machine.nodes, machine.cores)
    assert found.node_of_core.tolist() == machine.node_of_core.tolist()
    keys = ("level", "size", "cores_per_cache")
    assert [[one[key] for key in keys] for one in found.caches] == [
        [one[key] for key in keys] for one in machine.caches
    ]


def test_the_study_imports_shipped_shapes(tmp_path: Path) -> None:
    found = list(rows(Options(tmp_path, small=True)))
    assert found
    assert all(row.agrees and row.seconds > 0 for row in found)


def test_the_study_counts_refused_files(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "good.xml").write_text(texts.TWO_SOCKETS)
    (sources / "old.xml").write_text("<topology>\n<object type='Machine'/></topology>")
    (sources / "other.xml").write_text("<page/>")
    found = {row.file: row for row in rows(Options(tmp_path, sources=sources))}
    assert {name: row.result for name, row in found.items()} == {"good.xml": "imported", "old.xml": "refused"}
    assert "XML of hwloc 1" in found["old.xml"].reason
    assert str(tmp_path) not in found["old.xml"].reason


def test_the_command_writes_a_machine_that_replays(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    (tmp_path / "box.xml").write_text(texts.TWO_SOCKETS)
    (tmp_path / "mlc.txt").write_text(texts.MLC)
    done = homenode(
        "machine", "import", "box.xml", "mlc.txt", "--name", "mine", "--donor", "xeon-x5550-2s", "-o", "mine.toml"
    )
    assert done.status == 0, done.stderr
    assert "mine.toml: 2 sockets, 2 nodes, 8 cores" in done.stderr
    assert "assumed as on xeon-x5550-2s" in done.stderr
    assert "  mlc.txt: the peak bandwidth of '3:1 Reads-Writes'" in done.stderr
    text = (tmp_path / "mine.toml").read_text()
    assert "# - mlc.txt: the peak bandwidth of '3:1 Reads-Writes'" in text
    assert str(tmp_path) not in text
    shown = homenode("machines", "./mine.toml", "--json")
    assert json.loads(shown.stdout)["machines"][0]["name"] == "mine"
    assert homenode("replay", trace_file, "--machine", "./mine.toml", "--threads", "8").status == 0


def test_the_document_of_the_command(homenode: Run, tmp_path: Path) -> None:
    done = homenode("machine", "import", "--synthetic", "Package:2 [NUMANode] Core:4", "--json")
    document = json.loads(done.stdout)
    assert document["machines"][0]["cores"] == 8
    assert document["donor"] == "xeon-e5-2697v2-2s"
    assert list(tmp_path.iterdir()) == []
