"""The three numbers that S1's Tables 4 and 5 set, each on columns of 8 to 32 threads; all other columns are predicted.

Nothing of the operating system is fitted: models/systems/linux-2.6.32.toml counts the lines that a fault's lock moves.
"""

from __future__ import annotations

from dataclasses import dataclass

HUB_LINKS, TOP_LINKS = (
    range(48, 64),
    range(64, 68),
)  # of models/machines/sgi-uv-32s.toml: hub to router, router to the tree's top
HUBS_OF_A_ROUTER = 4


@dataclass(frozen=True)
class Fitted:
    """A fitted number: what it is, and which printed ones set it."""

    name: str
    value: float
    unit: str
    set_by: str
    columns: frozenset[tuple[int, str, int]]  # table, heap manager or column, team


WRITE_RATE = Fitted(
    "a node's bandwidth, reads and writes one to one (2 / (1 / 14.2 + 1 / 13.8) GB/s)",
    14.0,
    "GB/s",
    "JArena, Table 4, 8 to 32 threads: 537 MB a node in 0.038 s, whose lines are written without being fetched",
    frozenset({(4, "jarena", 8), (4, "jarena", 16), (4, "jarena", 32)}),
)
NUMALINK = Fitted(
    "NUMAlink bandwidth of a hub, each way",
    3.7,
    "GB/s",
    "TCMalloc, Table 4, 32 threads (the first column with two hubs): 0.181 s",
    frozenset({(4, "tcmalloc", 32)}),
)
PATCHES = Fitted(
    "patches of the advection sample, all threads",
    4352,
    "patches",
    "Table 5 (2D), 32 threads: first touch over JArena 1.044; the grid is not printed",
    frozenset({(5, "first touch", 32), (5, "jarena", 32)}),
)
ALL = (WRITE_RATE, NUMALINK, PATCHES)


def changes(numalink: float = NUMALINK.value) -> dict[str, str]:
    """Return what the fitted numbers change of the machine's description; a link at the tree's top carries four hubs."""
    changed = {"controllers.one_to_one": f"{WRITE_RATE.value:g} GB/s"}
    changed |= {f"links.{link}.bandwidth": f"{numalink:g} GB/s" for link in HUB_LINKS}
    changed |= {f"links.{link}.bandwidth": f"{HUBS_OF_A_ROUTER * numalink:g} GB/s" for link in TOP_LINKS}
    return changed


def is_fitted(table: int, column: str, team: int) -> bool:
    """Whether this printed number set a parameter."""
    return any((table, column, team) in fitted.columns for fitted in ALL)
