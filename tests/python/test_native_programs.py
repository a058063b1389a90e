"""The studies of native runs: their arithmetic on figures made up for it, and the sanity of their tables. Nothing is captured here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.native_times import Measurement, seconds_of
from homenode.null_models import Observed, Peaks, figures, roofline_seconds, seconds_by_accesses

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.__main__ import main  # noqa: E402
from validation.native import ablation, compare, programs  # noqa: E402
from validation.native.cases import CASES, SMALLEST, Case  # noqa: E402
from validation.native.neighbours import Shared, machine_beside  # noqa: E402
from validation.native.program_page import ProgramRow, SkippedRow, document, line, page, summary_lines  # noqa: E402
from validation.native.program_runs import Native, summarised  # noqa: E402
from validation.native.program_table import Program, cases, read_programs  # noqa: E402
from validation.native.program_table import programs as listed  # noqa: E402
from validation.rows import NativeRow  # noqa: E402
from validation.study import BadOptions  # noqa: E402

MACHINE = ROOT / "models" / "machines" / "xeon-x5550-2s.toml"


def row(**values: Any) -> ProgramRow:
    made_up = ProgramRow(
        program="sorter",
        kind="sort",
        language="C",
        origin="Debian sorter 1.0-1",
        arguments="-n 8",
        threads=1,
        by="cpu",
        native_seconds=2.0,
        spread=0.05,
        repeats=7,
        start_seconds=0.25,
        predicted_seconds=1.5,
        low_seconds=1.0,
        high_seconds=2.5,
        bound_by="core (main:serial)",
        by_accesses_seconds=4.0,
        roofline_seconds=0.5,
        without={"page faults free": 1.0},
        accesses=10,
        instructions=100.0,
        unseen_share=0.25,
        memory_bytes=640,
        page_faults=3,
        capture_seconds=9.0,
        trace_bytes=77,
        replay_seconds=1.0,
    )
    return replace(made_up, **values)


def test_figures_of_ratios() -> None:
    # the geometric mean of 1/2, 1, 2 is 1; errors 0.5, 0, 1; inclusive 90th percentile: 0.5 + 0.8 x (1 - 0.5)
    of = figures([0.5, 1.0, 2.0])
    assert of.geometric_mean == pytest.approx(1)
    assert (of.rows, of.median_error, of.within_quarter, of.beyond_two) == (3, 0.5, pytest.approx(1 / 3), 0)
    assert of.ninetieth_error == pytest.approx(0.9)
    # bounds belong to what they bound: 25 % is within, a factor of 2 is not beyond
    assert figures([1.25, 0.75]).within_quarter == 1
    assert figures([0.49, 2.01]).beyond_two == 1
    assert figures([3.0]).ninetieth_error == 2


def test_time_by_accesses_leaves_the_program_out_and_counts_each_other_once() -> None:
    # ns an access: a 1 and 4 (geometric mean 2), b 8; so a has 8, b has 2
    rows = [Observed("a", 10, 10e-9, 1), Observed("a", 10, 40e-9, 1), Observed("b", 10, 80e-9, 1)]
    assert seconds_by_accesses(rows) == pytest.approx([80e-9, 80e-9, 20e-9])
    # two threads share the accesses: 10 accesses in 10 ns on two are 2 ns of a thread each
    rows = [Observed("a", 10, 10e-9, 2), Observed("b", 30, 5e-9, 1)]
    assert seconds_by_accesses(rows)[1] == pytest.approx(60e-9)
    assert seconds_by_accesses(rows[:1]) == [None]


def test_the_roofline_is_the_longer_of_both() -> None:
    peaks = Peaks(instructions_per_second=4e9, bytes_per_second=10e9)
    # 8e9 instructions: 2 s on one thread, 1 s on two; 15e9 B: 1.5 s on either
    assert roofline_seconds(8e9, 15e9, 1, peaks) == 2
    assert roofline_seconds(8e9, 15e9, 2, peaks) == 1.5


def test_peaks_of_a_machine() -> None:
    machine = hn.Machine.load(MACHINE)
    values = {one["path"]: one["value"] for one in machine.parameters}
    peaks = programs.peaks_of(machine)
    assert peaks.instructions_per_second == float(values["core.issue"]) * float(values["clock"].split()[0]) * 1e9
    doubled = programs.peaks_of(machine.with_changes({"read_bandwidth": "x2"}))
    assert doubled.bytes_per_second == pytest.approx(2 * peaks.bytes_per_second)


def test_sampling_has_a_budget() -> None:
    # 40 s: 20 machines at most, as many as fit, none if fewer than 5
    assert [programs.samples_within(seconds) for seconds in (0, 0.1, 2, 4, 8, 8.1, 100)] == [20, 20, 20, 10, 5, 0, 0]


def test_the_least_of_native_runs() -> None:
    runs = [Native(2.0, 9.0), Native(1.0, 5.0), Native(1.5, 4.0)]
    assert summarised(runs, by_cpu_time=True) == (1.0, 0.5, 3)
    assert summarised(runs, by_cpu_time=False) == (4.0, 0.25, 3)


def test_rows_say_whether_the_interval_holds() -> None:
    assert row().ratio == 0.75
    assert row().within_interval is True
    assert row(high_seconds=1.9).within_interval is False
    assert row(low_seconds=None, high_seconds=None).within_interval is None
    assert tuple(row().as_json()) == programs.STUDY.columns


def test_the_page_has_models_kinds_and_what_was_not_compared() -> None:
    rows = [
        row(),
        row(
            program="grid", kind="stencil", predicted_seconds=4.1, by_accesses_seconds=None, bound_by="a|b", without={}
        ),
        row(threads=2, by="elapsed"),
        SkippedRow("tree", "tree", "Debian tree 2-1", "", 1, "absent: no folder tree-2"),
    ]
    text = page(rows, [])
    one, two = text.split("2 threads: ")
    assert "the native time lies in the 90 % interval in 2 of 2 rows" in one
    # ratios 0.75 and 2.05: mean (0.75 x 2.05)^(1/2) = 1.24; errors 25 % and 105 %
    assert "| homenode | 2 | 1.24 | 65% | 97% | 50% | 50% |" in one
    assert "| null: time by accesses | 1 | 2.00 | 100% | 100% | 0% | 0% |" in one
    assert "| null: peak roofline | 2 | 0.25 |" in one
    assert "| homenode, page faults free | 1 | 0.50 |" in one
    assert "| stencil | 1 | 2.05 |" in one
    assert "a\\|b" in one
    assert "| homenode | 1 | 0.75 |" in two
    assert "| tree | `` | 1 | absent: no folder tree-2 |" in text
    assert document(rows)["summary"]["2"]["homenode"]["geometric_mean"] == pytest.approx(0.75)
    assert [entry["program"] for entry in document(rows)["rows"]] == ["sorter", "grid", "sorter", "tree"]
    assert line(rows[0]).startswith("sorter")
    assert line(rows[3]) == "tree          1  skipped: absent: no folder tree-2"
    assert "1 thread, homenode: rows 2, " in summary_lines([one for one in rows if isinstance(one, ProgramRow)])[0]
    assert "Not measured yet" in page([], listed(None))


def test_the_table_is_of_different_kinds_and_says_where_everything_is_from() -> None:
    found = listed(None)
    assert len(found) >= 12
    assert len({program.kind for program in found}) >= 8
    for program in found:
        assert re.fullmatch(r"Debian [a-z0-9+.-]+ \S+|GitHub [\w-]+/[\w.-]+ [0-9a-f]{10}", program.origin), program.name
        assert 1 <= len(program.arguments) <= 2, program.name
        assert any(f"${name}" in program.build for name in ("CC", "CXX", "FC")), program.name
        threads = any("{threads}" in words for words in program.arguments)
        assert threads <= (program.threads != "one"), program.name
        assert (program.threads == "own") <= threads, program.name
        names = re.findall(r"(?<=> )(?:small|large)\S*", program.prepare)
        assert len(names) == len(set(names)), program.name
    languages = " ".join(program.language for program in found)
    assert all(word in languages for word in ("Fortran", "C++ standard library", "pthreads", "OpenMP"))
    page_of_them = programs.PAGE.read_text(encoding="utf-8")
    assert all(f"| {program.name} | {program.kind} |" in page_of_them for program in found)


def test_sizes_run_on_one_thread_and_on_two_where_there_are_threads() -> None:
    serial = Program("s", "k", "C", "o", "f", "b", "./s", ("small", "large"))
    team = replace(serial, name="t", threads="openmp", arguments=("-T {threads}",), stdin=("in",))
    names = [case.name for case in cases([serial, team], small=False)]
    assert names == ["s-0-1", "s-1-1", "t-0-1", "t-0-2"]
    assert cases([team], small=False)[1].words == ["./s", "-T", "2"]
    assert cases([team], small=False)[1].stdin == "in"
    assert [case.name for case in cases([serial, team], small=True)] == ["s-0-1", "t-0-1"]
    assert [programs.by_cpu_time(case) for case in cases([team], small=False)] == [True, False]


GOOD = '[[program]]\nname="mine"\nkind="k"\nlanguage="C"\norigin="o"\nfolder="f"\nbuild="b"\nprogram="p"\narguments=["1"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "colour='red'\n", "program 'mine': unknown: colour; allowed: name, kind"),
        (GOOD.replace('origin="o"\n', ""), "program 'mine': missing: origin"),
        (GOOD + 'threads="many"\n', "threads 'many'; allowed: one, openmp, own"),
        (GOOD + 'stdin=["a", "b"]\n', "2 of stdin, 1 of arguments"),
        ("[[program]\n", "programs.toml: "),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "programs.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadOptions, match=re.escape(message)):
        read_programs(tmp_path / "programs.toml")


def test_the_user_s_table_adds_programs(tmp_path: Path) -> None:
    (tmp_path / "programs.toml").write_text(GOOD, encoding="utf-8")
    assert [program.name for program in listed(tmp_path)] == [*(one.name for one in listed(None)), "mine"]
    (tmp_path / "programs.toml").write_text(GOOD.replace('"mine"', '"bzip2"'), encoding="utf-8")
    with pytest.raises(BadOptions, match="twice: bzip2"):
        listed(tmp_path)


def test_absent_programs_are_skipped_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sources").mkdir()
    options = ["--sources", str(tmp_path / "sources"), "--machine", str(MACHINE), "--folder", str(tmp_path), "--small"]
    assert main(["native", *options]) == 0
    found = capsys.readouterr().out.splitlines()
    assert found == [f"{one.name:<14}1  skipped: absent: no folder {one.folder}" for one in listed(None)]


@pytest.mark.parametrize(("left_out", "message"), [("--machine", "--machine FILE"), ("--sources", "--sources FOLDER")])
def test_programs_want_sources_and_a_machine(
    tmp_path: Path, left_out: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"--sources": str(tmp_path), "--machine": str(MACHINE)}
    del options[left_out]
    with pytest.raises(SystemExit) as refused:
        main(["native-programs", *(word for option in options.items() for word in option)])
    assert refused.value.code == 2
    assert message in capsys.readouterr().err


def test_a_system_without_faults() -> None:
    description = (ROOT / "models" / "systems" / "linux-2.6.32.toml").read_text(encoding="utf-8")
    before, after = tomllib.loads(description), tomllib.loads(ablation.without_faults(description))
    assert {key: entry["value"] for key, entry in after["faults"].items()} == {
        "parallel": "0 ns",
        "serial": "0 ns",
        "serial_transfers": 0,
        "zeroing": 0,
    }
    assert {**before, "faults": 0} == {**after, "faults": 0}


def test_each_switch_is_a_run_without_its_mechanism(tmp_path: Path) -> None:
    spec = hn.RunSpec(MACHINE, threads=1)
    runs = {switch.name: switch.without(spec, tmp_path) for switch in ablation.SWITCHES}
    assert all(run != spec for run in runs.values())
    faults = runs["page faults free"]
    assert faults is not None
    assert hn.System.load(faults.system).parameters  # the machine has no operating system of its own
    classes = runs["block model off (--core classes)"]
    assert classes is not None
    assert classes.core == "classes"


def test_kernels_have_four_sizes_and_distributions_on_two_threads() -> None:
    assert len(CASES) == 4 * len(SMALLEST)
    assert [case.kernel for case in CASES[::4]] == [case.kernel for case in CASES[3::4]]
    assert len({(case.kernel, str(case.parameters)) for case in CASES}) == len(CASES)
    # 64 chunks of (1024/16)^2 blocks
    hotspot = next(case for case in CASES if case.parameters.get("size") == 1024)
    assert hotspot.distributions(1) == ("static",)
    assert hotspot.distributions(2) == ("static", "dynamic:64", "guided:64")
    assert Case("k", {}).distributions(2) == ("static",)


def test_seconds_of_a_label() -> None:
    regions = dict.fromkeys(("a", "b:code", "b:code1", "main:serial"), 1.0)
    assert seconds_of("a", regions) == 1
    assert seconds_of("b", regions) == 2
    with pytest.raises(KeyError, match="no region 'c'"):
        seconds_of("c", regions)


def test_figures_and_page_of_kernels() -> None:
    rows = [
        NativeRow("stream", {"n": 8, "check": 0}, 1, "static", 2.0, 1.0, 0.5, 2.5, 0.1, 7, 8 << 20, 40.0, 5e10),
        NativeRow("stream", {"n": 8, "check": 0}, 2, "dynamic:4", 1.0, 2.0, None, None, 0.1, 7, 8 << 20, 40.0, 5e10),
    ]
    groups = compare.figures_by_group(rows)
    assert list(groups) == ["all", "1 threads, static", "stream", "2 threads, dynamic"]
    assert groups["all"].geometric_mean == pytest.approx(1)
    assert "| stream | n=8 | 2 | dynamic:4 | 1 | 2 |  | +100% | 10% | 7 | 8.0 | 40 | 50 |" in compare.page(rows)


def test_what_neighbours_leave_goes_into_the_machine() -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    shared = Shared(2 << 20, 4 << 20, 60.0, 50.0, 20e9, 50e9, 0.0, 0.0)
    beside = machine_beside(machine, shared)
    values = {one["path"]: str(one["value"]) for one in beside.parameters}
    assert values["caches.3.size"] == "4 MiB"
    assert values["controllers.read_only"] == "10 GB/s"  # of each of two
    assert values["coherence.core_to_core_local"] == values["coherence.core_to_core_remote"] == "50 ns"
    assert values["controllers.one_to_one"] == "19 GB/s"  # below twice the reads
    # less than what the inner level holds says nothing
    smaller = machine_beside(machine, shared._replace(last_level_dependent=0.0, last_level_independent=0.0))
    assert {one["path"]: one["value"] for one in smaller.parameters}["caches.3.size"] == "8 MiB"


def test_what_neighbours_leave_has_whole_sets() -> None:
    machine = hn.Machine.load("xeon-x5550-2s").with_changes({"caches.3.ways": "20", "caches.3.size": "10 MiB"})
    beside = machine_beside(machine, Shared(2 << 20, 4_200_000, 60.0, 50.0, 20e9, 50e9, 0.0, 0.0))
    # 4,193,280 B: 3276 sets of 20 lines, in steps of 52 sets
    assert next(one["value"] for one in beside.parameters if one["path"] == "caches.3.size") == "4095 KiB"


def test_private_levels_go_with_the_clock_beside_a_run() -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    shared = Shared(2 << 20, 4 << 20, 60.0, 50.0, 20e9, 50e9, 0.0, 0.0)
    before, half = (
        {one["path"]: str(one["value"]) for one in machine_beside(machine, beside).parameters}
        for beside in (shared, shared._replace(clock=1.33e9))
    )
    assert (before["clock"], half["clock"]) == ("2.66 GHz", "1.33 GHz")
    for level in ("caches.1", "caches.2"):
        assert _number(half[f"{level}.latency"]) == pytest.approx(2 * _number(before[f"{level}.latency"]))
    assert half["caches.3.latency"] == before["caches.3.latency"]  # the last level has a clock of its own


def _number(text: str) -> float:
    return float(text.split()[0])


def test_page_faults_take_what_they_take_beside_a_run(tmp_path: Path) -> None:
    file = tmp_path / "with-faults.toml"
    faults = [
        f'{name} = {{ value = "{time}", source = "T" }}'
        for name, time in (("parallel", "300 ns"), ("serial", "100 ns"))
    ]
    described = (ROOT / "models" / "machines" / "xeon-x5550-2s.toml").read_text()
    file.write_text("\n".join([described, "[system.faults]", *faults, ""]))
    machine = hn.Machine.load(file)
    beside = machine_beside(machine, Shared(2 << 20, 4 << 20, 60.0, 50.0, 20e9, 50e9, 800.0, 1500.0))
    values = {one["path"]: str(one["value"]) for one in beside.parameters}
    assert values["system.faults.parallel"] == "600 ns"  # twice the calibrated parts
    assert values["system.faults.serial"] == "200 ns"
    assert values["system.faults.cold"] == "1.3 us"  # 700 ns more


@pytest.mark.parametrize(("nanoseconds", "cores"), [(25.0, "4"), (150.0, "1")])
def test_cores_that_answer_as_slowly_as_memory_share_no_last_level(nanoseconds: float, cores: str) -> None:
    machine = hn.Machine.load("xeon-x5550-2s")  # its last level takes 13 ns, its memory 66
    beside = machine_beside(machine, Shared(2 << 20, 4 << 20, 60.0, nanoseconds, 20e9, 30e9, 0.0, 0.0))
    values = {one["path"]: str(one["value"]) for one in beside.parameters}
    assert values["caches.3.cores_per_cache"] == cores


def test_a_measurement_between_unlike_neighbours_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(
        [
            Shared(8e6, 8e6, 60.0, 40.0, 4e10, 5e10, 1e3, 2e3),
            Shared(16e6, 16e6, 60.0, 40.0, 4e10, 5e10, 1e3, 2e3),
            Shared(16e6, 16e6, 60.0, 40.0, 4e10, 6e10, 1e3, 2e3),
            Shared(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        ]
    )
    monkeypatch.setattr(compare, "shared_now", lambda machine: next(states))
    runs = iter([Measurement(1.0, 0.0, 1, {}), Measurement(2.0, 0.0, 1, {}), Measurement(3.0, 0.0, 1, {})])
    native, shared = compare.beside_neighbours(lambda: next(runs), hn.Machine.load("xeon-x5550-2s"))
    assert native.seconds == 2
    assert shared == pytest.approx(Shared(16e6, 16e6, 60.0, 40.0, 4e10, (5e10 * 6e10) ** 0.5, 1e3, 2e3))


def test_a_measurement_beside_others_on_its_cores_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = Shared(8e6, 8e6, 60.0, 40.0, 4e10, 5e10, 1e3, 2e3, 0.02)
    states = iter([quiet, quiet._replace(other_thread=0.9), quiet, quiet])
    monkeypatch.setattr(compare, "shared_now", lambda machine: next(states))
    runs = iter([Measurement(seconds, 0.0, 1, {}) for seconds in (1.0, 2.0, 3.0)])
    native, _ = compare.beside_neighbours(lambda: next(runs), hn.Machine.load("xeon-x5550-2s"))
    assert native.seconds == 3


def test_the_ablation_is_what_replays_without_each_mechanism_take(trace_file: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "validation.native.ablation", trace_file, MACHINE, "1", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    found = json.loads(done.stdout)
    trace, machine = hn.Trace.open(trace_file), hn.Machine.load(MACHINE)
    free = machine.with_changes({"core.misprediction": "0"})
    assert found["mispredictions free"] == hn.replay(trace, free, threads=1, stores="regular").seconds
    assert found["page faults free"] < hn.replay(trace, machine, threads=1, stores="regular").seconds
