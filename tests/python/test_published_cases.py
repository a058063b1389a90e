"""The comparisons of S0 and S1 on figures made up for them; the sensitivity's arithmetic."""

from __future__ import annotations

import datetime
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.published.page import COLUMNS, page  # noqa: E402
from validation.published.s0 import cases as s0  # noqa: E402
from validation.published.s0 import distribution_rows, hypotheses  # noqa: E402
from validation.published.s0 import rows as s0_rows  # noqa: E402
from validation.published.s0.cases import AWARE, INTERLEAVE, PINNED, A, Balancing, Case, Timing  # noqa: E402
from validation.published.s0.figures import Found  # noqa: E402
from validation.published.s1 import cases as s1  # noqa: E402
from validation.published.s1 import fitted, sensitivity  # noqa: E402
from validation.published.s1 import rows as s1_rows  # noqa: E402
from validation.published.s1.replays import Seconds  # noqa: E402
from validation.result_cache import ResultCache  # noqa: E402
from validation.rows import Row  # noqa: E402

import homenode as hn  # noqa: E402

HOTSPOT = (Case("hotspot", "64", (10, 100), placed=s0.EVERY_WAY), Case("hotspot", "4096", (10, 100)))


def verdicts(rows: list[Row]) -> dict[tuple[str, str], str]:
    return {(row.claim, row.machine): row.verdict for row in rows}


def of(rows: list[Row], claim: str, part: str = "") -> Row:
    (row,) = [row for row in rows if row.claim == claim and row.machine in (A, "all", s1.MACHINE) and part in row.what]
    return row


def found(gain_small: float, gain_large: float, balanced: float = 1.5) -> Found:
    """Stencil-aware takes 1 s an iteration, pinned standard placements 2, unpinned first touch `gain` times as much."""
    timings, balancing = {}, {}
    for machine, threads in s0.MACHINES.items():
        for case, gain in zip(HOTSPOT, (gain_small, gain_large), strict=True):
            for setting in case.settings:
                step = {PINNED: 2.0, INTERLEAVE: 2.0, AWARE: 1.0}.get(setting, gain)
                timings[machine, case.name, setting] = Timing(
                    0.0, step, 0.5, (0.1,) * threads, "core, sweep", "command"
                )
            for setting in case.balanced:
                balancing[machine, case.name, setting] = Balancing(1.0, balanced, 0.1, 10, 1, "command")
    return Found(timings, balancing, HOTSPOT)


def test_hotspot_s_gain_is_held_against_twelve() -> None:
    # 12 s an iteration without pinning against 1 s, at 64 cells a side
    rows = list(s0_rows.rows(found(12.0, 3.0), s0.references()))
    assert of(rows, "C1", "largest gain").verdict == "agrees"
    assert of(rows, "C1", "small size").verdict == "agrees"
    assert of(rows, "C6").verdict == "agrees"
    rows = list(s0_rows.rows(found(3.0, 30.0), s0.references()))
    assert of(rows, "C1", "largest gain").verdict == "deviates"  # 30 > 1.5 x 12
    assert of(rows, "C1", "small size").verdict == "deviates"
    assert of(rows, "C6").verdict == "deviates"


def test_gains_over_unpinned_threads_are_ratios_of_means_over_the_seeds() -> None:
    # (4 + 6 + 8 + 10) / 4 = 7 s an iteration against 1 s
    case, one = HOTSPOT[0], found(4.0, 3.0)
    timings = dict(one.timings)
    for seconds, setting in zip((6.0, 8.0, 10.0), s0.SEEDS, strict=True):
        timings[A, case.name, setting] = replace(timings[A, case.name, setting], step_seconds=seconds)
    assert replace(one, timings=timings).ratios(A, case, s0.UNPINNED, AWARE) == [7.0, 7.0]
    assert replace(one, timings=timings).ratios(A, case, s0.SEEDS[0], AWARE) == [6.0, 6.0]


