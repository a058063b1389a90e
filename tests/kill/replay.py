"""kill -9 of `homenode replay -o` at random moments: no process is left, and a report is whole or as it was before. Run by hand.

python tests/kill/replay.py [--times 100] [--seed 1] [--engine flow]

With `--engine simgrid` the replays are in worker processes, which must end with the one that started them.
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

from capture import HOMENODE, PATIENCE, processes_with

import homenode as hn

BEFORE = "what was there before\n"


def start(folder: Path, engine: str, mark: str) -> subprocess.Popen[bytes]:
    """A grid of replays into x.json."""
    call = [HOMENODE, "replay", "x.hnt", "--machine", "xeon-x7560-4s", "--threads", "8,16,32", "--engine", engine]
    call += ["--placement", "first-touch", "--placement", "interleave", "--workers", "2", "-o", "x.json"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(call, cwd=folder, env={**os.environ, "KILL_MARK": mark}, **quiet)  # type: ignore[call-overload]


def killed(folder: Path, engine: str, after: float, whole: str) -> str | None:
    """What a replay leaves that is killed so many seconds after its start; None if it had ended."""
    mark = uuid.uuid4().hex
    report = folder / "x.json"
    report.write_text(BEFORE)
    replay = start(folder, engine, mark)
    try:
        replay.wait(after)
        return None
    except subprocess.TimeoutExpired:
        replay.kill()
        replay.wait()
    end = time.monotonic() + PATIENCE
    while processes_with(mark):
        if time.monotonic() > end:
            return "PROCESSES LEFT"
        time.sleep(0.01)
    left = report.read_text()
    return (
        "the report before" if left == BEFORE else "the whole report" if left == whole else "A REPORT THAT IS NEITHER"
    )


def main() -> int:
    """Kill, count, say; 1 if anything was left that should not be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="flow")
    asked = parser.parse_args()
    moments = random.Random(asked.seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="homenode-kill-") as name:
        folder = Path(name)
        hn.capture("jacobi2d", output=folder / "x.hnt", n=256, sweeps=2)
        begin = time.monotonic()
        assert start(folder, asked.engine, "whole").wait() == 0
        seconds, whole = time.monotonic() - begin, (folder / "x.json").read_text()
        while found.total() < asked.times:
            left = killed(folder, asked.engine, seconds * moments.random(), whole)
            if left is not None:
                found[left] += 1
    print(f"{asked.times} kills of a replay of {seconds:.2f} s by {asked.engine}: {dict(found)}")
    return 1 if any(what.isupper() for what in found) else 0


if __name__ == "__main__":
    sys.exit(main())
