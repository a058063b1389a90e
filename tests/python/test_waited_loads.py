"""Loads that a core waits for add their latency to computing; others overlap it. From a program's code to each engine's time."""

from __future__ import annotations

import pytest

import homenode as hn
from homenode import compiler
from homenode.resources import core_model

LOOKUPS = 20000
LATER = 100e-9
# Beside a chain of 8 multiplications and additions, a word of 64 MiB a lookup: branched on, which is wrong every second time, or added.
PROGRAM = f"""
#include <stdlib.h>
enum {{ WORDS = 1 << 24, LOOKUPS = {LOOKUPS} }};
static unsigned table[WORDS], order[LOOKUPS];
volatile int sink;
int main(void) {{
  unsigned long x = 1;
  for (int i = 0; i < WORDS; ++i) table[i] = i * 2654435761u >> 7;
  for (int i = 0; i < LOOKUPS; ++i) x = x * 6364136223846793005u + 1442695040888963407u, order[i] = x >> 40;
  double sum = 0;
  unsigned bits = 0;
  for (int i = 0; i < LOOKUPS; ++i) {{
    for (int k = 0; k < 4; ++k) sum = sum * 0.5 + 1;
#ifdef BRANCHES
    if (table[order[i]] & 1) sink = 1; else sink = 2;
#else
    bits += table[order[i]];
#endif
  }}
  return sum + bits < 0;
}}
"""

pytestmark = pytest.mark.skipif(core_model() is None, reason="built without LLVM 19")


@pytest.fixture(scope="module", params=[True, False], ids=["branches", "sums"])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    folder = tmp_path_factory.mktemp("waits")
    (folder / "code.c").write_text(PROGRAM)
    flags = ["-O2", "-fno-if-conversion", "-fno-if-conversion2", *(["-DBRANCHES"] if request.param else [])]
    assert compiler.main([*flags, str(folder / "code.c"), "-o", str(folder / "code")]) == 0
    return hn.capture(command=[folder / "code"], output=folder / "code.hnt")


@pytest.mark.parametrize("engine", ["flow", "line", "estimate"])
def test_memory_that_is_further_away_delays_what_waits_for_it(
    trace: hn.Trace, engine: str, request: pytest.FixtureRequest
) -> None:
    def seconds(latency: float) -> float:
        machine = hn.Machine.load("xeon-x5550-2s").with_changes(memory_latency=f"{latency * 1e9} ns")
        if engine == "estimate":
            return hn.estimate(trace, machine, threads=1).seconds
        return hn.replay(trace, machine, engine=engine, threads=1).seconds

    # Nine of ten lookups miss the caches. The core waits for those whose branches are wrong.
    delayed = (seconds(60e-9 + LATER) - seconds(60e-9)) / (LOOKUPS * LATER)
    if "branches" in request.node.callspec.id:
        assert delayed == pytest.approx(0.45, abs=0.1)
    else:
        assert delayed < 0.1
