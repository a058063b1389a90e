"""Native times of a kit's runs beside replays of the same kernels under the same choices on the machine that came back."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from homenode.capturing import Asked, captured, words_of_kernel
from homenode.errors import CaptureError, UsageError
from homenode.grids import replay_grid
from homenode.kernel_sources import kernel
from homenode.kits.choices import spec_of
from homenode.kits.making import source_hash
from homenode.kits.page_homes import PagesRow, compared
from homenode.kits.plan import SIZES, Case, cases
from homenode.kits.returned import Choice, PagesRun, Returned, Run
from homenode.machine import Machine
from homenode.native_times import Measurement, seconds_of, summarise, timed_labels
from homenode.null_models import Figures, Observed, figures, seconds_by_accesses
from homenode.replaying import replay_one
from homenode.trace import Trace

Progress = Callable[[str], None]
_BUSY, _TICKS = 0.05, 0.02  # share of the CPUs; seconds


@dataclass(frozen=True)
class KitRow:
    """One choice for one case."""

    choice: Choice
    kernel: str
    measured: Measurement
    predicted_seconds: float
    accesses: int
    failed: int
    """Runs that did not end with exit code 0; they count for nothing else."""
    disturbed: int
    """Runs beside which others used more than a twentieth of the CPUs. They do not count where another is left."""
    all_disturbed: bool
    """The fastest run counts alone: others only make it slower."""
    counters: dict[str, float]
    """Medians over the runs."""
    null_seconds: float | None = None
    """By accesses: one constant of thread-seconds an access, of the other kernels."""

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted_seconds / self.measured.seconds


@dataclass
class Table:
    """What came of the comparison."""

    rows: list[KitRow] = field(default_factory=list)
    pages: list[PagesRow] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What is not compared, with the reason."""


def table(returned: Returned, machine: Machine, folder: Path, progress: Progress = lambda step: None) -> Table:
    """Capture each case here, replay each choice that ran there, and compare. Traces go to `folder`, and are taken from there."""
    found = Table()
    folder.mkdir(parents=True, exist_ok=True)
    for case in returned.cases.values():
        runs = _by_choice([run for run in returned.runs if run.choice.case == case.name])
        pages = [run for run in returned.pages if run.choice.case == case.name]
        if not runs and not pages:
            continue
        if reason := _obstacle(case, returned):
            found.left_out.append(f"{case.name}: {reason}")
            continue
        for threads in sorted({choice.threads for choice in runs} | {run.choice.threads for run in pages}):
            if threads > machine.cores:
                found.left_out.append(f"{case.name}: {threads} threads on {machine.cores} cores")
                continue
            of_team = {choice: ones for choice, ones in runs.items() if choice.threads == threads}
            progress(f"{case.name}, {threads} thread{'' if threads == 1 else 's'}")
            try:
                trace = _trace(case, threads, folder)
                found.rows += _rows(case, trace, of_team, machine, returned, found.left_out)
                found.pages += _pages(
                    case,
                    trace,
                    [run for run in pages if run.choice.threads == threads],
                    machine,
                    returned,
                    found.left_out,
                )
            except (CaptureError, UsageError) as error:
                found.left_out.append(f"{case.name}, {threads} threads: {error}")
    _fill_null(found)
    return found


def _obstacle(case: Case, returned: Returned) -> str:
    """Why a case is not compared; empty if it is. What is captured here is this homenode's plan, whatever a file asks for."""
    if returned.sources.get(case.kernel) != source_hash(kernel(case.kernel)):
        return f"the kit has another version of {case.kernel} than this homenode"
    if case not in [one for size in SIZES for one in cases(size)]:
        return "it is not in the plan of this homenode"
    return ""


def _by_choice(runs: Sequence[Run]) -> dict[Choice, list[Run]]:
    found: dict[Choice, list[Run]] = {}
    for run in runs:
        found.setdefault(run.choice, []).append(run)
    return found


def _trace(case: Case, threads: int, folder: Path) -> Trace:
    team = threads if case.by_thread else 1
    path = folder / f"{case.name}-{team}.hnt"
    if path.exists():
        return Trace.open(path)
    words = words_of_kernel(case.kernel, case.parameters, lambda step: None)
    return captured(Asked(threads=team, times=False), words, path, lambda step: None)[0]


