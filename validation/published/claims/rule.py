"""The rule by which a claim gets its verdict: a function from printed value, model, noise and null model (decision 0032).

Nothing here knows a paper. What is printed is an `Expected`; what the model or a null model says of it is an `Answer`. All are in
the printed unit. Whoever changes a constant here changes every verdict, and says why in decision 0032.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# value: a printed quantity. effect: a printed gain or loss, judged by its distance from `neutral`. bound: not above or below what is
# printed. order: clearly above or below. none: no effect. exact: equal to the printed digits.
Kind = Literal["value", "effect", "bound", "order", "none", "exact"]
Verdict = Literal["reproduced", "within bound", "not resolvable", "sign only", "deviates", "not checkable here"]
Side = Literal["at most", "at least"]

VALUE_FACTOR = 1.25  # a quantity is reproduced within this factor: 0.8 to 1.25 of it
EFFECT_FACTOR = 1.5  # a gain or loss, counted from its neutral value: 0.67 to 1.5 of it
ORDER_MARGIN = 0.02  # an order holds if the two differ by so much at least
BETTER = 2.0  # where both pass: the null model's mean error has to be so many times the model's

# From the best to the worst; several numbers of one claim have the worst of their verdicts.
SEVERITY: tuple[Verdict, ...] = ("reproduced", "within bound", "not resolvable", "sign only", "deviates")
PASSING: frozenset[Verdict] = frozenset(("reproduced", "within bound"))


@dataclass(frozen=True)
class Expected:
    """One printed number."""

    kind: Kind
    printed: float  # bound and order: the limit; none: the neutral value
    noise: float  # smallest relative difference that the model can tell from none, for this figure
    neutral: float | None = None  # the value that says "no effect": 1 of a ratio, 0 of a difference
    side: Side | None = None  # of bound and order
    tolerance: float = (
        0.0  # none: the largest distance from `printed` that counts as none; exact, and a printed 0: of rounding
    )
    effect: float | None = None  # order and none: the printed size of the effect in question, where there is one


@dataclass(frozen=True)
class Answer:
    """What a model says: the ends of its range, and the member of it that was declared central before the run."""

    low: float
    high: float
    central: float | None = None

    @property
    def members(self) -> tuple[float, ...]:
        """What has to fit: the declared central member, or both ends. Acceptance is convex, so the ends stand for all between."""
        return (self.low, self.high) if self.central is None else (self.central,)


def verdict(expected: Expected, answer: Answer) -> Verdict:
    """Judge one number. A range passes only as a whole, or by the member that was declared central."""
    if _below_noise(expected):
        return "not resolvable"
    return worst([_of_member(expected, member) for member in answer.members])


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Of several numbers; of none, or of none that could be checked: not checkable here."""
    checked = [one for one in verdicts if one != "not checkable here"]
    return max(checked, key=SEVERITY.index) if checked else "not checkable here"


def error(expected: Expected, answer: Answer) -> float | None:
    """Mean over the members of |ln(model / printed)|, of effects counted from neutral; none where no ratio says how far off it is."""
    if expected.kind not in ("value", "effect"):
        return None
    origin = _origin(expected)
    ratios = [
        (member - origin) / (expected.printed - origin) if expected.printed != origin else 0.0
        for member in answer.members
    ]
    if any(ratio <= 0 for ratio in ratios):
        return math.inf
    return sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios)


def beats(expected: Sequence[Expected], model: Sequence[Answer], null: Sequence[Answer]) -> bool:
    """Whether a model passes where the null model fails, or is closer by the factor BETTER where both pass."""
    own, other = (worst([verdict(e, a) for e, a in zip(expected, answers, strict=True)]) for answers in (model, null))
    if own not in PASSING:
        return False
    if other not in PASSING:
        return True
    errors = [(error(e, m), error(e, n)) for e, m, n in zip(expected, model, null, strict=True)]
    pairs = [(ours, theirs) for ours, theirs in errors if ours is not None and theirs is not None]
    return bool(pairs) and sum(theirs for _, theirs in pairs) > BETTER * sum(ours for ours, _ in pairs)


def _origin(expected: Expected) -> float:
    """What effects are counted from."""
    if expected.kind != "effect":
        return 0.0
    if expected.neutral is None:
        raise ValueError("an effect needs the value that says 'no effect'")
    return expected.neutral


def _below_noise(expected: Expected) -> bool:
    """Whether what is claimed is smaller than what the model can tell from nothing."""
    if expected.kind == "effect":
        return abs(expected.printed - _origin(expected)) <= expected.noise * _scale(expected)
    if expected.kind == "none":
        return expected.tolerance < expected.noise * _scale(expected)
    return expected.kind == "order" and expected.effect is not None and expected.effect <= expected.noise


def _scale(expected: Expected) -> float:
    """What a relative noise is relative to: the neutral value, or 1 where that is 0."""
    neutral = expected.neutral if expected.neutral is not None else expected.printed
    return abs(neutral) or 1.0


def _of_member(expected: Expected, member: float) -> Verdict:
    if expected.kind == "exact":
        return "reproduced" if abs(member - expected.printed) <= expected.tolerance else "deviates"
    if expected.kind == "none":
        return "reproduced" if abs(member - expected.printed) <= expected.tolerance else "deviates"
    if expected.kind == "bound":
        return "within bound" if _beyond(expected, member) <= expected.noise else "deviates"
    if expected.kind == "order":
        return "reproduced" if _beyond(expected, member) <= -max(ORDER_MARGIN, expected.noise) else "deviates"
    return _quantity(expected, member)


def _beyond(expected: Expected, member: float) -> float:
    """How far a member is on the wrong side of the limit, relative to it; negative on the right side."""
    if expected.side is None:
        raise ValueError(f"'{expected.kind}' needs a side: at most, or at least")
    over = (member - expected.printed) / _scale(expected)
    return over if expected.side == "at most" else -over


def _quantity(expected: Expected, member: float) -> Verdict:
    if expected.printed == 0 and expected.kind == "value":
        return "reproduced" if abs(member) <= expected.tolerance else "deviates"
    factor = VALUE_FACTOR if expected.kind == "value" else EFFECT_FACTOR
    origin = _origin(expected)
    ratio = (member - origin) / (expected.printed - origin)
    if 1 / factor <= ratio <= factor:
        return "reproduced"
    if expected.neutral is None:
        return "deviates"
    same_side = (member - expected.neutral) * (expected.printed - expected.neutral) > 0
    clear = abs(member - expected.neutral) > expected.noise * _scale(expected)
    return "sign only" if same_side and clear else "deviates"
