"""`homenode kit`: made, run in an empty folder with a shell alone, brought back, imported; and its arithmetic on figures made up for it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homenode as hn
from homenode.core_model import host_cpu
from homenode.kits.describing import llvm_cpu, machine_of
from homenode.kits.making import make_kit
from homenode.kits.page_homes import compared
from homenode.kits.returned import Block, Choice, PagesRun, Returned, Run, read_returned
from homenode.kits.table import KitRow, Table, is_disturbed, summary, table
from homenode.native_times import Measurement
from homenode.resources import PROGRAMS
from kit_support import HOST, written
from support import Ended

Homenode = Callable[..., Ended]
KERNELS = ["stream", "advection2d"]
PATH = {"PATH": "/usr/bin:/bin"}


def script(folder: Path, *words: str) -> Ended:
    """`sh run.sh` there, with nothing of this process's environment."""
    done = subprocess.run(
        ["sh", "run.sh", *words],
        cwd=folder,
        env=PATH,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def kit(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of two kernels in their smallest sizes."""
    archive = tmp_path_factory.mktemp("kit") / "kit.tar.gz"
    assert [case.name for case in make_kit(archive, "tiny", KERNELS)] == ["stream-tiny", "advection2d-tiny"]
    return archive


@pytest.fixture(scope="module")
def unpacked(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In an empty folder, after a run."""
    folder = tmp_path_factory.mktemp("there")
    subprocess.run(["tar", "xzf", kit], cwd=folder, check=True)
    ended = script(folder / "homenode-kit", "--quick", "--name", HOST, "--repeats", "2")
    assert ended.status == 0, ended
    assert ended.stdout.splitlines()[-1] == f"homenode-kit-{HOST}.jsonl"
    return folder / "homenode-kit"


@pytest.fixture(scope="module")
def returned(unpacked: Path) -> Returned:
    return read_returned(unpacked / f"homenode-kit-{HOST}.jsonl")


def test_two_kits_have_the_same_bytes(kit: Path, homenode: Homenode, tmp_path: Path) -> None:
    words = [word for name in KERNELS for word in ("--kernel", name)]
    ended = homenode("kit", "--size", "tiny", *words, "-o", "again.tar.gz", "--json")
    assert ended.status == 0, ended
    assert (tmp_path / "again.tar.gz").read_bytes() == kit.read_bytes()
    found = json.loads(ended.stdout)
    assert list(found) == ["output", "size", "cases"]
    assert list(found["cases"][0]) == ["case", "kernel", "parameters", "chunk", "quick", "by_thread"]


def test_programs_need_no_library(unpacked: Path) -> None:
    programs = sorted((unpacked / "bin").iterdir())
    assert [program.name for program in programs] == ["advection2d", "homenode-calibrate", "kit", "stream"]
    for program in programs:
        headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
        assert "INTERP" not in headers and "DYNAMIC" not in headers, program


def test_every_choice_ran(returned: Returned) -> None:
    found = [run.choice for run in returned.runs]
    nodes = machine_of(returned).nodes
    if nodes == 1:
        # stream: a thread alone static; all of them three schedules, bound and not. advection2d divides by thread number: static alone.
        cores = machine_of(returned).cores
        of_team = 1 + (6 + 2 if cores > 1 else 0) + 1
        assert len(set(found)) == of_team
        assert {choice.placement for choice in found} == {"first-touch"}
        assert {choice.threads for choice in found} == {1, cores}
    assert sorted(map(repr, found)) == sorted(
        map(repr, [run.choice for run in returned.pages] * 2)
    )  # two repeats, and one for pages
    assert returned.planned == len(returned.runs) + len(returned.pages)
    assert {run.ended for run in returned.runs} == {run.ended for run in returned.pages} == {"exit 0"}
    for run in returned.runs:
        assert all(seconds > 0 for seconds in run.regions.values())
        assert sum(run.regions.values()) < run.seconds  # the regions are parts of the process's time
        assert "page-faults" not in returned.host.counters or run.counters["page-faults"] > 0


def test_the_machine_has_a_source_for_each_number(unpacked: Path, homenode: Homenode, tmp_path: Path) -> None:
    ended = homenode(
        "kit", "import", unpacked / f"homenode-kit-{HOST}.jsonl", "--no-table", "-o", "host.toml", "--json"
    )
    assert ended.status == 0, ended
    machine = hn.Machine.load(tmp_path / "host.toml")
    assert (machine.name, machine.cores) == (HOST, json.loads(ended.stdout)["machines"][0]["cores"])
    measured = [one for one in machine.parameters if f"measured on {HOST} by homenode kit" in one["source"]]
    assert len(measured) > 20
    for one in machine.parameters:
        assert one["assumed"] or HOST in one["source"], one
    for engine in ("flow", "line", "simgrid"):
        trace = hn.capture("stream", n=20_000)
        assert hn.replay(trace, tmp_path / "host.toml", threads=1, engine=engine).seconds > 0


def test_times_are_compared_with_replays_of_the_same_choices(returned: Returned, tmp_path: Path) -> None:
    machine = machine_of(returned)
    found = table(returned, machine, tmp_path)
    assert found.left_out == []
    assert {row.choice for row in found.rows} == {run.choice for run in returned.runs}
    row = next(row for row in found.rows if row.choice.case == "stream-tiny" and row.choice.threads == 1)
    trace = hn.Trace.open(tmp_path / "stream-tiny-1.hnt")
    again = hn.replay(trace, machine, threads=1, stores="regular").regions["seconds"]
    assert row.predicted_seconds == pytest.approx(again["copy"] + again["triad"])
    assert row.accesses == trace.inspect()["accesses"]
    runs = [run for run in returned.runs if run.choice == row.choice]
    assert (
        min(r.regions["copy"] for r in runs) <= row.measured.by_region["copy"] <= max(r.regions["copy"] for r in runs)
    )
    for pages in found.pages:
        assert pages.pages > 50
        assert sum(pages.measured) == sum(pages.predicted) == pages.pages
        if machine.nodes == 1:
            assert pages.same == pages.pages
    bytes_of_stream = 3 * 50_000 * 8  # three arrays of doubles, each with up to a page at either end
    of_stream = next(pages for pages in found.pages if pages.choice.case == "stream-tiny")
    assert bytes_of_stream // 4096 <= of_stream.pages <= bytes_of_stream // 4096 + 6


def test_an_interrupted_kit_goes_on(unpacked: Path) -> None:
    results = unpacked / f"results-{HOST}"
    runs = sorted(results.glob("r-*.json"))
    before = {path: path.stat().st_mtime_ns for path in runs}
    runs[3].unlink()
    (results / f"{runs[3].name}.part").write_text('{"kind": "run", "ca')  # as a killed `kit run` leaves it
    (unpacked / f"homenode-kit-{HOST}.jsonl").unlink()
    assert script(unpacked, "--quick", "--name", HOST, "--repeats", "2").status == 0
    assert len(read_returned(unpacked / f"homenode-kit-{HOST}.jsonl").runs) == len(
        [path for path in runs if not path.name.endswith("-0.json")]
    )
    after = {path: path.stat().st_mtime_ns for path in runs}
    assert [path for path in runs if before[path] != after[path]] == [runs[3]]


def run_kit(folder: Path, out: Path, *words: str, more: tuple[str, ...] = ()) -> int:
    choice = ["--case", "c", "--placement", "first-touch", "--pinning", "unpinned", "--schedule", "static"]
    command = [folder / "bin" / "kit", "run", "--out", out, *choice, *more, "--", *words]
    return subprocess.run(command, env=PATH, check=False, capture_output=True).returncode


def test_whatever_a_program_does_is_one_line(unpacked: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    for words, ended in (
        (["/bin/sh", "-c", "echo no; exit 3"], "exit 3"),
        (["/bin/sh", "-c", "kill -9 $$"], "signal 9"),
        ([str(tmp_path / "missing")], "exit 127"),
        (["/bin/sh", "-c", "printf 'region=a time_seconds=0.25\\nregion=a time_seconds=0.5\\n'; exit 0"], "exit 0"),
    ):
        assert run_kit(unpacked, out, *words) == 0
        found = json.loads(out.read_text())
        assert found["ended"] == ended
    assert found["regions"] == {"a": 0.75}


def test_a_timeout_ends_what_the_program_started(unpacked: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    assert run_kit(unpacked, out, "/bin/sh", "-c", "sleep 1000 & sleep 1000", more=("--timeout", "1")) == 0
    assert json.loads(out.read_text())["ended"] == "timeout"  # it was read to the end: nobody holds its output any more


def test_nothing_is_run_after_the_time(unpacked: Path, tmp_path: Path) -> None:
    assert run_kit(unpacked, tmp_path / "run.json", "/bin/true", more=("--until", "1")) == 3
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--fast"], "found '--fast'; allowed: --quick"),
        (["--repeats", "0"], "found '--repeats 0'; allowed: a number"),
        (["--minutes"], "no value behind --minutes"),
        (["--name", "a/b"], "found '--name a/b'"),
    ],
)
def test_the_script_refuses_wrong_words(unpacked: Path, words: list[str], expected: str) -> None:
    ended = script(unpacked, *words)
    assert (ended.status, ended.stdout) == (2, "")
    assert expected in ended.stderr and ended.stderr.count("\n") == 1


def test_the_whole_path_on_the_command_line(homenode: Homenode, tmp_path: Path) -> None:
    """A file made by hand: node 1 of its machine took no policy; stream ran twice with two threads."""
    ended = homenode("kit", "import", written(tmp_path).name, "--json")
    assert ended.status == 0, ended
    found = json.loads(ended.stdout)
    assert found["schema"] == "homenode.kit-import/1"
    assert list(found) == ["machines", "schema", "host", "kit", "rows", "pages", "left_out", "summary"]
    assert found["host"]["refused"] == {"cycles": "Permission denied", "bind 1": "Operation not permitted"}
    assert found["kit"] == {"homenode_version": "0.1.0", "planned": 3, "runs": 3}
    (row,) = found["rows"]
    assert row["measured_seconds"] == pytest.approx(0.002 + 0.003)  # copy and triad are timed, init is not
    assert row["repeats"] == 2
    assert row["error"] == pytest.approx(row["predicted_seconds"] / 0.005 - 1)
    assert found["left_out"][0].endswith("pages: 0 large blocks were seen, 3 are in the trace")
    parameter = {one["path"]: one for one in found["machines"][0]["parameters"]}["core.llvm_cpu"]
    assert (parameter["value"], parameter["source"]) == (
        "nehalem",
        f"/proc/cpuinfo of {HOST}: family 6, model 26, stepping 5",
    )


def test_another_version_of_a_kernel_is_not_compared(tmp_path: Path) -> None:
    file = written(tmp_path, lambda found: found[0]["manifest"]["kernels"]["stream"].update(source="0" * 64))
    returned = read_returned(file)
    found = table(returned, machine_of(returned), tmp_path)
    assert found.rows == []
    assert found.left_out == ["stream-tiny: the kit has another version of stream than this homenode"]


def test_a_file_does_not_decide_what_is_captured(tmp_path: Path) -> None:
    file = written(tmp_path, lambda found: found[0]["manifest"]["cases"][0]["parameters"].update(n=10**9))
    returned = read_returned(file)
    found = table(returned, machine_of(returned), tmp_path)
    assert (found.rows, found.left_out) == ([], ["stream-tiny: it is not in the plan of this homenode"])
    assert list(tmp_path.glob("*.hnt")) == []


def test_more_threads_than_cores_are_not_compared(tmp_path: Path) -> None:
    returned = read_returned(written(tmp_path, lambda found: [line.update(threads=9) for line in found[3:]]))
    assert table(returned, machine_of(returned), tmp_path).left_out == ["stream-tiny: 9 threads on 8 cores"]


# ---- arithmetic


def choice(**values: object) -> Choice:
    return replace(Choice("a", 2, "first-touch", "compact", "static"), **values)  # type: ignore[arg-type]


def row(measured: float, predicted: float, **values: object) -> KitRow:
    return KitRow(choice(**values), "k", Measurement(measured, 0, 1, {}), predicted, 100, 0, 0, False, {})


def test_the_summary_by_hand() -> None:
    found = Table([row(1.0, 2.0), row(4.0, 4.0, schedule="dynamic:2"), row(0.5, 3.0, placement="interleave")])
    of = summary(found)
    assert of.groups == 1 and of.times is not None and of.effects is not None and of.no_effect is not None
    # ratios 2, 1, 6: errors 1, 0, 5
    assert of.times.median_error == pytest.approx(1)
    # first touch and static is the base: measured 4 and 0.5 of it, predicted 2 and 1.5; ratios 0.5 and 3, of no effect 0.25 and 2
    assert of.effects.geometric_mean == pytest.approx((0.5 * 3) ** 0.5)
    assert of.no_effect.geometric_mean == pytest.approx((0.25 * 2) ** 0.5)
    # the base is predicted fastest and takes twice what interleaving takes
    assert of.regret == of.regret_of_base == pytest.approx(1.0)


def test_runs_beside_others_are_disturbed() -> None:
    run = Run(choice(), "exit 0", seconds=1.0, others_seconds=0.0, regions={}, counters={})
    # a twentieth of 4 CPUs for a second is 0.2 s, and two ticks
    assert not is_disturbed(replace(run, others_seconds=0.22), 4)
    assert is_disturbed(replace(run, others_seconds=0.23), 4)


class Placed:
    """A result of which only the pages are asked."""

    def __init__(self, pages: list[tuple[int, int, int]]) -> None:
        self.pages = np.asarray(pages)


class Traced:
    """A trace of large heap blocks."""

    def __init__(self, *sizes: int) -> None:
        self._objects = [{"id": at, "kind": "heap", "bytes": size} for at, size in enumerate(sizes)]

    def inspect(self) -> dict[str, object]:
        return {"objects": self._objects}


def pages_of(
    blocks: list[Block], pages: list[tuple[int, int, int]], in_order: bool = True, **values: object
) -> tuple[int, ...]:
    run = PagesRun(choice(**values), "exit 0", tuple(blocks))
    sizes = [block.bytes for block in sorted(blocks, key=lambda block: block.number)]
    found = compared(run, Traced(*sizes), Placed(pages), 2, in_order)  # type: ignore[arg-type]
    assert found is not None and not isinstance(found, str), found
    return found.pages, found.same, *found.measured, *found.predicted


def test_pages_are_compared_one_by_one() -> None:
    # pages 0 to 3 on 0, 0, 1, 1 and 0, 1, 1, 1 in the model; the fifth is not there
    block = Block(0, 65536, ((0, 2), (1, 2), (-1, 1)))
    assert pages_of([block], [(0, 0, 0), (0, 1, 1), (0, 2, 1), (0, 3, 1)]) == (4, 3, 2, 2, 1, 3)


def test_an_interleaved_block_begins_anywhere() -> None:
    block = Block(0, 65536, ((1, 1), (0, 1), (1, 1)))
    placed = [(0, 0, 0), (0, 1, 1), (0, 2, 0)]
    assert pages_of([block], placed) == (3, 0, 1, 2, 2, 1)
    assert pages_of([block], placed, placement="interleave") == (3, 3, 1, 2, 1, 2)


def test_blocks_of_threads_side_by_side_are_paired_by_their_nodes() -> None:
    one, other = Block(0, 65536, ((1, 2),)), Block(1, 65536, ((0, 2),))
    placed = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)]
    assert pages_of([one, other], placed)[:2] == (4, 0)
    assert pages_of([one, other], placed, in_order=False)[:2] == (4, 4)


