"""Two engines on the same work: `flow` against `line`, kernel by kernel: `python -m validation differential`.

The engines share the caches' rules, the placements and the loop; what one line takes on its way, and how lines wait for each other, they
have of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.run_spec import command
from validation.placements import CASES, SMALL, Case, longest_region, team_of
from validation.rows import AnyRow
from validation.study import Study
from validation.traces import captured, trace_path

MACHINES = ("xeon-x5550-2s", "opteron-8431-4s", "xeon-x7560-4s")
PLACEMENTS = ("first-touch", "interleave", "bind:0", "stencil-aware")
PAGE = Path(__file__).with_name("differential.md")
COMMAND = "python -m validation differential --write"
# Placements that `line` holds further apart are ranked.
APART = 0.02
# A difference beyond that is named with the bottleneck in each engine.
NAMED_FROM = 0.10


@dataclass(frozen=True)
class Timed:
    """One placement by both engines: seconds, and the bottleneck of the longest region."""

    flow_seconds: float
    line_seconds: float
    flow_bound: str
    line_bound: str

    @property
    def difference(self) -> float:
        """Time by `line` over time by `flow`, less one."""
        return self.line_seconds / self.flow_seconds - 1


@dataclass(frozen=True)
class Row(AnyRow):
    """One kernel on one machine."""

    kernel: str
    parameters: dict[str, int | str]
    machine: str
    threads: int
    placements: dict[str, Timed]
    command: str

    @property
    def tau(self) -> float | None:
        """Agreement of the two rankings of placements."""
        times = list(self.placements.values())
        return kendall_tau([one.flow_seconds for one in times], [one.line_seconds for one in times])

    def as_json(self) -> dict[str, Any]:
        """Return the agreement of rankings, too."""
        return {**super().as_json(), "tau": self.tau}


def kendall_tau(found: Sequence[float], reference: Sequence[float]) -> float | None:
    """Kendall's tau over the pairs that `reference` holds apart by more than `APART`; None where there is no such pair."""
    agreed = [
        _sign(found[i] - found[j]) * _sign(reference[i] - reference[j])
        for i, j in combinations(range(len(found)), 2)
        if abs(reference[i] - reference[j]) > APART * min(reference[i], reference[j])
    ]
    return sum(agreed) / len(agreed) if agreed else None


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def row(case: Case, machine: hn.Machine, trace: hn.Trace, path: Path) -> Row:
    """Replay by both engines; caches by lines in both, so that only timing differs."""
    threads, mapping = team_of(case, machine, trace)
    choices = {
        engine: hn.grid(
            [machine],
            [threads],
            placement=list(PLACEMENTS),
            mapping=[mapping],
            distribution=[case.distribution],
            engine=engine,
            caches="lines",
        )
        for engine in ("flow", "line")
    }
    runs = {engine: [result.run for result in hn.replay_grid(trace, grid)] for engine, grid in choices.items()}
    timed = {
        flow["placement"]: Timed(flow["seconds"], line["seconds"], longest_region(flow), longest_region(line))
        for flow, line in zip(runs["flow"], runs["line"], strict=True)
    }
    return Row(
        case.kernel,
        case.parameters,
        machine.name,
        threads,
        timed,
        command(path.name, choices["line"]),
    )


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Each kernel is captured once and replayed on each machine."""
    for case in SMALL if small else CASES:
        parameters = {**case.parameters, "check": 0}
        trace = captured(folder, case.kernel, parameters, threads=case.team or 1)
        path = trace_path(folder, case.kernel, parameters)
        for name in MACHINES[:1] if small else MACHINES:
            machine = hn.Machine.load(name)
            if team_of(case, machine, trace)[0] <= machine.cores:
                yield row(case, machine, trace, path)


def _cell(timed: Timed) -> str:
    percent = f"{100 * timed.difference:+.1f} %"
    return percent if abs(timed.difference) < NAMED_FROM else f"{percent} ({timed.flow_bound} / {timed.line_bound})"


def _shown(tau: float | None) -> str:
    return "" if tau is None else f"{tau:.2f}"


def table(found: Sequence[Row]) -> Iterator[str]:
    """Markdown."""
    yield f"| kernel | machine | threads | flow, first-touch | {' | '.join(PLACEMENTS)} | tau |"
    yield "|---|---|---|---|" + "---|" * len(PLACEMENTS) + "---|"
    for one in found:
        cells = " | ".join(_cell(one.placements[name]) for name in PLACEMENTS)
        first = 1e3 * one.placements["first-touch"].flow_seconds
        yield f"| {one.kernel} | {one.machine} | {one.threads} | {first:.3g} ms | {cells} | {_shown(one.tau)} |"


def summary(found: Sequence[Row]) -> str:
    """How near the engines are over all rows."""
    differences = sorted(abs(timed.difference) for one in found for timed in one.placements.values())
    beyond = sum(1 for difference in differences if difference > NAMED_FROM)
    taus = [one.tau for one in found if one.tau is not None]
    same = sum(1 for tau in taus if tau > 0.999)
    mean = f"{sum(taus) / len(taus):.2f}" if taus else "none"
    return (
        f"{len(differences)} pairs of runs: median difference {100 * differences[len(differences) // 2]:.1f} %, "
        f"{beyond} beyond {NAMED_FROM:.0%}. Rankings of placements: mean tau {mean}, {same} of {len(taus)} equal."
    )


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    head = [
        "# The engine `line` against `flow`",
        "",
        f"Written by `{COMMAND}`, up to the table. Time by `line` over time by `flow`, less one, at the sizes of",
        "[placements.md](placements.md); caches by lines in both, system `default`. A difference beyond",
        f"{NAMED_FROM:.0%} comes with the bottleneck of the longest region by `flow` / `line`. *tau*: Kendall's tau of the two",
        f"rankings of these placements, over the pairs that `line` holds apart by more than {APART:.0%}.",
        "",
        summary(found),
        "",
    ]
    return "\n".join([*head, *table(found)]) + "\n"


STUDY = Study(
    "differential",
    "the engine `line` against `flow`, four placements of every kernel on three machines",
    "minutes",
    ("kernel", "parameters", "machine", "threads", "placements", "command", "tau"),
    lambda options: rows(options.folder / "placements", options.small),
    (PAGE,),
    line=lambda one: list(table([one]))[2],
    tables=page,
)
