"""The page's figure of controllers and links over time, against the report."""

from __future__ import annotations

import copy
import html
from typing import Any

import pytest

from homenode.html_report import page_of
from test_html_report import by_title, document, ranked, unit_of

__all__ = ["document"]  # a fixture


def test_what_is_in_use_when_is_the_reports(document: dict[str, Any]) -> None:
    figure, runs = by_title(page_of(document))["Controllers and links over time"], ranked(document)
    rows = figure["layout"]["yaxis"]["ticktext"]
    assert rows[:4] == [f"controller {node}" for node in range(len(rows[:4]))]
    maps = [trace for trace in figure["data"] if trace["type"] == "heatmap"]
    assert len(maps) == 2
    for run, one in zip(runs, maps, strict=True):
        over = run["use_over_time"]
        assert one["visible"] == (run is runs[0])
        # edges of the intervals, the last one at the end of the run
        assert one["x"][1] == pytest.approx(unit_of(figure) * over["interval_seconds"])
        assert one["x"][-1] == pytest.approx(unit_of(figure) * run["seconds"])
        assert len(one["x"]) == over["intervals"] + 1
        # whole percents of each interval
        for name, row in zip(rows, one["z"], strict=True):
            shares = over["resources"].get(html.unescape(name), [0] * over["intervals"])
            assert row == [round(100 * share) for share in shares]
    # above: the regions, which have all threads at most
    bars = [trace for trace in figure["data"] if trace["type"] == "bar" and trace["visible"]]
    shares = runs[0]["use_over_time"]["regions"]
    assert {"init", "sweep"} <= {bar["name"] for bar in bars} <= set(shares)
    hidden = set(shares) - {bar["name"] for bar in bars}
    assert all(max(shares[label]) < 0.001 for label in hidden)
    assert all(sum(column) <= 100.1 for column in zip(*(bar["y"] for bar in bars), strict=True))
    assert max(max(bar["y"]) for bar in bars) > 50
    assert [sum(bar["width"]) for bar in bars] == pytest.approx([unit_of(figure) * runs[0]["seconds"]] * len(bars))


def test_what_is_hardly_used_and_older_reports_have_no_picture_over_time(document: dict[str, Any]) -> None:
    title = "Controllers and links over time"
    changed = copy.deepcopy(document)
    name, row = next(iter(changed["runs"][0]["use_over_time"]["resources"].items()))
    for run in changed["runs"]:
        run["use_over_time"]["resources"][name] = [0.009] * len(row)
    assert name not in by_title(page_of(changed))[title]["layout"]["yaxis"]["ticktext"]
    for run in changed["runs"]:
        del run["use_over_time"]
    assert title not in by_title(page_of(changed))