def cpuinfo() -> Iterator[tuple[str, str]]:
    for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def test_cores_have_their_names_of_llvm() -> None:
    assert llvm_cpu("GenuineIntel", "6", "26", "5") == "nehalem"  # X5550
    assert llvm_cpu("GenuineIntel", "6", "85", "4") == "skylake-avx512"
    assert llvm_cpu("GenuineIntel", "6", "85", "7") == "cascadelake"
    assert llvm_cpu("AuthenticAMD", "25", "1", "1") == "znver3"  # EPYC 7763
    assert llvm_cpu("AuthenticAMD", "25", "17", "1") == "znver4"  # EPYC 9654
    assert llvm_cpu("AuthenticAMD", "25", "97", "2") == "znver4"  # Ryzen 7950X
    assert llvm_cpu("", "6", "1", "1") is llvm_cpu("AuthenticAMD", "x", "1", "1") is None
    here = dict(cpuinfo())
    named = llvm_cpu(*(here.get(key, "") for key in ("vendor_id", "cpu family", "model", "stepping")))
    if named is not None and host_cpu() is not None:
        assert named == host_cpu()


@pytest.mark.skipif(not (PROGRAMS / "homenode-mca").is_file(), reason="no homenode-mca")
def test_llvm_has_the_models_that_are_named() -> None:
    from homenode.kits import describing

    known = subprocess.run(
        [PROGRAMS / "homenode-mca", "--cpus"], capture_output=True, text=True, check=True
    ).stdout.split()
    of_amd = {name for models in describing._AMD.values() for name, _, _ in models}
    assert set(describing._INTEL) | {"cascadelake"} | of_amd <= set(known)
