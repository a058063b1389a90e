"""Who feeds whom, through the public interface and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.errors import UsageError
from support import Ended

ROW = 128 * 4  # bytes of a row of hotspot, 128 x 128 floats


@pytest.mark.capture
def test_hotspot_shares_its_borders_and_what_the_master_initialised(trace: hn.Trace) -> None:
    # Blocks of 16 x 16 in row order, 4 threads: 32 rows each. A step reads one array and writes the other, so of what 1
    # writes 2 reads row 63 of both. The master initialised temperature and power: 2 reads 34 rows of one, 32 of the other.
    graph = trace.thread_graph(4)
    shared = graph["shared_bytes"]
    assert [entry["parent"] for entry in graph["threads"]] == [None, 0, 0, 0]
    assert shared[1][2] == shared[2][1] == 2 * ROW
    assert shared[1][3] == 0
    assert 66 * ROW <= shared[0][2] < 66 * ROW + 256  # and a few variables of main
    assert graph["threads"][3]["written_bytes"] == 2 * 32 * ROW


@pytest.mark.capture
def test_inspect_shows_threads(homenode: Callable[..., Ended], trace_file: Path) -> None:
    done = homenode("inspect", trace_file, "--threads", "--team", 4, "--json")
    assert done.status == 0
    assert json.loads(done.stdout)["thread_graph"]["shared_bytes"][1][2] == 2 * ROW
    done = homenode("inspect", trace_file, "--threads", "--team", 4)
    assert "Bytes that one thread writes and another reads" in done.stdout
    assert homenode("inspect", trace_file, "--team", 4).status == 2


def test_a_team_of_none_is_refused(trace: hn.Trace) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        trace.thread_graph(0)
