"""Runs that no other run beats in all that matters: time and energy, time and the price of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import UsageError
from homenode.study.figure_axes import axis_of, in_colours

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Pareto:
    """The front, and what it was taken from."""

    objectives: list[str]
    table: pd.DataFrame
    """Rows of the front, by the first objective."""
    others: pd.DataFrame
    axes: list[str]

    @staticmethod
    def of(frame: pd.DataFrame, objectives: Sequence[str], axes: Sequence[str]) -> Pareto:
        """Of a table of runs; a row that lacks an objective is in neither part."""
        import numpy

        for name in objectives:
            if name not in frame:
                raise UsageError(_core.unknown_name("objective", name, [str(one) for one in frame.columns]))
        whole = frame.dropna(subset=list(objectives)).sort_values(list(objectives), kind="stable")
        values = whole[list(objectives)].to_numpy(dtype=float)
        kept = numpy.ones(len(values), dtype=bool)
        for row, point in enumerate(values):
            beaten = (values <= point).all(axis=1) & (values < point).any(axis=1)
            kept[row] = not beaten.any()
        return Pareto(list(objectives), whole[kept], whole[~kept], list(axes))

    def plot(self) -> Any:
        """Plotly figure of the first two objectives: the front as a line, the other runs as points."""
        import plotly.graph_objects as go

        if len(self.objectives) < 2:
            raise UsageError("a front of one objective; allowed: two at least to plot")
        x, y = self.objectives[:2]
        figure = go.Figure()
        for name, part, mode in (("other runs", self.others, "markers"), ("front", self.table, "lines+markers")):
            words = [
                ", ".join(f"{axis} {row[axis]}" for axis in self.axes if axis in part) for _, row in part.iterrows()
            ]
            figure.add_trace(go.Scatter(x=list(part[x]), y=list(part[y]), mode=mode, name=name, text=words))
        in_colours(figure).update_layout(xaxis=axis_of(x), yaxis=axis_of(y), title="What no other run beats")
        return figure
