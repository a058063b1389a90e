"""A core's own limits towards memory, on whole programs: streams, non-temporal stores, ownership (decision 0029)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from support import Ended

STREAM_LINES = 20_000
LARGE_LINES = 200_000
TRIADS = 2  # that the kernel runs


@pytest.fixture(scope="module")
def stream(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Three arrays of 20 000 lines."""
    path = tmp_path_factory.mktemp("core_limits") / "stream.hnt"
    hn.capture("stream", output=path, n=8 * STREAM_LINES)
    return hn.Trace.open(path)


@pytest.fixture(scope="module")
def large_stream(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Three arrays of 200 000 lines."""
    path = tmp_path_factory.mktemp("core_limits") / "large.hnt"
    hn.capture("stream", output=path, n=8 * LARGE_LINES)
    return hn.Trace.open(path)


def changed(machine: str, name: str, value: str) -> hn.Machine:
    return hn.Machine.load(machine).with_changes({name: value})


def test_runs_of_a_grid_share_nothing_that_streams_change(stream: hn.Trace) -> None:
    machines = [changed("xeon-x5550-2s", "core.prefetch_streams", number) for number in ("0", "1")]
    together = hn.replay_grid(stream, [hn.RunSpec(machine, threads=1) for machine in machines], workers=1)
    alone = [hn.replay(stream, machine, threads=1) for machine in machines]
    assert [result.seconds for result in together] == [result.seconds for result in alone]
    assert alone[1].seconds > alone[0].seconds


@pytest.mark.parametrize("engine", ["flow", "line"])
def test_non_temporal_stores_wait_until_memory_has_them(stream: hn.Trace, engine: str) -> None:
    # X5550: 66 ns less 27 ns of the DRAM, one line at a time. In `line` also less the mean wait for refresh, which a read's 66 ns contain:
    # tRFC of 160 ns, tREFI of 7.8 us.
    line = 39e-9 - (160e-9**2 / (2 * 7.8e-6) if engine == "line" else 0)
    one = changed("xeon-x5550-2s", "core.write_combining_buffers", "1")
    seconds = [
        hn.replay(stream, machine, threads=1, stores="nt", engine=engine).regions.loc["triad", "seconds"]
        for machine in (one, hn.Machine.load("xeon-x5550-2s"))
    ]
    assert seconds[0] >= TRIADS * STREAM_LINES * line
    assert seconds[0] == pytest.approx(TRIADS * STREAM_LINES * line, rel=0.05)
    assert seconds[1] < seconds[0] / 2


@pytest.mark.parametrize("engine", ["flow", "line"])
@pytest.mark.parametrize("pages", ["4KiB", "thp"])
def test_a_stream_of_loads_waits_at_each_page(large_stream: hn.Trace, engine: str, pages: str) -> None:
    """b and c are read side by side and walk together; a is only stored to. No array fits the X5550's last level of 8 MiB."""
    walk, page_lines = 1e-6, 64
    seconds = [
        hn.replay(
            large_stream, changed("xeon-x5550-2s", "tlb.stream_walk", value), threads=1, engine=engine, pages=pages
        ).regions.loc["triad", "seconds"]
        for value in ("0 ps", "1 us")
    ]
    at_once = TRIADS * LARGE_LINES / page_lines * walk
    if pages == "thp":  # one walk for 2 MiB
        assert seconds[1] - seconds[0] < 0.1 * at_once
    else:
        assert seconds[1] - seconds[0] == pytest.approx(at_once, rel=0.02)


SHARED = """
#include <stdlib.h>
enum { N = 2048, ROUNDS = 40 };
int main(void) {
  double* a = malloc(2 * N * sizeof *a);
  double* b = malloc(2 * N * sizeof *b);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 2 * N; ++i) a[i] = b[i] = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 2 * N; ++i) a[i] = round;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 2 * N; ++i) b[i] += a[i < N ? i + N : i - N];
  }
  free(a);
  free(b);
}
"""


def test_flow_waits_for_ownership_as_line_does(homenode: Callable[..., Ended], tmp_path: Path) -> None:
    """Two threads read what the other wrote, then write their own half again: 256 lines each, in 39 of 40 rounds shared."""
    (tmp_path / "shared.c").write_text(SHARED)
    assert homenode("cc", "-O2", "-g", "-fopenmp", "shared.c", "-o", "shared").status == 0
    assert homenode("capture", "-o", "shared.hnt", "--", "./shared").status == 0
    trace = hn.Trace.open(tmp_path / "shared.hnt")
    by_engine = {
        engine: hn.replay(trace, "opteron-8431-4s", threads=2, engine=engine, caches="lines")
        for engine in ("flow", "line")
    }
    seconds = {engine: result.seconds for engine, result in by_engine.items()}
    upgrades = {engine: result.run["upgrade_lines"] for engine, result in by_engine.items()}
    assert upgrades["flow"] == upgrades["line"] >= 39 * 2 * 256
    assert seconds["flow"] == pytest.approx(seconds["line"], rel=0.02)


def test_lines_of_one_set_come_in_one_after_the_other(own_cache: None, tmp_path: Path) -> None:
    """Of 64 columns 4 KiB apart all lines go into one set; 65 lines apart, into all (decision 0070)."""
    machine = hn.Machine.load("xeon-x5550-2s")
    limited = machine.with_changes({"caches.2.same_set": "20 ns", "caches.3.same_set": "20 ns"})
    for rows, engine in ((1024, "flow"), (1024, "simgrid"), (1040, "flow")):
        trace = hn.capture("srad_v1", output=tmp_path / f"{rows}.{engine}.hnt", rows=rows, cols=64, steps=1, check=0)
        took = []
        for described in (machine, limited):
            run = hn.replay(trace, described, threads=1, caches="lines", engine=engine).run
            took.append({region["label"]: region["seconds"] for region in run["regions"]}["statistics"])
        if rows == 1024:
            # 64 lines in a set of 8: each access misses the first level, and most hit behind it
            assert 0.7 <= took[1] / (20e-9 * 64 * rows) <= 1
            assert took[1] > 3 * took[0]
        else:
            assert took[1] == pytest.approx(took[0], rel=0.02)


def test_the_first_level_has_no_lines_of_one_set() -> None:
    with pytest.raises(hn.errors.UsageError, match="same_set of cache level 1 is 4 ns; allowed: none"):
        changed("xeon-x5550-2s", "caches.1.same_set", "4 ns")
