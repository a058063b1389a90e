"""What S1 measured and does not tell us here: the 3D sample of Table 5 and JEMS-FDTD of Table 6. Predictions, compared with nothing.

3D is 2D's problem with one direction more: as many patches of nearly as many cells, with the same reduced caches and thresholds. FDTD
allocates no temporaries, so what first touch loses to faults it cannot lose there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from validation.published.claims.figures import Figure
from validation.published.s1 import cases, replays
from validation.published.s1.claim_figures import patch_figures
from validation.rows import Row, not_compared

TEAMS = cases.ADVECTION_TEAMS


@dataclass(frozen=True)
class Blind:
    """A table's half that is kept apart, and the kernel for it."""

    claim: str
    name: str
    kernel: str
    parameters: dict[str, int | str]


CASES = (
    Blind("C31", "Table 5, 3D", "advection3d", {"patch": 13, "temporaries": "scratch"}),
    Blind("C32", "Table 6, JEMS-FDTD", "fdtd3d", {"patch": 10}),
)


def rows(folder: Path, patches: int) -> Iterator[Row | Figure]:
    """Yield speed-ups over 8 threads and JArena's gain, by team."""
    for case in CASES:
        settings = {column: replays.advection_setting(heap) for column, heap in cases.ADVECTION_HEAPS.items()}
        found = {
            (column, team): seconds
            for team in TEAMS
            for column, seconds in replays.step_seconds(
                folder, case.kernel, case.parameters, team, patches, settings
            ).items()
        }
        yield from patch_figures(case.kernel, found)
        for team in TEAMS:
            gain = found["first touch", team].seconds / found["jarena", team].seconds - 1
            for column in cases.ADVECTION_HEAPS:
                speed_up = found[column, 8].seconds / found[column, team].seconds
                what = f"{case.name}: speed-up over 8 threads, {column}, {team} threads"
                command = found[column, team].command
                yield not_compared(case.claim, cases.REDUCED_MACHINE, what, "[blind]", speed_up, command)
            what = f"{case.name}: gain of JArena, {team} threads"
            command = found["first touch", team].command
            yield not_compared(case.claim, cases.REDUCED_MACHINE, what, "[blind]", gain, command)
