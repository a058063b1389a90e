"""S0, 6.3 and 6.4 (C12 to C17): idle times by core, the gain of latency-weighted chunks, and what each hypothesis about S0's 1.1 adds.

`python -m validation.published.s0_distribution --write` renews results_s0_distribution.md. A gain is the time of an iteration under the
best of OpenMP's schedules over that with weighted chunks, both with stencil-aware pages and all threads pinned; an iteration is what
those take that the longer of two traces has more, without the pass that places pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation.kept import Kept, package_hash
from validation.kept_page import kept_reading
from validation.published.page import COLUMNS
from validation.published.s0 import AWARE, MACHINES, SYSTEMS, Case, parameters_of
from validation.published.s0_distribution_rows import KINDS, Replayed, kinds_of, rows
from validation.published.s0_hypotheses import HYPOTHESES, Hypothesis
from validation.traces import captured

PAGE = Path(__file__).with_name("results_s0_distribution.md")
FOLDER = Path(__file__).parents[2] / "build" / "validation"
COMMAND = "python -m validation.published.s0_distribution --write"
WEIGHTED = "latency-weighted"
# S0 used icc, whose runtime system is libomp.
SCHEDULES = ("static", "dynamic:1", "guided:1", "auto:libomp")
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
AS_DESCRIBED = HYPOTHESES[0]


@dataclass(frozen=True)
class Iteration:
    """One more iteration of a program under one schedule."""

    seconds: float
    idle_share: tuple[float, ...]  # of the iteration, by thread


def _trace(folder: Path, case: Case, steps: int) -> hn.Trace:
    of_steps = "iterations" if case.program in ("mg", "ft") else "steps"
    return captured(folder, case.program, {**parameters_of(case), of_steps: steps, "check": 0})


def _command(case: Case, machine: str, hypothesis: Hypothesis, schedules: tuple[str, ...]) -> str:
    changes = [f"--change {name}={value}" for name, value in hypothesis.changes(machine).items()]
    pages = [] if hypothesis.pages == "4KiB" else [f"--pages {hypothesis.pages}"]
    of_steps = "iterations" if case.program in ("mg", "ft") else "steps"
    settings = {**parameters_of(case), of_steps: case.more, "check": 0}
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
        self._folder, self._kept = folder, Kept(folder / "s0_distribution.jsonl", package_hash())

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
        return self._kept.get(question, answer)

    def case(self, case: Case, machine: str, hypothesis: Hypothesis = AS_DESCRIBED) -> Replayed:
        """All schedules of a case; under a hypothesis static alone stands for OpenMP's."""
        schedules = SCHEDULES if hypothesis is AS_DESCRIBED else SCHEDULES[:1]
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


def _gains(found: list[Replayed]) -> Iterator[str]:
    yield "| program | machine | static | dynamic:1 | guided:1 | auto:libomp | weighted | gain | over static | the most |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in found:
        times = " | ".join(f"{1e3 * one.plain[schedule]:.4g}" for schedule in SCHEDULES)
        yield (
            f"| {one.program} | {one.machine} | {times} | {1e3 * one.weighted:.4g} | {one.gain:.3f} | "
            f"{one.plain['static'] / one.weighted:.3f} | {one.most:.3f} |"
        )


def _idle(found: list[Replayed]) -> Iterator[str]:
    yield f"| program | machine | schedule | {' | '.join(KINDS)} |"
    yield f"|---|---|---|{'---|' * len(KINDS)}"
    for one in found:
        for name, shares in (("static", one.idle), ("weighted", one.weighted_idle)):
            means = kinds_of(one.machine, shares)
            yield f"| {one.program} | {one.machine} | {name} | {' | '.join(f'{100 * mean:.2f} %' for mean in means)} |"


def _cores(found: list[Replayed]) -> Iterator[str]:
    """S0's figure 8: a row for each node."""
    for one in (one for one in found if one.program == SRAD.name):
        of_node = len(one.idle) // (4 if MACHINES[one.machine] == 32 else 2)
        yield from ("", f"{one.program} on {one.machine}, static, idle share of an iteration in percent:", "")
        yield f"| node | {' | '.join(f'core {core}' for core in range(of_node))} |"
        yield f"|{'---|' * (of_node + 1)}"
        for node in range(len(one.idle) // of_node):
            shares = one.idle[node * of_node : (node + 1) * of_node]
            yield f"| {node} | {' | '.join(f'{100 * share:.2f}' for share in shares)} |"


def _hypotheses(found: list[tuple[Hypothesis, Replayed]]) -> Iterator[str]:
    yield "| machine | hypothesis | changed | static | weighted | gain | the most that weights could gain | border threads idle less by |"
    yield "|---|---|---|---|---|---|---|---|"
    for hypothesis, one in found:
        changes = ", ".join(f"{name}={value}" for name, value in hypothesis.changes(one.machine).items())
        changed = ", ".join(part for part in (changes, hypothesis.pages) if part)
        border, inner = kinds_of(one.machine, one.idle)[:2]
        yield (
            f"| {one.machine} | {hypothesis.name} | {changed} | {1e3 * one.plain['static']:.4g} ms | "
            f"{1e3 * one.weighted:.4g} ms | {one.plain['static'] / one.weighted:.3f} | {one.most:.3f} | {100 * (inner - border):.2f} % |"
        )


def page(found: list[Replayed], tried: list[tuple[Hypothesis, Replayed]]) -> str:
    """All tables, down to what is written by hand."""
    lines = [
        "# S0, 6.3 and 6.4: idle times and latency-weighted chunks",
        "",
        f"Written by `{COMMAND}`, down to the tables. Time of an iteration under stencil-aware pages, all cores pinned, each machine",
        "with the kernel of S0's Table 1, `flow`; gain: the best OpenMP schedule's time over that of latency-weighted chunks. The most",
        "that weights could gain over static is the longest of the threads' times at work over their mean (without the first, which",
        "runs serial code as well), as if iterations could be cut and moving them cost nothing.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
    ]
    for row in rows(found):
        values = row.as_json()
        lines.append(f"| {' | '.join(_shown(values[column]) for column in COLUMNS)} |")
    lines += [
        "",
        "Milliseconds an iteration, and gains:",
        "",
        *_gains(found),
        "",
        "Idle share of an iteration, mean over the threads of a kind:",
        "",
        *_idle(found),
    ]
    question = "What S0's 1.1 for srad_v2 could rest on, each switched on by a change of the machine or of the pages:"
    lines += [*_cores(found), "", question, "", *_hypotheses(tried)]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main(arguments: list[str] | None = None) -> int:
    """Print the gains, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.published.s0_distribution", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where traces and answers are kept")
    parser.add_argument("--small", action="store_true", help="mg S alone")
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = parser.parse_args(arguments)
    replays, found, tried = Replays(options.folder), [], []
    for case in SMALL if options.small else CASES:
        for machine in MACHINES:
            found.append(replays.case(case, machine))
            print(f"{case.name}  {machine}  gain {found[-1].gain:.3f}", flush=True)
        if case is SRAD:
            for machine in MACHINES:
                for hypothesis in HYPOTHESES:
                    tried.append((hypothesis, replays.case(case, machine, hypothesis)))
                    print(f"  {machine}  {hypothesis.name}  gain {tried[-1][1].gain:.3f}", flush=True)
    if options.write and not options.small:
        PAGE.write_text(page(found, tried) + kept_reading(PAGE), encoding="utf-8")
    else:
        print("\n".join([*_gains(found), "", *_idle(found)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
