"""How many misses captured kernels can have in flight, through the public interface."""

from __future__ import annotations

import pytest

import homenode as hn


def misses_in_flight(trace: hn.Trace, label: str) -> float:
    regions = trace.regions.set_index("label")
    return float(regions.loc[label, "miss_parallelism"])


@pytest.mark.capture
def test_chase_four_chases_gather_and_stream() -> None:
    # parallelism = min(dependence, 10 miss buffers or 16 prefetched lines):
    # a chain of loads 1; four chains side by side 4; independent random loads the buffers; streams the prefetcher
    size = {"nodes": 4096, "steps": 4096}
    assert misses_in_flight(hn.capture("chase", chains=1, **size), "chase") == pytest.approx(1, abs=0.05)
    assert misses_in_flight(hn.capture("chase", chains=4, **size), "chase") == pytest.approx(4, abs=0.2)
    gather = misses_in_flight(hn.capture("gather", n=50000, reads=20000), "gather")
    stream = misses_in_flight(hn.capture("stream", n=20000), "triad")
    assert gather == pytest.approx(10, abs=1)
    assert stream == pytest.approx(16, abs=0.5)
    assert stream > gather
