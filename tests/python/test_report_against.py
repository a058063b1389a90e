"""Two reports held against each other: which runs are a pair, what differs, whose rank changes, and the page of it."""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.html_comparison import page_of_two
from homenode.report_pairs import pair_up
from support import Ended

Run = Callable[..., Ended]
Document = dict[str, Any]
PLACEMENTS = ["first-touch", "interleave", "bind:1"]


def ranking(trace: hn.Trace, machine: hn.Machine, threads: int | list[int], **axes: Any) -> Document:
    choices = hn.grid(machine, threads, **axes)
    document: Document = json.loads(hn.rank(trace, choices, samples=2).to_json())
    return document


@pytest.fixture(scope="module")
def first(trace: hn.Trace) -> Document:
    return ranking(trace, hn.Machine.load("xeon-x5550-2s"), [4, 8], placement=PLACEMENTS)


@pytest.fixture(scope="module")
def second(trace: hn.Trace) -> Document:
    """A slower link, one team, one placement less and a bound more."""
    machine = hn.Machine.load("xeon-x5550-2s").with_changes(link_bandwidth="2 GB/s")
    return ranking(trace, machine, 8, placement=["interleave", "first-touch", "optimal"])


def test_runs_are_paired_by_what_was_asked(first: Document, second: Document) -> None:
    pairs = pair_up(first, second)
    (only,) = pairs.rankings
    times = {
        (run["threads"], run["placement"]): run["seconds"] for run in first["runs"] if run["placement"] != "bind:1"
    }
    found = {(pair.first["threads"], pair.first["placement"]): pair.first["seconds"] for pair in only}
    assert found == {key: seconds for key, seconds in times.items() if key[0] == 8}
    for pair in only:
        assert pair.second["placement"] == pair.first["placement"]
        assert pair.ratio == pair.second["seconds"] / pair.first["seconds"]
    # in the order of the first report's ranks, which are among the paired choices alone
    assert [pair.ranks[0] for pair in only] == [1, 2]
    assert sorted(pair.ranks[1] or 0 for pair in only) == [1, 2]
    assert [(run["threads"], run["placement"]) for run in pairs.alone[0]] == [
        (4, "first-touch"),
        (4, "interleave"),
        (4, "bind:1"),
        (8, "bind:1"),
    ]
    assert [run["placement"] for run in pairs.alone[1]] == ["optimal"]
    assert pairs.differences == [("changes of the machine", "none", "link_bandwidth=2 GB/s")]


def test_what_each_report_has_one_value_of_may_differ(trace: hn.Trace) -> None:
    """Two machines and two teams: each is a difference, and placements are still pairs."""
    one = ranking(trace, hn.Machine.load("xeon-x5550-2s"), 8, placement=PLACEMENTS)
    other = ranking(trace, hn.Machine.load("opteron-8431-4s"), 24, placement=PLACEMENTS)
    pairs = pair_up(one, other)
    assert [[pair.first["placement"] == pair.second["placement"] for pair in group] for group in pairs.rankings] == [
        [True] * 3
    ]
    assert {name: (first, second) for name, first, second in pairs.differences} == {
        "machine": ("xeon-x5550-2s", "opteron-8431-4s"),
        "threads": ("8", "24"),
        "core": ("blocks", "classes"),  # nobody has a model of the Opteron's code
    }


def test_ranks_that_change_are_told(first: Document) -> None:
    edited = copy.deepcopy(first)
    eight = sorted((run for run in edited["runs"] if run["threads"] == 8), key=lambda run: run["seconds"])
    slow, fast = eight[-1], eight[0]
    slow["seconds"], fast["seconds"] = fast["seconds"] / 2, slow["seconds"] * 2
    page, choices = page_of_two(first, edited, ("a.json", "b.json"))
    text = html.unescape(page.to_html())
    assert choices == 6
    assert "Both reports are of one trace" in text
    # four threads: as they were; eight: the first and the last change places
    assert text.count("No rank changes.") == 1
    assert (
        f"Rank 1 changes from {fast['placement']} · static to {slow['placement']} · static. 2 of 3 ranks change" in text
        or f"Rank 1 changes from {fast['placement']} to {slow['placement']}. 2 of 3 ranks change" in text
    )


