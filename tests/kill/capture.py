"""kill -9 of `homenode capture` at random moments: no process is left, and what is left of the trace is recoverable. Run by hand.

python tests/kill/capture.py [--times 100] [--seed 1]

A capture is timed once; each of the others is killed after a random part of that time, so that all of its stages are met: imports,
the start of the program, its run, its twin, the end. Time is used to choose moments only; what is awaited is awaited by conditions.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path

import homenode as hn
from homenode import _core

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
from support import processes_with

HOMENODE = Path(sys.executable).with_name("homenode")
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 16 };
int main(void) {
  long* a = malloc(N * sizeof *a);
  unsigned long at = 1;
  for (int step = 0; step < 30; ++step) {
#pragma omp parallel for
    for (int i = 0; i < N; ++i) a[i] = i;
    for (int i = 0; i < 40000; ++i) at = at * 6364136223846793005u + 1442695040888963407u, a[at >> 48] += 1;
  }
  printf("%ld\\n", a[7]);
  return 0;
}
"""
PATIENCE = 60.0  # seconds until what should end is called a leftover


def start(folder: Path, mark: str) -> subprocess.Popen[bytes]:
    """A capture into x.hnt."""
    call = [HOMENODE, "capture", "-o", "x.hnt", "--", "./program"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(call, cwd=folder, env={**os.environ, "KILL_MARK": mark}, **quiet)  # type: ignore[call-overload]


def killed(folder: Path, after: float) -> tuple[str, int] | None:
    """What a capture leaves that is killed so many seconds after its start, and with how many accesses; None if it had ended."""
    mark = uuid.uuid4().hex
    capture = start(folder, mark)
    try:
        capture.wait(after)
        return None
    except subprocess.TimeoutExpired:
        capture.kill()
        capture.wait()
    end = time.monotonic() + PATIENCE
    while processes_with(mark):
        if time.monotonic() > end:
            return "PROCESSES LEFT", 0
        time.sleep(0.01)
    whole, part = folder / "x.hnt", folder / "x.hnt.part"
    if whole.exists():
        return ("PART BESIDE THE TRACE" if part.exists() else "trace"), hn.Trace.open(whole).accesses
    if not part.exists():
        return "nothing: not begun", 0
    if part.stat().st_size == 0:
        return "empty part: not begun", 0
    recovered = subprocess.run([HOMENODE, "recover", part, "-o", whole], capture_output=True, text=True, check=False)
    if "nothing to recover" in recovered.stderr:
        return "part without an access: not begun", 0
    if recovered.returncode or _core.check_trace(whole):
        return f"NOT RECOVERABLE: {recovered.stderr}", 0
    trace = hn.Trace.open(whole)
    return ("part with accesses" if trace.accesses else "part without accesses"), trace.accesses


def _seconds_of_one(folder: Path) -> float:
    begin = time.monotonic()
    assert start(folder, "whole").wait() == 0
    return time.monotonic() - begin


def main() -> int:
    """Kill, count, say; 1 if anything was left that should not be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    moments = random.Random(asked.seed)
    found: Counter[str] = Counter()
    accesses = []
    with tempfile.TemporaryDirectory(prefix="homenode-kill-") as name:
        folder = Path(name)
        (folder / "program.c").write_text(PROGRAM)
        subprocess.run([HOMENODE, "cc", "-O1", "-g", "-fopenmp", "program.c", "-o", "program"], cwd=folder, check=True)
        seconds = min(_seconds_of_one(folder) for _ in range(3))
        whole = hn.Trace.open(folder / "x.hnt").accesses
        while found.total() < asked.times:
            for file in folder.glob("x.hnt*"):
                file.unlink()
            left = killed(folder, seconds * moments.random())
            if left is None:
                continue
            what, number = left
            found[what] += 1
            if what == "part with accesses":
                accesses.append(number)
    print(
        f"{asked.times} captures of {seconds:.2f} s and {whole} accesses killed at random moments, seed {asked.seed}:"
    )
    for what, times in sorted(found.items()):
        print(f"  {times:4}  {what}")
    if accesses:
        print(f"  recovered accesses: {min(accesses)} to {max(accesses)}, {sum(accesses) // len(accesses)} in the mean")
    return 1 if any(what[:2].isupper() for what in found) else 0


if __name__ == "__main__":
    sys.exit(main())
