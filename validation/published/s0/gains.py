"""S0, 2 and 6.1: what stencil-aware placement and pinning gain (C1 to C7, figures 2 and 6)."""

from collections.abc import Iterator

from homenode import RunSpec
from validation.published.s0.cases import (
    AWARE,
    INTERLEAVE,
    MACHINES,
    PINNED,
    UNPINNED,
    UNPINNED_AWARE,
    UNPINNED_INTERLEAVE,
    A,
    Case,
)
from validation.published.s0.figures import Found, Printed, span
from validation.rows import Row, agrees, identity, not_compared, predicted

SMALL_GRID, LARGE_GRID = 512, 4096
COMPARED = (UNPINNED_INTERLEAVE, UNPINNED_AWARE, PINNED, INTERLEAVE, AWARE)


def rows(found: Found, printed: Printed) -> Iterator[Row]:
    """Yield all of them."""
    for machine in MACHINES:
        yield from _every_case(found, machine)
        yield from _hotspot(found, printed, machine)
        yield from _transforms(found, machine)
        yield from _orders(found, machine)
    yield from _transform_gain(found, printed)


def _every_case(found: Found, machine: str) -> Iterator[Row]:
    """Figure 6, whose values are not in the text: nothing to compare with. What was not replayed unpinned is held against pinned runs."""
    for case in found.on(machine):
        here = {setting: found.timings[machine, case.name, setting] for setting in case.placed}
        over = UNPINNED if UNPINNED in here else PINNED
        shown = [setting for setting in COMPARED if setting in here and setting != over]
        said = ", ".join(
            f"{setting.placement} {_mapped(setting)} {span(found.ratios(machine, case, over, setting))}"
            for setting in shown
        )
        compared = [setting for setting in (UNPINNED, PINNED, AWARE) if setting in here]
        named = " / ".join(["unpinned", "pinned first touch", "stencil-aware"][-len(compared) :])
        steps = " / ".join(f"{here[s].step_seconds * 1e3:.3g}" for s in compared)
        bound = "held up by " + " / ".join(here[s].held_up_by for s in compared)
        runs = " to ".join(str(steps) for steps in sorted({case.steps[0], case.steps[-1]}))
        what = f"{case.name}: gain over {_mapped(over)} first touch, whole program of {runs} iterations"
        said = f"{said}; an iteration, {named}: {steps} ms, {bound}"
        command = found.command(machine, case, AWARE)
        yield not_compared("Fig 6", machine, what, "figure", said, command)


def _mapped(setting: RunSpec) -> str:
    return "pinned" if setting.mapping == "compact" else "unpinned"


def _over_unpinned(found: Found, machine: str, case: Case) -> list[float]:
    """Gain of stencil-aware over unpinned first touch, over all numbers of iterations and ways of being unpinned."""
    return [ratio for setting in found.unpinned(case) for ratio in found.ratios(machine, case, setting, AWARE)]


def _hotspot(found: Found, printed: Printed, machine: str) -> Iterator[Row]:
    cases = found.on(machine, "hotspot")
    if not cases:
        return
    gains = {case: _over_unpinned(found, machine, case) for case in cases}
    said = "; ".join(f"{case.size}: {span(values)}" for case, values in gains.items())
    if machine == A:
        best = max(gains, key=lambda case: max(gains[case]))
        command = found.command(machine, best, AWARE)
        what = "hotspot: largest gain of stencil-aware over unpinned first touch (0.67 to 1.5 of it)"
        published = printed[A, "hotspot_speedup"].printed
        close = published / 1.5 <= max(gains[best]) <= 1.5 * published
        yield predicted("C1", machine, what, published, said, close, command)
        what = "hotspot: that gain is found at a small size (64 to 512)"
        yield predicted("C1", machine, what, "small", best.size, int(best.size) <= SMALL_GRID, command)
        yield from _small_grids(found, [case for case in cases if int(case.size) < SMALL_GRID])
    for case in cases:
        if int(case.size) >= LARGE_GRID:
            what = f"hotspot {case.size}: a standard placement is slightly better than stencil-aware"
            over = _over_best(found, machine, case)
            command = found.command(machine, case, AWARE)
            yield predicted("C5", machine, what, "yes", f"gain {span(over)}", min(over) < 1, command)
    if len(cases) == 1:
        return
    command = found.command(machine, cases[0], AWARE)
    what = "hotspot: stencil-aware gains more over unpinned first touch at the smallest size than at the largest"
    falls = max(gains[cases[0]]) > max(gains[cases[-1]])
    yield predicted("C6", machine, what, "yes", said, falls, command)
    what = "hotspot: pinning alone gains less the larger the grid, and at most 2 % at the largest"
    pinning = [
        [ratio for setting in found.unpinned(case) for ratio in found.ratios(machine, case, setting, PINNED)]
        for case in cases
    ]
    said = "; ".join(f"{case.size}: {span(values)}" for case, values in zip(cases, pinning, strict=True))
    falls = max(pinning[0]) > max(pinning[-1]) and max(found.ratios(machine, cases[-1], UNPINNED, PINNED)) <= 1.02
    yield predicted("C7", machine, what, "yes", said, falls, command)
    what = "hotspot, smallest size: stencil-aware still better than both standard placements pinned"
    over = _over_best(found, machine, cases[0])
    yield predicted("C7", machine, what, "yes", f"gain {span(over)}", max(over) > 1, command)


