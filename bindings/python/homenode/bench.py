"""Speed as ratios in one run: the native program, cachegrind, capture and the engines on the reference work.

Reference work: two sweeps of the five-point Jacobi kernel on 2048 x 2048 doubles, 50.23 million accesses (`jacobi2d`).
Irregular work: sparse products of a million rows (`spmv`), held against that program natively and under cachegrind.
`python -m homenode.bench`, or `./dev bench`; `--json` for the rows alone, `--write` renews docs/performance.md.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode import _core, bench_page, bench_study
from homenode.workers import cpus

N, SWEEPS = 2048, 2
ACCESSES_PER_SWEEP = 6 * (N - 2) ** 2
MACHINE = "xeon-e5-2697v2-2s"
# The same on others, whose last levels are smaller than the work (X5550, 8431) or larger (X7560): there it is not on the edge
# of what the caches hold, where every range falls into lines held and lines not.
OTHER_MACHINES = ("xeon-x5550-2s", "opteron-8431-4s", "xeon-x7560-4s")
NATIVE_FLAGS = ("-O2", "-fopenmp", "-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns")
ROUNDS = 7


def _row(
    name: str, accesses: float, seconds: float, rss_bytes: int = 0, bytes_per_access: float | None = None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "work": "jacobi2d",
        "accesses_per_second": accesses / seconds,
        "ratio_to_native": None,
        "peak_rss_bytes": rss_bytes,
        "others": _core.other_thread_share(300),  # when the row is made: a glance of a few milliseconds
    }
    if bytes_per_access is not None:
        row["bytes_per_access"] = bytes_per_access
    return row


def _run(command: list[str], **variables: str) -> tuple[str, float]:
    """The standard output and the seconds of one process."""
    begin = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - begin


@dataclass(frozen=True)
class Work:
    """A kernel whose program the engines are held against."""

    kernel: str
    settings: tuple[str, ...]
    region: str
    repeats: str  # the parameter by which the region runs several times
    accesses: int  # of the region, once


REFERENCE = Work("jacobi2d", (f"n={N}", "check=0"), "sweep", "sweeps", ACCESSES_PER_SWEEP)
SPMV_ROWS, SPMV_WIDTH = 1_000_000, 8
SAMPLE = 16
# An entry and its column, the element that it names; two ends and the sum of a row, of which one stays in a register.
SPMV = Work(
    "spmv",
    (f"rows={SPMV_ROWS}", f"width={SPMV_WIDTH}", "check=0"),
    "multiply",
    "repeats",
    SPMV_ROWS * (3 * SPMV_WIDTH + 2),
)


def native(folder: Path, work: Work) -> dict[str, Any]:
    """The program itself on one thread: the fastest of several runs, by its own clock around the region."""
    from homenode.resources import KERNELS

    program = folder / work.kernel
    subprocess.run(["gcc", *NATIVE_FLAGS, str(KERNELS / f"{work.kernel}.c"), "-o", str(program), "-lm"], check=True)
    command = [str(program), *work.settings, f"{work.repeats}=8"]
    fastest = float("inf")
    for _ in range(ROUNDS):
        text, _ = _run(command, OMP_NUM_THREADS="1", HOMENODE_TIMES="1")
        lines = [line for line in text.splitlines() if line.startswith(f"region={work.region}")]
        fastest = min(fastest, *(float(line.split("time_seconds=")[1]) for line in lines))
    return {**_row(f"native{_of(work)}", work.accesses, fastest), "work": work.kernel}


def _of(work: Work) -> str:
    return "" if work is REFERENCE else f", {work.kernel}"


def cachegrind(folder: Path, work: Work) -> dict[str, Any] | None:
    """The same program under cachegrind, which keeps no time: the difference of two lengths, so that start-up drops out."""
    if shutil.which("valgrind") is None:
        return None
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
    command += [str(folder / work.kernel), *work.settings]
    seconds = [
        min(_run([*command, f"{work.repeats}={repeats}"], OMP_NUM_THREADS="1")[1] for _ in range(2))
        for repeats in (1, 1 + SWEEPS)
    ]
    return {**_row(f"cachegrind{_of(work)}", work.accesses * SWEEPS, seconds[1] - seconds[0]), "work": work.kernel}


def capture(folder: Path) -> tuple[dict[str, Any], Path]:
    """Capture of the program: again the difference of two lengths; bytes from the trace of the reference work."""
    import homenode as hn

    trace = folder / "reference.hnt"
    seconds = {}
    for sweeps in (SWEEPS, 10 * SWEEPS):
        hn.capture("jacobi2d", n=64, sweeps=1, output=folder / "compiled.hnt")  # compiles, so that no compiler is timed
        fastest = float("inf")
        for _ in range(3):
            begin = time.perf_counter()
            captured = hn.capture(
                "jacobi2d", n=N, sweeps=sweeps, check=0, output=trace if sweeps == SWEEPS else folder / "long.hnt"
            )
            fastest = min(fastest, time.perf_counter() - begin)
        seconds[sweeps] = fastest
        if sweeps == SWEEPS:
            bytes_per_access = trace.stat().st_size / captured.accesses
    row = _row(
        "capture",
        ACCESSES_PER_SWEEP * 9 * SWEEPS,
        seconds[10 * SWEEPS] - seconds[SWEEPS],
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        bytes_per_access,
    )
    return row, trace


def engine(
    name: str, trace: Path, machine: str = MACHINE, caches: str = "auto", work: str = "", raw: bool = False
) -> dict[str, Any]:
    """A replay on all cores of a machine, in a process of its own so that its memory is its own; `raw`: access by access."""
    measured = _measured(name, trace, machine, caches, raw)
    row_name = " ".join([name, *([machine] if machine != MACHINE else []), *([f"{work}, {caches}"] if work else [])])
    return _row(row_name, measured["accesses"], measured["seconds"], measured["peak_rss_bytes"])


def _measured(
    name: str, trace: Path, machine: str = MACHINE, caches: str = "auto", raw: bool = False, host_threads: int = 1
) -> dict[str, Any]:
    command = [sys.executable, "-m", "homenode.bench", "--engine", name, "--trace", str(trace)]
    command += ["--machine", machine, "--caches", caches, "--host-threads", str(host_threads)]
    text, _ = _run([*command, *(["--raw"] if raw else [])])
    found: dict[str, Any] = json.loads(text)
    return found


def one_more_placement(trace: Path) -> dict[str, Any]:
    """A second placement of the same trace, machine and mapping in one grid: `ratio_to_first` is its time over the first one's."""
    import homenode as hn

    opened, machine = hn.Trace.open(trace), hn.Machine.load(MACHINE)
    fastest = [float("inf"), float("inf")]
    accesses = 0
    for _ in range(ROUNDS):
        choices = hn.grid([machine], [machine.cores], placement=["first-touch", "interleave"])
        results = hn.replay_grid(opened, choices, workers=1)
        fastest = [min(before, result.cost_seconds) for before, result in zip(fastest, results, strict=True)]
        accesses = results[1].run["accesses"]
    return {**_row("flow, one more placement", accesses, fastest[1]), "ratio_to_first": fastest[1] / fastest[0]}