def _rows(
    case: Case,
    trace: Trace,
    runs: Mapping[Choice, Sequence[Run]],
    machine: Machine,
    returned: Returned,
    left_out: list[str],
) -> list[KitRow]:
    labels = timed_labels(kernel(case.kernel).regions)
    good: dict[Choice, list[Run]] = {}
    for choice, ones in runs.items():
        ended = [
            one for one in ones if one.ended == "exit 0" and sum(one.regions.get(label, 0) for label in labels) > 0
        ]
        if ended:
            good[choice] = ended
        else:
            left_out.append(f"{words_of(choice)}: no run ended well ({ones[0].ended})")
    if not good:
        return []
    specs = [spec_of(choice, machine, returned.host) for choice in good]
    rows = []
    for (choice, ones), result in zip(good.items(), replay_grid(trace, specs), strict=True):
        regions = {region["label"]: float(region["seconds"]) for region in result.run["regions"]}
        undisturbed = [one for one in ones if not is_disturbed(one, returned.host.cpus_allowed)]
        counted = undisturbed or [min(ones, key=lambda one: sum(one.regions.get(label, 0.0) for label in labels))]
        rows.append(
            KitRow(
                choice,
                case.kernel,
                summarise([{label: one.regions.get(label, 0.0) for label in labels} for one in counted], labels),
                sum(seconds_of(label, regions) for label in labels),
                int(trace.inspect()["accesses"]),
                len(runs[choice]) - len(ones),
                len(ones) - len(undisturbed),
                not undisturbed,
                _medians([one.counters for one in counted]),
            )
        )
    return rows


def _pages(
    case: Case, trace: Trace, runs: Sequence[PagesRun], machine: Machine, returned: Returned, left_out: list[str]
) -> list[PagesRow]:
    found = []
    for run in runs:
        result = replay_one(trace, spec_of(run.choice, machine, returned.host), keep_log=True)
        row = compared(run, trace, result, machine.nodes, in_order=not case.by_thread)
        if isinstance(row, str):
            left_out.append(f"{words_of(run.choice)}: pages: {row}")
        elif row is not None:
            found.append(row)
    return found


def is_disturbed(run: Run, cpus: int) -> bool:
    """Whether others used more than a twentieth of the CPUs, beyond what the system's ticks of 10 ms tell apart."""
    return run.others_seconds > _BUSY * run.seconds * max(1, cpus) + _TICKS


def _medians(counters: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = list(dict.fromkeys(name for one in counters for name in one))
    return {name: statistics.median(one[name] for one in counters if name in one) for name in names}


def _fill_null(found: Table) -> None:
    observed = [Observed(row.kernel, row.accesses, row.measured.seconds, row.choice.threads) for row in found.rows]
    nulls = seconds_by_accesses(observed)
    found.rows = [replace(row, null_seconds=null) for row, null in zip(found.rows, nulls, strict=True)]


def words_of(choice: Choice) -> str:
    """A choice in a line."""
    return (
        f"{choice.case}, {choice.threads} thread{'' if choice.threads == 1 else 's'}, {choice.placement}, {choice.pinning}, "
        f"{choice.schedule}"
    )


# ---- summary


def _base(choice: Choice) -> tuple[bool, ...]:
    """Sorts the choice first that a program gets that nobody has tuned: first touch, static, pinned compact if it may be."""
    return choice.placement != "first-touch", choice.schedule != "static", choice.pinning != "compact"


@dataclass(frozen=True)
class Summary:
    """Ratios of predicted to measured; each with what a model gives that knows next to nothing."""

    times: Figures | None
    """Seconds."""
    times_undisturbed: Figures | None
    """The same of rows with a run that nothing disturbed."""
    times_by_accesses: Figures | None
    effects: Figures | None
    """What a choice changes: its seconds over those of the base of the same case and team."""
    no_effect: Figures | None
    """The same where no choice changes anything."""
    regret: float | None
    """Mean over cases and teams: how much longer the choice took that was predicted fastest than the fastest one took."""
    regret_of_base: float | None
    groups: int
    pages: int
    pages_same: int


def summary(found: Table) -> Summary:
    """Of all rows; None where there is nothing to tell."""
    groups: dict[tuple[str, int], list[KitRow]] = {}
    for row in found.rows:
        groups.setdefault((row.choice.case, row.choice.threads), []).append(row)
    several = [sorted(rows, key=lambda row: _base(row.choice)) for rows in groups.values() if len(rows) > 1]
    measured, predicted = [], []
    for base, *others in several:
        measured += [row.measured.seconds / base.measured.seconds for row in others]
        predicted += [row.predicted_seconds / base.predicted_seconds for row in others]
    regrets, of_base = [], []
    for rows in several:
        least = min(row.measured.seconds for row in rows)
        chosen = min(rows, key=lambda row: row.predicted_seconds)
        regrets.append(chosen.measured.seconds / least - 1)
        of_base.append(rows[0].measured.seconds / least - 1)
    nulls = [row.null_seconds / row.measured.seconds for row in found.rows if row.null_seconds]
    return Summary(
        _figures([row.ratio for row in found.rows]),
        _figures([row.ratio for row in found.rows if not row.all_disturbed]),
        _figures(nulls),
        _figures([here / there for here, there in zip(predicted, measured, strict=True)]),
        _figures([1 / there for there in measured]),
        statistics.fmean(regrets) if regrets else None,
        statistics.fmean(of_base) if of_base else None,
        len(several),
        sum(row.pages for row in found.pages),
        sum(row.same for row in found.pages),
    )


def _figures(ratios: Sequence[float]) -> Figures | None:
    return figures(ratios) if ratios else None