def _over_best(found: Found, machine: str, case: Case) -> list[float]:
    """Gain of stencil-aware over the better one of the standard placements, by number of iterations."""
    rivals = [found.ratios(machine, case, setting, AWARE) for setting in (PINNED, INTERLEAVE)]
    return [min(pair) for pair in zip(*rivals, strict=True)]


def _small_grids(found: Found, cases: list[Case]) -> Iterator[Row]:
    if not cases:
        return
    command = found.command(A, cases[0], AWARE)
    what = "hotspot 64 to 256: a standard placement beats stencil-aware in total time, for some number of iterations"
    totals = {case.size: _over_best(found, A, case) for case in cases}
    said = "gain " + "; ".join(f"{size}: {span(values)}" for size, values in totals.items())
    yield predicted("C5", A, what, "yes", said, all(min(values) < 1 for values in totals.values()), command)
    what = "hotspot 64 to 256: stencil-aware wins in the time of the iterations"
    steps = {
        case.size: min(found.timings[A, case.name, setting].step_seconds for setting in (PINNED, INTERLEAVE))
        / found.timings[A, case.name, AWARE].step_seconds
        for case in cases
    }
    said = "gain " + "; ".join(f"{size}: {value:.4g}" for size, value in steps.items())
    yield predicted("C5", A, what, "yes", said, all(value >= 1 for value in steps.values()), command)


def _transforms(found: Found, machine: str) -> Iterator[Row]:
    for case in found.on(machine, "ft"):
        here = [found.timings[machine, case.name, setting] for setting in (AWARE, INTERLEAVE, PINNED)]
        times = [timing.total(case.steps[0]) for timing in here]
        command = found.command(machine, case, AWARE)
        what = f"{case.name}: stencil-aware faster than interleave, interleave than first touch"
        said = " / ".join(f"{seconds * 1e3:.4g}" for seconds in times)
        right = agrees(times[0] < times[1] <= times[2])
        yield Row("C2", machine, what, "predicted", "aware < interleave < first touch", said, "ms", right, command)
        what = f"{case.name}: remote share of the traffic, stencil-aware below interleave"
        said = " / ".join(f"{timing.remote_share:.3f}" for timing in here)
        fewer = here[0].remote_share < here[1].remote_share
        yield identity("C3", machine, what, "aware < interleave", said, fewer, command)


def _transform_gain(found: Found, printed: Printed) -> Iterator[Row]:
    gains = {
        (machine, case): found.ratios(machine, case, PINNED, AWARE)[0]
        for machine in MACHINES
        for case in found.on(machine, "ft")
    }
    if gains:
        what = "ft: largest gain of stencil-aware over first touch (machine not named; within a quarter)"
        published = printed["all", "ft_speedup"].printed
        machine, case = max(gains, key=lambda key: gains[key])
        gain = gains[machine, case]
        close = abs(gain / published - 1) <= 0.25
        command = found.command(machine, case, AWARE)
        yield predicted("C2", machine, f"{what}, {case.name}", published, gain, close, command)


def _orders(found: Found, machine: str) -> Iterator[Row]:
    what = "stencil-aware at least as fast (within 2 %) as {} in most cases"
    for rivals, named in (
        ((PINNED, INTERLEAVE), "first touch and interleave, all pinned,"),
        ((UNPINNED, UNPINNED_INTERLEAVE), "first touch and interleave without pinning"),
    ):
        cases = [case for case in found.on(machine) if set(rivals) <= set(case.placed)]
        lost = [
            case.name
            for case in cases
            if min(max(found.ratios(machine, case, setting, AWARE)) for setting in rivals) < 0.98
        ]
        if cases:
            said = f"{len(cases) - len(lost)} of {len(cases)}" + (f"; not {', '.join(lost)}" if lost else "")
            command = found.command(machine, cases[0], AWARE)
            yield predicted("C4", machine, what.format(named), "most", said, 2 * len(lost) < len(cases), command)
    for case in found.on(machine, "mg")[:1]:
        what = f"{case.name}: stencil-aware gains much over unpinned first touch (at least 10 %)"
        gains = _over_unpinned(found, machine, case)
        command = found.command(machine, case, AWARE)
        yield predicted("C6", machine, what, "large", span(gains), max(gains) >= 1.1, command)