def _measure_engine(
    name: str, trace: str, machine_name: str, caches: str, raw_addresses: bool, host_threads: int = 1
) -> dict[str, Any]:
    import homenode as hn
    from homenode import _core

    opened, machine = _core.Trace.open(trace), hn.Machine.load(machine_name)
    if raw_addresses:
        opened = opened.expand_runs()
    options = _core.RunSpec(threads=machine.cores, engine=name, caches=caches)
    fastest, accesses = float("inf"), 0
    for _ in range(3 if name == "line" else ROUNDS):  # a second each
        begin = time.perf_counter()
        raw = _core.replay(opened, machine._core, options, _core.RunExtras(host_threads=host_threads))
        fastest = min(fastest, time.perf_counter() - begin)
        accesses = raw["counts"]["accesses"]
    return {
        "accesses": accesses,
        "seconds": fastest,
        "peak_rss_bytes": bench_study.peak_bytes(),
    }


def short_runs(folder: Path) -> list[dict[str, Any]]:
    """What touches a line at a time, by both cache models: a gather, and hotspot's blocks of 16 x 16."""
    import homenode as hn

    result = []
    works: tuple[tuple[str, dict[str, Any]], ...] = (
        ("gather", {"n": 1_000_000, "reads": 1_000_000}),
        ("hotspot", {"size": N}),
    )
    for kernel, size in works:
        trace = folder / f"{kernel}.hnt"
        hn.capture(kernel, output=trace, check=0, **size)
        result += [engine("flow", trace, caches=caches, work=kernel) for caches in ("lines", "runs")]
        if kernel == "gather":
            result.append({**engine("line", trace), "name": "line-random"})
    return result


