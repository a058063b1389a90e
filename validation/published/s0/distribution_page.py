"""The page of latency-weighted chunks: rows, gains, idle shares by kind of thread and by core, hypotheses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from validation.page_with_notes import markdown_table
from validation.published.page import COLUMNS
from validation.published.s0.cases import NODES, OPENMP_SCHEDULES
from validation.published.s0.distribution_rows import KINDS, Replayed, kinds_of, rows
from validation.published.s0.hypotheses import Hypothesis
from validation.rows import AnyRow

COMMAND = "python -m validation s0-distribution --write"


@dataclass(frozen=True)
class Outcome(AnyRow):
    """A case, as described or under a hypothesis that is tried."""

    replayed: Replayed
    hypothesis: Hypothesis | None = None

    def as_json(self) -> dict[str, Any]:
        """Return times, gains and idle shares as plain values."""
        one = self.replayed
        return {
            "program": one.program,
            "machine": one.machine,
            "hypothesis": self.hypothesis.name if self.hypothesis else None,
            "plain_seconds": dict(one.plain),
            "weighted_seconds": one.weighted,
            "gain": one.gain,
            "most": one.most,
            "idle_share": list(one.idle),
            "command": one.command,
        }


def _gains(found: list[Replayed]) -> Iterator[str]:
    yield "| program | machine | static | dynamic:1 | guided:1 | auto:libomp | weighted | gain | over static | the most |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in found:
        times = " | ".join(f"{1e3 * one.plain[schedule]:.4g}" for schedule in OPENMP_SCHEDULES)
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
    for one in (one for one in found if one.program == "srad_v2"):
        of_node = len(one.idle) // NODES[one.machine]
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


def summary(found: list[Replayed]) -> str:
    """Gains, and idle shares by kind of thread."""
    return "\n".join([*_gains(found), "", *_idle(found)])


def page(outcomes: Sequence[Outcome]) -> str:
    """All tables, down to what is written by hand."""
    found = [one.replayed for one in outcomes if one.hypothesis is None]
    tried = [(one.hypothesis, one.replayed) for one in outcomes if one.hypothesis is not None]
    lines = [
        "# Metzger et al. 2018 (S0), 6.3 and 6.4: idle times and latency-weighted chunks",
        "",
        f"Written by `{COMMAND}`, down to the tables. Time of an iteration under stencil-aware pages, all cores pinned, each machine",
        "with the kernel of S0's Table 1, `flow`; gain: the best OpenMP schedule's time over that of latency-weighted chunks. The most",
        "that weights could gain over static is the longest of the threads' times at work over their mean (without the first, which",
        "runs serial code as well), as if iterations could be cut and moving them cost nothing.",
        "",
    ]
    values = [row.as_json() for row in rows(found)]
    lines += markdown_table(COLUMNS, [[_shown(row[column]) for column in COLUMNS] for row in values])
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
