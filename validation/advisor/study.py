"""Closed form against `flow` on combinations that were fixed beforehand: `python -m validation advisor`.

For each combination of a kernel, its size, a machine and a team both say what latency-weighted chunks gain over the best of OpenMP's
plain schedules. `yes` is a gain of 2 % or more; combinations whose gain by `flow` lies within half a percent of that are counted
apart, for there the answer depends on less than either model can tell.
"""

import csv
import math
import statistics
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.advising import WEIGHTED, plain_distributions
from homenode.gain_map import WORTH
from validation.result_cache import ResultCache, package_hash
from validation.rows import AnyRow
from validation.study import Options, Study
from validation.traces import captured

COMBINATIONS = Path(__file__).with_name("combinations.toml")
RESULTS = Path(__file__).with_name("results.csv")
PAGE = Path(__file__).with_name("results.md")
COMMAND = "python -m validation advisor --write"
APART = 0.005  # gains by flow so near to WORTH are counted apart
TARGET = 190 / 200  # of the decided combinations with the right answer


@dataclass(frozen=True)
class Combination:
    """A program on a machine."""

    kernel: str
    parameters: dict[str, int | str]
    machine: str
    threads: int


@dataclass(frozen=True)
class Scored(AnyRow):
    """What both say about one combination."""

    kernel: str
    parameters: str
    machine: str
    threads: int
    best_plain_closed_form: str
    best_plain_flow: str
    gain_closed_form: float
    gain_flow: float

    @property
    def apart(self) -> bool:
        """Whether it is too near to the limit to count."""
        return abs(self.gain_flow - WORTH) <= APART

    @property
    def right(self) -> bool:
        """Whether both give the same answer."""
        return (self.gain_closed_form >= WORTH) == (self.gain_flow >= WORTH)


def combinations(small: bool = False) -> list[Combination]:
    """Those of the file, in its order; `small`: the first size of each kernel on the first machine."""
    text = tomllib.loads(COMBINATIONS.read_text(encoding="utf-8"))
    every = [
        Combination(kernel["kernel"], size, team["machine"], threads)
        for kernel in text["kernels"]
        for size in kernel["sizes"]
        for team in text["teams"]
        for threads in team["threads"]
    ]
    if not small:
        return every
    first = {one["kernel"]: one["sizes"][0] for one in text["kernels"] if one["kernel"] in ("jacobi2d", "stream")}
    team = text["teams"][0]
    return [Combination(kernel, size, team["machine"], team["threads"][0]) for kernel, size in first.items()]


def gain_by(trace: hn.Trace, threads: int, seconds: Callable[[str], float]) -> tuple[str, float]:
    """The best plain schedule by these seconds of a schedule, and what weights gain over it."""
    plain = {schedule: seconds(text) for schedule, text in plain_distributions(trace, threads).items()}
    best = min(plain, key=plain.__getitem__)
    return best, plain[best] / seconds(WEIGHTED)


def score(trace: hn.Trace, combination: Combination) -> Scored:
    """Ask both."""
    machine, threads = combination.machine, combination.threads

    def closed_form(schedule: str) -> float:
        return float(hn.estimate(trace, machine, threads=threads, distribution=schedule).seconds)

    def flow(schedule: str) -> float:
        return hn.replay(trace, machine, threads=threads, distribution=schedule).seconds

    best_closed_form, gain_closed_form = gain_by(trace, threads, closed_form)
    best_flow, gain_flow = gain_by(trace, threads, flow)
    return Scored(
        combination.kernel,
        " ".join(f"{key}={value}" for key, value in combination.parameters.items()),
        machine,
        threads,
        best_closed_form,
        best_flow,
        gain_closed_form,
        gain_flow,
    )


def scored(folder: Path, chosen: Iterable[Combination], workers: int = 2) -> Iterator[Scored]:
    """Score each, in order; what the same package has scored before is kept in the folder."""
    cache = ResultCache(folder / "advisor.jsonl", package_hash())

    def one(combination: Combination) -> Scored:
        trace = captured(folder, combination.kernel, combination.parameters)
        question = {"trace": trace.hash, "machine": combination.machine, "threads": combination.threads}
        return Scored(**cache.get({**question, **combination.parameters}, lambda: asdict(score(trace, combination))))

    chosen = list(chosen)
    for combination in chosen:  # captures one after the other: they share a folder
        captured(folder, combination.kernel, combination.parameters)
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, chosen)


def correlation(rows: Sequence[Scored]) -> float:
    """Pearson's, of the gains; 0 where one of them is always the same."""
    mine, theirs = [row.gain_closed_form for row in rows], [row.gain_flow for row in rows]
    try:
        return statistics.correlation(mine, theirs)
    except statistics.StatisticsError:
        return 0.0


