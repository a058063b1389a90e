"""Windows of the code that ran (traces/capture/runtime/code_windows.c) show it as it ran."""

import json
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from streams import compile_with

# Now and then 60 links of a chain of divisions, between them 600 steps of a loop: a tenth of the blocks.
CHAIN = """
__attribute__((noinline)) double chain(double x) { for (int i = 0; i < 60; ++i) x = 3.0 / (x + 1.0); return x; }
__attribute__((noinline)) unsigned steps(unsigned x) { for (int i = 0; i < 600; ++i) x = x * 5 + (x >> 3); return x; }
int main(int count, char** words) {
  double x = count;
  unsigned y = count;
  for (int round = 0; round < ROUNDS; ++round) x = chain(x), y = steps(y);
  return x < 0 || y == 1;
}
"""
# A loop that hardly ever runs: 50 000 steps of it among 12 million of another one.
SELDOM = """
__attribute__((noinline)) unsigned steps(unsigned x, int n) { for (int i = 0; i < n; ++i) x = x * 5 + (x >> 3); return x; }
__attribute__((noinline)) unsigned other(unsigned x) { for (int i = 0; i < 100; ++i) x = x * 3 ^ (x >> 7); return x; }
int main(int count, char** words) {
  unsigned y = steps(count, 6000000);
  for (int round = 0; round < 500; ++round) y = other(y);
  return steps(y, 6000000) == 1;
}
"""


class Ran(NamedTuple):
    """What a twin says: windows; by block how many instructions it has, and its share of those that ran."""

    windows: list[list[list[int]]]
    instructions: dict[int, int]
    shares: dict[int, float]

    def length(self, window: list[list[int]]) -> int:
        return sum(times * self.instructions[block] for block, times in window)

    def sampled(self) -> dict[int, float]:
        """By block its share of the instructions in all windows."""
        found: Counter[int] = Counter()
        for window in self.windows:
            for block, times in window:
                found[block] += times * self.instructions[block]
        return {block: each / found.total() for block, each in found.items()}


def ran(folder: Path, source: str, *flags: str) -> Ran:
    (folder / "program.c").write_text(source)
    assert compile_with("-O1", *flags, "program.c", "-o", "program", cwd=folder).returncode == 0
    subprocess.run([folder / "program.twin"], env={"HOMENODE_WORK": str(folder / "work")}, check=True)
    lines = [json.loads(line) for line in (folder / "work").read_text().splitlines()]
    instructions = {line["ordinal"]: line["instructions"] for line in lines if line["kind"] == "block"}
    counts: Counter[int] = Counter()
    for line in lines:
        if line["kind"] == "serial":
            for block, executions, _ in line["blocks"]:
                counts[block] += executions * instructions[block]
    windows = [line["blocks"] for line in lines if line["kind"] == "window"]
    return Ran(windows, instructions, {block: each / counts.total() for block, each in counts.items()})


def test_code_is_sampled_as_often_as_it_runs(tmp_path: Path) -> None:
    program = ran(tmp_path, CHAIN, "-DROUNDS=3000")
    assert 60 <= len(program.windows) <= 256
    often = [block for block, share in program.shares.items() if share > 0.03]
    assert len(often) == 2
    sampled = program.sampled()
    for block in often:
        assert 0.7 < sampled[block] / program.shares[block] < 1.4, (block, program.shares[block], sampled[block])


def test_code_that_samples_miss_has_windows_of_its_own(tmp_path: Path) -> None:
    program = ran(tmp_path, SELDOM)
    # the loop of `other` is about a 240th part
    seldom = [block for block, share in program.shares.items() if 0.002 < share < 0.01]
    assert len(seldom) == 1
    behind = [
        window
        for window in program.windows
        if any(block == seldom[0] for block, _ in window[1:]) or window[0][0] == seldom[0]
    ]
    assert behind


def test_windows_are_of_one_length_and_the_same_in_every_run(tmp_path: Path) -> None:
    for source, flags in ((CHAIN, ["-DROUNDS=3000"]), (SELDOM, [])):
        program = ran(tmp_path, source, *flags)
        assert all(2000 <= program.length(window) < 2100 for window in program.windows)
        # neighbours differ: what runs on where the log's buffer ends is one run
        assert all(a != b for window in program.windows for (a, _), (b, _) in pairwise(window))
        assert ran(tmp_path, source, *flags).windows == program.windows


def test_a_short_program_has_what_it_has(tmp_path: Path) -> None:
    program = ran(tmp_path, CHAIN, "-DROUNDS=2")
    assert 1 <= len(program.windows) < 10
    assert all(program.length(window) < 2100 for window in program.windows)
