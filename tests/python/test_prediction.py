"""Predictions that were committed before the printed figures: the rule, the files of S5 and S6, and their pages against both."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.published.prediction import (  # noqa: E402
    Quantity,
    compared,
    factor,
    read_figures,
    score,
    verdict,
    write_prediction,
)
from validation.published.s5 import study as s5  # noqa: E402
from validation.published.s5.cases import quantities as s5_quantities  # noqa: E402
from validation.published.s5.cases import with_ratios  # noqa: E402
from validation.published.s6 import study as s6  # noqa: E402
from validation.published.s6.cases import quantities as s6_quantities  # noqa: E402

import homenode as hn  # noqa: E402

ONE = [Quantity("C0", "rate", "a rate", "GB/s", 70.0)]


def test_a_verdict_is_by_the_factor_between_the_two() -> None:
    assert factor(2, 4) == pytest.approx(2) == factor(4, 2)
    assert verdict(109, 100) == verdict(100, 109) == "reproduced"
    assert verdict(111, 100) == verdict(100, 124) == "within bound"
    assert verdict(126, 100) == "deviates"
    assert verdict(126, None) == "not compared"


def test_the_null_model_is_beaten_by_what_is_nearer() -> None:
    (row,) = compared(ONE, {"rate": 90.0}, {"rate": 100.0}, {"rate": 50.0}, {})
    assert (row.prediction, row.model, row.verdict, row.beats_null) == (90.0, 50.0, "within bound", True)
    (row,) = compared(ONE, {"rate": 60.0}, {"rate": 100.0}, {"rate": 60.0}, {})
    assert row.beats_null is False
    (row,) = compared(ONE, {"rate": 60.0}, None, {"rate": 60.0}, {})
    assert row.beats_null is None
    assert score([row]) == "1 quantities are predicted; nothing is compared yet."


def test_what_was_not_predicted_is_not_compared() -> None:
    with pytest.raises(ValueError, match="printed, but not predicted: other"):
        compared(ONE, {"rate": 1.0}, {"other": 1.0}, {"rate": 1.0}, {})


def test_a_prediction_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "prediction.csv"
    write_prediction(path, ONE, {"rate": 12.5})
    assert read_figures(path) == {"rate": 12.5}
    with pytest.raises(ValueError, match="a prediction is made once"):
        write_prediction(path, ONE, {"rate": 13.0})


@pytest.mark.parametrize("line", ["rate,0,1", "rate,-1,1", "rate,inf,1", "rate,1,1\nrate,2,1"])
def test_a_wrong_figure_names_file_and_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "printed.csv"
    path.write_text(f"quantity,value,source\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"printed\.csv:[23]: "):
        read_figures(path)


def test_ratios_are_made_of_the_rates() -> None:
    rates = {
        f"9-{init}-static-{pin}": value
        for (init, pin), value in zip(
            (("serial", "cores"), ("serial", "sockets"), ("parallel", "cores"), ("parallel", "sockets")),
            (8.0, 4.0, 10.0, 20.0),
            strict=True,
        )
    }
    found = with_ratios(rates, (9,))
    assert (found["9-gain-parallel"], found["9-gain-socket-serial"], found["9-gain-socket-parallel"]) == (5, 0.5, 2)


@pytest.mark.parametrize(("study", "quantities"), [(s5, s5_quantities()), (s6, s6_quantities())], ids=["S5", "S6"])
def test_the_page_says_what_prediction_and_printed_figures_say(study: object, quantities: list[Quantity]) -> None:
    prediction, printed = read_figures(study.PREDICTION), read_figures(study.PRINTED)  # type: ignore[attr-defined]
    assert prediction is not None and printed is not None
    assert list(prediction) == [one.key for one in quantities]
    held = (
        with_ratios(printed)
        if study is s5
        else printed | {"gain": printed["parallel init"] / printed["sequential init"]}
    )
    page = study.PAGE.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert score(compared(quantities, prediction, held, prediction, {})) in page


@pytest.mark.parametrize("name", ["xeon-g6148-2s", "epyc-7543-2s-nps4", "epyc-7543-2s-nps1"])
def test_the_machines_load(name: str) -> None:
    machine = hn.Machine.load(ROOT / "validation" / "published" / "machines" / f"{name}.toml")
    assert machine.cores == (40 if name.startswith("xeon") else 64)
    assert machine.nodes == {"xeon-g6148-2s": 2, "epyc-7543-2s-nps4": 8, "epyc-7543-2s-nps1": 2}[name]
