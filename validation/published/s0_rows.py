"""S0: the rows, from figures that somebody replayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from validation.array_bytes import array_sizes
from validation.available import Setting
from validation.published.reference import Reference
from validation.published.s0 import (
    AWARE,
    BALANCED,
    INTERLEAVE,
    MACHINES,
    PINNED,
    SCAN_DELAY,
    SCHEDULES,
    UNPINNED,
    A,
    Case,
    Figures,
    parameters_of,
)
from validation.rows import Class, Row, agrees


def _ratios(figures: Figures, machine: str, case: Case, slow: Setting, fast: Setting) -> list[float]:
    """Speed-up of the whole program, for each number of iterations."""
    before, after = figures[machine, case.name, slow], figures[machine, case.name, fast]
    return [before.total(steps) / after.total(steps) for steps in case.steps]


def _span(values: Iterable[float]) -> str:
    """A value, or the range it lies in."""
    found = [f"{value:.3g}" for value in values]
    least, most = min(found, key=float), max(found, key=float)
    return least if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class Comparison:
    """All that the rows are made of."""

    figures: Figures
    cases: Sequence[Case]
    absent: Mapping[Setting, list[str]]  # what a setting lacks in this version

    def rows(self, printed: Mapping[tuple[str, str], Reference]) -> Iterator[Row]:
        """Yield C1 to C11, C14, C15, C17 and C18 as far as the policies exist."""
        for machine in MACHINES:
            yield from self._hotspot_rows(printed, machine)
            yield from self._transform_rows(machine)
            yield from self._order_rows(machine)
            yield from self._balancing_rows(printed, machine)
            yield from self._imbalance_rows(machine)
        yield from self._transform_gain(printed)
        yield from footprint_rows(printed, self.cases)

    def _of(self, program: str) -> list[Case]:
        return [case for case in self.cases if case.program == program]

    def _row(
        self, claim: str, machine: str, what: str, published: float | str, wanted: Sequence[Setting], *, unit: str = "1"
    ) -> Row | None:
        """Return the row that says what is missing, or nothing when all is there."""
        lacking = sorted({name for setting in wanted for name in self.absent.get(setting, [])})
        if not lacking:
            return None
        cls: Class = "predicted"
        return Row(claim, machine, what, cls, published, f"{', '.join(lacking)} missing", unit, "not compared", "")

    def _found(
        self,
        claim: str,
        machine: str,
        what: str,
        published: float | str,
        model: float | str,
        verdict: bool,
        command: str,
    ) -> Row:
        return Row(claim, machine, what, "predicted", published, model, "1", agrees(verdict), command)

    def _hotspot_rows(self, printed: Mapping[tuple[str, str], Reference], machine: str) -> Iterator[Row]:
        cases = self._of("hotspot")
        if not cases:
            return
        if machine == A:
            what = "hotspot: largest gain of stencil-aware over unpinned first touch (0.67 to 1.5 of it)"
            published = printed[A, "hotspot_speedup"].printed
            absent = self._row("C1", machine, what, published, (UNPINNED, AWARE))
            if absent:
                yield absent
            else:
                gains = {case: _ratios(self.figures, machine, case, UNPINNED, AWARE) for case in cases}
                best = max(gains, key=lambda case: max(gains[case]))
                close = published / 1.5 <= max(gains[best]) <= 1.5 * published
                said = "; ".join(f"{case.size}: {_span(values)}" for case, values in gains.items())
                command = self.figures[machine, best.name, AWARE].command
                yield self._found("C1", machine, what, published, said, close, command)
                what = "hotspot: that gain is found at a small size (64 to 512)"
                yield self._found("C1", machine, what, "small", best.size, int(best.size) <= 512, command)
        if machine == A:
            yield from self._small_grid_rows([case for case in cases if int(case.size) <= 256])
        for case in cases:
            if int(case.size) < 4096:
                continue
            what = f"hotspot {case.size}: a standard placement is slightly better than stencil-aware"
            absent = self._row("C5", machine, what, "yes", (PINNED, INTERLEAVE, AWARE))
            if absent:
                yield absent
                continue
            over_best = self._over_best(machine, case)
            command = self.figures[machine, case.name, AWARE].command
            yield self._found("C5", machine, what, "yes", f"gain {_span(over_best)}", min(over_best) < 1, command)
        what = "hotspot: pinning gains less the larger the grid"
        absent = self._row("C7", machine, what, "yes", (UNPINNED, PINNED))
        if absent:
            yield absent
        elif len(cases) > 1:
            pinning = [_ratios(self.figures, machine, case, UNPINNED, PINNED) for case in cases]
            said = "; ".join(f"{case.size}: {_span(values)}" for case, values in zip(cases, pinning, strict=True))
            command = self.figures[machine, cases[0].name, PINNED].command
            yield self._found("C7", machine, what, "yes", said, max(pinning[0]) > max(pinning[-1]), command)

    def _over_best(self, machine: str, case: Case) -> list[float]:
        """Gain of stencil-aware over the better one of the standard placements, by number of iterations."""
        rivals = [_ratios(self.figures, machine, case, setting, AWARE) for setting in (PINNED, INTERLEAVE)]
        return [min(pair) for pair in zip(*rivals, strict=True)]

    def _small_grid_rows(self, cases: Sequence[Case]) -> Iterator[Row]:
        what = (
            "hotspot 64 to 256: a standard placement beats stencil-aware in total time, for some number of iterations"
        )
        absent = self._row("C5", A, what, "yes", (PINNED, INTERLEAVE, AWARE))
        if absent or not cases:
            yield from [absent] if absent else []
            return
        command = self.figures[A, cases[0].name, AWARE].command
        totals = {case.size: self._over_best(A, case) for case in cases}
        said = "gain " + "; ".join(f"{size}: {_span(values)}" for size, values in totals.items())
        yield self._found("C5", A, what, "yes", said, all(min(values) < 1 for values in totals.values()), command)
        steps = {
            case.size: min(self.figures[A, case.name, setting].step_seconds for setting in (PINNED, INTERLEAVE))
            / self.figures[A, case.name, AWARE].step_seconds
            for case in cases
        }
        what = "hotspot 64 to 256: stencil-aware wins in the time of the iterations"
        said = "gain " + "; ".join(f"{size}: {value:.3g}" for size, value in steps.items())
        yield self._found("C5", A, what, "yes", said, all(value >= 1 for value in steps.values()), command)

    def _transform_rows(self, machine: str) -> Iterator[Row]:
        for case in self._of("ft"):
            what = f"ft {case.size}: stencil-aware faster than interleave, interleave than first touch"
            rivals = (AWARE, INTERLEAVE, PINNED)
            published = "aware < interleave < first touch"
            absent = self._row("C2", machine, what, published, rivals)
            if absent:
                yield absent
                continue
            times = [self.figures[machine, case.name, setting].total(case.steps[0]) for setting in rivals]
            shares = [self.figures[machine, case.name, setting].remote_share for setting in rivals]
            command = self.figures[machine, case.name, AWARE].command
            said = " / ".join(f"{seconds * 1e3:.4g}" for seconds in times)
            yield Row(
                "C2",
                machine,
                what,
                "predicted",
                published,
                said,
                "ms",
                agrees(times[0] < times[1] <= times[2]),
                command,
            )
            what = f"ft {case.size}: remote share of the traffic, stencil-aware below interleave"
            said = " / ".join(f"{share:.3f}" for share in shares)
            yield self._found("C3", machine, what, "aware < interleave", said, shares[0] < shares[1], command)

    def _transform_gain(self, printed: Mapping[tuple[str, str], Reference]) -> Iterator[Row]:
        what = "ft: largest gain of stencil-aware over first touch (machine not named; within a quarter)"
        published = printed["all", "ft_speedup"].printed
        absent = self._row("C2", "all", what, published, (PINNED, AWARE))
        if absent:
            yield absent
            return
        gains = {
            (machine, case): max(_ratios(self.figures, machine, case, PINNED, AWARE))
            for machine in MACHINES
            for case in self._of("ft")
        }
        if not gains:
            return
        machine, case = max(gains, key=lambda key: gains[key])
        gain = gains[machine, case]
        command = self.figures[machine, case.name, AWARE].command
        close = abs(gain / published - 1) <= 0.25
        yield self._found("C2", machine, f"{what}, {case.name}", published, gain, close, command)

    def _order_rows(self, machine: str) -> Iterator[Row]:
        what = "stencil-aware at least as fast (within 2 %) as first touch and interleave in most cases"
        absent = self._row("C4", machine, what, "most", (PINNED, INTERLEAVE, AWARE))
        if absent:
            yield absent
        elif self.cases:
            lost = [
                case.name
                for case in self.cases
                if min(
                    max(_ratios(self.figures, machine, case, PINNED, AWARE)),
                    max(_ratios(self.figures, machine, case, INTERLEAVE, AWARE)),
                )
                < 0.98
            ]
            said = f"{len(self.cases) - len(lost)} of {len(self.cases)}" + (f"; not {', '.join(lost)}" if lost else "")
            command = self.figures[machine, self.cases[0].name, AWARE].command
            yield self._found("C4", machine, what, "most", said, 2 * len(lost) < len(self.cases), command)
        what = "stencil-aware over unpinned first touch: larger gain at hotspot's smallest size than at its largest"
        absent = self._row("C6", machine, what, "yes", (UNPINNED, AWARE))
        hotspot = self._of("hotspot")
        if absent:
            yield absent
        elif len(hotspot) > 1:
            ends = [max(_ratios(self.figures, machine, case, UNPINNED, AWARE)) for case in (hotspot[0], hotspot[-1])]
            said = f"{hotspot[0].size}: {ends[0]:.3g}, {hotspot[-1].size}: {ends[1]:.3g}"
            command = self.figures[machine, hotspot[0].name, AWARE].command
            yield self._found("C6", machine, what, "yes", said, ends[0] > ends[1], command)

    def _balancing_rows(self, printed: Mapping[tuple[str, str], Reference], machine: str) -> Iterator[Row]:
        aware_balanced = BALANCED[-1]
        longest = max(
            (
                timing.replayed_seconds
                for (where, _, setting), timing in self.figures.items()
                if where == machine and setting == aware_balanced
            ),
            default=0.0,
        )
        if not self.absent.get(aware_balanced) and longest < SCAN_DELAY:
            for claim, what in (
                ("C8", "automatic balancing slows stencil-aware down in every case"),
                ("C10", "the most that a placement with balancing gains over stencil-aware without"),
                ("C11", "most programs are slower with balancing than stencil-aware without"),
            ):
                said = f"the longest replay, {longest * 1e3:.3g} ms, ends before balancing begins, after 1 s"
                yield Row(claim, machine, what, "predicted", "", said, "1", "not compared", "")
            return
        what = "automatic balancing slows stencil-aware down in every case"
        absent = self._row("C8", machine, what, "every case", (AWARE, aware_balanced))
        if absent:
            yield absent
        elif self.cases:
            ratios = {case: _ratios(self.figures, machine, case, AWARE, aware_balanced) for case in self.cases}
            not_slower = [case.name for case, values in ratios.items() if min(values) >= 1]
            said = "; ".join(f"{case.name}: {_span(values)}" for case, values in ratios.items())
            command = self.figures[machine, self.cases[0].name, aware_balanced].command
            yield self._found("C8", machine, what, "every case", said, not not_slower, command)
        what = "the most that a placement with balancing gains over stencil-aware without"
        most = printed["all", "balancing_gain"].printed
        absent = self._row("C10", machine, what, most, (AWARE, *BALANCED))
        if absent:
            yield absent
        elif self.cases:
            gains = {
                (case.name, setting): max(_ratios(self.figures, machine, case, AWARE, setting))
                for case in self.cases
                for setting in BALANCED
            }
            name, setting = max(gains, key=lambda key: gains[key])
            command = self.figures[machine, name, setting].command
            said = f"{gains[name, setting]:.3g} ({name}, {setting.placement})"
            yield self._found("C10", machine, what, f"at most {most}", said, gains[name, setting] <= most, command)
            slower = sum(gain < 1 for gain in gains.values())
            what = "most programs are slower with balancing than stencil-aware without"
            said = f"{slower} of {len(gains)}"
            yield self._found("C11", machine, what, "most", said, 2 * slower > len(gains), command)

    def _imbalance_rows(self, machine: str) -> Iterator[Row]:
        threads = MACHINES[machine]
        of_node = threads // (4 if machine == A else 2)
        for case in self._of("srad_v2"):
            what = "srad_v2: threads at the border of a node idle less than the others, by 0.1 % of an iteration"
            absent = self._row("C12", machine, what, "yes", (AWARE,))
            if absent:
                yield absent
                continue
            timing = self.figures[machine, case.name, AWARE]
            border = [t for t in range(1, threads - 1) if t % of_node in (0, of_node - 1)]
            inner = [t for t in range(1, threads - 1) if t not in border]  # 0 and the last have one neighbour
            means = [sum(timing.idle_share[t] for t in group) / len(group) for group in (border, inner)]
            said = f"{means[0]:.4f} and {means[1]:.4f} of an iteration"
            less = means[0] + 0.001 < means[1]
            yield self._found("C12", machine, what, "yes", said, less, timing.command)
            what = "srad_v2: no OpenMP schedule is faster than static by more than 1 %"
            absent = self._row("C17", machine, what, "yes", (AWARE, *SCHEDULES))
            if absent:
                yield absent
                continue
            steps = {s.distribution: self.figures[machine, case.name, s].step_seconds for s in (AWARE, *SCHEDULES)}
            said = ", ".join(f"{name} {seconds * 1e3:.4g}" for name, seconds in steps.items())
            right = min(steps.values()) >= 0.99 * steps["static"]
            yield Row("C17", machine, what, "predicted", "yes", said, "ms", agrees(right), timing.command)
        for claim, program, reason in (
            ("C14", "ft", "its threads share no data"),
            ("C15", "srad_v1", "it fits the last-level caches"),
        ):
            for case in self._of(program):
                what = f"{case.name}: no idle pattern at the borders ({reason}; difference below 1 % of an iteration)"
                absent = self._row(claim, machine, what, "none", (AWARE,))
                if absent:
                    yield absent
                    continue
                timing = self.figures[machine, case.name, AWARE]
                border = [t for t in range(1, threads - 1) if t % of_node in (0, of_node - 1)]
                inner = [t for t in range(1, threads - 1) if t not in border]
                means = [sum(timing.idle_share[t] for t in group) / len(group) for group in (border, inner)]
                difference = abs(means[0] - means[1])
                yield self._found(claim, machine, what, "none", difference, difference < 0.01, timing.command)


def footprint_rows(printed: Mapping[tuple[str, str], Reference], cases: Sequence[Case]) -> Iterator[Row]:
    """C18: arrays by the kernels' own arithmetic are not larger than the printed footprints of whole processes."""
    for case in cases:
        reference = printed.get(("all", case.name))
        if reference is None:
            continue
        bytes_of_arrays = sum(array_sizes(case.program, parameters_of(case)))
        what = f"{case.name}: computed arrays, not above the printed footprint of the process"
        fits = bytes_of_arrays <= reference.value
        model = bytes_of_arrays / 1024**2
        yield Row("C18", "all", what, "identity", reference.printed, model, "MiB", agrees(fits), "")
