"""Below every ranking: how much of the machine is assumed, and whether the first place is settled."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.first_place import FEWEST, contenders, first_place, samples_that_fit
from homenode.ranking_words import PLACEMENT_PASS, bound_and_found, certainty, measure_first, placed_by_a_pass, settled
from support import Ended

Run = Callable[..., Ended]
MACHINE = "xeon-x7560-4s"


def test_the_first_its_next_rival_and_what_is_near_contend() -> None:
    # in units of the first's time: 1.25 is near, 1.26 is not; the second always is a rival
    assert contenders([3, 0, 1, 2], [1.2, 1.25, 1.26, 1.0]) == [3, 0, 1]
    assert contenders([0, 1, 2], [1.0, 9.0, 9.0]) == [0, 1]
    assert contenders([0], [1.0]) == [0]


def test_samples_cost_no_more_than_the_ranking() -> None:
    for choices in range(1, 200):
        for contending in range(1, choices + 1):
            samples = samples_that_fit(choices, contending, 40)
            assert samples * contending <= choices or samples == FEWEST or contending == 1
    assert samples_that_fit(6, 2, 40) == 3
    assert samples_that_fit(2, 2, 40) == FEWEST
    assert samples_that_fit(200, 2, 40) == 40
    assert samples_that_fit(1, 1, 40) == 0  # nothing to compare


def rival(lead: float, *sampled: float) -> dict[str, Any]:
    """What is said of a rival by its logarithms."""
    told = first_place([5, 2], [1.0, math.exp(lead)], [[1.0] * len(sampled), [math.exp(one) for one in sampled]])
    assert (told["first"], told["samples"], told["rivals"][0]["run"]) == (5, len(sampled), 2)
    assert told["settled"] == (told["rivals"][0]["settled"] or told["rivals"][0]["tied"])
    found: dict[str, Any] = told["rivals"][0]
    return found


def test_a_lead_is_settled_if_it_is_larger_than_what_samples_leave_open() -> None:
    # s = 0.1 from two samples; t(2) = 2.920, so that 0.292 decides
    ahead = rival(0.30, 0.2, 0.4)
    assert ahead["lead"] == pytest.approx(math.expm1(0.30))
    assert ahead["spread"] == pytest.approx(math.expm1(0.292), rel=1e-3)
    assert ahead["settled"]
    assert not rival(0.29, 0.19, 0.39)["settled"]
    # one sample has no spread of its own, whatever the lead
    assert not rival(0.07, 0.08)["settled"]
    assert not rival(7.0, 7.0)["settled"]
    # seven of eight samples at the lead itself: s = 0.11 / sqrt(8), t(8) s = 0.072 < 0.1, but one sample reversed the order
    reversed_once = rival(0.1, *[0.1] * 7, -0.01)
    assert reversed_once["spread"] < reversed_once["lead"]
    assert reversed_once["probability"] == 7 / 8
    assert not reversed_once["settled"]


def test_equal_times_are_a_tie_and_settle_nothing_else() -> None:
    assert rival(0, 0, 0)["tied"]
    assert not rival(0, 0.01, 0)["tied"]
    told = first_place([0, 1, 2], [1.0, 1.0, 2.0], [[1.0] * 2, [1.0] * 2, [2.0] * 2])
    assert told["settled"]
    assert settled(told, [0, 1, 2]) == (
        "Ranks 1 and 2 take the same time on every machine that was sampled. "
        "The first place that they share is settled: rank 1 leads rank 3 by 100 %, known to within 0.1 % from 2 sampled machines."
    )


def test_less_than_a_thousandth_is_no_difference() -> None:
    # |d| < 0.001 on the described machine and on each sampled one; exp(0.0009) - 1 = 0.09 %
    assert rival(0.0009, 0.0009, -0.0009)["tied"]
    assert not rival(0.0009, 0.0011, 0)["tied"]
    assert not rival(0.0011, 0, 0)["tied"]
    told = first_place([0, 1, 2], [1.0, 1.0002, 2.0], [[1.0] * 2, [1.0001] * 2, [2.0] * 2])
    assert told["settled"] and not told["rivals"][0]["settled"]
    assert settled(told, [0, 1, 2]) == (
        "Ranks 1 and 2 differ by less than 0.1 % on every machine that was sampled: no difference. "
        "The first place that they share is settled: rank 1 leads rank 3 by 100 %, known to within 0.1 % from 2 sampled machines."
    )
    # one sample tells as much: nobody is asked to sample more
    alone = first_place([0, 1], [1.0, 1.0002], [[1.0], [1.0003]])
    assert settled(alone, [0, 1]).endswith("no difference.")
    # a lead that others turn into a difference is told
    open_one = first_place([0, 1], [1.0, 1.0002], [[1.0] * 2, [1.01, 0.99]])
    assert "First place is not settled: rank 1 leads rank 2 by less than 0.1 %, known to ±" in settled(open_one, [0, 1])


def test_a_lead_on_all_samples_that_is_not_settled_says_so() -> None:
    told = first_place([0, 1], [1.0, 1.01], [[1.0] * 2, [1.001, 1.03]])
    assert settled(told, [0, 1]).endswith(
        "from 2 sampled machines, on all of which it leads: more samples may settle it."
    )


def test_who_pays_page_faults_where_is_said_if_placements_differ_in_it() -> None:
    own, passed = (
        {"placement": name, "regions": [{"label": label}]}
        for name, label in (("bind:0", "a"), ("optimal", PLACEMENT_PASS))
    )
    assert placed_by_a_pass([own]) is None
    assert placed_by_a_pass([passed]) is None
    assert (placed_by_a_pass([own, passed]) or "").startswith(
        "optimal touches all pages in parallel in front of the program"
    )


def test_on_one_node_a_tie_is_no_news() -> None:
    told = first_place([0, 1], [1.0, 1.0], [[1.0], [1.0]])
    assert "one node" not in settled({**told, "nodes": 4}, [0, 1])
    assert settled({**told, "nodes": 1}, [0, 1]).endswith("The machine has one node: placement cannot matter.")


def pair(probability: float, tied: bool = False) -> dict[str, Any]:
    return {"faster": 0, "slower": 1, "probability": probability, "flips_with_core_time": False, "tied": tied}


def test_what_to_measure_first_says_where_a_number_is_from() -> None:
    number = {"name": "core.misprediction", "value": "15", "low": "10", "high": "22.5", "share": 0.4}
    for basis in ("no text seen (M)", "common knowledge of the microarchitecture, no text seen"):
        told = measure_first({"measure_first": {**number, "basis": basis}, "pairs": [pair(0.5)]})
        assert "between 10 and 22.5; from general knowledge, no source): it explains 40 %" in told
    assert "; S1 Table 2): " in measure_first(
        {"measure_first": {**number, "basis": "S1 Table 2"}, "pairs": [pair(0.5)]}
    )
    nothing = {"measure_first": None}
    assert measure_first({**nothing, "pairs": [pair(1.0, tied=True)]}).endswith("all times are equal on all samples.")
    assert measure_first({**nothing, "pairs": [pair(1.0), pair(1.0, tied=True)]}).endswith("the same on all samples.")
    assert measure_first({**nothing, "pairs": [pair(0.5)]}).endswith("no single number explains it.")
    assert (certainty(pair(1.0, tied=True)), certainty(pair(0.925))) == ("equal", "92 %")


def test_a_search_of_all_placements_is_told_from_one_that_is_not() -> None:
    best = {"bound_seconds": 1.0, "found_seconds": 1.109, "gap": 0.109, "searched": True, "exact": True, "pages": 12}

    def told(**other: Any) -> str:
        return bound_and_found({"best_placement": {**best, **other}}, "optimal", lambda seconds: f"{seconds:g} s")

    begin = "optimal: no placement takes less than 1 s; "
    assert told() == begin + "all placements of its 12 pages were searched, and the best one takes 1.109 s, 10.9 % more"
    assert told(gap=0.0002).endswith("12 pages were searched, and the best one reaches that bound")
    found = "the best one found takes 1.109 s (gap 10.9 %); "
    assert told(exact=False) == f"{begin}{found}of 12 pages not all placements were searched"
    assert told(searched=False) == f"{begin}{found}too many pages to search"
    # a placement of the grid is no part of the search
    assert "the best one found (interleave) takes 1.109 s" in told(found_placement="interleave")


def test_of_one_sample_it_is_said_that_it_is_not_known() -> None:
    told = first_place([0, 1], [1.0, 2.0], [[1.0], [2.0]])
    assert (told["known"], told["settled"]) == (False, False)
    assert settled(told, [0, 1]) == (
        "Whether first place is settled is not known from 1 sampled machine: rank 1 leads rank 2 by 100 %; --confidence samples more."
    )
    assert first_place([0, 1], [1.0, 2.0], [[1.0] * 2, [2.0] * 2])["known"]


@pytest.fixture(scope="module")
def trace_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("first") / "jacobi3d.hnt"
    hn.capture("jacobi3d", output=file, ni=32, nj=32, nk=32, bk=32)
    return file


GRID = (
    "--placement",
    "first-touch",
    "--placement",
    "interleave",
    "--distribution",
    "static",
    "--distribution",
    "dynamic:4",
)


def test_a_ranking_says_what_is_assumed_and_whether_it_is_settled(
    homenode: Run, trace_file: Path, tmp_path: Path
) -> None:
    options = ("replay", trace_file, "--machine", MACHINE, "--threads", "32", *GRID)
    done = homenode(*options, "-o", "report.json")
    assert done.status == 0, done.stderr
    assumed, numbers = hn.Machine.load(MACHINE).assumed
    assert 0 < assumed < numbers
    assert f"{assumed} of {numbers} numbers of '{MACHINE}' are assumed. " in done.stdout
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    (described,) = document["machines"]
    assert (described["name"], described["assumed"], described["numbers"]) == (MACHINE, assumed, numbers)
    (found,) = document["first_places"]
    order = sorted(range(4), key=lambda run: document["runs"][run]["seconds"])
    assert found["first"] == order[0]
    assert found["samples"] * (1 + len(found["rivals"])) <= 4
    assert found["rivals"][0]["lead"] == pytest.approx(document["runs"][order[1]]["regret"])
    assert settled(found, order) in done.stdout
    # The last line counts what the user sees, and apart from it what was sampled.
    more = found["samples"] * (1 + len(found["rivals"]))
    assert f"4 choices replayed and {more} replays more on sampled machines in " in done.stderr
    page = homenode("report", "report.json", "-o", "page.html")
    assert page.status == 0, page.stderr
    assert f"{assumed} of {numbers} numbers of" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_samples_do_not_depend_on_workers_and_change_no_run(homenode: Run, trace_file: Path) -> None:
    options = ("replay", trace_file, "--machine", MACHINE, "--threads", "32", *GRID, "--json")
    one, three, without = (
        homenode(*options, *more).stdout for more in (("--workers", 1), ("--workers", 3), ("--no-confidence",))
    )
    assert one == three
    plain, sampled = json.loads(without), json.loads(one)
    assert plain["first_places"] == []
    assert {**sampled, "first_places": []} == plain


def test_no_confidence_says_only_what_is_assumed(homenode: Run, trace_file: Path) -> None:
    options = ("replay", trace_file, "--machine", MACHINE, "--threads", "4", *GRID)
    for quiet in (homenode(*options, "--no-confidence"), homenode(*options[:6])):  # the second has one choice
        assert quiet.status == 0, quiet.stderr
        assert "are assumed." in quiet.stdout
        assert "First place" not in quiet.stdout
    both = homenode(*options, "--no-confidence", "--confidence")
    assert both.status == 2
    assert "allowed: one of them" in both.stderr


def test_confidence_tells_it_from_its_own_samples(homenode: Run, trace_file: Path) -> None:
    options = ("replay", trace_file, "--machine", MACHINE, "--threads", "8", *GRID, "--confidence=3")
    group = json.loads(homenode(*options, "--json").stdout)["confidence"]["rankings"][0]
    assert group["first_place"]["first"] == group["runs"][0]
    assert [rival["run"] for rival in group["first_place"]["rivals"]] == group["runs"][1:]
    of_first = {pair["slower"]: pair["probability"] for pair in group["pairs"] if pair["faster"] == group["runs"][0]}
    assert {rival["run"]: rival["probability"] for rival in group["first_place"]["rivals"]} == of_first
    assert "from 3 sampled machines" in homenode(*options).stdout


def test_what_is_replaced_is_asked_for_and_not_assumed() -> None:
    machine = hn.Machine.load(MACHINE)
    link = next(
        one for one in machine.parameters if one["path"].startswith("links") and one["path"].endswith("bandwidth")
    )
    changed = machine.with_changes(link_bandwidth="25 GB/s")
    assert changed.assumed == (machine.assumed[0] - link["assumed"], machine.assumed[1])


def test_a_detected_machine_is_mostly_assumed(homenode: Run, trace_file: Path) -> None:
    assert homenode("machine", "detect", "-o", "host.toml").status == 0
    done = homenode("replay", trace_file, "--machine", "host.toml", "--threads", "1")
    assert done.status == 0, done.stderr
    assumed, numbers = hn.Machine.from_toml(homenode("machine", "detect").stdout).assumed
    assert assumed > numbers / 2
    assert f"{assumed} of {numbers} numbers of" in done.stdout
