"""S0's numbers by name, as validation/published/claims/s0.toml refers to them.

Central members, as decision 0032 and the claims file declare: 100 iterations where S0 does not say how many, unpinned threads with the
daemons of the system's description (a ratio of means over the seeds), costs of balancing spread over real seconds.
"""

from collections.abc import Iterator, Mapping

from homenode import RunSpec
from validation.array_bytes import array_sizes
from validation.published.claims.figures import Figure, figure, spread
from validation.published.s0.cases import (
    AWARE,
    BALANCED,
    CASES,
    FT_IN_C,
    INTERLEAVE,
    MACHINES,
    PINNED,
    SCHEDULES,
    UNPINNED,
    UNPINNED_AWARE,
    UNPINNED_INTERLEAVE,
    WEIGHTED,
    Case,
    parameters_of,
)
from validation.published.s0.figures import Found, border_and_inner
from validation.published.s0.latency import FROM_AFAR, FROM_MEMORY, Latencies, farthest_latency

CENTRAL_STEPS = 100
TIE = 0.98  # C4: within 2 %
SMALL_GRID = 512


def _ratios(found: Found, machine: str, case: Case, slow: RunSpec, fast: RunSpec) -> tuple[list[float], float]:
    """Gains over the numbers of iterations, and the central one."""
    ratios = found.ratios(machine, case, slow, fast)
    return ratios, ratios[case.steps.index(CENTRAL_STEPS) if CENTRAL_STEPS in case.steps else 0]


def _over_unpinned(found: Found, machine: str, case: Case, fast: RunSpec) -> tuple[list[float], float]:
    """Gain over unpinned first touch: over iterations and ways of being unpinned; the central one."""
    every = [ratio for setting in found.unpinned(case) for ratio in found.ratios(machine, case, setting, fast)]
    return every, _ratios(found, machine, case, UNPINNED, fast)[1]


def _over_best(found: Found, machine: str, case: Case) -> tuple[list[float], float]:
    """Gain of stencil-aware over the better standard placement, all pinned."""
    pairs = [_ratios(found, machine, case, setting, AWARE) for setting in (PINNED, INTERLEAVE)]
    return [min(both) for both in zip(*(ratios for ratios, _ in pairs), strict=True)], min(c for _, c in pairs)


def figures(found: Found) -> Iterator[Figure]:
    """All but C3's and C18's."""
    for machine in MACHINES:
        yield from _hotspot(found, machine)
        yield from _won(found, machine)
        yield from _balancing(found, machine)
        yield from _idle(found, machine)
        yield from _single_cases(found, machine)
    yield from _transforms(found)
    yield from _weighted(found)


def _runs(case: Case, machine: str) -> str:
    return f"S0 {case.name}, {machine}"


def _hotspot(found: Found, machine: str) -> Iterator[Figure]:
    """C1, C5, C6 and C7."""
    cases = {int(case.size): case for case in found.on(machine, "hotspot")}
    gains = {}
    for size, case in cases.items():
        command, runs = found.command(machine, case, AWARE), _runs(case, machine)
        if UNPINNED in case.placed:
            gains[size] = _over_unpinned(found, machine, case, AWARE)
        total, central = _over_best(found, machine, case)
        yield spread(f"s0 hotspot total gain@{machine} {size}", total, central, runs, command)
        steps = [found.timings[machine, case.name, setting].step_seconds for setting in (PINNED, INTERLEAVE, AWARE)]
        yield figure(f"s0 hotspot step gain@{machine} {size}", min(steps[:2]) / steps[2], runs, command)
    if 64 in gains:
        yield from _smallest(found, machine, cases[64])
    large = [size for size in gains if size > SMALL_GRID]
    if 64 not in gains or not large:
        return
    best = max(gains, key=lambda size: gains[size][1])
    command = found.command(machine, cases[best], AWARE)
    yield spread(f"s0 hotspot largest gain@{machine}", *gains[best], _runs(cases[best], machine), command)
    small = max(gains[size][1] for size in gains if size <= SMALL_GRID)
    over = small / max(gains[size][1] for size in large)
    yield figure(f"s0 hotspot small over large@{machine}", over, _runs(cases[best], machine), command)
    last = cases[max(gains)]
    if last.size == "8192":
        command, runs = found.command(machine, last, UNPINNED), _runs(last, machine)
        yield figure(f"s0 hotspot 64 over 8192@{machine}", gains[64][1] / gains[8192][1], runs, command)
        pinning, central = _over_unpinned(found, machine, last, PINNED)
        yield spread(f"s0 hotspot 8192 pinning@{machine}", pinning, central, runs, command)


