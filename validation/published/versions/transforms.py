"""S0's ft and mg by version: first touch, interleaving and stencil-aware pages, pinned (C2, C3, C4)."""

from collections.abc import Iterator, Mapping, Sequence

from homenode import RunSpec
from validation.published.s0.cases import AWARE, INTERLEAVE, MACHINES, PINNED, A, Case, Timing
from validation.published.s0.replays import Replays
from validation.rows import Row, not_compared, predicted

PINNED_THREE = (PINNED, INTERLEAVE, AWARE)
VERSIONS = {"ft": ("ft", "ft_c"), "mg": ("mg", "mg_rows")}
NAMED = {
    "ft": "NPB 3.3 in Fortran",
    "ft_c": "NPB 2.3 and 3.0 in C",
    "mg": "NPB 3.3 in Fortran",
    "mg_rows": "NPB 3.0 in C",
}
ITERATIONS = {"S": {"ft": 6, "mg": 4}, "W": {"ft": 6, "mg": 4}, "A": {"ft": 6, "mg": 4}}
GAIN = 1.57  # S0, section 2: the largest of ft over first touch


def cases(sizes: Sequence[str]) -> list[Case]:
    """Each version of each program in these classes; class A on machine A alone, for its time."""
    return [
        Case(
            version,
            size,
            (ITERATIONS[size][program],),
            few=1,
            more=2,
            placed=PINNED_THREE,
            balanced=(),
            machines=(A,) if size == "A" else tuple(MACHINES),
        )
        for program, versions in VERSIONS.items()
        for size in sizes
        for version in versions
    ]


def rows(replays: Replays, sizes: Sequence[str]) -> Iterator[Row]:
    """Both versions beside each other; the version in C, whose footprint is the printed one, gets ft's verdicts."""
    for case in cases(sizes):
        for machine in case.machines:
            found = {setting: replays.timing(case, machine, setting) for setting in PINNED_THREE}
            yield from _rows_of(case, machine, found)


def _rows_of(case: Case, machine: str, found: Mapping[RunSpec, Timing]) -> Iterator[Row]:
    steps = case.steps[0]
    totals = {setting: timing.total(steps) for setting, timing in found.items()}
    command = found[AWARE].command
    named = f"{case.name} ({NAMED[case.program]})"
    said = " / ".join(f"{totals[setting] * 1e3:.4g}" for setting in (AWARE, INTERLEAVE, PINNED))
    said += "; an iteration " + " / ".join(f"{found[s].step_seconds * 1e3:.3g}" for s in (AWARE, INTERLEAVE, PINNED))
    gain = totals[PINNED] / totals[AWARE]
    best = min(totals[PINNED], totals[INTERLEAVE]) / totals[AWARE]
    what = f"{named}: stencil-aware at least as fast (within 2 %) as first touch and interleave"
    yield predicted(
        "C4", machine, what, "most cases", f"{best:.3f} of the better one; ms: {said}", best >= 0.98, command
    )
    if not case.program.startswith("ft"):
        return
    what = f"{named}: times of stencil-aware < interleave < first touch"
    ordered = totals[AWARE] < totals[INTERLEAVE] < totals[PINNED]
    yield predicted("C2", machine, what, "aware < interleave < first touch", said, ordered, command, "ms")
    what = f"{named}: gain of stencil-aware over first touch, at least 2 % and at most a quarter above the largest printed one"
    yield predicted("C2", machine, what, f"up to {GAIN}", gain, 1.02 <= gain <= 1.25 * GAIN, command)
    shares = " / ".join(f"{found[setting].remote_share:.3f}" for setting in (AWARE, INTERLEAVE, PINNED))
    what = f"{named}: remote share of the traffic, stencil-aware / interleave / first touch"
    yield not_compared("C3", machine, what, "aware < interleave", shares, command)
