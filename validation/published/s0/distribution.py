"""S0, 6.3 and 6.4 (C12 to C17): idle times by core, the gain of latency-weighted chunks, and what each hypothesis about S0's 1.1 adds.

A gain is the time of an iteration under the
best of OpenMP's schedules over that with weighted chunks, both with stencil-aware pages and all threads pinned; an iteration is what
those take that the longer of two traces has more, without the pass that places pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation.published.s0.cases import AWARE, MACHINES, OPENMP_SCHEDULES, SYSTEMS, Case, of_steps, parameters_of
from validation.published.s0.distribution_page import Outcome, page, summary
from validation.published.s0.distribution_rows import Replayed
from validation.published.s0.hypotheses import AS_DESCRIBED, HYPOTHESES, Hypothesis
from validation.result_cache import ResultCache, package_hash
from validation.study import Options, Study
from validation.traces import captured

PAGE = Path(__file__).with_name("results_distribution.md")
WEIGHTED = "latency-weighted"
SRAD = Case("srad_v2", "", (), few=5, more=12)
CASES = (
    SRAD,
    Case("srad_v1", "", (), few=5, more=12),
    Case("mg", "S", (), few=4, more=8),
    Case("ft", "S", (), few=2, more=3),
    Case("hotspot", "256", (), few=4, more=100),
    Case("hotspot", "1024", (), few=5, more=12),
    Case("mg", "W", (), few=3, more=4),
)
SMALL = (Case("mg", "S", (), few=1, more=2),)


@dataclass(frozen=True)
class Iteration:
    """One more iteration of a program under one schedule."""

    seconds: float
    idle_share: tuple[float, ...]  # of the iteration, by thread


def _trace(folder: Path, case: Case, steps: int) -> hn.Trace:
    return captured(folder, case.program, {**parameters_of(case), of_steps(case): steps, "check": 0})


def _command(case: Case, machine: str, hypothesis: Hypothesis, schedules: tuple[str, ...]) -> str:
    changes = [f"--change {name}={value}" for name, value in hypothesis.changes(machine).items()]
    pages = [] if hypothesis.pages == "4KiB" else [f"--pages {hypothesis.pages}"]
    settings = {**parameters_of(case), of_steps(case): case.more, "check": 0}
    capture = " ".join(f"--set {name}={value}" for name, value in settings.items())
    chosen = [f"--distribution {schedule}" for schedule in schedules]
    options = [f"--placement {AWARE.placement} --system {SYSTEMS[machine]}", *chosen, *changes, *pages]
    return (
        f"homenode capture {case.program} {capture} -o {case.program}.hnt; homenode replay {case.program}.hnt "
        f"--machine {machine} --threads {MACHINES[machine]} {' '.join(options)}"
    )


class Replays:
    """Where traces and answers are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._cache = folder, ResultCache(folder / "s0_distribution.jsonl", package_hash())

    def iteration(self, case: Case, machine: str, schedule: str, hypothesis: Hypothesis = AS_DESCRIBED) -> Iteration:
        """Replay both traces, if nobody has yet."""
        few, more = (self._replay(case, steps, machine, schedule, hypothesis) for steps in (case.few, case.more))
        seconds = more["seconds"] - few["seconds"]
        idle = tuple((b - a) / seconds for a, b in zip(few["idle"], more["idle"], strict=True))
        return Iteration(seconds / (case.more - case.few), idle)

    def _replay(self, case: Case, steps: int, machine: str, schedule: str, hypothesis: Hypothesis) -> dict[str, Any]:
        trace, changes, threads = _trace(self._folder, case, steps), hypothesis.changes(machine), MACHINES[machine]
        chosen: dict[str, Any] = {
            "placement": AWARE.placement,
            "system": SYSTEMS[machine],
            "distribution": schedule,
            "pages": hypothesis.pages,
        }

        def answer() -> dict[str, Any]:
            result = hn.replay(trace, hn.Machine.load(machine).with_changes(changes), threads=threads, **chosen)
            # Where the pass puts pages depends on the schedule and, with dynamic ones, on how long the program is.
            placing = sum(region["seconds"] for region in result.run["regions"] if region["label"] == "placement pass")
            return {
                "seconds": result.seconds - placing,
                "idle": [float(idle) for idle in result.threads["idle_seconds"]],
            }

        question = {"trace": trace.hash, "machine": machine, "changes": changes, "threads": threads, **chosen}
        return self._cache.get(question, answer)

    def case(self, case: Case, machine: str, hypothesis: Hypothesis = AS_DESCRIBED) -> Replayed:
        """All schedules of a case; under a hypothesis static alone stands for OpenMP's."""
        schedules = OPENMP_SCHEDULES if hypothesis is AS_DESCRIBED else OPENMP_SCHEDULES[:1]
        plain = {schedule: self.iteration(case, machine, schedule, hypothesis) for schedule in schedules}
        weighted = self.iteration(case, machine, WEIGHTED, hypothesis)
        return Replayed(
            case.name,
            machine,
            {schedule: one.seconds for schedule, one in plain.items()},
            weighted.seconds,
            plain["static"].idle_share,
            weighted.idle_share,
            _command(case, machine, hypothesis, (*schedules, WEIGHTED)),
        )


def _rows(options: Options) -> Iterator[Outcome]:
    """Each case on each machine; after srad_v2 what each hypothesis makes of it."""
    replays = Replays(options.folder)
    for case in SMALL if options.small else CASES:
        for machine in MACHINES:
            yield Outcome(replays.case(case, machine))
        if case is SRAD:
            for machine in MACHINES:
                for hypothesis in HYPOTHESES:
                    yield Outcome(replays.case(case, machine, hypothesis), hypothesis)


def _line(one: Outcome) -> str:
    if one.hypothesis is not None:
        return f"  {one.replayed.machine}  {one.hypothesis.name}  gain {one.replayed.gain:.3f}"
    return f"{one.replayed.program}  {one.replayed.machine}  gain {one.replayed.gain:.3f}"


STUDY = Study(
    "s0-distribution",
    "idle times and latency-weighted chunks of S0's programs against OpenMP's schedules, and what each hypothesis adds",
    "an hour",
    ("program", "machine", "hypothesis", "plain_seconds", "weighted_seconds", "gain", "most", "idle_share", "command"),
    _rows,
    (PAGE,),
    line=_line,
    tables=page,
    closing=lambda found, options: summary([one.replayed for one in found if one.hypothesis is None]),
)
