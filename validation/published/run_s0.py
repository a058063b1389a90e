"""Runs S0's cases: each program with two numbers of iterations, under each placement and mapping on machines A and B."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

from validation.kept import Kept, package_hash
from validation.published import s0, s0_rows
from validation.published.s0 import Case
from validation.published.s0_figures import Found
from validation.published.s0_replays import Replays
from validation.rows import Row

MG_S = Case("mg", "S", (4,), few=1, more=4)
FT_S = Case("ft", "S", (6,), few=1, more=2, placed=s0.PLACED, balanced=(s0.AWARE,))
HOTSPOT_64 = Case("hotspot", "64", s0.STEPS, few=4, more=1000)
HOTSPOT_512 = Case("hotspot", "512", s0.STEPS, few=4, more=40)
SMALL = (
    dataclasses.replace(HOTSPOT_64, more=200),
    dataclasses.replace(HOTSPOT_512, more=12),
    Case("srad_v2", "256", s0.STEPS),
    MG_S,
    FT_S,
)
# The larger a case, the fewer of its settings. mg B is the grid of A with more cycles. Left out for their time: ft B and C, and of
# ft A and mg C machine B and unpinned threads, which share no record of the caches.
ALL_PINNED = (s0.PINNED, s0.INTERLEAVE, s0.AWARE)
CASES = (
    HOTSPOT_64,
    Case("hotspot", "128", s0.STEPS, few=4, more=400),
    Case("hotspot", "256", s0.STEPS, few=4, more=100),
    HOTSPOT_512,
    Case("hotspot", "1024", s0.STEPS, few=2, more=12),
    Case("srad_v1", "", s0.STEPS, few=2, more=12),
    Case("srad_v2", "", s0.STEPS, few=2, more=12),
    MG_S,
    FT_S,
    Case("hotspot", "2048", s0.STEPS, few=2, more=12, placed=s0.PLACED),
    Case("mg", "A", (4,), few=1, more=4, placed=s0.PLACED),
    Case("mg", "B", (20,), few=1, more=4, placed=s0.PLACED),
    Case("hotspot", "4096", s0.STEPS, few=2, more=8, placed=s0.PLACED),
    Case("hotspot", "8192", s0.STEPS, placed=s0.PLACED, balanced=(s0.AWARE,)),
    Case("ft", "A", (6,), few=1, more=2, placed=ALL_PINNED, balanced=(), machines=(s0.A,)),
    Case("mg", "C", (20,), few=1, more=2, placed=ALL_PINNED, balanced=(s0.AWARE,), machines=(s0.A,)),
)


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield the rows of C1 to C15, C17 and C18; says on stderr how far it is."""
    cases = SMALL if small else CASES
    replays = Replays(folder, Kept(folder / "s0.jsonl", package_hash()))
    timings, balancing = {}, {}
    for case in cases:
        for machine in case.machines:
            for setting in case.settings:
                timings[machine, case.name, setting] = replays.timing(case, machine, setting)
            for setting in case.balanced:
                timing = timings[machine, case.name, setting]
                balancing[machine, case.name, setting] = replays.balancing(case, machine, setting, timing)
            print(f"{case.name} on {machine}", file=sys.stderr, flush=True)
    yield from s0_rows.rows(Found(timings, balancing, cases), s0.references())