def _smallest(found: Found, machine: str, case: Case) -> Iterator[Figure]:
    """C7 on hotspot 64."""
    command, runs = found.command(machine, case, PINNED), _runs(case, machine)
    pinning, aware = (_over_unpinned(found, machine, case, setting)[1] for setting in (PINNED, AWARE))
    share = (pinning - 1) / (aware - 1) if aware > 1 else 0.0
    yield figure(f"s0 hotspot share by pinning@{machine}", share, runs, command)
    yield spread(f"s0 hotspot 64 pinned gain@{machine}", *_over_best(found, machine, case), runs, command)


def _won(found: Found, machine: str) -> Iterator[Figure]:
    """C4: the share of cases in which stencil-aware is at least as fast, at the central number of iterations."""
    for rivals, named in (((PINNED, INTERLEAVE), "pinned"), ((UNPINNED, UNPINNED_INTERLEAVE), "unpinned")):
        cases = [case for case in found.on(machine) if {*rivals, AWARE, *_aware_unpinned(named)} <= set(case.placed)]
        won = [all(_ratios(found, machine, case, one, AWARE)[1] >= TIE for one in rivals) for case in cases]
        if won:
            command = found.command(machine, cases[0], AWARE)
            yield figure(f"s0 cases won@{machine} {named}", sum(won) / len(won), f"S0 all, {machine}", command)


def _aware_unpinned(named: str) -> tuple[RunSpec, ...]:
    return (UNPINNED_AWARE,) if named == "unpinned" else ()


def _balancing(found: Found, machine: str) -> Iterator[Figure]:
    """C8 to C11; central: costs spread over real seconds."""
    cases = [case for case in found.on(machine) if AWARE in case.balanced]
    if not cases:
        return
    by_aware, every = [], []
    for case in cases:
        rival = found.balancing[machine, case.name, AWARE].without_seconds
        for setting in (one for one in BALANCED if one in case.balanced):
            one = found.balancing[machine, case.name, setting]
            both = one.spread_gain(rival), one.gain(rival)
            every.append(both)
            if setting == AWARE:
                by_aware.append(both)
    runs, command = f"S0 all, {machine}", found.balancing[machine, cases[0].name, AWARE].command
    for name, gains in (("balancing of aware largest", by_aware), ("balancing largest gain", every)):
        most = max(gains, key=max)
        yield spread(f"s0 {name}@{machine}", most, None, runs, command)
    slower = sum(max(both) < 1 for both in every) / len(every)
    yield figure(f"s0 balancing slower@{machine}", slower, runs, command)
    for case in (case for case in cases if case.name == "mg C"):
        one = found.balancing[machine, case.name, AWARE]
        both = one.spread_gain(one.without_seconds), one.gain(one.without_seconds)
        yield spread(f"s0 mg C balancing@{machine}", both, both[0], _runs(case, machine), one.command)


def _idle(found: Found, machine: str) -> Iterator[Figure]:
    """C12 to C15."""
    for case in (case for case in found.on(machine) if case.program != "hotspot"):
        timing = found.timings[machine, case.name, AWARE]
        border, inner = border_and_inner(machine, timing.idle_share)
        runs = _runs(case, machine)
        yield figure(f"s0 idle pattern@{machine} {case.name}", border - inner, runs, timing.command)
        if case.program == "srad_v2":
            yield figure(f"s0 {case.name} idle difference@{machine}", inner - border, runs, timing.command)


