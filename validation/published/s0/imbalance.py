"""S0, 6.3 and 6.4: threads at the border of a node, and OpenMP's schedules (C12 to C15, C17)."""

from collections.abc import Iterator

from validation.published.s0.cases import AWARE, MACHINES, SCHEDULES, A
from validation.published.s0.figures import Found, border_and_inner
from validation.rows import Row, agrees, predicted


def rows(found: Found) -> Iterator[Row]:
    """Yield all of them."""
    for machine in MACHINES:
        yield from _borders(found, machine)
        yield from _none(found, machine)


def _borders(found: Found, machine: str) -> Iterator[Row]:
    for case in found.on(machine, "srad_v2"):
        timing = found.timings[machine, case.name, AWARE]
        border, inner = border_and_inner(machine, timing.idle_share)
        what = f"{case.name}: threads at the border of a node idle less than the others, by 0.1 % of an iteration"
        said = f"{border:.4f} and {inner:.4f} of an iteration"
        yield predicted("C12", machine, what, "yes", said, border + 0.001 < inner, timing.command)
        what = f"{case.name}: no OpenMP schedule is faster than static by more than 1 %"
        steps = {s.distribution: found.timings[machine, case.name, s].step_seconds for s in (AWARE, *SCHEDULES)}
        said = ", ".join(f"{name} {seconds * 1e3:.4g}" for name, seconds in steps.items())
        right = agrees(min(steps.values()) >= 0.99 * steps["static"])
        yield Row("C17", machine, what, "predicted", "yes", said, "ms", right, timing.command)


def _none(found: Found, machine: str) -> Iterator[Row]:
    for claim, program, reason in (
        ("C13", "mg", "as small as noise"),
        ("C14", "ft", "its threads share no data"),
        ("C15", "srad_v1", "it fits the last-level caches"),
    ):
        for case in found.on(machine, program):
            if claim == "C13" and (machine != A or case.size not in ("A", "B")):
                continue
            timing = found.timings[machine, case.name, AWARE]
            border, inner = border_and_inner(machine, timing.idle_share)
            what = f"{case.name}: no idle pattern at the borders ({reason}; difference below 1 % of an iteration)"
            difference = abs(border - inner)
            yield predicted(claim, machine, what, "none", difference, difference < 0.01, timing.command)
