"""The advisor against the engine `line` on 30 of its combinations: `python -m validation advisor --engine line`.

All of mg's, the kernel for which weights pay off somewhere, and of every other kernel and size one machine and team, each another.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.advising import WEIGHTED, plain_distributions
from homenode.gain_map import WORTH
from homenode.run_spec import command
from validation.advisor import study
from validation.advisor.study import Combination, Scored
from validation.result_cache import ResultCache, package_hash
from validation.study import Study
from validation.traces import captured

PAGE = Path(__file__).with_name("line.md")
COMMAND = "python -m validation advisor --engine line --write"


@dataclass(frozen=True)
class LineScored(Scored):
    """What closed form, `flow` and `line` say about one combination."""

    best_plain_line: str
    gain_line: float
    command: str

    @property
    def apart(self) -> bool:
        """Whether it is too near to the limit to count."""
        return abs(self.gain_line - WORTH) <= study.APART

    @property
    def answers(self) -> tuple[bool, bool, bool]:
        """Whether weights pay off, by closed form, `flow` and `line`."""
        return tuple(gain >= WORTH for gain in (self.gain_closed_form, self.gain_flow, self.gain_line))  # type: ignore[return-value]


def chosen(small: bool = False) -> list[Combination]:
    """The 30, by their places in the study; `small`: as the study has it."""
    if small:
        return study.combinations(small=True)
    every = study.combinations()
    teams = len({(one.machine, one.threads) for one in every})
    sizes = [every[first : first + teams] for first in range(0, len(every), teams)]
    one_team = [of[3 * place % teams] for place, of in enumerate(sizes) if of[0].kernel != "mg"]
    return one_team + [one for one in every if one.kernel == "mg"]


def score(trace: hn.Trace, combination: Combination) -> LineScored:
    """Ask all three."""
    known: Scored = study.score(trace, combination)
    machine, threads = combination.machine, combination.threads

    def line(schedule: str) -> float:
        return hn.replay(trace, machine, threads=threads, distribution=schedule, engine="line").seconds

    best, gain = study.gain_by(trace, threads, line)
    plain = plain_distributions(trace, threads)[best]
    choices = hn.grid([hn.Machine.load(machine)], [threads], distribution=[plain, WEIGHTED], engine="line")
    repeat = command(trace.path.name, choices)
    return LineScored(**asdict(known), best_plain_line=best, gain_line=gain, command=repeat)


def rows(folder: Path, combinations: Iterable[Combination]) -> Iterator[LineScored]:
    """Score each, in order; what the same package has scored before is kept in the folder."""
    cache = ResultCache(folder / "advisor_line.jsonl", package_hash())
    for combination in combinations:
        trace = captured(folder, combination.kernel, combination.parameters)
        question = {"trace": trace.hash, "machine": combination.machine, "threads": combination.threads}

        def ask(trace: hn.Trace = trace, combination: Combination = combination) -> dict[str, Any]:
            return asdict(score(trace, combination))

        yield LineScored(**cache.get({**question, **combination.parameters}, ask))


def summary(found: Sequence[LineScored]) -> dict[str, Any]:
    """How often each gives the answer of `line`, and how far its gain is from that of `line`."""
    decided = [row for row in found if not row.apart]

    def of(name: str, answer: int) -> dict[str, Any]:
        errors = [getattr(row, f"gain_{name}") - row.gain_line for row in found]
        return {
            "right": sum(row.answers[answer] == row.answers[2] for row in decided),
            "mean_absolute_error": math.fsum(map(abs, errors)) / len(errors),
            "mean_error": math.fsum(errors) / len(errors),
            "greatest_error": max(errors, key=abs),
            "same_best_plain": sum(getattr(row, f"best_plain_{name}") == row.best_plain_line for row in found),
        }

    return {
        "combinations": len(found),
        "decided": len(decided),
        "pays_off": sum(row.answers[2] for row in decided),
        "closed form": of("closed_form", 0),
        "flow": of("flow", 1),
    }


def _percent(gain: float) -> str:
    return f"{100 * (gain - 1):+.2f} %"


def table(found: Sequence[LineScored]) -> Iterator[str]:
    """Markdown; an answer other than that of `line` in bold."""
    yield "| kernel | parameters | machine | threads | closed form | flow | line | best plain schedule (closed form, flow, line) |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in found:
        gains = (row.gain_closed_form, row.gain_flow, row.gain_line)
        cells = [
            _percent(gain) if answer == row.answers[2] or row.apart else f"**{_percent(gain)}**"
            for gain, answer in zip(gains, row.answers, strict=True)
        ]
        best = (row.best_plain_closed_form, row.best_plain_flow, row.best_plain_line)
        schedules = best[0] if len(set(best)) == 1 else ", ".join(best)
        yield f"| {row.kernel} | {row.parameters} | {row.machine} | {row.threads} | {' | '.join(cells)} | {schedules} |"


def page(found: Sequence[LineScored]) -> str:
    """The page down to its notes."""
    told = summary(found)
    head = [
        "# The advisor against the engine `line`",
        "",
        f"Written by `{COMMAND}`, up to the table. {told['combinations']} of the study's combinations ([results.md](results.md)),",
        "chosen by their place in it: all of mg's, and of every other kernel and size one machine and team. The figures are what",
        "latency-weighted chunks gain over the best of static, dynamic and guided; 2 % or more pays off.",
        "",
        f"{told['decided']} are decided (gain by `line` more than 0.5 % from 2 %); weights pay off in {told['pays_off']} of them.",
        "",
        "| against `line` | same answer | mean absolute error of the gain | mean error | greatest error | same best plain schedule |",
        "|---|---|---|---|---|---|",
    ]
    for name in ("closed form", "flow"):
        of = told[name]
        head.append(
            f"| {name} | {of['right']} of {told['decided']} | {100 * of['mean_absolute_error']:.2f} % | {100 * of['mean_error']:+.2f} % "
            f"| {100 * of['greatest_error']:+.2f} % | {of['same_best_plain']} of {told['combinations']} |"
        )
    return "\n".join([*head, "", *table(found)]) + "\n"


STUDY = Study(
    "advisor-line",
    "30 of these against the engine `line` (`advisor --engine line` is the same)",
    "an hour",
    (*study.STUDY.columns, "best_plain_line", "gain_line", "command"),
    lambda options: rows(options.folder, chosen(options.small)),
    (PAGE,),
    line=lambda row: list(table([row]))[2],
    tables=page,
)
