"""What S0's rows are made of, and the few sums that several of them share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from homenode import RunSpec
from validation.published.reference import Reference
from validation.published.s0.cases import MACHINES, NODES, SEEDS, UNPINNED, UNSAID, BalancingFigures, Case, Figures

Printed = Mapping[tuple[str, str], Reference]


@dataclass(frozen=True)
class Found:
    """All replays of all cases."""

    timings: Figures
    balancing: BalancingFigures
    cases: Sequence[Case]

    def on(self, machine: str, program: str | None = None) -> list[Case]:
        """Return what was replayed on a machine; of a program if named, the smallest size first."""
        return [case for case in self.cases if machine in case.machines and program in (None, case.program)]

    def ratios(self, machine: str, case: Case, slow: RunSpec, fast: RunSpec) -> list[float]:
        """Speed-up of the whole program, for each number of iterations: a ratio of means over the seeds, as S0's are."""
        return [
            self._total(machine, case, slow, steps) / self._total(machine, case, fast, steps) for steps in case.steps
        ]

    def _total(self, machine: str, case: Case, setting: RunSpec, steps: int) -> float:
        seeds = [UNPINNED, *(other for other in SEEDS if other in case.placed)] if setting == UNPINNED else [setting]
        return sum(self.timings[machine, case.name, one].total(steps) for one in seeds) / len(seeds)

    def unpinned(self, case: Case) -> list[RunSpec]:
        """First touch without pinning, in all ways that were replayed."""
        return [s for s in case.placed if s in (UNPINNED, *SEEDS, *UNSAID)]

    def command(self, machine: str, case: Case, setting: RunSpec) -> str:
        """What repeats a replay."""
        return self.timings[machine, case.name, setting].command


def span(values: Iterable[float]) -> str:
    """A value, or the range it lies in."""
    found = [f"{value:.3g}" for value in values]
    least, most = min(found, key=float), max(found, key=float)
    return least if least == most else f"{least} to {most}"


def border_and_inner(machine: str, of_threads: Sequence[float]) -> tuple[float, float]:
    """Mean over the threads at a border of nodes, and over the others; the first and the last have one neighbour and count nowhere."""
    threads, of_node = MACHINES[machine], MACHINES[machine] // NODES[machine]
    border = [thread for thread in range(1, threads - 1) if thread % of_node in (0, of_node - 1)]
    inner = [thread for thread in range(1, threads - 1) if thread not in border]
    first, second = (sum(of_threads[thread] for thread in group) / len(group) for group in (border, inner))
    return first, second
