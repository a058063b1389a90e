"""Windows of the code that ran (traces/capture/runtime/code_windows.c) show it as it ran."""

import json
import subprocess
from collections import Counter
from pathlib import Path

from streams import compile_with

# Now and then 60 links of a chain of divisions, between them 600 steps of a loop: a tenth of the blocks.
SOURCE = """
__attribute__((noinline)) double chain(double x) { for (int i = 0; i < 60; ++i) x = 3.0 / (x + 1.0); return x; }
__attribute__((noinline)) unsigned steps(unsigned x) { for (int i = 0; i < 600; ++i) x = x * 5 + (x >> 3); return x; }
int main(int count, char** words) {
  double x = count;
  unsigned y = count;
  for (int round = 0; round < 3000; ++round) x = chain(x), y = steps(y);
  return x < 0 || y == 1;
}
"""


def counted(folder: Path) -> tuple[list[dict], dict[int, float], dict[int, int]]:
    """The windows; by block its share of the instructions that ran, and its own instructions."""
    (folder / "chain.c").write_text(SOURCE)
    assert compile_with("-O1", "chain.c", "-o", "chain", cwd=folder).returncode == 0
    subprocess.run([folder / "chain.twin"], env={"HOMENODE_WORK": str(folder / "work")}, check=True)
    lines = [json.loads(line) for line in (folder / "work").read_text().splitlines()]
    instructions = {line["ordinal"]: line["instructions"] for line in lines if line["kind"] == "block"}
    ran: Counter[int] = Counter()
    for line in lines:
        if line["kind"] == "serial":
            for block, executions, _ in line["blocks"]:
                ran[block] += executions * instructions[block]
    total = sum(ran.values())
    windows = [line["blocks"] for line in lines if line["kind"] == "window"]
    return windows, {block: of_block / total for block, of_block in ran.items()}, instructions


def test_code_is_sampled_as_often_as_it_runs(tmp_path: Path) -> None:
    windows, shares, instructions = counted(tmp_path)
    assert 64 <= len(windows) <= 256
    sampled: Counter[int] = Counter()
    for window in windows:
        for block, times in window:
            sampled[block] += times * instructions[block]
    total = sum(sampled.values())
    often = [block for block, share in shares.items() if share > 0.03]
    assert len(often) == 2
    for block in often:
        assert 0.7 < sampled[block] / total / shares[block] < 1.4, (block, shares[block], sampled[block] / total)


def test_windows_are_of_one_length_and_the_same_in_every_run(tmp_path: Path) -> None:
    windows, _, instructions = counted(tmp_path)
    assert all(2000 <= sum(times * instructions[block] for block, times in window) < 2100 for window in windows)
    assert counted(tmp_path)[0] == windows