def test_a_report_against_itself(first: Document) -> None:
    pairs = pair_up(first, first)
    assert pairs.differences == []
    assert pairs.alone == ([], [])
    assert [len(group) for group in pairs.rankings] == [3, 3]
    assert {pair.ratio for group in pairs.rankings for pair in group} == {1.0}


def test_runs_asked_for_twice_are_pairs_in_turn(trace: hn.Trace) -> None:
    once = ranking(trace, hn.Machine.load("xeon-x5550-2s"), 4, placement="first-touch")
    twice = copy.deepcopy(once)
    twice["runs"].append(copy.deepcopy(twice["runs"][0]))
    twice["runs"][1]["seconds"] *= 3
    pairs = pair_up(twice, twice)
    assert sorted(pair.second["seconds"] / pair.first["seconds"] for pair in pairs.rankings[0]) == [1, 1]
    assert len(pair_up(once, twice).alone[1]) == 1


def test_an_edited_description_is_a_difference(first: Document) -> None:
    edited = copy.deepcopy(first)
    for run in edited["runs"]:
        run["machine_hash"] = "0" * 16
    (told,) = pair_up(first, edited).differences
    assert told == ("numbers of 'xeon-x5550-2s'", f"hash {first['runs'][0]['machine_hash']}", f"hash {'0' * 16}")


def test_times_by_region_are_the_reports(first: Document, second: Document) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    page, choices = page_of_two(first, second, ("a.json", "b.json"))
    assert choices == 2
    for figure in page.figures:
        graph_objects.Figure(figure)  # raises ValueError at a property that Plotly does not know
    times, regions = page.figures
    (group,) = pair_up(first, second).rankings
    unit = {"s": 1.0, "ms": 1e3, "µs": 1e6}[times["layout"]["xaxis"]["title"]["text"].rpartition(", ")[2]]
    assert times["data"][0]["x"] == pytest.approx([unit * pair.first["seconds"] for pair in group])
    assert times["data"][1]["x"] == pytest.approx([unit * pair.second["seconds"] for pair in group])
    # the regions of each run, and what is in none, sum to its time
    unit = {"s": 1.0, "ms": 1e3, "µs": 1e6}[regions["layout"]["xaxis"]["title"]["text"].rpartition(", ")[2]]
    expected = [unit * run["seconds"] for pair in group for run in (pair.first, pair.second)]
    assert [sum(bars["x"]) for bars in regions["data"]] == pytest.approx(expected)
    assert [bars["visible"] for bars in regions["data"]] == [True, True, False, False]


def test_the_command_writes_the_page(homenode: Run, tmp_path: Path, first: Document, second: Document) -> None:
    (tmp_path / "before.json").write_text(json.dumps(first))
    (tmp_path / "after it.json").write_text(json.dumps(second))
    done = homenode("report", "before.json", "--against", "after it.json", "-o", "page.html")
    assert (done.status, done.stdout) == (0, "page.html: 2 figures, 2 choices in both reports\n"), done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r'<span class="whole">([^<]*)</span>', r"\1", page))
    assert "<pre>homenode report before.json --against 'after it.json' -o page.html</pre>" in text
    assert "Only in the first report: xeon-x5550-2s, 4 threads" in text
    told = homenode("report", "before.json", "--against", "after it.json", "-o", "page.html", "--json").stdout
    assert json.loads(told) == {"output": "page.html", "figures": 2, "choices_in_both": 2}


def by_regions(trace: hn.Trace, labels: str, bandwidth: str) -> Document:
    machine = hn.Machine.load("xeon-x5550-2s").with_changes(link_bandwidth=bandwidth)
    choices = hn.grid(machine, 8, placement=["first-touch", "interleave"])
    document: Document = json.loads(hn.rank(trace, choices, rank_by=labels or (), samples=2).to_json())
    return document


