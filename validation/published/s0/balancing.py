"""S0, 6.2: what automatic balancing does to the placements (C8 to C11, figure 7)."""

from collections.abc import Iterator

from validation.published.s0.cases import AWARE, MACHINES, A, Balancing, Case
from validation.published.s0.figures import Found, Printed, span
from validation.rows import Row, identity, not_compared, predicted, within


def rows(found: Found, printed: Printed) -> Iterator[Row]:
    """Yield all of them."""
    for machine in MACHINES:
        cases = [case for case in found.on(machine) if AWARE in case.balanced]
        if cases:
            yield from _harm(found, machine, cases)
            yield from _gain(found, printed, machine, cases)
    yield from _worst(found, printed)


def _said(one: Balancing, rival: float) -> str:
    return span([one.gain(rival), one.spread_gain(rival)])


def _harm(found: Found, machine: str, cases: list[Case]) -> Iterator[Row]:
    what = (
        "speed-up by automatic balancing, of stencil-aware: below one in every case (costs all in the replayed steps, "
        "or spread over a program that lives to see as many scans; one if it ends before the first)"
    )
    slowed = {case.name: found.balancing[machine, case.name, AWARE] for case in cases}
    said = "; ".join(
        f"{name}: {_said(one, one.without_seconds)} ({one.migrated_pages} of {one.hinting_faults} faults migrate)"
        for name, one in slowed.items()
    )
    command = slowed[cases[0].name].command
    always = all(one.with_seconds > one.without_seconds for one in slowed.values())
    # any cost of a fault gives it
    yield identity("C8", machine, what, "< 1 in every case", said, always, command)


def _gain(found: Found, printed: Printed, machine: str, cases: list[Case]) -> Iterator[Row]:
    most = printed["all", "balancing_gain"].printed
    gains = {}
    for case in cases:
        rival = found.balancing[machine, case.name, AWARE].without_seconds
        for setting in case.balanced:
            one = found.balancing[machine, case.name, setting]
            gains[case.name, setting.placement] = (one.gain(rival), one.spread_gain(rival), one.command)
    for name in (case.name for case in cases):
        what = f"{name}: with balancing over stencil-aware without (figure 7)"
        said = ", ".join(f"{place} {span(both[:2])}" for (case_name, place), both in gains.items() if case_name == name)
        command = gains[name, AWARE.placement][2]
        yield not_compared("Fig 7", machine, what, "figure", said, command)
    best = max(gains, key=lambda key: max(gains[key][:2]))
    said = f"{span(gains[best][:2])} ({best[0]}, {best[1]})"
    what = "the most that a placement with balancing gains over stencil-aware without"
    yield predicted("C10", machine, what, f"at most {most}", said, max(gains[best][:2]) <= most, gains[best][2])
    slower = sum(both[0] < 1 for both in gains.values())
    what = "most programs and placements are slower with balancing than stencil-aware without"
    yield predicted("C11", machine, what, "most", f"{slower} of {len(gains)}", 2 * slower > len(gains), gains[best][2])


def _worst(found: Found, printed: Printed) -> Iterator[Row]:
    """C9 is printed of mg C: another size is shown, and compared with nothing."""
    published = printed[A, "mg_c_with_balancing"].printed
    for case in [case for case in found.on(A, "mg") if AWARE in case.balanced][-1:]:
        one = found.balancing[A, case.name, AWARE]
        worst = one.gain(one.without_seconds)
        said = _said(one, one.without_seconds)
        if case.size == "C":
            what = "the most that balancing slows stencil-aware down, mg C (within a quarter)"
            yield predicted("C9", A, what, published, said, within(worst, published, 0.25), one.command)
        else:
            what = f"the most that balancing slows stencil-aware down: printed for mg C, here {case.name}"
            yield not_compared("C9", A, what, published, said, one.command)
