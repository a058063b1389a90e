"""The values of a study's axes for which an objective is least."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import UsageError
from homenode.study.asked import AskedStudy
from homenode.study.axes import ALLOWED, CHANGE, SAMPLE, Point, column
from homenode.study.figure_axes import in_colours
from homenode.study.numbers import Scale, si_of
from homenode.study.tables import needs

if TYPE_CHECKING:
    import pandas as pd


Objective = Callable[[Any], float]


@dataclass(frozen=True, eq=False)
class Optimum:
    """What `Study.optimise` finds."""

    best: dict[str, Any]
    """The value of each axis that was searched."""
    value: float
    """The objective there; ``inf`` if no trial was allowed."""
    trials: pd.DataFrame
    """A row a trial: the values of the axes, ``objective``, and ``best`` (the least so far)."""
    exhaustive: bool
    """Whether every combination was tried."""

    def plot(self) -> Any:
        """Plotly figure: the objective by trial, and the least so far."""
        import plotly.graph_objects as go

        figure = go.Figure()
        names = [name for name in self.trials.columns if name not in ("objective", "best")]
        words = [", ".join(f"{name} {row[name]}" for name in names) for _, row in self.trials.iterrows()]
        figure.add_trace(go.Scatter(y=list(self.trials["objective"]), mode="markers", name="trial", text=words))
        figure.add_trace(go.Scatter(y=list(self.trials["best"]), mode="lines", name="least so far"))
        in_colours(figure).update_layout(xaxis_title="trial", yaxis_title="objective", title="Search")
        return figure


def optimise(
    study: AskedStudy,
    objective: str | Objective,
    budget: int,
    each: Sequence[str],
    between: Mapping[str, tuple[str, str]],
    seed: int,
    how: Mapping[str, Any],
) -> Optimum:
    """What `Study.optimise` does."""
    search = _Search(study, objective, [*each, SAMPLE], between, dict(how))
    combinations = search.combinations()
    exhaustive = not between and len(combinations) <= budget
    if exhaustive:
        for chosen in combinations:
            search.try_(chosen)
    else:
        _by_optuna(search, budget, seed)
    return search.optimum(exhaustive)


class _Search:
    """Trials, each of them some runs of the study."""

    def __init__(
        self,
        study: AskedStudy,
        objective: str | Objective,
        each: Sequence[str],
        between: Mapping[str, tuple[str, str]],
        how: dict[str, Any],
    ) -> None:
        plan = study.plan
        for name in each:
            if name != SAMPLE and name not in plan.axes():
                raise UsageError(_core.unknown_name("axis", name, [column(one) for one in plan.axes()]))
        for name in between:
            if name in ALLOWED or CHANGE + name in plan.axes():
                raise UsageError(
                    f"'{name}' cannot vary continuously; allowed: parameters of the machine that are no axis"
                )
        self._study, self._objective, self._how = study, objective, how
        self._points = study.without_conditions_on(between).plan.points() if between else plan.points()
        if not self._points:
            raise UsageError("a study without points; allowed: one at least")
        self._each = [name for name in each if name in self._points[0]]
        self._wanted = {self._of_each(point) for point in self._points}
        self.searched = [name for name in plan.varying() if name not in each]
        self.between = {name: _range(name, ends) for name, ends in between.items()}
        self.rows: list[dict[str, Any]] = []

    def combinations(self) -> list[Point]:
        """The values of the axes searched, as far as points have them together."""
        found = [{name: point[name] for name in self.searched} for point in self._points]
        return list({tuple(chosen.items()): chosen for chosen in found}.values())

    def try_(self, chosen: Point, changes: Mapping[str, str] | None = None) -> float:
        """Run a trial's runs; the objective of them."""
        further = {CHANGE + name: text for name, text in (changes or {}).items()}
        points = [
            {**point, **further}
            for point in self._points
            if all(point[name] == value for name, value in chosen.items())
        ]
        value = self._value(points)
        least = min([value, *(row["best"] for row in self.rows[-1:])])
        labels = {column(name): one for name, one in {**chosen, **(changes or {})}.items()}
        self.rows.append({**labels, "objective": value, "best": least})
        return value

    def _of_each(self, point: Point) -> tuple[Any, ...]:
        return tuple(point[name] for name in self._each)

    def _value(self, points: Sequence[Point]) -> float:
        """The objective of these points' runs; `inf` where a condition leaves some out, for they could not be compared with others."""
        if {self._of_each(point) for point in points} != self._wanted:
            return math.inf
        asked = self._study.at(points)
        if len(asked.plan.points()) < len(points):
            return math.inf
        value = self._of(asked.run(**self._how).frame)
        return math.inf if math.isnan(value) else value

    def _of(self, frame: pd.DataFrame) -> float:
        import numpy

        if callable(self._objective):
            return float(self._objective(frame))
        if self._objective not in frame:
            raise UsageError(_core.unknown_name("objective", self._objective, [str(name) for name in frame.columns]))
        values = frame[self._objective].to_numpy(dtype=float)
        if numpy.isnan(values).any() or (values < 0).any():
            return math.inf  # a run failed
        return float(numpy.exp(numpy.mean(numpy.log(values)))) if (values > 0).all() else 0.0

    def optimum(self, exhaustive: bool) -> Optimum:
        """The best of all trials; of equal ones the first."""
        import pandas

        if all(math.isinf(row["objective"]) for row in self.rows) and not callable(self._objective):
            lacking = ", ".join(f"'{column(name)}'" for name in self._each)
            raise UsageError(f"no trial ran for all values of {lacking}; allowed: axes that are combined with them")
        best = min(self.rows, key=lambda row: float(row["objective"]))
        names = [name for name in best if name not in ("objective", "best")]
        return Optimum(
            {name: best[name] for name in names}, float(best["objective"]), pandas.DataFrame(self.rows), exhaustive
        )


def _range(name: str, ends: tuple[str, str]) -> tuple[float, float, Scale]:
    low_text, high_text = (str(end) for end in ends)
    scale = Scale.of(name, low_text)
    low, high = scale.of_si(si_of(name, low_text)), scale.of_si(si_of(name, high_text))
    if not 0 < low < high:
        raise UsageError(
            f"'{name}' between '{low_text}' and '{high_text}'; allowed: two positive numbers, the lesser one first"
        )
    return low, high, scale


def _by_optuna(search: _Search, budget: int, seed: int) -> None:
    needs("optuna", "optimise")
    import optuna

    combinations = search.combinations()

    def trial_of(trial: optuna.Trial) -> float:
        # One choice among the points there are: combinations that a condition leaves out are never asked for.
        names = {
            name: trial.suggest_categorical(name, list(dict.fromkeys(str(one[name]) for one in combinations)))
            for name in search.searched
        }
        chosen = next(
            (one for one in combinations if all(str(one[name]) == text for name, text in names.items())), None
        )
        changes = {
            name: str(scale.text(trial.suggest_float(name, low, high, log=True)))
            for name, (low, high, scale) in search.between.items()
        }
        if chosen is None:
            raise optuna.TrialPruned
        value = search.try_(chosen, changes)
        return value if math.isfinite(value) else 1e300

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        searching = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
        searching.optimize(trial_of, n_trials=budget)
    finally:
        optuna.logging.set_verbosity(level)
