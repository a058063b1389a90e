"""The advisor where weights pay off by construction, and where they do not: `python -m validation advisor-cases`.

64 cases of by_construction.toml, half of each kind. The advisor is `advise --engine closed-form`: it replays nothing. What is true is
what `flow` says of static, dynamic, guided and latency-weighted chunks. Null models: always static, always weighted.
"""

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.advising import WEIGHTED, plain_distributions
from homenode.gain_map import WORTH
from validation.advisor.construction_page import page
from validation.advisor.judged import Judged
from validation.result_cache import ResultCache, package_hash
from validation.study import Options, Study
from validation.traces import captured

CASES = Path(__file__).with_name("by_construction.toml")
PAGE = Path(__file__).with_name("by_construction.md")
OF_THE_PROGRAM = ("machine", "threads")  # what in `each` is no parameter of the kernel


@dataclass(frozen=True)
class Case:
    """A program on a machine, and what was said of it beforehand."""

    family: str
    expected: bool
    held_out: bool
    kernel: str
    parameters: dict[str, int | str]
    machine: str
    threads: int
    changes: dict[str, str]
    placement: str = "first-touch"
    pages: str = "4KiB"

    @property
    def options(self) -> dict[str, Any]:
        """Of a replay or an estimate."""
        return {"threads": self.threads, "placement": self.placement, "pages": self.pages}


def cases(small: bool = False) -> list[Case]:
    """Those of the file, in its order; every second one of a family is held out. `small`: the first of two families."""
    text = tomllib.loads(CASES.read_text(encoding="utf-8"))
    every = [
        Case(
            family["name"],
            family["expected"],
            place % 2 == 1,
            family["kernel"],
            {**family["parameters"], **{key: value for key, value in one.items() if key not in OF_THE_PROGRAM}},
            one["machine"],
            one["threads"],
            family.get("changes", {}),
            family.get("placement", "first-touch"),
            family.get("pages", "4KiB"),
        )
        for family in text["families"]
        for place, one in enumerate(family["each"])
    ]
    if not small:
        return every
    first = {
        case.family: replace(case, parameters={**case.parameters, **_SMALL[case.kernel]}) for case in reversed(every)
    }
    return [first["skewed matrix in the caches"], first["equal chunks in the caches"]]


_SMALL: dict[str, dict[str, int | str]] = {
    "spmv": {"rows": 2000},
    "stream": {"n": 20000},
    "jacobi2d": {"n": 96},
    "jacobi3d": {},
    "hotspot": {"size": 64},
}


def judged(trace: hn.Trace, case: Case) -> Judged:
    """Ask both."""
    machine = hn.Machine.load(case.machine).with_changes(case.changes)
    plain = plain_distributions(trace, case.threads)

    def by(seconds: Callable[[str], float]) -> dict[str, float]:
        return {name: seconds(text) for name, text in {**plain, WEIGHTED: WEIGHTED}.items()}

    estimated = by(lambda text: float(hn.estimate(trace, machine, distribution=text, **case.options).seconds))
    replayed = by(lambda text: hn.replay(trace, machine, distribution=text, **case.options).seconds)
    best_estimated, best_replayed = (min(plain, key=one.__getitem__) for one in (estimated, replayed))
    gain_closed_form = estimated[best_estimated] / estimated[WEIGHTED]
    advised = WEIGHTED if gain_closed_form >= WORTH else best_estimated
    return Judged(
        family=case.family,
        expected=case.expected,
        held_out=case.held_out,
        kernel=case.kernel,
        parameters=" ".join(f"{key}={value}" for key, value in case.parameters.items()),
        machine=case.machine,
        threads=case.threads,
        gain_closed_form=gain_closed_form,
        gain_flow=replayed[best_replayed] / replayed[WEIGHTED],
        advised=advised,
        static_seconds=replayed["static"],
        plain_seconds=replayed[best_replayed],
        weighted_seconds=replayed[WEIGHTED],
        advised_seconds=replayed[advised],
    )


def all_judged(folder: Path, chosen: Iterable[Case], workers: int = 2) -> Iterator[Judged]:
    """Judge each, in order; what the same package has judged before is kept in the folder."""
    cache = ResultCache(folder / "advisor-cases.jsonl", package_hash())

    def one(case: Case) -> Judged:
        trace = captured(folder, case.kernel, case.parameters)
        return Judged(**cache.get({"trace": trace.hash, **asdict(case)}, lambda: asdict(judged(trace, case))))

    chosen = list(chosen)
    for case in chosen:  # captures one after the other: they share a folder
        captured(folder, case.kernel, case.parameters)
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, chosen)


def summary(rows: Sequence[Judged]) -> dict[str, Any]:
    """Answers counted, and the gain that each way of choosing keeps."""

    def geometric(factors: Iterable[float]) -> float:
        logs = [math.log(one) for one in factors]
        return math.exp(math.fsum(logs) / len(logs))

    def count(said: bool, pays: bool) -> int:
        return sum(row.said == said and row.pays == pays for row in rows)

    return {
        "cases": len(rows),
        "paying": sum(row.pays for row in rows),
        "as_expected": sum(row.expected == row.pays for row in rows),
        "yes_yes": count(True, True),
        "yes_no": count(True, False),
        "no_yes": count(False, True),
        "no_no": count(False, False),
        "right": sum(row.said == row.pays for row in rows),
        # Time of the best choice over that of what was chosen, geometric mean: 1 where nothing is lost.
        "kept_advised": geometric(row.best_seconds / row.advised_seconds for row in rows),
        "kept_static": geometric(row.best_seconds / row.static_seconds for row in rows),
        "kept_weighted": geometric(row.best_seconds / row.weighted_seconds for row in rows),
        "kept_plain": geometric(row.best_seconds / row.plain_seconds for row in rows),
    }


def _write(found: Sequence[Judged], options: Options) -> None:
    if not options.small:
        halves = [row for row in found if not row.held_out], [row for row in found if row.held_out]
        notes = PAGE.read_text(encoding="utf-8").partition("\n## ") if PAGE.exists() else ("", "", "")
        text = page(found, [summary(half) for half in (*halves, found)])
        PAGE.write_text(text + notes[1] + notes[2], encoding="utf-8")


STUDY = Study(
    "advisor-cases",
    "where chunks by latency pay off by construction and where they do not: the closed form against `flow` on 64 cases",
    "minutes",
    (
        *(
            "family",
            "expected",
            "held_out",
            "kernel",
            "parameters",
            "machine",
            "threads",
            "gain_closed_form",
            "gain_flow",
        ),
        *("advised", "static_seconds", "plain_seconds", "weighted_seconds", "advised_seconds"),
    ),
    lambda options: all_judged(options.folder, cases(options.small)),
    (PAGE,),
    write=_write,
    closing=lambda found, options: "  ".join(f"{key}={value:.4g}" for key, value in summary(found).items()),
)