def irregular(folder: Path) -> list[dict[str, Any]]:
    """Sparse products in compressed rows, without what fills them: natively, under cachegrind, captured and replayed.

    Of the last two the difference of two lengths.
    """
    import homenode as hn

    result = [native(folder, SPMV)]
    if (under_cachegrind := cachegrind(folder, SPMV)) is not None:
        result.append(under_cachegrind)
    hn.capture("spmv", rows=64, output=folder / "compiled.hnt")
    sampled = f"lines:sample={SAMPLE}"
    models = {
        ("lines", 1): "flow, spmv",
        ("lines", cpus()): f"flow, spmv, {cpus()} CPUs",
        (sampled, 1): f"flow, spmv, one line in {SAMPLE}",
        (sampled, cpus()): f"flow, spmv, one line in {SAMPLE}, {cpus()} CPUs",
    }
    captures, accesses, stored, peaks = [], [], [], {}
    replays: dict[tuple[str, int], list[float]] = {model: [] for model in models}
    for repeats in (1, 1 + SWEEPS):
        trace = folder / f"spmv{repeats}.hnt"
        begin = time.perf_counter()
        hn.capture("spmv", rows=SPMV_ROWS, width=SPMV_WIDTH, repeats=repeats, check=0, output=trace)
        captures.append(time.perf_counter() - begin)
        for model in models:
            measured = _measured("flow", trace, caches=model[0], host_threads=model[1])
            replays[model].append(measured["seconds"])
            peaks[model] = measured["peak_rss_bytes"]
        accesses.append(measured["accesses"])
        stored.append(trace.stat().st_size)
    more = accesses[1] - accesses[0]
    rows = [
        _row("capture, spmv", more, captures[1] - captures[0], 0, (stored[1] - stored[0]) / more),
        *(_row(row, more, replays[model][1] - replays[model][0], peaks[model]) for model, row in models.items()),
    ]
    return result + [{**row, "work": SPMV.kernel} for row in rows]


def many_tasks(folder: Path) -> dict[str, Any]:
    """S4's problem (Wittmann and Hager 2010, section 1.3): a sweep of 14400 tasks and its initialisation; `seconds` of both."""
    import homenode as hn

    problem: dict[str, Any] = {"ni": 2400, "nj": 600, "nk": 600, "bi": 10, "bj": 10, "bk": 600, "sweeps": 1, "check": 0}
    machine, fastest, accesses = hn.Machine.load(MACHINE), float("inf"), 0
    trace = hn.capture("jacobi3d", output=folder / "tasks.hnt", alias_over=1_000_000_000, **problem)
    choice = hn.grid([machine], [machine.cores], distribution=["init@static sweep@tasks"])
    for _ in range(2):  # seconds each
        result = hn.replay_grid(trace, choice)[0]
        fastest, accesses = min(fastest, result.cost_seconds), result.run["accesses"]
    return {**_row("flow, 14400 tasks", accesses, fastest), "seconds": fastest}