def summary(rows: Sequence[Scored]) -> dict[str, Any]:
    """Correlation, errors, and the table of answers."""
    decided = [row for row in rows if not row.apart]
    errors = [row.gain_closed_form - row.gain_flow for row in rows]

    def count(mine: bool, theirs: bool, of: Sequence[Scored]) -> int:
        return sum((row.gain_closed_form >= WORTH) == mine and (row.gain_flow >= WORTH) == theirs for row in of)

    return {
        "combinations": len(rows),
        "correlation": correlation(rows),
        "mean_absolute_error": math.fsum(map(abs, errors)) / len(rows),
        "mean_error": math.fsum(errors) / len(rows),
        "apart": len(rows) - len(decided),
        "apart_right": sum(row.right for row in rows if row.apart),
        "decided": len(decided),
        "right": sum(row.right for row in decided),
        "yes_yes": count(True, True, decided),
        "yes_no": count(True, False, decided),
        "no_yes": count(False, True, decided),
        "no_no": count(False, False, decided),
        "target_met": sum(row.right for row in decided) >= TARGET * len(decided) if decided else False,
    }


def write(rows: Sequence[Scored]) -> None:
    """The table of all combinations, and the page that sums it up."""
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = list(asdict(rows[0]))
        writer.writerow(names)
        for row in rows:
            values = asdict(row)
            writer.writerow([f"{value:.5f}" if isinstance(value, float) else value for value in values.values()])
    PAGE.write_text(page(rows), encoding="utf-8")


def page(rows: Sequence[Scored]) -> str:
    """The page."""
    found = summary(rows)
    verdict = "is met" if found["target_met"] else "is not met"
    lines = [
        "# The advisor's study",
        "",
        f"Written by `{COMMAND}`. {found['combinations']} combinations of kernel, size, machine and team, fixed in",
        "`combinations.toml` before any was scored; `results.csv` has each. Does latency-weighted distribution gain 2 % or more over the",
        "best of static, dynamic and guided? The closed form answers without a replay, `flow` by four of them.",
        "",
        "| what | figure |",
        "|---|---|",
        f"| correlation of the gains | {found['correlation']:.3f} |",
        f"| mean absolute error of the gain | {100 * found['mean_absolute_error']:.2f} % |",
        f"| mean error of the gain, closed form less flow | {100 * found['mean_error']:+.2f} % |",
        f"| same answer, of {found['decided']} that are decided | {found['right']} |",
        f"| gain by flow within 0.5 % of 2 %, counted apart | {found['apart']}, {found['apart_right']} of them with the same answer |",
        "",
        "| decided combinations | flow: pays off | flow: does not |",
        "|---|---|---|",
        f"| closed form: pays off | {found['yes_yes']} | {found['yes_no']} |",
        f"| closed form: does not | {found['no_yes']} | {found['no_no']} |",
        "",
        f"The target, 190 of 200 right, {verdict}: {found['right']} of {found['decided']}.",
        "",
        "| kernel | combinations | flow: pays off | same answer | mean gain by flow | mean error of the gain |",
        "|---|---|---|---|---|---|",
    ]
    for kernel in dict.fromkeys(row.kernel for row in rows):
        of = [row for row in rows if row.kernel == kernel]
        gain = statistics.fmean(row.gain_flow for row in of)
        error = statistics.fmean(row.gain_closed_form - row.gain_flow for row in of)
        lines.append(
            f"| {kernel} | {len(of)} | {sum(row.gain_flow >= WORTH for row in of)} | {sum(row.right for row in of)} "
            f"| {100 * (gain - 1):+.2f} % | {100 * error:+.2f} % |"
        )
    wrong = [row for row in rows if not row.right and not row.apart]
    if wrong:
        lines += [
            "",
            "Answers that differ:",
            "",
            "| kernel | parameters | machine | threads | closed form | flow |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row.kernel} | {row.parameters} | {row.machine} | {row.threads} | {100 * (row.gain_closed_form - 1):+.1f} % "
            f"| {100 * (row.gain_flow - 1):+.1f} % |"
            for row in wrong
        ]
    return "\n".join(lines) + "\n"


def _write(found: Sequence[Scored], options: Options) -> None:
    if not options.small:
        write(found)


STUDY = Study(
    "advisor",
    "whether chunks by latency pay off: the closed form against `flow` on 210 combinations",
    "an hour",
    (
        *("kernel", "parameters", "machine", "threads"),
        *("best_plain_closed_form", "best_plain_flow", "gain_closed_form", "gain_flow"),
    ),
    lambda options: scored(options.folder, combinations(options.small)),
    (PAGE,),
    line=lambda row: "  ".join(
        f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.as_json().values()
    ),
    write=_write,
    closing=lambda found, options: "  ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in summary(found).items()
    ),
    document=lambda found: {
        "schema": "homenode.advisor-study/1",
        "summary": summary(found),
        "rows": [row.as_json() for row in found],
    },
)
