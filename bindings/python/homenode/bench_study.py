"""A study of many small runs, in a process of its own so that its memory is its own: what it costs beyond the engine.

`python -m homenode.bench_study` says it by itself; with RUNS and TRACE it prints one study's numbers as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RUNS, FEW = 10_000, 1_000
PARQUET_ROWS = 100_000
_COMBINATIONS = 16  # of threads, placements and engines


def measured(runs: int, path: str) -> dict[str, Any]:
    """Seconds of a study of so many runs, of the engine's calls in it, and the process's peak memory."""
    import homenode as hn

    trace = hn.Trace.open(path)
    study = hn.Study(
        trace,
        "xeon-x7560-4s",
        threads=[4, 8, 16, 32],
        placement=["first-touch", "interleave"],
        engine=["flow", "closed-form"],
        heap="plain",
    ).sample(runs // _COMBINATIONS)
    with tempfile.TemporaryDirectory() as folder:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak from here on
        begin = time.perf_counter()
        results = study.run(store=Path(folder) / "runs", workers=1, progress=False)
        seconds = time.perf_counter() - begin
    peak = peak_bytes()
    points = study.plan.points()
    few = [run for batch in study.plan.batches(points[:: max(1, runs // FEW)], FEW) for run in batch]
    engine = 0.0
    for run in few:
        assert run.spec is not None
        begin = time.perf_counter()
        _ = run.spec.estimate(trace) if run.is_estimate else run.spec.replay(trace)
        engine += time.perf_counter() - begin
    return {
        "runs": len(results),
        "failed": results.failed,
        "accesses": trace.accesses,
        "seconds": seconds,
        "engine_seconds": engine / len(few),  # of a run
        "peak_rss_bytes": peak,
    }


def peak_bytes() -> int:
    """Of this process's memory, since it was last reset: getrusage tells a parent's peak, too, from before the program was loaded."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def parquet_seconds(folder: Path) -> float:
    """What loading a table of PARQUET_ROWS runs takes."""
    import homenode as hn
    from homenode.study.results import StudyResults

    with tempfile.TemporaryDirectory() as store:
        trace = hn.capture("stream", n=1000, output=folder / "stream.hnt")
        study = hn.Study(trace, "xeon-x5550-2s", threads=[1, 2, 4, 8])
        few = study.run(store=Path(store) / "runs")
        rows: list[dict[str, Any]] = json.loads(few.to_json())["runs"]
        many = [rows[place % len(rows)] for place in range(PARQUET_ROWS)]
        sources: list[Any] = [None] * len(many)
        StudyResults(many, many, sources, study.plan, {}).to_parquet(folder / "many.parquet")
    import pandas

    begin = time.perf_counter()
    frame = pandas.read_parquet(folder / "many.parquet")
    seconds = time.perf_counter() - begin
    assert len(frame) == PARQUET_ROWS
    return seconds


def note(many: dict[str, Any], few: dict[str, Any], parquet: float) -> str:
    """What a page says of it."""
    each = many["seconds"] / many["runs"]
    return (
        f"A study of {many['runs']:,} runs of a stream of 1,000 elements on sampled machines, one worker: "
        f"{1 / each:.0f} runs/s, {1e3 * many['engine_seconds']:.2f} ms a run in the engine and "
        f"{1e3 * (each - many['engine_seconds']):.2f} ms beyond it; peak {many['peak_rss_bytes'] / 1e6:.0f} MB "
        f"({few['peak_rss_bytes'] / 1e6:.0f} MB of {few['runs']:,} runs). "
        f"{PARQUET_ROWS:,} rows of Parquet load in {parquet:.2f} s."
    )


def studies(folder: Path) -> tuple[dict[str, Any], str]:
    """What RUNS runs take, and what a page says of them."""
    import homenode as hn

    trace = folder / "stream.hnt"
    hn.capture("stream", n=1000, check=0, output=trace)
    found: list[dict[str, Any]] = []
    for runs in (RUNS, FEW):
        command = [sys.executable, "-m", "homenode.bench_study", str(runs), str(trace)]
        found.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    many, few = found
    return many, note(many, few, parquet_seconds(folder))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(int(sys.argv[1]), sys.argv[2])))
    else:
        with tempfile.TemporaryDirectory() as name:
            print(studies(Path(name))[1])
