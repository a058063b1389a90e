"""Null models: what somebody would say of a claim without a simulator. Each is named by the claims that use it.

A null model sees a claim's printed numbers where it is defined by one of them ("as in the first column"), never the model's answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

PAGES_OF_THREAD = 64 * 256  # List. 1 of S1: 64 blocks of 1 MiB in pages of 4 KiB
THREADS_OF_NODE = 8  # S1, section 5: thread i on node i / 8


@dataclass(frozen=True)
class Columns:
    """A series of a claim: what stands at the head of its columns, what is printed there (none: kept apart), what says "no effect"."""

    at: Sequence[str]
    printed: Sequence[float | None]
    neutral: float | None

    def threads(self) -> list[int]:
        """The heads of columns that are numbers of threads."""
        return [int(one) for one in self.at]

    def first(self) -> float:
        """The first printed number."""
        return next(one for one in self.printed if one is not None)


def no_effect(columns: Columns) -> list[float]:
    """Nothing matters: every ratio and difference has its neutral value."""
    if columns.neutral is None:
        raise ValueError("the null model 'no effect' needs a neutral value")
    return [columns.neutral] * len(columns.at)


def zero(columns: Columns) -> list[float]:
    """None at all, whatever the column."""
    return [0.0] * len(columns.at)


def constant(columns: Columns) -> list[float]:
    """As in the first column."""
    return [columns.first()] * len(columns.at)


def ideal_scaling(columns: Columns) -> list[float]:
    """The first column's time falls as threads are added."""
    threads = columns.threads()
    return [columns.first() * threads[0] / one for one in threads]


def ideal_speed_up(columns: Columns) -> list[float]:
    """As many times faster as there are more threads than in the first column."""
    threads = columns.threads()
    return [one / threads[0] for one in threads]


def random_owner(columns: Columns) -> list[float]:
    """Every page belongs to a node at random: 1 - 1/n of them are remote."""
    return [team * PAGES_OF_THREAD * (1 - 1 / max(1, team // THREADS_OF_NODE)) for team in columns.threads()]


NULL_MODELS: dict[str, Callable[[Columns], list[float]]] = {
    "no effect": no_effect,
    "zero": zero,
    "constant": constant,
    "ideal scaling": ideal_scaling,
    "ideal speed-up": ideal_speed_up,
    "random owner": random_owner,
}