def study(folder: Path) -> dict[str, Any]:
    """Many small runs as one study; `note` says what they cost beyond the engine."""
    many, note = bench_study.studies(folder)
    row = _row(f"study, {many['runs']} runs", many["accesses"] * many["runs"], many["seconds"], many["peak_rss_bytes"])
    return {**row, "note": note}


def rows() -> list[dict[str, Any]]:
    """Every row, in one run, so that their ratios are of one machine in one state."""
    with tempfile.TemporaryDirectory(prefix="homenode-bench-") as name:
        folder = Path(name)
        result = [native(folder, REFERENCE)]
        if (under_cachegrind := cachegrind(folder, REFERENCE)) is not None:
            result.append(under_cachegrind)
        captured, trace = capture(folder)
        result += [captured, engine("flow", trace)]
        result += [engine("flow", trace, machine) for machine in OTHER_MACHINES]
        result += [one_more_placement(trace), many_tasks(folder)]
        result += [engine("simgrid", trace), engine("line", trace)]
        result += [engine("line", trace, machine) for machine in OTHER_MACHINES]
        result.append({**engine("line", trace, raw=True), "name": "line-raw"})
        result += [*short_runs(folder), *irregular(folder), study(folder)]
    return with_ratios(result)


def with_ratios(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each row's speed over that of the rows `native` and `cachegrind` of its work; none where those were not measured."""
    speeds = {(row["name"].partition(",")[0], row["work"]): row["accesses_per_second"] for row in measured}
    for row in measured:
        for other in ("native", "cachegrind"):
            speed = speeds.get((other, row["work"]))
            row[f"ratio_to_{other}"] = row["accesses_per_second"] / speed if speed else None
    return measured


def main() -> None:
    """Print the rows as a table or as JSON."""
    parser = argparse.ArgumentParser(prog="homenode.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="only the rows, as JSON")
    parser.add_argument("--write", action="store_true", help="renew docs/performance.md")
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    parser.add_argument("--machine", default=MACHINE, help=argparse.SUPPRESS)
    parser.add_argument("--caches", default="auto", help=argparse.SUPPRESS)
    parser.add_argument("--raw", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--host-threads", type=int, default=1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine:
        print(
            json.dumps(
                _measure_engine(
                    arguments.engine,
                    arguments.trace,
                    arguments.machine,
                    arguments.caches,
                    arguments.raw,
                    arguments.host_threads,
                )
            )
        )
        return
    if arguments.write and not bench_page.PAGE.exists():
        parser.error(f"no {bench_page.PAGE} here; allowed: --write in the project's own folder")
    measured = rows()
    if arguments.write:
        print(bench_page.renew(measured))
        return
    if arguments.json:
        print(json.dumps({"rows": measured}, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Reference work: five-point Jacobi, {N} x {N} doubles (engines: all cores of {MACHINE})")
    for column in ("", "M accesses/s", "x native", "x cachegrind", "bytes/access", "peak MB"):
        table.add_column(column, justify="left" if column == "" else "right")
    for row in measured:
        stored = f"{row['bytes_per_access']:.6f}" if "bytes_per_access" in row else ""
        memory = f"{row['peak_rss_bytes'] / 1e6:.0f}" if row["peak_rss_bytes"] else ""
        ratios = (row["ratio_to_native"], row["ratio_to_cachegrind"])
        table.add_row(
            row["name"],
            f"{row['accesses_per_second'] / 1e6:,.1f}",
            *(f"{ratio:.4g}" if ratio is not None else "–" for ratio in ratios),
            stored,
            memory,
        )
    Console().print(table)
    print(bench_page.beside_others(measured))
    for row in measured:
        if "note" in row:
            print(row["note"])


if __name__ == "__main__":
    main()
