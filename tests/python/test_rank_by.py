"""`--rank-by`: the time of some regions decides a ranking; the time of the run is still told."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import homenode as hn
from homenode import errors, report
from homenode.confidence import settle
from homenode.html_report import page_of
from homenode.rank_by import rank_by_regions, regions_to_rank_by
from homenode.report_command import replay_commands
from support import Ended

Run = Callable[..., Ended]
MACHINE = "xeon-x7560-4s"
PLACEMENTS = ["first-touch", "interleave", "bind:1"]
KEY = {"machine_hash": "h", "engine": "flow", "seed": 1, "stores": "machine", "caches": "runs", "system": "default"}


def run_of(**regions: tuple[float, float]) -> dict[str, Any]:
    """A run of regions: seconds of each, and those of its forks and barriers."""
    rows = [
        {
            "label": label,
            "exclusive_seconds": work,
            "fork_and_barrier_seconds": team,
            "binding_resource": f"core of {label}",
        }
        for label, (work, team) in regions.items()
    ]
    return {**KEY, "threads": 4, "seconds": sum(map(sum, regions.values())), "regions": rows, "regret": 0.0}


def test_the_regions_decide_and_not_the_initialisation() -> None:
    slow = run_of(init=(8, 0), loop=(1.5, 0.5), other=(0.1, 0))  # 10.1 s
    fast = run_of(init=(6, 0), loop=(2.5, 0.5), other=(0.2, 0))  # 9.2 s
    assert report.by_rank([slow, fast])[0] == [1, 0]
    rank_by_regions([slow, fast], ["loop"])
    # work and its forks and barriers: 1.5 + 0.5 against 2.5 + 0.5; regret 3 / 2 - 1
    assert [run["ranked_seconds"] for run in (slow, fast)] == [2, 3]
    assert [run["regret"] for run in (slow, fast)] == [0, 0.5]
    assert report.by_rank([slow, fast])[0] == [0, 1]
    assert slow["ranked_bound_by"] == {"resource": "core of loop", "region": "loop", "seconds": 1.5}
    rank_by_regions([slow, fast], ["loop", "other", "init"])
    assert fast["ranked_seconds"] == pytest.approx(fast["seconds"])
    assert fast["ranked_bound_by"]["region"] == "init"
    with pytest.raises(errors.UsageError, match="no time in nowhere"):
        rank_by_regions([slow], ["nowhere"])


@pytest.fixture(scope="module")
def choices() -> list[hn.RunSpec]:
    return hn.grid(MACHINE, 8, placement=PLACEMENTS)


def part(run: dict[str, Any], *labels: str) -> float:
    """Seconds of regions with their forks and barriers, from the report's own rows."""
    return math.fsum(
        row["exclusive_seconds"] + row["fork_and_barrier_seconds"] for row in run["regions"] if row["label"] in labels
    )


def test_a_grid_is_ranked_by_its_regions_and_loses_nothing(trace: hn.Trace, choices: list[hn.RunSpec]) -> None:
    plain = [result.run for result in hn.replay_grid(trace, choices)]
    ranked = [result.run for result in hn.replay_grid(trace, choices, rank_by="sweep")]
    least = min(part(run, "sweep") for run in plain)
    added = {"rank_by", "ranked_seconds", "ranked_bound_by"}
    for before, run in zip(plain, ranked, strict=True):
        assert {key: value for key, value in run.items() if key not in {*added, "regret"}} == {
            key: value for key, value in before.items() if key != "regret"
        }
        assert run["ranked_seconds"] == part(before, "sweep") < run["seconds"]
        assert run["regret"] == pytest.approx(part(before, "sweep") / least - 1)
    everything = [result.run for result in hn.replay_grid(trace, choices, rank_by=trace.labels)]
    for run in everything:  # all regions, and what of the run is in none
        detail = run["time_detail"]
        outside = detail["runtime"] + detail["page_work"] + detail["waiting"]
        assert run["ranked_seconds"] == pytest.approx(run["seconds"] - outside)


def test_samples_are_ranked_by_the_same_regions(trace: hn.Trace, choices: list[hn.RunSpec]) -> None:
    plain, ranked = (hn.rank(trace, choices, samples=3, rank_by=labels) for labels in ((), ["sweep"]))
    for before, result in zip(plain.results, ranked.results, strict=True):
        assert result.run["seconds_interval"] == before.run["seconds_interval"]
        low, high = result.run["ranked_seconds_interval"]
        assert low <= result.run["ranked_seconds"] <= high < result.run["seconds_interval"][1]
    group = ranked.confidence["rankings"][0]
    times = [result.run["ranked_seconds"] for result in ranked.results]
    assert group["runs"] == sorted(range(len(times)), key=times.__getitem__)
    found = settle(trace, choices, hn.replay_grid(trace, choices, rank_by="sweep"), rank_by="sweep")[0]
    first, second = sorted(times)[:2]
    assert found["rivals"][0]["lead"] == pytest.approx(second / first - 1)


def test_the_command_tells_both_times(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    options = ("--machine", MACHINE, "--threads", "8", *(word for one in PLACEMENTS for word in ("--placement", one)))
    done = homenode("replay", trace_file, *options, "--rank-by", "sweep,init", "--rank-by", "sweep", "-o", "r.json")
    assert done.status == 0, done.stderr
    assert done.stdout.count("Ranked by the time of sweep, init.") == 1
    assert "ranked time" in done.stdout
    alone = homenode("replay", trace_file, *options, "--rank-by", "sweep", "--no-confidence").stdout
    assert alone.count("are assumed. Ranked by the time of sweep.\n") == 1
    document = json.loads((tmp_path / "r.json").read_text())
    for run in document["runs"]:
        assert run["rank_by"] == ["sweep", "init"]
        assert run["ranked_seconds"] == part(run, "sweep", "init")
    page = page_of(document).to_html()
    assert "Ranked by the time of sweep, init." in page
    assert "ranked time" in page
    assert re.search(r"Best: \S+ on xeon-x7560-4s with 8 threads, [0-9.]+ \S+ in sweep, init", page)
    (line,) = replay_commands(document["runs"], None)
    assert line.endswith("--rank-by sweep --rank-by init")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--rank-by", "swep"], "unknown region label 'swep'; allowed: sweep, "),
        (["--rank-by", "sweep,"], "unknown region label ''"),
        (["--rank-by", "sweep", "--placement", "optimal"], "a ranking by regions with placement 'optimal'"),
    ],
)
def test_what_is_refused(words: list[str], told: str, homenode: Run, trace_file: Path) -> None:
    done = homenode("replay", trace_file, "--machine", MACHINE, "--threads", "8", *words)
    assert (done.status, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_message_says_where_numbered_regions_are() -> None:
    regions = [
        {"label": "main#0", "site": "wave.c:22"},
        {"label": "init", "site": "wave.c:9"},
        {"label": "main#1", "site": ""},
    ]
    trace = SimpleNamespace(labels=["main#0", "init", "main#1"], inspect=lambda: {"regions": regions})
    with pytest.raises(errors.UsageError, match=r"'step'; allowed: .*; main#0 is wave\.c:22$"):
        regions_to_rank_by(trace, ["step"], [])  # type: ignore[arg-type]


def test_a_region_is_asked_for_by_text(trace: hn.Trace, choices: list[hn.RunSpec]) -> None:
    with pytest.raises(errors.UsageError, match="a region to rank by is int"):
        hn.replay_grid(trace, choices, rank_by=[1])  # type: ignore[list-item]
