"""The rule of decision 0032: every verdict, on numbers made up for it; nothing is replayed here."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.published.claims.nulls import NULL_MODELS, Columns  # noqa: E402
from validation.published.claims.rule import Answer, Expected, beats, error, verdict, worst  # noqa: E402


def number(value: float) -> Answer:
    return Answer(value, value)


VALUE = Expected("value", 100, 0.01)
GAIN = Expected("effect", 2.0, 0.01, neutral=1)
LIMIT = Expected("bound", 4, 0.01, side="at most")
FASTER = Expected("order", 1, 0.01, neutral=1, side="at least")
NOTHING = Expected("none", 1, 0.01, tolerance=0.05)
DIGITS = Expected("exact", 6.8, 0.01, tolerance=0.05)


@pytest.mark.parametrize(
    ("model", "said"),
    [(100, "reproduced"), (124, "reproduced"), (81, "reproduced"), (126, "deviates"), (79, "deviates")],
)
def test_a_value_is_reproduced_within_a_factor_of_five_quarters(model: float, said: str) -> None:
    assert verdict(VALUE, number(model)) == said


def test_a_printed_zero_has_an_absolute_tolerance() -> None:
    none_printed = Expected("value", 0, 0.01, tolerance=1)
    assert [verdict(none_printed, number(pages)) for pages in (0, 1, 2)] == ["reproduced", "reproduced", "deviates"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (2.0, "reproduced"),
        (1.7, "reproduced"),  # 0.7 of the effect
        (1.6, "sign only"),  # 0.6 of it, although 0.8 of the ratio
        (2.6, "sign only"),
        (1.005, "deviates"),  # within the noise of none
        (0.9, "deviates"),
    ],
)
def test_an_effect_is_counted_from_no_effect(model: float, said: str) -> None:
    assert verdict(GAIN, number(model)) == said


def test_losses_are_effects_too() -> None:
    loss = Expected("effect", 0.73, 0.01, neutral=1)
    found = [verdict(loss, number(model)) for model in (0.7, 0.9, 1.0, 1.2)]
    assert found == ["reproduced", "sign only", "deviates", "deviates"]


def test_an_effect_below_the_noise_is_not_resolvable() -> None:
    assert verdict(Expected("effect", 1.005, 0.01, neutral=1), number(1.005)) == "not resolvable"


def test_a_value_with_a_neutral_value_can_keep_its_sign() -> None:
    ratio = Expected("value", 6.0, 0.01, neutral=1)
    assert [verdict(ratio, number(model)) for model in (6.5, 9.0, 1.0)] == ["reproduced", "sign only", "deviates"]


def test_a_bound_is_met_up_to_the_noise() -> None:
    assert [verdict(LIMIT, number(model)) for model in (2, 4, 4.03, 4.05)] == [*["within bound"] * 3, "deviates"]
    least = Expected("bound", 4.098, 0.01, side="at least")
    assert [verdict(least, number(model)) for model in (4.1, 3.997)] == ["within bound", "deviates"]


def test_an_order_needs_a_margin() -> None:
    assert [verdict(FASTER, number(model)) for model in (1.03, 1.01, 1.0, 0.9)] == ["reproduced", *["deviates"] * 3]
    noisy = Expected("order", 1, 0.05, neutral=1, side="at least")
    assert verdict(noisy, number(1.03)) == "deviates"


def test_an_order_whose_printed_effect_is_below_the_noise_is_not_resolvable() -> None:
    assert (
        verdict(Expected("order", 1, 0.01, neutral=1, side="at least", effect=0.005), number(1.1)) == "not resolvable"
    )


def test_no_effect_is_found_within_its_tolerance() -> None:
    assert [verdict(NOTHING, number(model)) for model in (1.0, 1.04, 0.94)] == ["reproduced", "reproduced", "deviates"]


def test_no_effect_that_the_model_could_not_tell_is_not_resolvable() -> None:
    assert verdict(Expected("none", 0, 0.011, tolerance=0.01), number(0.0)) == "not resolvable"


def test_exact_means_the_printed_digits() -> None:
    assert [verdict(DIGITS, number(model)) for model in (6.8, 6.84, 6.9)] == ["reproduced", "reproduced", "deviates"]


def test_a_range_passes_as_a_whole_and_not_by_its_best_member() -> None:
    assert verdict(VALUE, Answer(90, 110)) == "reproduced"
    assert verdict(VALUE, Answer(100, 300)) == "deviates"
    assert verdict(GAIN, Answer(0.9, 2.0)) == "deviates"
    assert verdict(GAIN, Answer(1.2, 2.0)) == "sign only"


def test_a_declared_central_member_decides_alone() -> None:
    assert verdict(VALUE, Answer(10, 300, central=100)) == "reproduced"
    assert verdict(VALUE, Answer(10, 100, central=50)) == "deviates"


def test_several_numbers_have_the_worst_verdict() -> None:
    assert worst(["reproduced", "within bound"]) == "within bound"
    assert worst(["reproduced", "not resolvable", "sign only"]) == "sign only"
    assert worst(["deviates", "reproduced"]) == "deviates"
    assert worst(["reproduced", "not checkable here"]) == "reproduced"
    assert worst(["not checkable here"]) == worst([]) == "not checkable here"


def test_errors_count_effects_from_no_effect() -> None:
    assert error(VALUE, number(110)) == pytest.approx(math.log(1.1))
    assert error(GAIN, number(1.5)) == pytest.approx(math.log(2))
    assert error(GAIN, number(0.9)) == math.inf
    assert error(FASTER, number(2)) is None


def test_a_model_that_passes_beats_a_null_model_that_does_not() -> None:
    assert beats([FASTER], [number(1.1)], [number(1.0)])
    assert not beats([FASTER], [number(1.0)], [number(1.0)])
    # all numbers have to pass
    assert not beats([FASTER, FASTER], [number(1.1), number(1.0)], [number(1.0), number(1.0)])


def test_a_bound_that_a_constant_meets_is_not_won_by_being_met() -> None:
    assert not beats([LIMIT], [number(3)], [number(0)])
    assert not beats([NOTHING], [number(1)], [number(1)])


def test_where_both_pass_the_model_has_to_be_twice_as_close() -> None:
    assert beats([VALUE], [number(105)], [number(120)])
    assert not beats([VALUE], [number(110)], [number(115)])
    assert not beats([VALUE], [number(130)], [number(140)])


def test_kinds_that_need_more_say_so() -> None:
    with pytest.raises(ValueError, match="needs a side"):
        verdict(Expected("bound", 1, 0.01), number(1))
    with pytest.raises(ValueError, match="no effect"):
        verdict(Expected("effect", 1, 0.01), number(1))


def test_null_models_by_hand() -> None:
    teams = Columns(("8", "16", "32"), (90.0, 45.0, None), 1.0)
    said = {name: model(teams) for name, model in NULL_MODELS.items()}
    assert said["no effect"] == [1, 1, 1]
    assert said["zero"] == [0, 0, 0]
    assert said["constant"] == [90, 90, 90]
    assert said["ideal scaling"] == [90, 45, 22.5]
    assert said["ideal speed-up"] == [1, 2, 4]
    # one node: none is remote; two: half of 16 x 16384 pages; four: three quarters of 32 x 16384
    assert said["random owner"] == [0, 131072, 393216]
