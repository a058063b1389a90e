"""The arithmetic and the verdicts of validation/, on figures made up for it; nothing is replayed here."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from homenode.errors import InputError
from homenode.native_times import summarise

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.__main__ import main  # noqa: E402
from validation.native.cases import CASES  # noqa: E402
from validation.native.measure import region_seconds, timed_regions  # noqa: E402
from validation.published.reference import read_references  # noqa: E402
from validation.published.s4 import cases as s4  # noqa: E402
from validation.published.s4 import rows as s4_rows  # noqa: E402
from validation.published.s4.arithmetic import (  # noqa: E402
    Problem,
    bytes_per_update,
    expected_updates_per_second,
    static_share,
)
from validation.published.s4.replays import Line, MachineFigures, TaskFigures  # noqa: E402
from validation.published.s4.task_rows import task_rows  # noqa: E402
from validation.rows import NativeRow, Row  # noqa: E402
from validation.studies import STUDIES  # noqa: E402
from validation.traces import captured, trace_path  # noqa: E402

PRINTED = s4.references()
PAPER = s4.paper_problem(PRINTED)


def test_static_shares_are_contiguous_and_the_first_get_the_rest() -> None:
    # 10 = 3 + 3 + 2 + 2
    assert [list(static_share(10, 4, thread)) for thread in range(4)] == [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9]]


def test_the_paper_s_problem() -> None:
    # 2400/10 x 600/10 = 240 x 60 = 14400 blocks; 2 x 8 B x 2400 x 600 x 600 = 13.824 GB
    assert PAPER.blocks == (240, 60)
    assert PAPER.footprint_bytes == 13_824_000_000
    assert PAPER.updates == 2398 * 598 * 598


# 4 x 4 rows of 8 sites (one line each): 4 rows are updated, 12 are read (all but the corners).
TINY = Problem(ni=4, nj=4, nk=8, bi=4, bj=4, bk=8)


def test_bytes_with_a_cache_that_holds_all() -> None:
    # (12 read + 4 written) x 64 B / (4 rows x 6 sites); ordinary stores fetch the 4 rows as well
    assert bytes_per_update(TINY, 1, 1e6, True) == (12 + 4) * 64 / 24
    assert bytes_per_update(TINY, 1, 1e6, False) == (12 + 4 + 4) * 64 / 24


def test_bytes_with_a_cache_of_one_row() -> None:
    # nothing is found again: each updated row reads 5 rows
    assert bytes_per_update(TINY, 1, 64, True) == (4 * 5 + 4) * 64 / 24


def test_threads_read_their_common_rows_once_each() -> None:
    # blocks of 2 x 4 rows: thread 0 updates i=1 and reads 2 rows of i=0, 4 of i=1, 2 of i=2; thread 1 likewise:
    # 16 rows in all, not 12
    halves = Problem(ni=4, nj=4, nk=8, bi=2, bj=4, bk=8)
    assert bytes_per_update(halves, 2, 1e6, True) == (16 + 4) * 64 / 24


@pytest.mark.parametrize("machine", s4.MACHINES)
def test_the_halo_across_blocks_is_loaded_again(machine: str) -> None:
    # the j halo is still cached, the i halo is 60 blocks away: 12 layers read for 10 updated, 8 x 12/10 + 8 B an update
    # (+ 8 B without non-temporal stores); lines of 600 sites for 598 updates add 0.3 %, the boundary a little
    nontemporal = bool(PRINTED[machine, "nontemporal_stores"].value)
    ideal = (8 * 12 / 10 + 8 if nontemporal else 8 * 12 / 10 + 16) * 600 / 598
    share, threads = s4.cache_share(PRINTED, machine), s4.threads_of(PRINTED, machine)
    assert bytes_per_update(PAPER, threads, share, nontemporal) == pytest.approx(ideal, rel=0.003)
    # and twice the cache would not keep the i halo either
    assert bytes_per_update(PAPER, threads, share * 2, nontemporal) == bytes_per_update(
        PAPER, threads, share, nontemporal
    )


def test_expected_updates() -> None:
    # 32 GB/s of copy are 2 G elements/s; at 20 B an update instead of 16, 1.6 G updates/s.
    # Without non-temporal stores copy really moves 24 B.
    assert expected_updates_per_second(32e9, True, 20) == pytest.approx(1.6e9)
    assert expected_updates_per_second(32e9, False, 30) == pytest.approx(1.6e9)


def test_expected_ratios_of_the_paper() -> None:
    # about 0.91 of STREAM/16 B with non-temporal stores, 0.94 without
    ratios = [s4_rows.expected_static(PRINTED, machine, PAPER)[1] for machine in s4.MACHINES]
    assert ratios == pytest.approx([0.909 * 598 / 600, 0.909 * 598 / 600, 0.9375 * 598 / 600], rel=0.003)


def figures(machine: str, static: float, middle: float, serial: float) -> MachineFigures:
    rates = {"static": static, "round robin": middle, "serial": serial}
    lines = {name: Line(rate, "link 0 -> 1", f"command of {name}") for name, rate in rates.items()}
    system, socket = PRINTED[machine, "stream_copy_system"].value, PRINTED[machine, "stream_copy_socket"].value
    return MachineFigures(lines, system, socket, "stream command")


def verdicts(rows: list[Row]) -> dict[str, str]:
    return {f"{row.claim} {row.what.split()[0]}": row.verdict for row in rows}


def test_a_machine_that_does_as_printed_agrees() -> None:
    # 38.6 GB/s / 17.69 B = 2182 M; one domain 9.9 GB/s / 16 B = 619 M
    rows = list(
        s4_rows.machine_rows(PRINTED, "opteron-8431-4s", figures("opteron-8431-4s", 2182e6, 1500e6, 540e6), PAPER)
    )
    assert {row.verdict for row in rows} == {"agrees"}
    assert {row.claim for row in rows} == {"C57", "C58", "C59", "C60"}


def test_a_machine_that_does_not_deviates_row_by_row() -> None:
    rows = list(
        s4_rows.machine_rows(PRINTED, "opteron-8431-4s", figures("opteron-8431-4s", 2000e6, 2000e6, 700e6), PAPER)
    )
    assert verdicts(rows) == {
        "C57 STREAM": "agrees",
        "C58 serial": "deviates",
        "C59 parallel": "deviates",
        "C60 serial": "deviates",
        "C60 static": "deviates",
    }


def test_which_machine_loses_most() -> None:
    opteron, ep, ex = s4.MACHINES
    like_printed = {opteron: figures(opteron, 10, 8, 3), ep: figures(ep, 10, 7, 5), ex: figures(ex, 8, 7.5, 2)}
    assert [row.verdict for row in s4_rows.comparison_rows(like_printed)] == ["agrees", "agrees"]
    other = {opteron: figures(opteron, 10, 6, 1), ep: figures(ep, 10, 7, 5), ex: figures(ex, 8, 7.5, 2)}
    assert [row.verdict for row in s4_rows.comparison_rows(other)] == ["deviates", "deviates"]


def test_one_domain() -> None:
    def lines(*rates: float) -> dict[str, Line]:
        return {name: Line(rate, "", "") for name, rate in zip(("static", "round robin", "serial"), rates, strict=True)}

    assert s4_rows.one_domain_row(lines(1000, 1000.9, 1000), "m").verdict == "agrees"
    assert s4_rows.one_domain_row(lines(1000, 1001.1, 1000), "m").verdict == "deviates"


def test_code_balance_and_footprint() -> None:
    # 16 B / 6 flop = 8/3
    rows = list(s4_rows.arithmetic_rows(PRINTED, PAPER, 13_824_000_000, 6.0, "command"))
    assert [(row.claim, row.verdict) for row in rows] == [("C63", "agrees"), ("C77", "agrees")]
    rows = list(s4_rows.arithmetic_rows(PRINTED, PAPER, 13_000_000_000, 7.0, "command"))
    assert [row.verdict for row in rows] == ["deviates", "deviates"]


def test_rows_have_the_keys_of_the_schema() -> None:
    row = Row("C57", "m", "w", "fitted", 1.0, 2.0, "GB/s", "agrees", "c").as_json()
    assert {"claim", "class", "published", "model", "unit", "verdict", "command"} <= set(row)
    native = NativeRow("stream", {"n": 1}, 2, "static", 2.0, 3.0, None, None, 0.1, 7, 8e6, 40.0, 5e10).as_json()
    assert native["error"] == pytest.approx(0.5)
    keys = {"kernel", "parameters", "threads", "distribution", "measured_seconds", "predicted_seconds", "error"}
    assert keys <= set(native)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("m,q,1,GB,S4\nm,q,2,GB,S4", r":3: q of m stands there twice"),
        ("m,q,1,GB,", r":2: no source for q of m"),
        ("m,q,1,furlong,S4", r":2: unit 'furlong'; allowed: 1, kB"),
    ],
)
def test_bad_references_are_refused(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "r.csv").write_text(f"machine,quantity,value,unit,source\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_references(tmp_path / "r.csv")


def test_printed_times_are_summed_by_region() -> None:
    text = "region=copy time_seconds=0.5\nregion=triad time_seconds=1.0\nregion=copy time_seconds=0.25\nother\n"
    assert region_seconds(text) == {"copy": 0.75, "triad": 1.0}


def test_medians_and_spread() -> None:
    # totals 1, 2, 3, 4, 100: median 3, quartiles 2 and 4
    runs = [{"a": total - 0.5, "b": 0.5, "init": 9.0} for total in (3.0, 1.0, 100.0, 2.0, 4.0)]
    measured = summarise(runs, ["a", "b"])
    assert (measured.seconds, measured.repeats) == (3.0, 5)
    assert measured.spread == pytest.approx(2 / 3)
    assert measured.by_region == {"a": 2.5, "b": 0.5}


def test_native_cases_name_real_parameters() -> None:
    text = (ROOT / "traces" / "kernels" / "kernels.toml").read_text(encoding="utf-8")
    kernels = {kernel["name"]: kernel for kernel in tomllib.loads(text)["kernel"]}
    for case in CASES:
        assert set(case.parameters) <= set(kernels[case.kernel]["parameters"])
        assert timed_regions(kernels[case.kernel])


SOUND = """#2\tINITED cov: 1800 ft: 6000 corp: 3/1Kb exec/s: 0 rss: 60Mb
#900\tNEW    cov: 1862 ft: 6368 corp: 4/1Kb lim: 4096 exec/s: 450 rss: 61Mb L: 9/9 MS: 1 EraseBytes-
Done 913 runs in 3 second(s)
stat::number_of_executed_units: 913
"""
BROKEN = """#2\tINITED cov: 10 ft: 6000 corp: 3/1Kb exec/s: 0 rss: 60Mb
==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602
stat::number_of_executed_units: 4
"""


def test_what_libfuzzer_says_is_understood() -> None:
    from validation import fuzz

    sound = fuzz.row("trace_frames", 2, 0, SOUND, "")
    assert (sound.executions, sound.edges, sound.what, sound.verdict) == (913, 1862, "nothing broke", "agrees")
    broken = fuzz.row("trace_frames", 2, 77, BROKEN, "; input: crash-1")
    assert broken.verdict == "deviates"
    assert broken.what == "==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602; input: crash-1"
    assert fuzz.row("trace_frames", 2, 0, "", "").verdict == "deviates"  # it said nothing: it did not run


def test_a_host_without_clang_skips_fuzzing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["fuzz", "--folder", str(tmp_path)]) == 0
    assert "skipped: no clang++-14 (Debian: clang-14)" in capsys.readouterr().out


def test_an_input_that_breaks_a_reader_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from validation import fuzz

    monkeypatch.setattr(fuzz, "rows", lambda tree, folder, small: iter([fuzz.row("trace_frames", 2, 77, BROKEN, "")]))
    assert main(["fuzz", "--folder", str(tmp_path)]) == 1


def test_distributions_of_s4_tasks() -> None:
    # 600 / 10 x 600 / 600 = 60 blocks a layer, 240 layers
    assert s4.blocks_of_layer(PAPER) == 60
    assert s4.blocks(PAPER) == 14400
    assert s4.by_tasks(PAPER, "s", "ijk") == "init@static sweep@tasks"
    assert s4.by_tasks(PAPER, "s-1", "kji", "locality-queues", queue=9) == (
        "init@static:1 sweep@locality-queues:stride=60,queue=9"
    )
    assert s4.by_tbb(PAPER, affinity=True) == "init@tbb-affinity:columns=60 sweep@tbb-affinity:columns=60"


def task_figures(tasks: list[float], queues: list[float], tbb: float, affinity: float) -> TaskFigures:
    def line(rate: float) -> Line:
        return Line(rate * 1e6, "link 0 -> 1", "command")

    def bars(rates: list[float]) -> dict[tuple[str, str], Line]:
        return {bar: line(rate) for bar, rate in zip(s4.COMBINATIONS, rates, strict=True)}

    unbounded = {"tasks": line(1400), "locality-queues": line(1900)}
    return TaskFigures(
        bars(tasks),
        bars(queues),
        unbounded,
        bars([600, 1500, 1400, 1450]),
        line(1480),
        bars(tasks),
        [line(tbb)] * 3,
        [line(affinity)] * 3,
    )


def test_rows_of_s4_tasks() -> None:
    rates = {"static": 2000e6, "round robin": 1500e6, "serial": 550e6}
    lines = {name: Line(rate, "", "") for name, rate in rates.items()}
    as_said = task_figures([600, 1200, 1450, 1450], [620, 1900, 1900, 1850], 1450, 1880)
    rows = list(task_rows("m", lines, as_said))
    what_if = [row for row in rows if row.what.startswith("what if")]
    assert {row.verdict for row in what_if} == {"not compared"}
    assert all(str(row.model).endswith("(holds)") for row in what_if)
    found = {(row.claim, row.verdict) for row in rows if row not in what_if}
    # COMBINATIONS go s/ijk, s/kji, s-1/ijk, s-1/kji: s/kji above is slower than s-1/ijk, which C67 denies
    assert found == {
        *((claim, "agrees") for claim in ("C65", "C66", "C69", "C70", "C71", "C72", "C74")),
        ("C67", "deviates"),
    }
    otherwise = task_figures([1600, 1200, 1100, 1450], [1700, 1900, 1900, 1700], 1000, 1500)
    found = {(row.claim, row.verdict) for row in task_rows("m", lines, otherwise) if "what if" not in row.what}
    assert {claim for claim, verdict in found if verdict == "deviates"} == {
        "C65", "C66", "C67", "C69", "C71", "C72",
    }  # fmt: skip


def test_what_a_killed_capture_left_does_not_keep_a_study_from_capturing(tmp_path: Path) -> None:
    parameters = {"n": 16, "sweeps": 1}
    path = trace_path(tmp_path, "jacobi2d", parameters)
    left = path.with_name(f"{path.name}.part")
    left.write_bytes(b"records until the kill")
    trace = captured(tmp_path, "jacobi2d", parameters)
    assert trace.accesses > 0 and path.exists() and left.exists()
    assert sorted(tmp_path.iterdir()) == sorted([path, left, path.with_name(f"{path.name}.by")])


def test_a_trace_that_another_homenode_captured_is_captured_again(tmp_path: Path) -> None:
    parameters = {"n": 16, "sweeps": 1}
    path = trace_path(tmp_path, "jacobi2d", parameters)
    first = captured(tmp_path, "jacobi2d", parameters).hash
    before = path.stat().st_ino
    assert captured(tmp_path, "jacobi2d", parameters).hash == first
    assert path.stat().st_ino == before
    note = path.with_name(f"{path.name}.by")
    made_by = note.read_text()
    note.write_text("jacobi2d-0123456789abcdef 0123456789abcdef\n")
    path.write_bytes(b"of another form")
    assert captured(tmp_path, "jacobi2d", parameters).hash == first
    assert note.read_text() == made_by


def test_what_a_study_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuses(options: object) -> int:
        raise InputError("line 3: found 'x'; allowed: a number")

    monkeypatch.setitem(STUDIES, "published", SimpleNamespace(name="published", what="", run=refuses))
    with pytest.raises(SystemExit) as ended:
        main(["published"])
    assert ended.value.code == 2
    assert (
        capsys.readouterr().err.splitlines()[-1] == "python -m validation: error: line 3: found 'x'; allowed: a number"
    )