def test_balancing_harms_gains_or_ends_before_it_begins() -> None:
    # 1.5 s with balancing, 1 s without: 0.67 where a tenth of a second passes for one, 1 / (1 + 0.5 x 0.1) = 0.952 in 10 s
    rows = list(s0_rows.rows(found(12.0, 3.0), s0.references()))
    assert [of(rows, claim).verdict for claim in ("C8", "C10", "C11")] == ["agrees"] * 3
    assert "0.667 to 0.952" in str(of(rows, "C8").model)
    # 0.8 s: faster than without, by more than 9 %
    rows = list(s0_rows.rows(found(12.0, 3.0, balanced=0.8), s0.references()))
    assert [of(rows, claim).verdict for claim in ("C8", "C10", "C11")] == ["deviates"] * 3
    # equal: not slower in every case
    rows = list(s0_rows.rows(found(12.0, 3.0, balanced=1.0), s0.references()))
    assert [of(rows, claim).verdict for claim in ("C8", "C10", "C11")] == ["deviates", "agrees", "deviates"]


def test_threads_at_the_border_idle_less() -> None:
    # A: nodes of 8 cores; 7, 8, 15, 16, 23, 24 wait less
    case = Case("srad_v2", "", (10,), placed=s0.PLACED, balanced=())
    for less, verdict in ((0.05, "agrees"), (0.0995, "deviates")):
        timings = {}
        for machine, threads in s0.MACHINES.items():
            idle = tuple(less if thread % 8 in (0, 7) else 0.1 for thread in range(threads))
            for setting in case.settings:
                timings[machine, case.name, setting] = Timing(0.0, 1.0, 0.5, idle, "core, derive", "command")
        rows = list(s0_rows.rows(Found(timings, {}, (case,)), s0.references()))
        assert of(rows, "C12").verdict == verdict


def test_footprints_bound_the_computed_arrays() -> None:
    # 3 x 4 B x 4096^2 = 192 MiB within 202; 12 kB x 4 within 10
    rows = list(s0_rows.footprint_rows(s0.references(), HOTSPOT))
    sizes = {row.what.partition(":")[0]: row for row in rows if row.claim == "C18"}
    assert sizes["hotspot 4096"].model == 192
    assert {row.verdict for row in sizes.values()} == {"agrees"}


def test_answers_are_asked_for_once_and_outlive_a_line_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    asked = []

    def answer() -> dict[str, float]:
        asked.append(1)
        return {"seconds": 0.5}

    for version in ("a", "a", "b"):
        assert ResultCache(path, version).get({"trace": "x"}, answer) == {"seconds": 0.5}
    assert len(asked) == 2  # b is another program
    path.write_text(path.read_text()[:-20])
    for _ in range(2):
        assert ResultCache(path, "b").get({"trace": "x"}, answer) == {"seconds": 0.5}
    assert len(asked) == 3


def as_printed(factor_glibc: float = 1.0) -> dict[tuple[str, int], Seconds]:
    printed = s1.references()
    times = {}
    for heap in s1.WRITE_ORDER:
        for team in s1.WRITE_TEAMS:
            known = printed.get((heap, f"write_seconds_{team}"))
            seconds = (known.value if known else 1.0) * (factor_glibc if heap == "glibc" else 1)
            times[heap, team] = Seconds(seconds, "command")
    return times


def test_table_4_as_printed_agrees_and_blind_columns_are_not_compared() -> None:
    rows = list(s1_rows.write_rows(s1.references(), as_printed()))
    assert {row.verdict for row in rows if row.published == "[blind]"} == {"not compared"}
    assert {row.verdict for row in rows if row.published != "[blind]"} == {"agrees"}
    slow = list(s1_rows.write_rows(s1.references(), as_printed(0.1)))
    assert of(slow, "C26", "with glibc, 128 threads").verdict == "deviates"


def test_table_5_asks_for_the_curve_s_shape() -> None:
    printed = s1.references()
    times = {
        (column, team): Seconds(printed[column, f"advection2d_seconds_{team}"].value, "command")
        for column in s1.ADVECTION_HEAPS
        for team in s1.ADVECTION_TEAMS
    }
    rows = list(s1_rows.advection_rows(printed, times, "v", "p"))
    assert {row.verdict for row in rows} == {"agrees"}
    times["first touch", 256] = Seconds(4.1, "command")  # first touch no longer rises
    rows = list(s1_rows.advection_rows(printed, times, "v", "p"))
    assert {row.claim: row.verdict for row in rows}["C33"] == "deviates"
    assert of(rows, "C30", "first touch, rising again").verdict == "deviates"
    assert of(rows, "C30", "first touch, least at 128 threads").verdict == "deviates"


