"""Whether the first place of a ranking is settled, told from few replays on sampled machines.

Of a rival, d = log(its time / the time of the first): d0 on the machine as described, d1 … dn on n sampled machines. Machines are
sampled around the described one, so d0 stands for the mean and s² = sum (di - d0)² / n for the variance, with n degrees of freedom.
A further machine's d then lies within d0 ± t s, t = Student's 95 % point: 90 % lie between (as far as d is normal; it is nearly a sum
of many small effects). The first place is settled if that leaves out 0 for every rival and no sample reversed the order. A rival
whose d are all below 0.1 % is a tie: it shares the place.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

NEAR = 0.25
"""Regret up to which a rival is sampled; beyond it only the nearest one is (docs/decisions/0015)."""
SAME = 0.001
"""Difference of two times below which they are no different: the model has no claim to less."""
FEWEST = 2
"""Samples from which it is said whether the place is settled: a single one has no spread of its own."""
# Student's t, 95 % point, by degrees of freedom (Abramowitz and Stegun, table 26.10); between two of them that of the fewer.
_STUDENT = {
    1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 10: 1.812, 12: 1.782, 15: 1.753,
    20: 1.725, 30: 1.697, 40: 1.684, 60: 1.671, 120: 1.658,
}  # fmt: skip


def contenders(order: Sequence[int], seconds: Sequence[float]) -> list[int]:
    """Of runs in their `order`, fastest first: the first, its next rival, and all others that are near."""
    least = seconds[order[0]] if order else 0.0
    return [run for place, run in enumerate(order) if place < 2 or seconds[run] <= (1 + NEAR) * least]


def samples_that_fit(choices: int, contending: int, most: int) -> int:
    """As many samples as cost no more replays than the ranking itself, but enough to say something (FEWEST).

    Deterministic, whatever the speed of the host.
    """
    return min(most, max(FEWEST, choices // contending)) if contending > 1 else 0


def is_tie(lead: float, sampled: Iterable[float]) -> bool:
    """Whether two times are no different, on the machine as described and on each sampled one; of logarithms of their ratio."""
    return all(abs(one) < SAME for one in (lead, *sampled))


def _rival(run: int, lead: float, sampled: Sequence[float]) -> dict[str, Any]:
    """`lead` and `sampled`: log(time of the rival / time of the first) as described, and on each sampled machine."""
    deviation = math.sqrt(sum((one - lead) ** 2 for one in sampled) / len(sampled))
    spread = _STUDENT[max(degrees for degrees in _STUDENT if degrees <= len(sampled))] * deviation
    ahead = sum((one > 0) + 0.5 * (one == 0) for one in sampled) / len(sampled)
    tied = is_tie(lead, sampled)
    return {
        "run": run,
        "lead": math.expm1(lead),
        "spread": math.expm1(spread),
        "probability": ahead,
        "tied": tied,
        "settled": lead > spread and ahead == 1 and len(sampled) >= FEWEST and not tied,
    }


def first_place(runs: Sequence[int], seconds: Sequence[float], sampled: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Of runs, fastest first: the first's lead over each rival, and how far the sampled machines move it.

    `seconds` and `sampled` (by run and sample) are in the order of `runs`. Keys are only ever added.
    """
    rivals = [
        _rival(run, log_ratio(time, seconds[0]), [log_ratio(a, b) for a, b in zip(of_run, sampled[0], strict=True)])
        for run, time, of_run in zip(runs[1:], seconds[1:], sampled[1:], strict=True)
    ]
    return {
        "first": runs[0],
        "samples": len(sampled[0]),
        "known": len(sampled[0]) >= FEWEST,
        "settled": all(rival["settled"] or rival["tied"] for rival in rivals),
        "rivals": rivals,
    }


def log_ratio(time: float, other: float) -> float:
    """Logarithm of the ratio of two times; 0 where one of them is nothing."""
    return math.log(time / other) if time > 0 and other > 0 else 0.0
