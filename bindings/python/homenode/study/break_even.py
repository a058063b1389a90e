"""Where along an axis two choices change places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from homenode.errors import UsageError
from homenode.first_place import SAME
from homenode.study.asked import AskedStudy
from homenode.study.axes import CHANGE, Point, column
from homenode.study.figure_axes import axis_of, in_colours
from homenode.study.numbers import Scale, between, check_positive, si_of
from homenode.study.results import StudyResults

if TYPE_CHECKING:
    import pandas as pd

EQUAL = "equal"
"""In place of the better one, where none is."""


@dataclass(frozen=True, eq=False)
class BreakEven:
    """What `Study.break_even` finds."""

    axis: str
    compare: str
    values: tuple[Any, Any]
    table: pd.DataFrame
    """For each combination of the other axes and each crossing a row: ``below`` and ``above`` (which of the two is better on that side),
    ``low`` and ``high`` (neighbouring values between which they change places), ``at`` (interpolated; ``at_si`` as a number in SI
    units). One row without these four where one is better everywhere, or both are ``equal``: less than 0.1 % apart."""
    gains: pd.DataFrame
    """By point: how many times as much the second of the two takes as the first."""

    def plot(self) -> Any:
        """Plotly figure: the gain along the axis, a line for each combination of the other axes."""
        import plotly.graph_objects as go

        figure = go.Figure()
        others = [name for name in self.gains.columns if name not in (self.axis, "position", "gain")]
        groups = self.gains.groupby(others, sort=False) if others else [((), self.gains)]
        for chosen, part in groups:
            name = ", ".join(str(value) for value in chosen) if others else "gain"
            figure.add_trace(
                go.Scatter(x=list(part["position"]), y=list(part["gain"]), mode="lines+markers", name=name)
            )
        figure.add_hline(y=1.0, line_dash="dot")
        first, second = self.values
        in_colours(figure).update_layout(
            xaxis=axis_of(self.axis, self.gains[self.axis]),
            yaxis_title=f"{second} over {first}",
            title=f"Above 1 {first} is better, below it {second}",
        )
        return figure


def break_even_of(
    study: AskedStudy,
    axis: str,
    compare: str,
    values: Sequence[Any] | None,
    of: str,
    refine: int,
    how: Mapping[str, Any],
) -> BreakEven:
    """What `Study.break_even` does."""
    import pandas

    plan = study.plan
    axis, compare = plan.named(axis), plan.named(compare)
    if axis == compare:
        raise UsageError(f"'{column(axis)}' along itself; allowed: another axis to compare")
    asked = plan.values(compare) if values is None else [_as_value(compare, value) for value in values]
    two = tuple(asked)
    if len(two) != 2 or any(value not in plan.values(compare) for value in two):
        name = column(compare)
        raise UsageError(
            f"'{name}' is compared at {list(two)}; allowed: two of {plan.values(compare)}, by values=[A, B] (--compare {name}=A,B)"
        )
    if len(plan.values(axis)) < 2:
        raise UsageError(f"axis '{column(axis)}' has one value; allowed: two at least")
    for value in plan.values(axis):
        si_of(column(axis), value)
    along_with = {name for factor in plan.factors if {axis, compare} & set(factor.names) for name in factor.names}
    if refine and any(axis in factor.names and len(factor.names) > 1 for factor in plan.factors):
        raise UsageError(
            f"refine along '{column(axis)}', which goes along with other axes; allowed: an axis of its own"
        )
    others = [name for name in plan.varying() if name not in along_with]
    gains = _gains(study.run(**how), axis, compare, two, others, of)
    for _ in range(refine):
        further = _halved(gains, axis, compare, two, others, plan.points())
        if not further:
            break
        gains = _merged(gains, _gains(study.at(further).run(**how), axis, compare, two, others, of))
    rows, places = [], []
    for chosen, along in gains.items():
        labels = {column(name): value for name, value in zip(others, chosen, strict=True)}
        rows += [{**labels, **row} for row in _crossings(column(axis), along, two)]
        places += [
            {**labels, column(axis): value, "position": position, "gain": math.exp(gain)}
            for position, (value, gain) in sorted(along.items())
        ]
    labels_of = [column(name) for name in others]
    names = [*labels_of, "below", "above", "low", "high", "at", "at_si"]
    return BreakEven(
        column(axis),
        column(compare),
        (two[0], two[1]),
        pandas.DataFrame(rows, columns=names),
        pandas.DataFrame(places, columns=[*labels_of, column(axis), "position", "gain"]),
    )


Gains = dict[tuple[Any, ...], dict[float, tuple[Any, float]]]
"""By values of the other axes: by number of the axis its value, and the logarithm of second over first."""


def _as_value(axis: str, value: Any) -> Any:
    """A value as points have it: changes are texts."""
    return str(value) if axis.startswith(CHANGE) else value


def _gains(results: StudyResults, axis: str, compare: str, two: Sequence[Any], others: Sequence[str], of: str) -> Gains:
    frame = results.frame
    numbers = check_positive(frame, of)
    found: dict[tuple[Any, ...], dict[float, tuple[Any, dict[Any, float]]]] = {}
    for row, number in zip(frame.to_dict("records"), numbers, strict=True):
        if math.isnan(number):
            continue
        value = row[column(axis)]
        group = found.setdefault(tuple(row[column(name)] for name in others), {})
        times = group.setdefault(si_of(column(axis), value), (value, {}))[1]
        if times.setdefault(row[column(compare)], number) != number:
            raise UsageError(
                f"several runs at {column(axis)} {value} and {column(compare)} {row[column(compare)]}; allowed: one of each"
            )
    return {
        chosen: {
            position: (value, math.log(times[two[1]] / times[two[0]]))
            for position, (value, times) in along.items()
            if all(one in times for one in two)
        }
        for chosen, along in found.items()
    }


def _merged(gains: Gains, more: Gains) -> Gains:
    return {chosen: {**along, **more.get(chosen, {})} for chosen, along in gains.items()}


def _crossings(axis: str, along: Mapping[float, tuple[Any, float]], two: Sequence[Any]) -> list[dict[str, Any]]:
    places = sorted((position, found) for position, found in along.items() if found[1] != 0)  # a tie is on neither side
    rows = []
    for (low, (low_value, left)), (high, (high_value, right)) in pairwise(places):
        if left * right < 0:
            at = between(low, high, left / (left - right))
            better = (two[0], two[1]) if left > 0 else (two[1], two[0])
            scale = Scale.of(axis, low_value)
            place = {"low": low_value, "high": high_value, "at": scale.text(scale.of_si(at), exact=True), "at_si": at}
            rows.append({"below": better[0], "above": better[1], **place})
    if not rows and along:
        total = sum(gain for _, gain in along.values())
        alike = all(abs(gain) < SAME for _, gain in along.values())
        better_everywhere = EQUAL if alike else two[0] if total > 0 else two[1]
        rows.append(
            {
                "below": better_everywhere,
                "above": better_everywhere,
                "low": None,
                "high": None,
                "at": None,
                "at_si": math.nan,
            }
        )
    return rows


def _halved(
    gains: Gains, axis: str, compare: str, two: Sequence[Any], others: Sequence[str], points: Sequence[Point]
) -> list[Point]:
    """Points in the middle of every stretch in which the two change places."""
    found = []
    for chosen, along in gains.items():
        of_group = [
            point for point in points if tuple(point[name] for name in others) == chosen and point[compare] in two
        ]
        for (low, (low_value, left)), (high, (_, right)) in pairwise(sorted(along.items())):
            if left * right >= 0:
                continue
            scale = Scale.of(column(axis), low_value)
            middle = _as_value(axis, scale.text(scale.of_si(between(low, high))))
            if low < si_of(column(axis), middle) < high:  # there is no count between two neighbouring ones
                found += [{**point, axis: middle} for point in of_group]
    unique = {tuple(sorted((name, str(value)) for name, value in point.items())): point for point in found}
    return list(unique.values())
