"""The advisor against the engine `line`: which combinations, the arithmetic on made-up rows, and a run of the smallest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from validation.__main__ import main
from validation.advisor import line_engine, study
from validation.advisor.line_engine import LineScored


def row(closed_form: float, flow: float, line: float, best: str = "static") -> LineScored:
    return LineScored("k", "p", "m", 8, "static", "guided", closed_form, flow, best, line, "homenode replay")


def test_thirty_of_the_study_are_chosen_by_their_place() -> None:
    chosen, every = line_engine.chosen(), study.combinations()
    assert len(chosen) == 30
    assert all(one in every for one in chosen)
    assert len({(one.machine, one.threads) for one in chosen}) == 10
    # each kernel and size once, and all of mg
    sizes = [(one.kernel, str(one.parameters)) for one in chosen]
    assert {size: sizes.count(size) for size in sizes if size[0] != "mg"} == dict.fromkeys(
        {(one.kernel, str(one.parameters)) for one in every if one.kernel != "mg"}, 1
    )
    assert sum(one.kernel == "mg" for one in chosen) == 10


def test_summary() -> None:
    # the limit is 1.02; the third is apart
    rows = [row(1.05, 1.01, 1.04), row(1.0, 1.0, 1.0, "guided"), row(1.0, 1.0, 1.021), row(1.0, 1.03, 1.0)]
    found = line_engine.summary(rows)
    assert (found["combinations"], found["decided"], found["pays_off"]) == (4, 3, 1)
    assert (found["closed form"]["right"], found["flow"]["right"]) == (3, 1)
    # errors of the closed form: +0.01, 0, -0.021, 0
    assert found["closed form"]["mean_absolute_error"] == pytest.approx(0.031 / 4)
    assert found["closed form"]["greatest_error"] == pytest.approx(-0.021)
    assert (found["closed form"]["same_best_plain"], found["flow"]["same_best_plain"]) == (3, 1)
    assert "**+1.00 %**" in line_engine.page(rows)  # flow says no where line says yes


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advisor", "--engine", "line", "--small", "--json", "--write", "--folder", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["rows"]) == 2
    for one in document["rows"]:
        assert one["gain_line"] > 0
