"""Which of a machine's uncertain numbers a result depends on: variance-based indices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode import sampling
from homenode.arguments import whole_number
from homenode.errors import UsageError
from homenode.study.asked import AskedStudy
from homenode.study.axes import CHANGE, MACHINE, Point, column
from homenode.study.figure_axes import in_colours
from homenode.study.numbers import check_positive
from homenode.study.runs import Plan, Sampling
from homenode.study.tables import needs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What `Study.sensitivity` finds."""

    of: str
    table: pd.DataFrame
    """For each point of the study and each parameter: ``first_order`` (share of the variance of log `of` that the parameter explains by
    itself), ``total`` (with all that it interacts in), and their 95 % confidence intervals' half widths ``first_order_confidence`` and
    ``total_confidence``; largest total first, point by point."""
    samples: int

    def plot(self) -> Any:
        """Plotly figure: total indices as bars, by point."""
        import plotly.graph_objects as go

        names = ("parameter", "first_order", "first_order_confidence", "total", "total_confidence")
        others = [name for name in self.table.columns if name not in names]
        groups = self.table.groupby(others, sort=False) if others else [((), self.table)]
        figure = go.Figure()
        for chosen, part in groups:
            part = part[part["total"] > 0.01]
            name = ", ".join(str(value) for value in chosen) if others else self.of
            errors = {"type": "data", "array": list(part["total_confidence"])}
            figure.add_trace(go.Bar(x=list(part["parameter"]), y=list(part["total"]), error_y=errors, name=name))
        in_colours(figure).update_layout(
            yaxis_title=f"share of the variance of {self.of}", title="What the result depends on"
        )
        return figure


def sensitivity_of(
    study: AskedStudy, samples: int, of: str, parameters: Sequence[str] | None, seed: int, how: Mapping[str, Any]
) -> Sensitivity:
    """What `Study.sensitivity` does."""
    needs("SALib", "sensitivity")
    import numpy
    import pandas

    plan = study.plan
    if plan.sampling is not None:
        raise UsageError("sensitivity of a study with samples; allowed: of one without 'sample', as it draws its own")
    samples = whole_number("samples", samples, 2)
    names = [column(name) for name in plan.varying()]
    rows = []
    for points in _by_machine(plan):
        # What an axis sets is not uncertain any more.
        uncertain = [one["name"] for one in sampling.uncertain_among(plan.machine_of(points[0]), parameters)]
        if not uncertain:
            raise UsageError("no uncertain parameter; allowed: one at least, or None for all")
        drawn = _Saltelli(samples * (len(uncertain) + 2), seed, "saltelli", tuple(uncertain))
        frame = _complete(study.at(points).drawn_as(drawn).run(**how).frame, of)
        for _, part in frame.groupby(names or ["machine"], sort=False):
            values = numpy.log(part.sort_values("sample")[of].to_numpy(dtype=float))
            labels = {name: part.iloc[0][name] for name in names}
            rows += [{**labels, **row} for row in _indices(uncertain, values, seed)]
    if not rows:
        raise UsageError("a study without points; allowed: one at least")
    table = pandas.DataFrame(rows)
    table = table.sort_values("total", ascending=False, kind="stable")
    if names:  # a point's parameters stay together
        place = pandas.DataFrame(rows).groupby(names, sort=False).ngroup()
        table = table.loc[place.loc[table.index].sort_values(kind="stable").index]
    table = table.reset_index(drop=True)
    return Sensitivity(of, table, samples)


def _by_machine(plan: Plan) -> list[list[Point]]:
    """Points by machine and what is changed of it."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in plan.points():
        changes = tuple((name, value) for name, value in point.items() if name.startswith(CHANGE))
        groups.setdefault((point[MACHINE], *changes), []).append(point)
    return list(groups.values())


class _Saltelli(Sampling):
    """A. Saltelli's radial design over a Sobol sequence, ``N (D + 2)`` points for D values."""

    def probabilities(self, values: int) -> Any:
        """Points from which first-order and total indices are estimated."""
        from SALib.sample import sobol

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers that are no power of two
            return sobol.sample(
                _problem(values), self.count // (values + 2), calc_second_order=False, seed=self.seed % 2**32 + 1
            )


def _complete(frame: pd.DataFrame, of: str) -> pd.DataFrame:
    """A table without failed runs: the indices need all."""
    failed = frame[frame["error"].notna()]
    if len(failed):
        raise UsageError(
            f"run {failed.iloc[0]['run']} failed, and the indices need all of them: {failed.iloc[0]['error']}"
        )
    if any(math.isnan(number) for number in check_positive(frame, of)):
        raise UsageError(
            f"column '{of}' has no number of some runs, and the indices need all; allowed: seconds, for one"
        )
    return frame


def _indices(names: Sequence[str], values: Any, seed: int) -> list[dict[str, Any]]:
    """Of values at the points of SALib's sample."""
    import numpy
    from SALib.analyze import sobol

    # The estimates are of a centred output: a constant moves no variance, and without it they scatter less.
    centred = values - numpy.mean(values)
    if numpy.ptp(values) < 1e-12:
        zero = {"first_order": 0.0, "first_order_confidence": 0.0, "total": 0.0, "total_confidence": 0.0}
        return [{"parameter": name, **zero} for name in names]
    found = sobol.analyze(_problem(len(names)), centred, calc_second_order=False, seed=seed % 2**32 + 1)
    return [
        {
            "parameter": name,
            "first_order": float(found["S1"][place]),
            "first_order_confidence": float(found["S1_conf"][place]),
            "total": float(found["ST"][place]),
            "total_confidence": float(found["ST_conf"][place]),
        }
        for place, name in enumerate(names)
    ]


def _problem(values: int) -> dict[str, Any]:
    return {"num_vars": values, "names": [f"p{place}" for place in range(values)], "bounds": [[0.0, 1.0]] * values}
