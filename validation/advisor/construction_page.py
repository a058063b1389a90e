"""The page of the study `advisor-cases`."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from validation.advisor.judged import Judged
from validation.page_with_notes import markdown_table

HALVES = ("looked at", "held out", "all")
COMMAND = "python -m validation advisor-cases --write"


def _percent(gain: float) -> str:
    return f"{100 * (gain - 1):+.1f} %"


def _totals(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    def of(key: str) -> list[Any]:
        return [one[key] for one in summaries]

    def kept(key: str) -> list[str]:
        return [f"{100 * one[key]:.1f} %" for one in summaries]

    rows = [
        ["cases", *of("cases")],
        ["weights pay off by `flow`", *of("paying")],
        ["as said beforehand", *of("as_expected")],
        ["advisor: pays off; `flow`: pays off", *of("yes_yes")],
        ["advisor: pays off; `flow`: does not", *of("yes_no")],
        ["advisor: does not; `flow`: pays off", *of("no_yes")],
        ["advisor: does not; `flow`: does not", *of("no_no")],
        ["**advisor right**", *of("right")],
        ["null model right: always weighted", *of("paying")],
        ["null model right: never weighted", *[one["cases"] - one["paying"] for one in summaries]],
        ["speed kept of the best choice: advisor", *kept("kept_advised")],
        ["speed kept: best of OpenMP's schedules", *kept("kept_plain")],
        ["speed kept, null model: always static", *kept("kept_static")],
        ["speed kept, null model: always weighted", *kept("kept_weighted")],
    ]
    return list(markdown_table(("", *HALVES), rows))


def page(rows: Sequence[Judged], summaries: Sequence[Mapping[str, Any]]) -> str:
    """`summaries`: of the half that was looked at, of the one that was held out, and of all."""
    families = []
    for name in dict.fromkeys(row.family for row in rows):
        of = [row for row in rows if row.family == name]
        gains = [row.gain_flow for row in of]
        families.append(
            [
                name,
                "pays" if of[0].expected else "does not",
                f"{sum(row.pays for row in of)} of {len(of)}",
                f"{sum(row.said == row.pays for row in of)} of {len(of)}",
                f"{_percent(min(gains))} … {_percent(statistics.median(gains))} … {_percent(max(gains))}",
            ]
        )
    cases = [
        [
            *(row.family, row.parameters, row.machine, row.threads, "held out" if row.held_out else ""),
            *(_percent(row.gain_closed_form), _percent(row.gain_flow), "yes" if row.said == row.pays else "**no**"),
            f"{100 * row.best_seconds / row.advised_seconds:.1f} %",
        ]
        for row in rows
    ]
    heads = ("family", "parameters", "machine", "threads", "", "closed form", "flow", "right", "speed kept")
    return "\n".join(
        [
            "# The advisor, where weights pay off by construction",
            "",
            f"Written by `{COMMAND}`, down to the tables. Cases and reasons:",
            "`by_construction.toml`, committed before any was scored. Gains of latency-weighted chunks are over the best of static,",
            "dynamic and guided; 2 % and more pays off. The advisor is `homenode advise --engine closed-form`, which replays nothing.",
            "Speed kept: time of the best of the four choices over that of the one that was taken, by `flow`; geometric mean.",
            "",
            *_totals(summaries),
            "",
            *markdown_table(
                ("family", "said beforehand", "pays by flow", "advisor right", "gain by flow: least, median, most"),
                families,
            ),
            "",
            *markdown_table(heads, cases),
            "",
        ]
    )
