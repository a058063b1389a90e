"""S1's Tables 2, 4 and 5 (2D) against replays; Tables 1 and 3 are heap_rows.py's."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from validation.published.s1.cases import (
    ADVECTION_HEAPS,
    ADVECTION_TEAMS,
    MACHINE,
    PRINTED_WRITE_TEAMS,
    WRITE_ORDER,
    WRITE_TEAMS,
    References,
)
from validation.published.s1.fitted import ALL, IN_VIEW, is_fitted
from validation.published.s1.replays import Seconds
from validation.rows import Class, Row, Verdict, agrees, identity, predicted


def class_of(*columns: tuple[int, str, int]) -> Class:
    """A row is fitted if one of the printed numbers that it holds up set a parameter."""
    return "fitted" if any(is_fitted(*column) for column in columns) else "predicted"


def distance_rows(printed: References, latency_ns: list[list[float]]) -> Iterator[Row]:
    """C37: least and largest distance."""
    ratios = [value / row[node] for node, row in enumerate(latency_ns) for value in row]
    for quantity, model in (("least_distance", min(ratios)), ("largest_distance", max(ratios))):
        reference = printed[MACHINE, quantity]
        close = abs(model - reference.printed) < 1e-6
        what = quantity.replace("_", " ") + " of nodes"
        command = f"homenode machines {MACHINE}"
        yield identity("C37", MACHINE, what, reference.printed, model, close, command)


def fitted_rows() -> Iterator[Row]:
    """The fitted numbers themselves."""
    for fitted in ALL:
        what = f"fitted number: {fitted.name}"
        yield Row("C26, C30", MACHINE, what, "fitted", fitted.set_by, fitted.value, fitted.unit, "not compared", "")
    for chosen in IN_VIEW:
        what = f"chosen with columns in view: {chosen.name}"
        yield Row("C26, C30", MACHINE, what, "fitted", chosen.reason, chosen.value, "", "not compared", "")


def write_rows(printed: References, times: Mapping[tuple[str, int], Seconds]) -> Iterator[Row]:
    """C26 and C27: Table 4, by heap manager and team."""
    for heap in WRITE_ORDER:
        for team in WRITE_TEAMS:
            what = f"Table 4: writing with {heap}, {team} threads (within a factor of 1.5)"
            known = printed.get((heap, f"write_seconds_{team}"))
            published: float | str = known.printed if known else "[blind]"
            found = times[heap, team]
            verdict: Verdict = "not compared"
            if known is not None:
                what += f": {found.seconds / known.value - 1:+.0%}"
                verdict = agrees(1 / 1.5 <= found.seconds / known.value <= 1.5)
            kind = class_of((4, heap, team))
            yield Row("C26", MACHINE, what, kind, published, found.seconds, "s", verdict, found.command)
    for team in PRINTED_WRITE_TEAMS[1:]:
        what = f"Table 4: {' < '.join(WRITE_ORDER)}, {team} threads"
        values = [times[heap, team].seconds for heap in WRITE_ORDER]
        ordered = values[0] < values[1] < values[2]
        said = " < ".join(f"{value:.3g}" for value in values) if ordered else " / ".join(f"{v:.3g}" for v in values)
        order = " < ".join(str(printed[heap, f"write_seconds_{team}"].printed) for heap in WRITE_ORDER)
        command = times["glibc", team].command
        kind = class_of(*((4, heap, team) for heap in WRITE_ORDER))
        yield Row("C26", MACHINE, what, kind, order, said, "s", agrees(ordered), command)
    ratios = {team: times["tcmalloc", team].seconds / times["jarena", team].seconds for team in (64, 128)}
    said = ", ".join(f"{team}: {ratio:.2f}" for team, ratio in ratios.items())
    within = all(3 <= ratio <= 6.5 for ratio in ratios.values())
    what = "Table 4: TCMalloc over JArena, 64 and 128 threads, 3 to 6.5"
    command = times["tcmalloc", 128].command
    yield predicted("C27", MACHINE, what, "6.3, 5.8", said, within, command)


def advection_rows(
    printed: References,
    times: Mapping[tuple[str, int], Seconds],
    variant: str,
    problem: str,
) -> Iterator[Row]:
    """C30, C33 and C34 on one variant of the kernel (its temporaries)."""
    teams = ADVECTION_TEAMS
    table = f"Table 5, 2D, {variant}"

    def published(column: str, team: int) -> float:
        return printed[column, f"advection2d_seconds_{team}"].value

    # The grid is not printed: one pace for all columns, at which JArena takes what it takes on 8 threads.
    pace = published("jarena", 8) / times["jarena", 8].seconds
    for column in ADVECTION_HEAPS:
        found = [times[column, team].seconds * pace for team in teams]
        for team, seconds in zip(teams, found, strict=True):
            known = published(column, team)
            kind: Class = "identity" if (column, team) == ("jarena", 8) else class_of((5, column, team))
            what = f"{table}: {column}, {team} threads (within a factor of 1.5; {problem}): {seconds / known - 1:+.0%}"
            close = 1 / 1.5 <= seconds / known <= 1.5
            command = times[column, team].command
            yield Row("C30", MACHINE, what, kind, known, seconds, "s", agrees(close), command)
        order = ", ".join(f"{published(column, team):.3g}" for team in teams)
        said = ", ".join(f"{seconds:.3g}" for seconds in found)
        shapes = {
            "jarena": {"falling throughout": all(later < earlier for earlier, later in pairwise(found))},
            "first touch": {
                "rising again after 128 threads": found[-1] > found[-2],
                "least at 128 threads": min(found) == found[-2],
            },
        }
        for shape, holds in shapes[column].items():
            what = f"{table}: {column}, {shape}"
            kind = class_of(*((5, column, team) for team in (64, 128, 256)))
            yield Row("C30", MACHINE, what, kind, order, said, "s", agrees(holds), times[column, 256].command)
    gains = {team: times["first touch", team].seconds / times["jarena", team].seconds - 1 for team in teams}
    command = times["first touch", 256].command
    printed_gain = {team: published("first touch", team) / published("jarena", team) - 1 for team in teams}
    said = ", ".join(f"{team}: {gain:.2f}" for team, gain in gains.items())
    order = ", ".join(f"{team}: {gain:.2f}" for team, gain in printed_gain.items())
    crossing = all(abs(gains[team]) <= 0.05 for team in (8, 16, 32)) and all(gains[t] > 0.05 for t in (64, 128, 256))
    what = f"{table}: gain of JArena at most 5 % to 32 threads, more from 64 on"
    kind = class_of(*((5, "first touch", team) for team in teams))
    yield Row("C34", MACHINE, what, kind, order, said, "1", agrees(crossing), command)
    reference = printed[MACHINE, "largest_gain"].printed
    close = 0.5 <= gains[256] / reference <= 2
    what, kind = f"{table}: gain of JArena at 256 threads (within a factor of 2)", class_of((5, "first touch", 256))
    yield Row("C33", MACHINE, what, kind, reference, gains[256], "1", agrees(close), command)
