"""S0, 6.3 and 6.4: what C12 to C17 say of replayed schedules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from validation.published.s0.cases import MACHINES, A
from validation.published.s0.figures import border_and_inner
from validation.rows import Row, not_compared, predicted

KINDS = ("at a border of nodes", "inside a node", "first and last")
PRINTED = 1.1  # S0, 6.4: up to, for srad_v2
REACHED = 1.05  # S0's "up to" is of two machines; half of its gain counts as such
NOISE = 0.01  # of an iteration or a gain: what S0 could not have told from none


def kinds_of(machine: str, of_threads: Sequence[float]) -> tuple[float, float, float]:
    """Means over the threads at a border of nodes, over those inside, and over the first and the last, which have one neighbour."""
    border, inner = border_and_inner(machine, of_threads)
    return border, inner, (of_threads[0] + of_threads[-1]) / 2


@dataclass(frozen=True)
class Replayed:
    """An iteration of a program on a machine."""

    program: str
    machine: str
    plain: Mapping[str, float]  # seconds by OpenMP's schedule
    weighted: float
    idle: tuple[float, ...]  # share of an iteration, by thread, of static chunks
    weighted_idle: tuple[float, ...]
    command: str

    @property
    def gain(self) -> float:
        """Over the best of OpenMP's schedules."""
        return min(self.plain.values()) / self.weighted

    @property
    def most(self) -> float:
        """What any weights could gain over static: the longest work over the mean; the first thread runs serial code as well."""
        work = [1 - idle for idle in self.idle[1:]]
        return max(work) * len(work) / sum(work)


def rows(found: Sequence[Replayed]) -> Iterator[Row]:
    """Yield all of them, by machine."""
    for machine in MACHINES:
        for one in (one for one in found if one.machine == machine):
            yield from _idle(one)
            yield from _gain(one)


def _idle(one: Replayed) -> Iterator[Row]:
    border, inner, _ = kinds_of(one.machine, one.idle)
    if one.program == "srad_v2":
        what = f"{one.program}: threads at the border of a node idle less than the others, by 0.1 % of an iteration"
        said = f"{border:.4f} and {inner:.4f}"
        yield predicted("C12", one.machine, what, "yes", said, border + 0.001 < inner, one.command)
        return
    claims = {"mg A": "C13", "ft S": "C14", "srad_v1": "C15"}
    claim = claims.get(one.program)
    what = f"{one.program}: no idle pattern at the borders (difference below {100 * NOISE:.0f} % of an iteration)"
    difference = abs(border - inner)
    if claim is None or (claim == "C13" and one.machine != A):
        yield not_compared("Fig 8", one.machine, what, "not printed", difference, one.command)
    else:
        yield predicted(claim, one.machine, what, "none", difference, difference < NOISE, one.command)


def _gain(one: Replayed) -> Iterator[Row]:
    best = min(one.plain, key=lambda schedule: one.plain[schedule])
    if one.program == "srad_v2":
        what = f"srad_v2: gain of latency-weighted chunks over the best OpenMP schedule ({best})"
        published = f"up to {PRINTED}"
        yield predicted(
            "C16", one.machine, what, published, one.gain, REACHED <= one.gain <= 1.05 * PRINTED, one.command
        )
        what = f"srad_v2: no OpenMP schedule is faster than static by more than {100 * NOISE:.0f} %"
        said = ", ".join(f"{name} {1e3 * seconds:.4g}" for name, seconds in one.plain.items())
        right = one.plain[best] >= (1 - NOISE) * one.plain["static"]
        yield predicted("C17", one.machine, what, "yes", f"{said} ms", right, one.command)
        return
    what = f"{one.program}: latency-weighted chunks gain nothing (at most {100 * NOISE:.0f} %) over the best OpenMP schedule ({best})"
    if one.program.startswith("hotspot"):
        yield not_compared("C17", one.machine, what, "not printed", one.gain, one.command)
    else:
        yield predicted("C17", one.machine, what, "none", one.gain, one.gain <= 1 + NOISE, one.command)
