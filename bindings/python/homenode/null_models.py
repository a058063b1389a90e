"""What a figure has to beat: two models that know next to nothing of a program; and what ratios of predicted to native time come to."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Figures(NamedTuple):
    """Of ratios predicted / native."""

    rows: int
    geometric_mean: float
    median_error: float  # of |ratio - 1|
    ninetieth_error: float  # 90th percentile of it
    within_quarter: float  # share with |ratio - 1| <= 25 %
    beyond_two: float  # share below 1/2 or above 2


def figures(ratios: Sequence[float]) -> Figures:
    """At least one ratio, all above 0."""
    errors = [abs(ratio - 1) for ratio in ratios]
    return Figures(
        len(ratios),
        statistics.geometric_mean(ratios),
        statistics.median(errors),
        statistics.quantiles(errors, n=10, method="inclusive")[-1] if len(errors) > 1 else errors[0],
        sum(error <= 0.25 for error in errors) / len(ratios),
        sum(not 0.5 <= ratio <= 2 for ratio in ratios) / len(ratios),
    )


HEADS = ("rows", "geometric mean", "median error", "90th percentile", "within 25 %", "beyond a factor of 2")


def cells(of: Figures) -> list[str]:
    """Figures as a table shows them, under HEADS."""
    shares = (of.median_error, of.ninetieth_error, of.within_quarter, of.beyond_two)
    return [str(of.rows), f"{of.geometric_mean:.2f}", *(f"{share:.0%}" for share in shares)]


def in_words(of: Figures) -> str:
    """Figures as a line."""
    return ", ".join(f"{head} {cell}" for head, cell in zip(HEADS, cells(of), strict=True))


class Observed(NamedTuple):
    """A row, as the model by accesses sees it."""

    program: str
    accesses: int
    seconds: float
    threads: int


def seconds_by_accesses(rows: Sequence[Observed]) -> list[float | None]:
    """One constant of thread-seconds an access: the geometric mean over all other programs, each program counting once.

    None where there is no other program.
    """
    by_program: dict[str, list[float]] = {}
    for row in rows:
        by_program.setdefault(row.program, []).append(math.log(row.seconds * row.threads / row.accesses))
    means = {program: statistics.fmean(logs) for program, logs in by_program.items()}
    found: list[float | None] = []
    for row in rows:
        others = [mean for program, mean in means.items() if program != row.program]
        found.append(math.exp(statistics.fmean(others)) * row.accesses / row.threads if others else None)
    return found


class Peaks(NamedTuple):
    """Of a machine."""

    instructions_per_second: float  # of one core: issue width × clock
    bytes_per_second: float  # of all memory controllers, reading


def roofline_seconds(instructions: float, memory_bytes: float, threads: int, peaks: Peaks) -> float:
    """The longer of computing at the peak of `threads` cores and moving what goes beyond the last cache at peak bandwidth."""
    return max(
        instructions / (peaks.instructions_per_second * threads),
        memory_bytes / peaks.bytes_per_second,
    )
