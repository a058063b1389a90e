"""Operating systems and page sizes: what they are called, what they change, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import report
from support import Ended

Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def trace(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """hotspot, 1024 x 1024 cells: arrays of 8 MiB, initialised by one thread."""
    return hn.capture(
        "hotspot", output=tmp_path_factory.mktemp("systems") / "hotspot.hnt", size=1024, steps=1
    )  # fmt: skip


def test_systems_are_listed_with_their_sources(homenode: Run) -> None:
    listed = json.loads(homenode("systems", "--json").stdout)["systems"]
    named = {"default", "linux-2.6.32", "linux-3.10", "linux-4.4", "linux-6.1", "linux-6.12"}
    assert named <= {system["name"] for system in listed}
    assert "linux-4.4" in homenode("systems").stdout
    shown = homenode("systems", "linux-2.6.32")
    assert "faults.serial_transfers" in shown.stdout
    assert "minor faults of 4 KiB" in shown.stdout
    (entry,) = json.loads(homenode("systems", "linux-2.6.32", "--json").stdout)["systems"]
    assert all(parameter["source"] in entry["sources"] for parameter in entry["parameters"])


def test_default_is_what_is_taken(trace: hn.Trace) -> None:
    plain = hn.replay(trace, "xeon-x5550-2s", threads=4)
    named = hn.replay(trace, "xeon-x5550-2s", threads=4, system="default", pages="4KiB")
    assert plain.to_json() == named.to_json()
    assert plain.run["system"] == "default"
    assert plain.run["pages"] == "4KiB"
    assert plain.run["zeroed_bytes"] == 0


OWN = """
[system.faults]
parallel = { value = "3500 ns", source = "this test" }
"""


def test_a_machine_that_knows_its_own_system_is_replayed_on_it(trace: hn.Trace) -> None:
    shipped = hn.Machine.load("xeon-x5550-2s")
    own = hn.Machine.from_toml(shipped.to_toml() + OWN, "own.toml")
    assert shipped.system_name == "default"
    assert own.hash != shipped.hash
    default = hn.replay(trace, own, threads=1, system="default").run
    taken = hn.replay(trace, own, threads=1).run
    assert taken["system"] == own.system_name == "xeon-x5550-2s's own"
    # one thread takes each fault by itself: 3000 ns more than the default's 500
    assert taken["page_faults"] == default["page_faults"] > 0
    assert taken["seconds"] - default["seconds"] == pytest.approx(3000e-9 * taken["page_faults"], rel=0.01)
    assert default["seconds"] == hn.replay(trace, shipped, threads=1).run["seconds"]


def test_the_cost_of_a_machines_own_fault_is_a_number_like_others(trace: hn.Trace) -> None:
    own = hn.Machine.from_toml(hn.Machine.load("xeon-x5550-2s").to_toml() + OWN, "own.toml")
    assert "system.faults.parallel" in {entry["name"] for entry in own.uncertainties}
    dearer = hn.replay(trace, own.with_changes({"system.faults.parallel": "x2"}), threads=1).run
    assert dearer["seconds"] > hn.replay(trace, own, threads=1).run["seconds"]


def zeroed(run: dict[str, Any]) -> int:
    """Bytes of the pages that its faults placed."""
    return 4096 * int(run["page_faults"]) + (2**21 - 4096) * int(run["huge_pages"])


def test_faults_of_a_described_system_zero_their_pages(trace: hn.Trace) -> None:
    plain = hn.replay(trace, "xeon-x5550-2s", threads=4, pages="thp").run
    linux = hn.replay(trace, "xeon-x5550-2s", threads=4, pages="thp", system="linux-4.4").run
    assert linux["system"] == "linux-4.4"
    # every fault of a huge page writes 2 MiB at its home's controller, beside what was written there anyway (within 1 %: slices follow each
    # other in another order, and so do lines in the shared cache)
    assert linux["page_faults"] == plain["page_faults"]
    assert linux["huge_pages"] > 0
    assert linux["zeroed_bytes"] == zeroed(linux)
    written = sum(plain["write_bytes_by_node"]) + linux["zeroed_bytes"]
    assert sum(linux["write_bytes_by_node"]) == pytest.approx(written, rel=0.01)
    assert linux["seconds"] > plain["seconds"]


@pytest.mark.parametrize("engine", ["flow", "line"])
def test_small_pages_are_zeroed_in_the_caches(trace: hn.Trace, engine: str) -> None:
    plain, linux = (
        hn.replay(trace, "xeon-x5550-2s", threads=4, system=system, engine=engine).run
        for system in ("default", "linux-4.4")
    )
    assert linux["zeroed_bytes"] == 0
    assert linux["seconds"] > plain["seconds"]  # which waits for none of the lines


@pytest.mark.parametrize("engine", ["flow", "line"])
def test_pages_that_are_placed_before_the_run_are_zeroed_too(trace: hn.Trace, engine: str) -> None:
    options = {"system": "linux-4.4", "placement": "stencil-aware", "engine": engine}
    run = hn.replay(trace, "xeon-x5550-2s", threads=4, pages="thp", **options).run
    assert run["zeroed_bytes"] == zeroed(run) > 0


def test_runs_on_different_systems_do_not_compete(trace: hn.Trace) -> None:
    """A system is a circumstance, a page size a choice: regret is lost to the best run on the same system."""
    runs = [
        hn.replay(trace, "xeon-x5550-2s", threads=4, system=system, pages=pages).run
        for system in ("default", "linux-4.4")
        for pages in ("4KiB", "2MiB")
    ]
    report.fill_regrets(runs)
    for pair in (runs[:2], runs[2:]):
        best = min(run["seconds"] for run in pair)
        assert [run["regret"] for run in pair] == [run["seconds"] / best - 1 for run in pair]
    assert max(run["regret"] for run in runs) > 0


@pytest.mark.parametrize("engine", ["flow", "simgrid", "line"])
def test_parallel_faults_queue(trace: hn.Trace, engine: str) -> None:
    """All threads fault at once where the heap gives them pages of their own: here each initialises its rows."""
    del trace
    own = hn.capture("stream", n=400_000)
    run = hn.replay(own, "xeon-x7560-4s", threads=32, system="linux-2.6.32", engine=engine).run
    first = max(run["regions"], key=lambda region: region["seconds"])
    assert first["binding_resource"] == "page faults"
    # the lock lets no fault pass within less than its serial part, 170 ns
    assert first["seconds"] > 0.9 * 170e-9 * run["page_faults"]


def test_larger_pages_fault_less(trace: hn.Trace) -> None:
    runs = {
        pages: hn.replay(trace, "xeon-x5550-2s", threads=4, pages=pages, system="linux-6.1").run
        for pages in ("4KiB", "64KiB", "2MiB", "thp", "mthp-64KiB")
    }
    faults = {pages: run["page_faults"] for pages, run in runs.items()}
    assert faults["4KiB"] > 15 * faults["64KiB"] > 15 * 15 * faults["2MiB"]
    # each huge page stands for 512 small ones; the rest is as without
    assert runs["thp"]["huge_pages"] > 0
    assert faults["thp"] == faults["4KiB"] - 511 * runs["thp"]["huge_pages"] + _pages_that_huge_ones_add(runs)
    assert runs["thp"]["tlb_misses"] < runs["4KiB"]["tlb_misses"]
    # a block of 64 KiB is one fault, and sixteen translations all the same
    assert faults["4KiB"] / 16 <= faults["mthp-64KiB"] < faults["4KiB"] / 8
    assert runs["mthp-64KiB"]["huge_pages"] > 0
    assert runs["mthp-64KiB"]["tlb_misses"] == pytest.approx(runs["4KiB"]["tlb_misses"], rel=0.01)


def _pages_that_huge_ones_add(runs: dict[str, dict[str, object]]) -> int:
    """Pages within huge ones that the program does not write: placed all the same."""

    def placed(pages: str) -> int:
        by_node = runs[pages]["pages_by_node"]
        assert isinstance(by_node, list)
        return sum(by_node)

    return placed("thp") - placed("4KiB")


def test_what_is_refused(homenode: Run, trace: hn.Trace, tmp_path: Path) -> None:
    def refused(*arguments: str) -> str:
        ended = homenode("replay", trace.path, "--machine", "xeon-x5550-2s", "--threads", "4", *arguments)
        assert ended.status == 2
        assert not ended.stdout
        return ended.stderr

    assert "unknown system 'linux-5'" in refused("--system", "linux-5")
    assert "unknown page size '1GiB'; allowed: " in refused("--pages", "1GiB")
    assert "NUMA balancing" in refused("--system", "linux-2.6.32", "--placement", "first-touch+autonuma")
    (tmp_path / "mine.toml").write_text('schema = "homenode.system/1"\nname = "mine"\n[faults]\nserial = "1 us"\n')
    assert "mine.toml:4:10: faults.serial" in refused("--system", "./mine.toml")


def test_a_program_larger_than_the_machine_is_refused(trace: hn.Trace) -> None:
    small = hn.Machine.load("xeon-x5550-2s").with_changes({"nodes.memory": "4 MiB"})
    with pytest.raises(hn.errors.UsageError, match="needs more memory than machine"):
        hn.replay(trace, small, threads=4)
    enough = hn.Machine.load("xeon-x5550-2s").with_changes({"nodes.memory": "8 MiB"})
    run = hn.replay(trace, enough, threads=4).run
    assert run["pages_by_node"][0] == 2048
    assert run["overflowed_pages"] == run["pages_by_node"][1] > 0
