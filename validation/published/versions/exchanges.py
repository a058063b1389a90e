"""S1's patch programs by version (C30, C33): borders read from the neighbours' patches, or sent through buffers of every step.

S1 prints neither temporaries nor buffers. The present page has a scratch of each thread in every step and direct reads; its number of
patches is fitted with that version and kept here, so rows of the others say what the version alone moves.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from validation.published.s1.cases import ADVECTION_HEAPS, MACHINE, References
from validation.published.s1.replays import CELLS, advection_setting, step_seconds
from validation.rows import Row, not_compared

VERSIONS: dict[str, tuple[str, dict[str, int | str]]] = {
    "scratch in every step, direct reads": ("advection2d", {"temporaries": "scratch"}),
    "a buffer of each thread in every step, fluxes kept": (
        "advection2d_messages",
        {"temporaries": "reuse", "buffers": "thread"},
    ),
    "a buffer for each message in every step, fluxes kept": (
        "advection2d_messages",
        {"temporaries": "reuse", "buffers": "message"},
    ),
    "a buffer of each thread and a scratch in every step": (
        "advection2d_messages",
        {"temporaries": "scratch", "buffers": "thread"},
    ),
}


def rows(folder: Path, printed: References, teams: Sequence[int], patches: int) -> Iterator[Row]:
    """First touch over JArena, minus one, by version and team; nothing is counted, as the printed text decides for none."""
    for named, (kernel, given) in VERSIONS.items():
        for team in teams:
            settings = {column: advection_setting(heap) for column, heap in ADVECTION_HEAPS.items()}
            found = step_seconds(folder, kernel, {"patch": CELLS, **given}, team, patches, settings)
            known = [printed[column, f"advection2d_seconds_{team}"].value for column in ADVECTION_HEAPS]
            gain = found["first touch"].seconds / found["jarena"].seconds - 1
            times = " / ".join(f"{found[column].seconds * 1e3:.4g}" for column in ADVECTION_HEAPS)
            what = f"Table 5, 2D, {named}: gain of JArena, {team} threads"
            said = f"{gain:.3f} (a step: {times} ms)"
            yield not_compared(
                "C33", MACHINE, what, f"{known[0] / known[1] - 1:.3f}", said, found["first touch"].command
            )