def test_reports_ranked_by_regions_are_compared_by_them(trace: hn.Trace) -> None:
    one, other = (by_regions(trace, "sweep", bandwidth) for bandwidth in ("2 GB/s", "25 GB/s"))
    pairs = pair_up(one, other)
    assert pairs.differences == [("changes of the machine", "link_bandwidth=2 GB/s", "link_bandwidth=25 GB/s")]
    for pair in pairs.rankings[0]:
        assert pair.by_regions == ["sweep"]
        # of the sweep alone: the initialisation by one thread uses no link
        assert pair.ratio == pair.second["ranked_seconds"] / pair.first["ranked_seconds"]
        assert pair.ratio != pair.second["seconds"] / pair.first["seconds"]
    order = [pair.first["ranked_seconds"] for pair in pairs.rankings[0]]
    assert order == sorted(order)
    page, _ = page_of_two(one, other, ("a.json", "b.json"))
    text = page.to_html()
    assert "Ranked by the time of sweep." in text
    assert "first ranked time" in text
    times = page.figures[0]
    unit = {"s": 1.0, "ms": 1e3, "µs": 1e6}[times["layout"]["xaxis"]["title"]["text"].rpartition(", ")[2]]
    assert times["data"][0]["x"] == pytest.approx([unit * seconds for seconds in order])


@pytest.mark.parametrize("labels", ["", "init"])
def test_reports_ranked_by_other_times_are_compared_by_the_programs(trace: hn.Trace, labels: str) -> None:
    one, other = by_regions(trace, "sweep", "2 GB/s"), by_regions(trace, labels, "2 GB/s")
    pairs = pair_up(one, other)
    assert pairs.differences == [("ranked by the time of", "sweep", labels or "the whole program")]
    assert [pair.ratio for pair in pairs.rankings[0]] == [1.0, 1.0]
    assert "ranked time" not in page_of_two(one, other, ("a.json", "b.json"))[0].to_html()


@pytest.mark.parametrize(
    ("other_trace", "label", "warned"), [(True, "main#0", True), (True, "sweep", False), (False, "main#0", False)]
)
def test_labels_that_are_ordinals_may_be_other_loops(
    first: Document, other_trace: bool, label: str, warned: bool
) -> None:
    """An edit that adds a loop shifts the numbers behind it; labels of the program's own marks do not shift."""
    one, other = copy.deepcopy(first), copy.deepcopy(first)
    for document in (one, other):
        for run in document["runs"]:
            for region in run["regions"]:
                region["label"] = label
    if other_trace:
        other["trace"]["hash"] = "0" * 32
    page, _ = page_of_two(one, other, ("a.json", "b.json"))
    assert ("may be two loops" in page.to_html()) == warned


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda document: document.update(schema="homenode.inspect/1"), "has schema 'homenode.inspect/1'"),
        (lambda document: document.update(runs=[]), "has no runs"),
        (lambda document: document["runs"][0].pop("threads_detail"), None),  # not needed here
        (lambda document: document["runs"][0].pop("machine_hash"), "lacks or damages 'machine_hash'"),
        (lambda document: document["runs"][0].update(seconds="x"), "lacks or damages"),
        (lambda document: document["runs"][0].update(seconds=float("nan")), "lacks or damages"),
        (lambda document: [run.update(placement="bind:0") for run in document["runs"]], "no choice in common"),
    ],
)
def test_what_cannot_be_held_against_is_refused(
    homenode: Run, tmp_path: Path, first: Document, damage: Callable[[Document], object], expected: str | None
) -> None:
    (tmp_path / "first.json").write_text(json.dumps(first))
    damaged = copy.deepcopy(first)
    damage(damaged)
    (tmp_path / "second.json").write_text(json.dumps(damaged))
    done = homenode("report", "first.json", "--against", "second.json", "-o", "page.html")
    if expected is None:
        assert done.status == 0, done.stderr
        return
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert expected in done.stderr
    assert "allowed: " in done.stderr
    assert not (tmp_path / "page.html").exists()
    missing = homenode("report", "first.json", "--against", "none.json", "-o", "page.html")
    assert (missing.status, "no report 'none.json'" in missing.stderr) == (2, True)
