"""What the questions ask a study for: its plan, its runs, and the same study at other points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from homenode.study.axes import Point
from homenode.study.results import StudyResults
from homenode.study.runs import Plan, Sampling


class AskedStudy(Protocol):
    """An hn.Study."""

    @property
    def plan(self) -> Plan:
        """What is asked for."""
        ...

    @property
    def run(self) -> Callable[..., StudyResults]:
        """Run what was not run before."""
        ...

    def at(self, points: Sequence[Point]) -> AskedStudy:
        """The study at these points instead of its own."""
        ...

    def without_conditions_on(self, names: Iterable[str]) -> AskedStudy:
        """The study without the conditions that name one of these."""
        ...

    def drawn_as(self, drawn: Sampling) -> AskedStudy:
        """The study on machines that are drawn in this way."""
        ...
