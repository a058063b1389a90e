"""validation/linux_guest without a boot: its parts, and the model against what real guests printed (tests/data/linux_guest)."""

from __future__ import annotations

import base64
import gzip
import sys
import tomllib
from pathlib import Path

import pytest

from homenode.kits.page_homes import PagesRow
from homenode.kits.returned import Choice

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.linux_guest import compare, guest, kit, run  # noqa: E402
from validation.linux_guest.archive import initramfs  # noqa: E402
from validation.linux_guest.cases import (  # noqa: E402
    BALANCE_CASES,
    BALANCED_PAGES,
    MACHINE,
    SMALL_HEAP,
    TCMALLOC,
    BalanceCase,
    Plan,
    commands,
    overflow_case,
    placement_cases,
)
from validation.linux_guest.log import BadLog, PagesLine, free_pages, pages_line, parse  # noqa: E402

RECORDED = ROOT / "tests" / "data" / "linux_guest" / "small.log"
PLAN = Plan(heap_size=SMALL_HEAP)


def read_archive(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Mode and content by name, by the kernel's description of newc."""
    entries: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * index : at + 14 + 8 * index], 16) for index in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + name_size - 1].decode()
        begin = (at + 110 + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            return entries
        entries[name] = (mode, archive[begin : begin + size])
        at = (begin + size + 3) // 4 * 4


def test_the_archive_holds_folders_and_programs() -> None:
    files = {"init": b"#!/bin/sh\n", "bin/a": b"12345", "bin/empty": b""}
    entries = read_archive(initramfs(files, ("bin", "proc")))
    assert {name: content for name, (mode, content) in entries.items() if mode == 0o100755} == files
    assert {name for name, (mode, _) in entries.items() if mode == 0o40755} == {"bin", "proc"}


def test_the_emulator_is_asked_for_the_nodes() -> None:
    machine = guest.GuestMachine(nodes=4, cores_per_node=2, mebibytes_per_node=100)
    words = guest.emulator_command(machine, Path("kernel"), Path("archive"), Path("log"))
    text = " ".join(words)
    assert words[words.index("-accel") + 1].startswith("tcg")
    assert words[words.index("-m") + 1] == "400M"
    assert "node,nodeid=3,cpus=6-7,memdev=m3" in words
    # a ring: neighbours 20, opposite nodes 30; 4 x 3 / 2 pairs
    assert text.count("dist,") == 6
    assert {"dist,src=0,dst=1,val=20", "dist,src=0,dst=2,val=30", "dist,src=0,dst=3,val=20"} <= set(words)
    assert "transparent_hugepage=never" in words[words.index("-append") + 1]


def test_the_described_machine_has_the_guest_s_nodes() -> None:
    described = tomllib.loads(run.DESCRIPTION.read_text(encoding="utf-8"))
    links = described["links"][0]["between"]["value"]
    assert described["sockets"]["value"] == MACHINE.nodes
    assert described["nodes"][0]["cores"]["value"] == MACHINE.cores_per_node
    # neighbours in the model are the guest's nodes at distance 20
    near = [[a, b] for a in range(MACHINE.nodes) for b in range(a + 1, MACHINE.nodes) if MACHINE.distance(a, b) == 20]
    assert sorted(links) == near


def test_the_kernel_s_package() -> None:
    depends = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n"
    assert guest.kernel_package(depends) == "linux-image-6.1.0-56-cloud-amd64"
    with pytest.raises(guest.MissingPart, match="no kernel by the name"):
        guest.kernel_package("")


def test_a_failed_guest_says_why() -> None:
    text = "a\n[0.05] Kernel panic - not syncing: IO-APIC\n[0.05] </TASK>\n"
    assert guest.failure(text, "") == "[0.05] Kernel panic - not syncing: IO-APIC"
    assert guest.failure("a\nb\n\nc\nd\n", "not at its end") == "not at its end; b; c; d"
    assert guest.failure("", "") == "no word from the guest"
    assert guest.failure("x" * 101, "") == "x" * 100 + " …"


def test_the_guest_runs_every_case() -> None:
    script = commands(PLAN)
    for case in [*placement_cases(), overflow_case()]:
        assert f"name={case.name} {' '.join(case.arguments())}" in script
    assert script.count("heap_tcmalloc ") == TCMALLOC.repeats
    assert "GOMP_CPU_AFFINITY=0-7" in script


def test_pages_of_a_line() -> None:
    line = pages_line(["first=7", "0*2", "3*1"])
    assert (line.first_page, line.nodes) == (7, [0, 0, 3])
    with pytest.raises(BadLog, match=r"'-14\*1' says no node of a page"):
        pages_line(["first=7", "0*2", "-14*1"])


def test_free_pages_of_zones() -> None:
    # node 0: (1000 - 10 - 0) + max(300 - 5 - 100, 0) = 1185; node 1: 500 - 20; an empty zone gives nothing
    zones = [(0, "DMA", 300, 5, 100), (0, "DMA32", 1000, 10, 0), (1, "DMA32", 500, 20, 0), (1, "Normal", 0, 0, 0)]
    text = "".join(
        f"Node {node}, zone {name:>8}\n  pages free     {free}\n        low      {low}\n        protection: (0, 9, 9, {keep}, 9)\n"
        for node, name, free, low, keep in zones
    )
    assert free_pages(text) == [1185, 480]
    with pytest.raises(BadLog, match="node 0 lacks"):
        free_pages(text.replace("protection", "other"))


def test_a_log_without_its_end_is_refused() -> None:
    text = RECORDED.read_text(encoding="utf-8")
    with pytest.raises(BadLog, match="no line '@@ zones'"):
        parse(text.replace("@@ zones end", ""))


def test_equal_pages() -> None:
    assert compare.equal_pages([0, 1, 2, 3], [0, 1, 2, 3], 4, False) == 4
    assert compare.equal_pages([2, 3, 0, 1], [0, 1, 2, 3], 4, False) == 0
    assert compare.equal_pages([2, 3, 0, 1], [0, 1, 2, 3], 4, True) == 4  # rotated by two nodes
    assert compare.equal_pages([2, 3, 0, 0], [0, 1, 2, 3], 4, True) == 3
    with pytest.raises(ValueError, match="2 pages in the guest, 1 in the model"):
        compare.equal_pages([0, 0], [0], 4, False)


def test_the_law_of_interleaved_areas() -> None:
    # page 9 on node 9 mod 4 = 1
    assert compare.breaks_of_law(PagesLine(9, [1, 2, 3, 0]), 4) == 0
    assert compare.breaks_of_law(PagesLine(9, [1, 2, 3, 1]), 4) == 1


def test_overflow_agrees_within_a_two_hundredth() -> None:
    case = overflow_case()

    def verdicts(model: list[int]) -> list[str]:
        return [row.verdict for row in compare.overflow_rows(case, [0] * 500 + [1] * 500, model, [520, 520, 520], "")]

    assert verdicts([0] * 495 + [1] * 505) == ["agrees", "agrees"]  # 5 of 1000 differ
    assert verdicts([0] * 494 + [1] * 506) == ["agrees", "deviates"]
    assert verdicts([0] * 500 + [2] * 500) == ["deviates", "deviates"]
    assert verdicts([0] * 521 + [1] * 479) == ["not compared"]  # a model without a limit: 521 pages on a node of 520


def test_balancing_is_held_to_what_runs_span() -> None:
    case = BALANCE_CASES[2]
    runs = [[0] * 20 + [1] * 980, [0] * 50 + [1] * 950]

    def verdict(moved: int) -> str:
        return compare.balance_row(case, runs, [0] * (1000 - moved) + [1] * moved, 3.0, "").verdict

    # 950 to 980 moved, and 1 % of 1000 pages to either side
    assert [verdict(moved) for moved in (939, 940, 990, 991)] == ["deviates", "agrees", "agrees", "deviates"]


def test_heaps_are_held_to_the_guest_s_spread() -> None:
    def verdict(model: int | None) -> str:
        return compare.heap_row(TCMALLOC, SMALL_HEAP, [100, 140], model, "not there", "").verdict

    assert [verdict(model) for model in (99, 100, 140, 141, None)] == [
        "deviates",
        "agrees",
        "agrees",
        "deviates",
        "not compared",
    ]


def test_a_host_without_the_emulator_skips(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from validation.__main__ import main

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["linux-guest", "--folder", str(tmp_path)]) == 0
    said = capsys.readouterr().out.strip().splitlines()
    assert len(said) == 1
    assert "skipped: no qemu-system-x86_64 (Debian: qemu-system-x86)" in said[0]
    assert list(tmp_path.iterdir()) == []


def test_a_recorded_guest_does_what_linux_promises() -> None:
    log = parse(RECORDED.read_text(encoding="utf-8"))
    nodes, cores = MACHINE.nodes, MACHINE.cores
    assert log.distances == [[MACHINE.distance(a, b) for b in range(nodes)] for a in range(nodes)]
    pages = len(log.pages["first-touch-static"].nodes)
    # thread t runs on core t of node t / 2, and touches pages [t, t + 1) x pages / threads, or t, t + threads, ...
    assert log.pages["first-touch-static"].nodes == [page * cores // pages // 2 for page in range(pages)]
    assert log.pages["first-touch-cyclic"].nodes == [page % cores // 2 for page in range(pages)]
    assert set(log.pages["first-touch-serial"].nodes) == {0}
    assert set(log.pages["bind"].nodes) == {nodes - 1}
    assert compare.breaks_of_law(log.pages["interleave-area"], nodes) == 0
    # 0 overflows to 1 and then to 3: distances 10, 20, 30, 20
    assert compare.order_of_nodes(log.pages["overflow"].nodes) == [0, 1, 3]
    # off, or before the first scan: nothing; later all but 1 % with the reader on node 1, who reads alone or eight times as often
    for case in BALANCE_CASES:
        lines = log.balance[case.name]
        assert len(lines) == case.repeats
        moves = case.balanced and case.milliseconds > 1000
        for line in lines:
            assert line.nodes.count(0 if not moves else 1) >= 0.99 * BALANCED_PAGES
            assert (line.first_milliseconds is not None) == moves
            assert line.first_milliseconds is None or line.first_milliseconds >= 1000
    assert (log.psm.bound, log.psm.remote) == (True, 0)
    for heap in ("glibc", "psm"):
        assert [line.remote for line in log.remote[heap]] == [[0] * SMALL_HEAP.passes]


@pytest.mark.capture
def test_the_model_places_as_the_recorded_guest(tmp_path: Path) -> None:
    log = parse(RECORDED.read_text(encoding="utf-8"))
    model = run.Model(tmp_path, MACHINE.cores)
    for case in placement_cases():
        placed, command = model.pages(case)
        row = compare.placement_row(case, log.pages[case.name].nodes, placed, MACHINE.nodes, command)
        assert row.verdict == "agrees", row
        assert -1 not in placed


@pytest.mark.capture
def test_the_model_balances_as_the_recorded_guest(tmp_path: Path) -> None:
    model = run.Model(tmp_path, MACHINE.cores)
    recorded = parse(RECORDED.read_text(encoding="utf-8")).balance
    for name, readers, passes, delay in (
        ("balance-before-first-scan", "2", 40, "1s"),
        ("balance-one-reader", "2", 40, "20ms"),
        ("balance-heavy-reader", "0:1,2:8", 5, "20ms"),
    ):
        case = BalanceCase(name, readers, 0, passes, scan_delay=delay)
        nodes, seconds, command = model.balanced(case)
        assert seconds > 0.04  # a pass of one reader takes over a millisecond
        row = compare.balance_row(case, [line.nodes for line in recorded[name]], nodes, seconds, command)
        assert row.verdict == "agrees", row


# ---- kits in the guest


def kit_row(
    same: int, threads: int = 2, placement: str = "first-touch", schedule: str = "static", pinning: str = "compact"
) -> PagesRow:
    """100 pages of two blocks."""
    choice = Choice("stream-tiny", threads, placement, pinning, schedule)
    return PagesRow(choice, 100, same, (60, 40, 0, 0), (50, 50, 0, 0), 2)


def test_pages_at_borders_may_differ_under_first_touch() -> None:
    # two blocks, each with one border between two threads, a first and a last page
    assert kit.most_shared(kit_row(100)) == 2 * (1 + 2)
    assert kit.pages_row(kit_row(94), "").verdict == "agrees"
    assert kit.pages_row(kit_row(93), "").verdict == "deviates"
    assert kit.pages_row(kit_row(99, placement="bind:1"), "").verdict == "deviates"


def test_what_the_emulator_decides_is_not_compared() -> None:
    for row in (kit_row(0, schedule="dynamic:8"), kit_row(0, pinning="unpinned")):
        assert kit.pages_row(row, "").verdict == "not compared"
    assert (
        kit.pages_row(kit_row(100, placement="interleave", schedule="dynamic:8", pinning="unpinned"), "").verdict
        == "agrees"
    )


def test_the_kit_comes_out_of_the_guest_whole_or_not() -> None:
    packed = base64.encodebytes(gzip.compress(b"lines\n")).decode()
    assert kit.returned_file(f"boot\n@@ kit\r\n{packed}@@ kit end\n") == b"lines\n"
    with pytest.raises(guest.GuestFailed):
        kit.returned_file(f"@@ kit\n{packed[:20]}\n@@ kit end\n")
    assert kit.returned_file("no kit") == b""


def test_the_guest_has_the_folders_of_more_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = tmp_path / "busybox"
    shell.write_bytes(b"shell")
    monkeypatch.setattr(guest, "busybox", lambda: shell)
    entries = read_archive(guest.archive_of({}, "", {"kit/bin/kit": b"1"}))
    assert entries["kit"][0] == entries["kit/bin"][0] == 0o40755
    assert entries["kit/bin/kit"] == (0o100755, b"1")
