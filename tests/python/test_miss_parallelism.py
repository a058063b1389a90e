"""How many misses captured kernels can have in flight, through the public interface."""

from __future__ import annotations

from pathlib import Path

import pytest

import homenode as hn
from homenode import compiler


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


# Chains of five to eight places in one array, which end where the link is 0. Begin and links are indices.
CHAINS = """
enum { CHAINS = 4096, LONGEST = 8 };
static unsigned head[CHAINS], next[CHAINS * LONGEST][16];
int main(void) {
  unsigned long x = 1, found = 0;
  for (unsigned c = 0; c < CHAINS; ++c) {
    unsigned at = head[c] = 1 + c * 2467 % (CHAINS * (LONGEST - 1));
    for (unsigned link = 1; link < 5 + c % 4; ++link) at = next[at][0] = 1 + (at * 1021 + 7) % (CHAINS * LONGEST - 1);
    next[at][0] = 0;
  }
  for (int round = 0; round < 40000; ++round) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    unsigned links = 0;
    for (unsigned at = head[x >> 52]; at && links < LONGEST; at = next[at][0]) ++links;
    found += links;
  }
  return found == 0;
}
"""


@pytest.mark.capture
def test_a_chain_of_indices_is_known_wherever_it_begins(tmp_path: Path) -> None:
    (tmp_path / "chains.c").write_text(CHAINS)
    assert compiler.main(["-O2", str(tmp_path / "chains.c"), "-o", str(tmp_path / "chains")], "cc") == 0
    trace = hn.capture(command=[tmp_path / "chains"], output=tmp_path / "chains.hnt")
    # 5.1: some five of these chains lie in a batch of 32 accesses. Taken for random accesses they had 10, the miss buffers.
    assert misses_in_flight(trace, "main:serial") < 6
