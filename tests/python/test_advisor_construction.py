"""The advisor's cases by construction: as many of each kind, a half held out, and the arithmetic on made-up rows."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.advisor.construction import Judged, cases, summary  # noqa: E402
from validation.advisor.construction_page import page  # noqa: E402

ROW = Judged("f", True, False, "k", "n=1", "m", 8, 1.1, 1.25, "latency-weighted", 10.0, 10.0, 8.0, 8.0)
MISSED = replace(ROW, gain_closed_form=1.0, advised="static", advised_seconds=10.0, held_out=True)
LOSING = replace(
    ROW, family="g", expected=False, gain_flow=0.8, plain_seconds=8.0, weighted_seconds=10.0, advised_seconds=10.0
)


def test_there_are_as_many_cases_of_each_kind_and_half_of_a_family_is_held_out() -> None:
    every = cases()
    assert len(every) == 64
    assert sum(case.expected for case in every) == 32
    for family in {case.family for case in every}:
        of = [case.held_out for case in every if case.family == family]
        assert 0 <= of.count(False) - of.count(True) <= 1
    assert (
        len(
            {
                (case.kernel, str(case.parameters), case.machine, case.threads, str(case.changes), case.placement)
                for case in every
            }
        )
        == 64
    )


def test_the_small_form_has_one_case_of_each_kind() -> None:
    assert [case.expected for case in cases(small=True)] == [True, False]


def test_a_choice_keeps_the_best_time_over_its_own() -> None:
    found = summary([ROW, MISSED])
    assert (found["paying"], found["right"], found["yes_yes"], found["no_yes"]) == (2, 1, 1, 1)
    assert found["kept_advised"] == pytest.approx((8 / 10) ** 0.5)
    assert found["kept_static"] == pytest.approx(0.8)
    assert found["kept_weighted"] == pytest.approx(1)
    found = summary([LOSING])
    assert (found["paying"], found["as_expected"], found["yes_no"], found["kept_advised"]) == (0, 1, 1, 0.8)


def test_the_page_counts_each_family_and_marks_wrong_answers() -> None:
    rows = [ROW, MISSED, LOSING]
    text = page(rows, [summary([ROW]), summary([MISSED]), summary(rows)])
    assert "| f | pays | 2 of 2 | 1 of 2 | +25.0 % … +25.0 % … +25.0 % |" in text
    assert "| g | does not | 0 of 1 | 0 of 1 |" in text
    assert text.count("**no**") == 2
    assert "| **advisor right** | 1 | 0 | 1 |" in text