def _single_cases(found: Found, machine: str) -> Iterator[Figure]:
    """C6's mg S, C17's schedules, C81's srad v1."""
    for case in found.on(machine):
        steps = {setting: found.timings[machine, case.name, setting].step_seconds for setting in case.settings}
        runs, command = _runs(case, machine), found.command(machine, case, AWARE)
        if case.name == "mg S":
            yield spread("s0 mg S gain@" + machine, *_over_unpinned(found, machine, case, AWARE), runs, command)
        if case.program == "srad_v1":
            yield figure(f"s0 srad_v1 step gain@{machine}", steps[PINNED] / steps[AWARE], runs, command)
        if case.program == "srad_v2":
            best = min(steps[setting] for setting in SCHEDULES)
            yield figure(f"s0 {case.name} schedules@{machine}", steps[AWARE] / best, runs, command)


def _transforms(found: Found) -> Iterator[Figure]:
    """C2."""
    gains = {}
    for machine in MACHINES:
        for case in found.on(machine, "ft"):
            gains[machine, case] = _ratios(found, machine, case, PINNED, AWARE)[1]
            command = found.command(machine, case, AWARE)
            name = f"s0 ft gain@{machine} {case.size}"
            yield figure(name, gains[machine, case], _runs(case, machine), command)
    if gains:
        machine, case = max(gains, key=lambda key: gains[key])
        command = found.command(machine, case, AWARE)
        yield figure("s0 ft largest gain", gains[machine, case], _runs(case, machine), command)


def _weighted(found: Found) -> Iterator[Figure]:
    """C16: the better machine, as S0's "up to" is of two."""
    gains = {}
    for machine in MACHINES:
        for case in found.on(machine, "srad_v2"):
            steps = {one: found.timings[machine, case.name, one].step_seconds for one in (AWARE, *SCHEDULES, WEIGHTED)}
            gains[machine, case] = min(steps[one] for one in (AWARE, *SCHEDULES)) / steps[WEIGHTED]
    if gains:
        machine, case = max(gains, key=lambda key: gains[key])
        command = found.command(machine, case, WEIGHTED)
        yield figure("s0 srad_v2 weighted gain", gains[machine, case], _runs(case, machine), command)


def latency_figures(machine: str, found: Mapping[str, Latencies]) -> Iterator[Figure]:
    """C3, by placement; slow lines take more than twice the farthest memory's idle latency."""
    aware, interleave, first_touch = (found[setting.placement] for setting in (AWARE, INTERLEAVE, PINNED))
    slow = 2 * farthest_latency(machine)
    every = (aware, interleave, first_touch)
    tail = [one.count(FROM_MEMORY, slow) / one.count(FROM_MEMORY) for one in every]
    afar = [one.count(FROM_AFAR, slow) / one.count(FROM_MEMORY) for one in every]
    remote = [one.count(FROM_AFAR) / one.count(FROM_MEMORY) for one in every]
    for name, value in (
        ("slow lines relieved", _over(tail[2], max(tail[:2]))),
        ("slow lines from afar", _over(afar[1], afar[0])),
        ("line time", interleave.seconds / aware.seconds),
        ("remote lines", _over(remote[1], remote[0])),
    ):
        yield figure(f"s0 ft {name}@{machine}", value, f"S0 latencies, {machine}", aware.command)


def _over(more: float, less: float) -> float:
    """A ratio; of nothing to nothing 1, of something to nothing as large as a figure can say."""
    return more / less if less else (1e6 if more else 1.0)


def footprint_figures() -> Iterator[Figure]:
    """C18: MiB of the arrays by the kernels' own arithmetic; ft C is too large to be replayed, not to be computed."""
    for case in (*CASES, Case("ft", "C", (), version=FT_IN_C)):
        mebibytes = sum(array_sizes(case.kernel, parameters_of(case))) / 1024**2
        yield figure(f"s0 footprint@{case.name}", mebibytes, "S0 Table 2", "")
