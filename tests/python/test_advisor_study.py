"""The advisor's study: its combinations, its arithmetic on made-up rows, and a run of the smallest."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from validation.__main__ import main
from validation.advisor import study
from validation.advisor.study import Scored

import homenode as hn


def row(mine: float, theirs: float) -> Scored:
    return Scored("k", "p", "m", 8, "static", "static", mine, theirs)


def test_there_are_two_hundred_combinations_that_exist() -> None:
    every = study.combinations()
    assert len(every) == len(set(map(str, every))) >= 200
    kernels = hn.kernels()
    for one in every:
        assert set(one.parameters) <= set(kernels[one.kernel].parameters)
        assert one.threads <= hn.Machine.load(one.machine).cores


def test_answers_near_the_limit_are_counted_apart() -> None:
    # limit 1.02, apart from 1.015 to 1.025 by flow
    rows = [row(1.05, 1.04), row(1.0, 1.0), row(1.03, 1.01), row(1.01, 1.10), row(1.03, 1.016), row(1.021, 1.024)]
    found = study.summary(rows)
    assert (found["yes_yes"], found["yes_no"], found["no_yes"], found["no_no"]) == (1, 1, 1, 1)
    assert (found["apart"], found["apart_right"]) == (2, 1)
    assert (found["decided"], found["right"]) == (4, 2)
    assert not found["target_met"]
    # mean of |0.01|, 0, |0.02|, |-0.09|, |0.014|, |-0.003|
    assert found["mean_absolute_error"] == pytest.approx(0.137 / 6)
    assert study.summary([row(1, 1)] * 19 + [row(1.1, 1.0)])["target_met"]  # 19 of 20 = 95 %
    assert study.correlation([row(1, 1), row(1.1, 1.2), row(1.2, 1.4)]) == pytest.approx(1)
    assert study.correlation([row(1, 1), row(1, 1)]) == 0


def test_the_page_is_that_of_the_results() -> None:
    if not study.RESULTS.exists():
        pytest.skip("not scored yet")
    with study.RESULTS.open(encoding="utf-8", newline="") as file:
        rows = [
            Scored(
                **{
                    **one,
                    "threads": int(one["threads"]),
                    "gain_closed_form": float(one["gain_closed_form"]),
                    "gain_flow": float(one["gain_flow"]),
                }
            )  # type: ignore[arg-type]
            for one in csv.DictReader(file)
        ]
    assert len(rows) == len(study.combinations())
    assert study.page(rows) == study.PAGE.read_text(encoding="utf-8")


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advisor", "--small", "--json", "--write", "--folder", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["combinations"] == 2
    for one in document["rows"]:
        assert one["gain_flow"] > 0
