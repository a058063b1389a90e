"""One compared figure: what was published, what the model says, and how they agree."""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

# fitted: the number set a parameter. identity: follows from a definition or a choice of ours. predicted: the rest, and
# the only evidence.
Class = Literal["fitted", "identity", "predicted"]
Verdict = Literal["agrees", "deviates", "not compared", "skipped"]


@dataclass(frozen=True)
class AnyRow:
    """What every study yields."""

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain values, by the keys of the study's schema."""
        row = asdict(self)
        if "cls" in row:
            row["class"] = row.pop("cls")
        return row


@dataclass(frozen=True)
class Row(AnyRow):
    """A claim and the model's answer to it."""

    claim: str
    machine: str
    what: str
    cls: Class
    published: float | str
    model: float | str
    unit: str
    verdict: Verdict
    command: str


@dataclass(frozen=True)
class NativeRow(AnyRow):
    """A kernel's timed regions, measured on this machine and predicted for it."""

    kernel: str
    parameters: dict[str, int | str]
    threads: int
    distribution: str
    measured_seconds: float
    predicted_seconds: float
    low_seconds: (
        float | None
    )  # nine in ten machines within what is known of this one lie between the two; none: not sampled
    high_seconds: float | None
    spread: float  # interquartile range of the repeats over their median
    repeats: int
    last_level_bytes: float  # that the neighbours left, beside the native run
    core_to_core_ns: float  # of the first two, likewise
    read_bandwidth: float  # of all cores together, likewise
    anchored_seconds: float | None = (
        None  # with core factors from the capture's own time on one thread; none: not tried
    )

    @property
    def error(self) -> float:
        """Predicted over measured, minus one."""
        return self.predicted_seconds / self.measured_seconds - 1

    @property
    def within_interval(self) -> bool | None:
        """Whether it was measured within the interval; none without one."""
        if self.low_seconds is None or self.high_seconds is None:
            return None
        return self.low_seconds <= self.measured_seconds <= self.high_seconds

    def as_json(self) -> dict[str, Any]:
        """Return the error and whether it lies within the interval, too."""
        return {**super().as_json(), "error": self.error, "within_interval": self.within_interval}


@dataclass(frozen=True)
class GuestRow(AnyRow):
    """What a Linux guest did and what the model says."""

    case: str
    what: str
    cls: Class
    guest: int | str
    model: int | str  # why, where nothing was compared
    unit: str
    verdict: Verdict
    command: str


@dataclass(frozen=True)
class FuzzRow(AnyRow):
    """A run of a fuzz target."""

    target: str
    seconds: int
    executions: int
    edges: int
    what: str
    verdict: Verdict
    command: str


def agrees(condition: bool) -> Verdict:
    """Name the outcome of a check."""
    return "agrees" if condition else "deviates"


def within(model: float, reference: float, tolerance: float) -> bool:
    """Tell whether |model / reference - 1| <= tolerance."""
    return abs(model / reference - 1) <= tolerance


def _row(
    cls: Class,
    claim: str,
    machine: str,
    what: str,
    published: float | str,
    model: float | str,
    holds: bool,
    command: str,
    unit: str = "1",
) -> Row:
    return Row(claim, machine, what, cls, published, model, unit, agrees(holds), command)


predicted = partial(_row, "predicted")  # a row that is evidence
fitted = partial(_row, "fitted")  # a row that set a number, or was in view when a choice was made
identity = partial(_row, "identity")  # a row that follows from a definition or a choice of ours


def not_compared(
    claim: str, machine: str, what: str, published: float | str, model: float | str, command: str, unit: str = "1"
) -> Row:
    """A prediction beside which no number is printed, or none that may be counted."""
    return Row(claim, machine, what, "predicted", published, model, unit, "not compared", command)
