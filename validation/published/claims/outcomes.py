"""What becomes of each claim: its numbers judged by the rule, beside its null model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from validation.published.claims.catalogue import Claim, Class, Series
from validation.published.claims.figures import Figure
from validation.published.claims.rule import PASSING, Answer, Expected, Verdict, beats, verdict, worst

_STRONGEST: tuple[Class, ...] = ("predicted", "anchored", "fitted", "identity")


@dataclass(frozen=True)
class Point:
    """One printed number of a claim."""

    series: Series
    column: str
    printed: float | None  # none: kept apart
    expected: Expected | None
    figure: Figure | None  # none: not run
    null: float
    verdict: Verdict
    null_verdict: Verdict

    @property
    def compared(self) -> bool:
        """Whether there are a printed number and a model's answer."""
        return self.expected is not None and self.figure is not None


@dataclass(frozen=True)
class Outcome:
    """One claim's."""

    claim: Claim
    points: tuple[Point, ...]

    @property
    def cls(self) -> Class:
        """The class that its verdict is of: predicted, if any of its compared numbers is."""
        compared = [point.series.cls for point in self.points if point.compared]
        found = compared or [point.series.cls for point in self.points] or [self.claim.cls]
        return min(found, key=_STRONGEST.index)

    @property
    def judged(self) -> list[Point]:
        """The compared numbers of that class; those of weaker classes say nothing about it."""
        return [point for point in self.points if point.compared and point.series.cls == self.cls]

    @property
    def verdict(self) -> Verdict:
        """The worst of what is judged."""
        if self.claim.held_by:
            return "reproduced"
        if any(point.expected is not None and point.figure is None for point in self.points):
            return "not checkable here"  # a part that was not run could have been the one that deviates
        return worst([point.verdict for point in self.judged])

    @property
    def null_verdict(self) -> Verdict:
        """Likewise of the null model."""
        return worst([point.null_verdict for point in self.judged])

    @property
    def beats_null(self) -> bool:
        """Whether the model passes where its null model does not, or is clearly closer."""
        if self.verdict not in PASSING or not self.judged:
            return False
        triples = [
            (p.expected, p.figure.answer, Answer(p.null, p.null)) for p in self.judged if p.expected and p.figure
        ]
        expected, model, null = zip(*triples, strict=True)
        return beats(expected, model, null)

    @property
    def seconds(self) -> float:
        """What the runs took that it rests on; others may rest on them, too."""
        return sum({(p.figure.runs): p.figure.seconds for p in self.points if p.figure}.values())

    @property
    def command(self) -> str:
        """What repeats one of its replays."""
        return next((p.figure.command for p in (*self.judged, *self.points) if p.figure and p.figure.command), "")


def outcome(claim: Claim, figures: Mapping[str, Figure]) -> Outcome:
    """Judge a claim against the figures."""
    points = []
    for series in claim.series:
        for column, (name, null) in enumerate(zip(series.names(), series.null_values(), strict=True)):
            expected, found = series.expected(column), figures.get(name)
            unchecked: Verdict = "not checkable here"
            points.append(
                Point(
                    series,
                    series.at[column] if series.at else "",
                    series.printed[column],
                    expected,
                    found,
                    null,
                    unchecked if expected is None or found is None else verdict(expected, found.answer),
                    unchecked if expected is None else verdict(expected, Answer(null, null)),
                )
            )
    return Outcome(claim, tuple(points))


def outcomes(claims: Sequence[Claim], figures: Mapping[str, Figure]) -> list[Outcome]:
    """Judge all claims; `figures` of all papers by name."""
    return [outcome(claim, figures) for claim in claims]


@dataclass(frozen=True)
class Headline:
    """The counts that stand above the table."""

    claims: int
    passing: int  # reproduced or within bound, of any class
    predicted: int  # predicted and compared
    predicted_passing: int
    beating: int  # predicted, passing, and better than their null models

    def text(self) -> str:
        """In words."""
        return (
            f"{self.beating} of {self.predicted} predicted claims beat their null model"
            f" ({self.predicted_passing} are reproduced or within bound);"
            f" of all {self.claims} claims {self.passing} are reproduced or within bound."
        )


def headline(found: Sequence[Outcome]) -> Headline:
    """Count. A claim counts as predicted only if one of its predicted numbers could be compared."""
    predicted = [one for one in found if one.cls == "predicted" and one.verdict != "not checkable here"]
    return Headline(
        len(found),
        sum(one.verdict in PASSING for one in found),
        len(predicted),
        sum(one.verdict in PASSING for one in predicted),
        sum(one.beats_null for one in predicted),
    )
