"""S0 as a study: each program with two numbers of iterations, under each placement and mapping on machines A and B."""

import sys
from collections.abc import Iterator
from pathlib import Path

from validation.published.s0 import rows as compared
from validation.published.s0.cases import CASES, SMALL, references
from validation.published.s0.figures import Found
from validation.published.s0.replays import Replays
from validation.result_cache import ResultCache, package_hash
from validation.rows import Row


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C1 to C15, C17 and C18; says on stderr how far it is."""
    cases = SMALL if small else CASES
    replays = Replays(folder, ResultCache(folder / "s0.jsonl", package_hash()))
    timings, balancing = {}, {}
    for case in cases:
        for machine in case.machines:
            for setting in case.settings:
                timings[machine, case.name, setting] = replays.timing(case, machine, setting)
            for setting in case.balanced:
                timing = timings[machine, case.name, setting]
                balancing[machine, case.name, setting] = replays.balancing(case, machine, setting, timing)
            print(f"{case.name} on {machine}", file=sys.stderr, flush=True)
    yield from compared.rows(Found(timings, balancing, cases), references())
