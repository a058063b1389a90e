"""Builds public programs twice, runs them natively, captures and replays them; each step a process of its own, with a limit of time."""

import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from validation.native.ablation import SWITCHES
from validation.native.program_table import Case, Program

_COMMANDS = Path(sys.executable).parent
_COMPILERS = {
    "native": {"CC": "gcc", "CXX": "g++", "FC": "gfortran"},
    "traced": {
        name: str(_COMMANDS / f"homenode-{of}") for name, of in (("CC", "gcc"), ("CXX", "g++"), ("FC", "gfortran"))
    },
}
# A build or a replay gets three quarters of the memory at most: it ends with a message, and nothing else of the machine does.
_WITHIN_MEMORY = ("prlimit", f"--data={3 * os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // 4}")
# A program may ask for more than it uses: a limit on what it asks for would refuse SPLASH-3's ocean its arrays, 17 GB in all, of which
# it touches a part. Where memory runs out, the system ends its capture first.
_ENDED_FIRST = ("sh", "-c", 'echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"', "sh")
BUILD_SECONDS, NATIVE_SECONDS, CAPTURE_SECONDS, REPLAY_SECONDS = 900, 60, 120, 600


class Unusable(Exception):
    """What kept a program from being compared, in a line."""


@dataclass(frozen=True)
class Native:
    """A native run."""

    cpu_seconds: float  # user and system
    elapsed_seconds: float


class Measured(NamedTuple):
    """Of several native runs: the least of what is compared, and how far the median lies above it."""

    seconds: float
    spread: float
    repeats: int


@dataclass(frozen=True)
class Captured:
    """A trace, and what its capture took."""

    path: Path
    seconds: float
    accesses: int
    instructions: float  # of the code that was seen and of calls
    unseen_share: float  # of them: that of code that was not instrumented
    creates_threads: bool


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or line.startswith("homenode:")]
    return " ".join((telling or lines or ["no output"])[-1].split())[:300]


def _run(words: Sequence[str | Path], folder: Path, limit: float, what: str, **options: Any) -> str:
    """Its stdout; Unusable if it fails."""
    try:
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [*_WITHIN_MEMORY, *map(str, words)],
            cwd=folder,
            timeout=limit,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        raise Unusable(f"{what}: not done in {limit:.0f} s") from None
    if done.returncode:
        raise Unusable(f"{what}: exit code {done.returncode}: {_last_words(done)}")
    return done.stdout


def built(program: Program, sources: Path, work: Path, version: str) -> dict[str, Path]:
    """Folders of its native and its traced build. Those of an earlier call are taken if row and `version` are what they were."""
    folders = {kind: work / program.name / kind for kind in _COMPILERS}
    stamp = work / program.name / "built"
    text = hashlib.sha256(f"{program} {version}".encode()).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == text:
        return folders
    source = sources / program.folder
    if not source.is_dir():
        raise Unusable(f"absent: no folder {program.folder}")
    shutil.rmtree(work / program.name, ignore_errors=True)
    shutil.copytree(source, folders["native"], symlinks=True)
    _run(["sh", "-ec", program.prepare or ":"], folders["native"], BUILD_SECONDS, "prepare")
    shutil.copytree(folders["native"], folders["traced"], symlinks=True)
    for kind, compilers in _COMPILERS.items():
        environment = {**os.environ, **compilers}
        _run(["sh", "-ec", program.build], folders[kind], BUILD_SECONDS, f"{kind} build", env=environment)
    stamp.write_text(text, encoding="utf-8")
    return folders


def environment_of(case: Case) -> dict[str, str]:
    """OpenMP's, for its number of threads, each on a core."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(case.threads),
        "OMP_PLACES": "cores",
        "OMP_PROC_BIND": "close",
        "OMP_DYNAMIC": "false",
    }


def native_run(case: Case, folder: Path) -> Native:
    """Run it once; its output is thrown away."""
    with (folder / case.stdin if case.stdin else Path(os.devnull)).open("rb") as stdin:
        code, native = _timed(folder / case.program.program, case.words, folder, environment_of(case), stdin)
    if code not in case.program.success:
        raise Unusable(f"native run: exit code {code}")
    return native


def start_run(case: Case, empty: Path) -> Native:
    """Run once the empty program with the case's libraries (program_start.py), as the case is run."""
    with Path(os.devnull).open("rb") as stdin:
        return _timed(empty, [empty.name], empty.parent, environment_of(case), stdin)[1]