def test_numbers_that_set_a_parameter_are_fitted_and_none_beyond_32_threads() -> None:
    rows = list(s1_rows.write_rows(s1.references(), as_printed()))
    assert of(rows, "C26", "with jarena, 8 threads").cls == "fitted"
    assert of(rows, "C26", "with glibc, 128 threads").cls == "fitted"  # in view when the lock was described
    assert of(rows, "C26", "with jarena, 64 threads").cls == "predicted"
    assert of(rows, "C26", "with tcmalloc, 64 threads").cls == "predicted"
    assert len(fitted.ALL) <= 3
    assert all(8 <= team <= 32 for one in fitted.ALL for _, _, team in one.columns)


def test_the_shipped_machine_has_the_fitted_numbers_and_another_numalink_changes_its_links_alone() -> None:
    machine = hn.Machine.load(s1.MACHINE)
    parameters = {entry["path"]: entry for entry in machine.parameters}
    assert parameters["controllers.one_to_one"]["value"] == f"{fitted.WRITE_RATE.value:g} GB/s"
    wide = fitted.links_of(30)
    for path in [path for path in parameters if path.startswith("links.") and path.endswith(".between")]:
        first, second = (int(end) for end in parameters[path]["value"].split("-"))
        bandwidth = path.replace("between", "bandwidth")
        assert (bandwidth in wide) == (first >= 32 and second >= 48)
        if bandwidth in wide:
            hubs = fitted.HUBS_OF_A_ROUTER if first >= 48 else 1  # a link at the top carries a router's hubs
            assert float(parameters[bandwidth]["value"].split()[0]) == pytest.approx(hubs * fitted.NUMALINK.value)
            assert wide[bandwidth] == f"{hubs * 30} GB/s"
            assert parameters[bandwidth]["source"].startswith("S1-T4")
    machine.with_changes(wide)


def test_the_reduced_machine_differs_from_s1_s_in_two_caches() -> None:
    whole, reduced = (hn.Machine.load(name) for name in (s1.MACHINE, s1.REDUCED_MACHINE))
    values = [{entry["path"]: entry["value"] for entry in machine.parameters} for machine in (whole, reduced)]
    different = {path: values[1][path] for path in values[0] if values[0][path] != values[1][path]}
    assert different == {"caches.2.size": "64 KiB", "caches.3.size": "1152 KiB"}
    assert set(values[0]) == set(values[1])


def test_distances_of_the_uv() -> None:
    rows = list(s1_rows.distance_rows(s1.references(), hn.Machine.load(s1.MACHINE).topology["latency_ns"]))
    assert [(row.published, row.verdict) for row in rows] == [(1.0, "agrees"), (6.8, "agrees")]


def test_sensitivity_halves_and_doubles_each_assumed_number() -> None:
    machine = hn.Machine.load("sgi-uv-32s")
    numbers = sensitivity.assumed_numbers(machine)
    by_name = {number.name: number for number in numbers}
    assert {number.name for number in numbers} >= {
        "links.latency (16 links)",
        "links.latency (32 links)",
        "threads.fork_base",
    }
    assert by_name["tlb.miss_penalty"].scaled(0.5) == {"tlb.miss_penalty": "8.5 ns"}
    assert not {"coherence.snoop", "hubs"} & set(by_name)
    assert not {"controllers.read_only", "controllers.one_to_one"} & {
        number.name for number in sensitivity.assumed_numbers(machine)
    }
    both = sensitivity.Assumed("a", ("a",), "14 GB/s", (sensitivity.Assumed("b", ("b",), "3 GB/s"),))
    assert both.scaled(2) == {"a": "28 GB/s", "b": "6 GB/s"}

    def farthest(changed: hn.Machine) -> float:
        return float(changed.topology["latency_ns"][0][31])

    # 918 ns = 135 + 2 x 62 + 4 x 164.75, the last of which 20 links share
    hop = by_name["links.latency (20 links)"]
    movements = sensitivity.movements(machine, farthest, [by_name["messages.request"], hop])
    assert [movement.assumed.name for movement in movements] == [hop.name, "messages.request"]  # the largest first
    assert movements[0].doubled == pytest.approx(1 + 4 * 164.75 / 918)
    assert movements[0].halved == pytest.approx(1 - 2 * 164.75 / 918)
    assert movements[1].largest == 0
    found = sensitivity.Sensitivity("latency", 918.0, movements)
    assert found.range_and_causes() == "588 (links.latency (20 links) x 0.5) to 1.58e+03 (links.latency (20 links) x 2)"
    assert sensitivity.page([found], "command", datetime.date(2000, 1, 2)).splitlines()[-3:] == [
        "| links.latency (20 links) | 164.75 ns | -35.9% / +71.8% |",
        "",
        "Less than 0.5% in every result: messages.request (8 B).",
    ]


