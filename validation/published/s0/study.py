"""S0 as a study: each program with two numbers of iterations, under each placement and mapping on machines A and B."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from validation.published.claims.figures import Figure
from validation.published.s0 import claim_figures
from validation.published.s0 import rows as compared
from validation.published.s0.cases import CASES, SMALL, references
from validation.published.s0.figures import Found
from validation.published.s0.latency import on_machines
from validation.published.s0.replays import Replays
from validation.result_cache import ResultCache, package_hash
from validation.rows import Row


def rows(folder: Path, small: bool = False) -> Iterator[Row | Figure]:
    """Yield the rows of C1 to C15, C17 and C18; says on stderr how far it is."""
    cases = SMALL if small else CASES
    replays = Replays(folder, ResultCache(folder / "s0.jsonl", package_hash()))
    timings, balancing = {}, {}
    for case in cases:
        for machine in case.machines:
            began = time.monotonic()
            for setting in case.settings:
                timings[machine, case.name, setting] = replays.timing(case, machine, setting)
            for setting in case.balanced:
                timing = timings[machine, case.name, setting]
                balancing[machine, case.name, setting] = replays.balancing(case, machine, setting, timing)
            took = time.monotonic() - began
            print(f"{case.name} on {machine}: {took:.0f} s", file=sys.stderr, flush=True)
    found = Found(timings, balancing, cases)
    yield from compared.rows(found, references())
    yield from claim_figures.figures(found)
    if small:
        return
    yield from claim_figures.footprint_figures()
    for one in on_machines(folder):
        yield from claim_figures.latency_figures(one.machine, one.placements)
