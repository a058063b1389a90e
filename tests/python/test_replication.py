"""Copies of pages that several nodes read (`carrefour:replicate=on`): the report's keys, and what is refused.

What becomes of each page is tested in tests/unit and tests/scenario.
"""

from __future__ import annotations

import pytest

import homenode as hn
from homenode.errors import UsageError

KEYS = {"replicated_pages", "collapsed_pages", "unreplicated_pages"}
SOON = "bind:0+carrefour:period=100us,accesses=0,first_pages=1"


@pytest.fixture(scope="module")
def gather(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    return hn.capture(
        "gather", n=1000000, reads=200000, repeats=4, output=tmp_path_factory.mktemp("replication") / "g.hnt"
    )


@pytest.mark.parametrize("engine", ["flow", "line"])
def test_a_report_tells_of_copies_only_where_there_may_be_any(gather: hn.Trace, engine: str) -> None:
    run = {
        replicate: hn.replay(
            gather, "xeon-x5550-2s", threads=8, engine=engine, placement=f"{SOON},replicate={replicate}"
        ).run
        for replicate in ("off", "on")
    }
    assert KEYS.isdisjoint(run["off"])
    assert run["on"]["replicated_pages"] >= run["on"]["collapsed_pages"] >= 0
    assert run["on"]["replicated_pages"] > 0
    assert run["on"]["unreplicated_pages"] == 0
    # a page counts for one node, however many have a copy
    assert sum(run["on"]["pages_by_node"]) == sum(run["off"]["pages_by_node"])
    for one in run.values():
        columns = [sum(column) for column in zip(*one["traffic_bytes"], strict=True)]
        assert columns == [
            read + written for read, written in zip(one["read_bytes_by_node"], one["write_bytes_by_node"], strict=True)
        ]


def test_a_study_s_table_has_the_copies(gather: hn.Trace) -> None:
    placements = [f"{SOON},replicate={replicate}" for replicate in ("off", "on")]
    frame = hn.Study({"gather": gather}, "xeon-x5550-2s", threads=8, placement=placements).run().frame
    off, on = frame.iloc[0], frame.iloc[1]
    assert off[list(KEYS)].isna().all()
    assert on["replicated_pages"] > 0
    assert on["unreplicated_pages"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("replicate=maybe", "unknown replicate of placement 'carrefour' 'maybe'; allowed: on, off"),
        ("replicate=on,reads=101", "reads = '101' is not an integer of at least 0 and at most 100"),
        ("replicate=on,first_pages=0", "first_pages = '0' is not an integer of at least 1"),
    ],
)
def test_bad_values_are_refused_in_one_sentence(gather: hn.Trace, options: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        hn.replay(gather, "xeon-x5550-2s", threads=2, placement=f"first-touch+carrefour:{options}")
