"""S0's figure 2b: the verdicts on made-up latencies."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from validation.published.s0 import latency
from validation.published.s0.cases import A
from validation.published.s0.latency import Latencies


def made_up(afar: int, slow: int, seconds: float) -> Latencies:
    """100 thousand lines of memory, `afar` of them another node's, `slow` of those at home 10 us late."""
    lines = {"local": {105.0: 100 - afar - slow, 10_005.0: slow}, "1 hop": {195.0: afar}, "L3": {35.0: 7}}
    near = {source: {taken: 1000 * n for taken, n in bins.items()} for source, bins in lines.items()}
    return Latencies("p", seconds, near, "homenode replay")


def test_verdicts() -> None:
    # aware, interleave, first touch, one thread's first touch
    names = latency.PLACEMENTS
    found = dict(
        zip(names, [made_up(5, 1, 1.0), made_up(75, 4, 1.1), made_up(5, 1, 1.0), made_up(75, 9, 2)], strict=True)
    )
    rows = list(latency.rows(A, "W", found))
    assert [row.verdict for row in rows] == ["agrees", "deviates", "agrees", "agrees", "deviates", "agrees"]
    assert rows[0].model == "0.05 / 0.75 / 0.05 / 0.75"
    assert all(row.claim == "C3" and row.cls == "predicted" for row in rows)


def test_what_an_iteration_adds() -> None:
    assert latency._less({"local": {5.0: 9, 15.0: 4}}, {"local": {5.0: 6}}) == {"local": {5.0: 3, 15.0: 4}}


def test_tables_have_every_line() -> None:
    text = list(latency.histogram({"p": made_up(40, 10, 1.0)}))
    # 7 of the last level below 80 ns, 50 at home in time, 40 from afar, 10 late
    assert text[2] == "| p | 7.0 | 50.0 | 40.0 | 0.0 | 0.0 | 10.0 |"
    # mean at home: (50 x 105 + 10 x 10005) / 60
    assert text[-1] == "| p | 40.0 (195 ns) | 7.0 (35 ns) | 60.0 (1755 ns) |"
