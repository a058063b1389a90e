"""A case of the study `advisor-cases`, judged."""

from dataclasses import dataclass

from homenode.gain_map import WORTH
from validation.rows import AnyRow


@dataclass(frozen=True)
class Judged(AnyRow):
    """What the advisor says about a case, and what is true."""

    family: str
    expected: bool
    held_out: bool
    kernel: str
    parameters: str
    machine: str
    threads: int
    gain_closed_form: float  # best plain schedule over weighted, each by its own model
    gain_flow: float
    advised: str  # the schedule that the closed form finds fastest, a plain one where weights promise less than WORTH
    static_seconds: float  # by flow, as all that follow
    plain_seconds: float  # of the best plain schedule
    weighted_seconds: float
    advised_seconds: float

    @property
    def pays(self) -> bool:
        """Whether weights pay off by flow."""
        return self.gain_flow >= WORTH

    @property
    def said(self) -> bool:
        """Whether they do by the advisor."""
        return self.gain_closed_form >= WORTH

    @property
    def best_seconds(self) -> float:
        """Of all schedules."""
        return min(self.plain_seconds, self.weighted_seconds)