def test_what_the_machine_refuses_is_said() -> None:
    machine = hn.Machine.load("sgi-uv-32s")
    wrong = sensitivity.Assumed("caches.3.ways", ("coherence.core_to_core_remote",), "120 ns")
    found = sensitivity.movements(machine, lambda changed: 1.0, [wrong])
    assert isinstance(found[0].halved, str)  # 60 ns is less than the local 77 ns
    assert found[0].halved.startswith("refused: ")
    assert found[0].doubled == 1


def test_the_page_counts_what_was_predicted_and_what_agrees() -> None:
    def row(cls: str, verdict: str) -> dict[str, object]:
        return dict.fromkeys(COLUMNS, "a|b") | {"class": cls, "verdict": verdict, "model": 0.123456}

    rows = [row("predicted", verdict) for verdict in ("agrees", "agrees", "deviates", "not compared")]
    text = page("S1", "Yang et al. 2019", [*rows, row("fitted", "agrees")], False)
    assert text.startswith("# Yang et al. 2019 (S1)\n")
    assert "Of 4 predicted rows 3 were compared; of these 2 agree." in text
    assert "    python -m validation published --paper S1 --write\n" in text
    assert text.count("0.1235") == len(rows) + 1
    assert "a\\|b" in text


def test_weights_gains_are_held_against_the_paper_s() -> None:
    # A: 32 threads, 8 a node. Border threads work all the time, the others 0.9 of it: 1 + 0.1111 x 26 / 32 of gain, but for the first.
    idle = tuple(0.0 if thread in (7, 8, 15, 16, 23, 24) else 0.1 for thread in range(32))
    one = distribution_rows.Replayed("srad_v2", A, {"static": 1.1, "guided:1": 1.2}, 1.0, idle, (0.0,) * 32, "command")
    assert one.gain == pytest.approx(1.1)
    assert one.most == pytest.approx(31 / (6 + 25 * 0.9))
    assert distribution_rows.kinds_of(A, idle) == pytest.approx((0.0, 0.1, 0.1))
    rows = {row.claim: row.verdict for row in distribution_rows.rows([one])}
    assert rows == {"C12": "agrees", "C16": "agrees", "C17": "agrees"}
    none = replace(one, plain={"static": 1.0, "guided:1": 0.98}, idle=(0.05,) * 32)
    rows = {row.claim: row.verdict for row in distribution_rows.rows([none])}
    assert rows == {"C12": "deviates", "C16": "deviates", "C17": "deviates"}
    others = [replace(one, program=program) for program in ("srad_v1", "ft S", "mg A", "mg S", "hotspot 256")]
    found = [(row.claim, row.verdict) for row in distribution_rows.rows(others)]
    assert found[::2] == [
        ("C15", "deviates"),
        ("C14", "deviates"),
        ("C13", "deviates"),
        *[("Fig 8", "not compared")] * 2,
    ]
    assert found[1::2] == [*[("C17", "deviates")] * 4, ("C17", "not compared")]


def test_a_remote_line_alone_takes_as_long_as_depth_lines_in_flight() -> None:
    # A: local 135 ns, remote 197 ns, 15 lines in flight: (135 + 2820) / 15 = 197
    alone = next(one for one in hypotheses.HYPOTHESES if one.name.startswith("remote lines"))
    assert alone.changes(A) == {"core_to_core_remote": "x15", "link_latency": "2820 ns"}
    for one in hypotheses.HYPOTHESES:
        for machine in s0.MACHINES:
            hn.Machine.load(machine).with_changes(one.changes(machine))