def _timed(
    program: Path, words: Sequence[str], folder: Path, environment: dict[str, str], stdin: IO[bytes]
) -> tuple[int, Native]:
    """Its exit code, and what it took."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        executable=str(program),
    )
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (NATIVE_SECONDS, NATIVE_SECONDS))
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, Native(used.ru_utime + used.ru_stime, elapsed)


def summarised(runs: Sequence[Native], by_cpu_time: bool) -> Measured:
    """The least, and the median's distance from it over it."""
    seconds = [run.cpu_seconds if by_cpu_time else run.elapsed_seconds for run in runs]
    least = min(seconds)
    return Measured(least, statistics.median(seconds) / least - 1, len(seconds))


class Capture(NamedTuple):
    """A file, and what its capture took."""

    path: Path
    seconds: float


def captured(case: Case, folder: Path, traces: Path) -> Capture:
    """Capture it."""
    traces.mkdir(parents=True, exist_ok=True)
    trace = traces / f"{case.name}.hnt"
    trace.unlink(missing_ok=True)
    homenode = str(_COMMANDS / "homenode")
    team = ["--threads", str(case.threads)] if case.program.threads == "openmp" else []
    begin = time.perf_counter()
    with (folder / case.stdin if case.stdin else Path(os.devnull)).open("rb") as stdin:
        command = [homenode, "capture", "--timeout", str(CAPTURE_SECONDS), *team, "-o", str(trace), "--", *case.words]
        done = subprocess.run(
            [*_ENDED_FIRST, *command],
            cwd=folder,
            stdin=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    seconds = time.perf_counter() - begin
    if done.returncode not in (0, *case.program.success):
        raise Unusable(f"capture: exit code {done.returncode}: {_last_words(done)}")
    return Capture(trace, seconds)


def told_of(case: Case, capture: Capture) -> Captured:
    """What a trace says of itself."""
    trace, seconds = capture
    said = json.loads(
        _run([str(_COMMANDS / "homenode"), "inspect", str(trace), "--json"], trace.parent, REPLAY_SECONDS, "inspect")
    )
    if not said["complete"]:
        raise Unusable(f"capture: truncated after {seconds:.0f} s: {said['truncated_by']}")
    if not said["work"]["instructions"]:
        raise Unusable("capture: no instruction counts (its twin did not link, or did not write them)")
    unseen = said["unseen"]
    instructions = said["work"]["instructions"] + unseen["instructions"]
    # A team of OpenMP has threads with parents, too.
    created = case.program.threads == "own" and any(thread["parent"] is not None for thread in said["threads"])
    return Captured(trace, seconds, said["accesses"], instructions, unseen["share"], created)


def replayed(case: Case, trace: Captured, machine: Path, further: Sequence[str] = ()) -> tuple[dict[str, Any], float]:
    """The report's run, and what it took: first touch, threads side by side, the source's schedules, ordinary stores."""
    team = ["--oversubscribe"] if trace.creates_threads else ["--threads", str(case.threads)]
    command = [
        str(_COMMANDS / "homenode"),
        "replay",
        str(trace.path),
        "--machine",
        str(machine),
        *team,
        "--stores",
        "regular",
        "--json",
    ]
    sampled = [] if any(word.startswith("--confidence") for word in further) else ["--no-confidence"]
    begin = time.perf_counter()
    report = json.loads(_run([*command, *sampled, *further], trace.path.parent, REPLAY_SECONDS, "replay"))
    run: dict[str, Any] = report["runs"][0]
    return run, time.perf_counter() - begin


def seconds_without(case: Case, trace: Captured, machine: Path, folder: Path) -> dict[str, float]:
    """Predicted seconds with each mechanism switched off (ablation.py)."""
    threads = 0 if trace.creates_threads else case.threads
    words = [
        sys.executable,
        "-m",
        "validation.native.ablation",
        str(trace.path),
        str(machine),
        str(threads),
        str(folder),
    ]
    limit = REPLAY_SECONDS * len(SWITCHES)
    seconds: dict[str, float] = json.loads(_run(words, Path(__file__).parents[2], limit, "replay"))
    return seconds
