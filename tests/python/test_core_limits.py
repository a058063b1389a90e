"""A core's own limits towards memory, on whole programs: streams, non-temporal stores, ownership (decision 0029)."""

from __future__ import annotations

from pathlib import Path

import pytest

import homenode as hn

STREAM_LINES = 20_000


@pytest.fixture(scope="module")
def stream(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Three arrays of 20 000 lines."""
    path = tmp_path_factory.mktemp("core_limits") / "stream.hnt"
    hn.capture("stream", output=path, n=8 * STREAM_LINES)
    return hn.Trace.open(path)


def changed(machine: str, name: str, value: str) -> hn.Machine:
    return hn.Machine.load(machine).with_changes({name: value})


def test_runs_of_a_grid_share_nothing_that_streams_change(trace: hn.Trace) -> None:
    machines = [changed("xeon-x5550-2s", "core.prefetch_streams", number) for number in ("0", "1")]
    together = hn.replay_grid(trace, [hn.RunSpec(machine, threads=1) for machine in machines], workers=1)
    alone = [hn.replay(trace, machine, threads=1) for machine in machines]
    assert [result.seconds for result in together] == [result.seconds for result in alone]
    assert alone[1].seconds > alone[0].seconds


@pytest.mark.parametrize("engine", ["flow", "line"])
def test_non_temporal_stores_wait_until_memory_has_them(stream: hn.Trace, engine: str) -> None:
    # X5550: 66 ns less 27 ns of the DRAM, one line at a time.
    one = changed("xeon-x5550-2s", "core.write_combining_buffers", "1")
    seconds = [
        hn.replay(stream, machine, threads=1, stores="nt", engine=engine).regions.loc["triad", "seconds"]
        for machine in (one, hn.Machine.load("xeon-x5550-2s"))
    ]
    assert seconds[0] >= STREAM_LINES * 39e-9
    assert seconds[0] == pytest.approx(STREAM_LINES * 39e-9, rel=0.05)
    assert seconds[1] < seconds[0] / 2


@pytest.mark.parametrize("machine", ["xeon-x5550-2s", "opteron-8431-4s", "xeon-x7560-4s"])
def test_flow_waits_for_ownership_as_line_does(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "pingpong.hnt"
    hn.capture("threads_pingpong", output=path, turns=200)
    trace = hn.Trace.open(path)
    seconds = {
        engine: hn.replay(trace, machine, threads=3, oversubscribe=False, engine=engine, caches="lines").seconds
        for engine in ("flow", "line")
    }
    assert seconds["flow"] == pytest.approx(seconds["line"], rel=0.03)
