"""A short run of each fuzz target (tests/fuzz): what it executed, and whether anything broke."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from validation.rows import FuzzRow
from validation.study import Options, Study

TARGETS = ("trace_frames", "trace_reader", "trace_import", "trace_replay", "descriptions")
# A minute each; an input may take 2 s, a process 2 GiB, and no allocation may exceed four times what a file of 64 KiB may unpack to
# (16 MiB + 256 x 64 KiB, traces/format/frame.hpp).
SECONDS, SMALL_SECONDS = 60, 2
LIMITS = ("-timeout=2", "-rss_limit_mb=2048", "-malloc_limit_mb=128", "-max_len=65536", "-print_final_stats=1")
_PROGRAMS = {"clang++-14": "clang-14", "cmake": "cmake", "ninja": "ninja-build"}


class BuildFailed(Exception):
    """The targets could not be built; what the build said."""


def missing() -> str | None:
    """Name what a build of the targets wants and this host has not."""
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None:
            return f"no {program} (Debian: {package})"
    archive = "libclang_rt.fuzzer-x86_64.a"
    found = subprocess.run(["clang++-14", f"-print-file-name={archive}"], capture_output=True, text=True, check=False)
    where = Path(found.stdout.strip()).parent
    runtime = subprocess.run(["clang++-14", "-print-runtime-dir"], capture_output=True, text=True, check=False)
    if (where / archive).is_file() or (Path(runtime.stdout.strip()) / archive).is_file():
        return None
    return "no libFuzzer (Debian: libclang-rt-14-dev)"


def build(tree: Path) -> Path:
    """Build the targets, or what of them has changed; return their folder."""
    for words in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz"]):
        ended = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise BuildFailed((ended.stdout + ended.stderr)[-4000:])
    return tree / "build" / "fuzz" / "tests" / "fuzz"


def row(target: str, seconds: int, status: int, said: str, saved: str) -> FuzzRow:
    """Say what libFuzzer's output means."""
    counted = re.search(r"^stat::number_of_executed_units: *(\d+)$", said, re.M)
    edges = re.findall(r"\bcov: (\d+)\b", said)
    problem = re.search(r"^(?:==\d+==)?\s*(?:ERROR|SUMMARY): .*$|runtime error: .*$", said, re.M)
    sound = status == 0 and counted is not None
    what = "nothing broke" if sound else f"{problem[0].strip() if problem else f'exit code {status}'}{saved}"
    return FuzzRow(
        target=target,
        seconds=seconds,
        executions=int(counted[1]) if counted else 0,
        edges=int(edges[-1]) if edges else 0,
        what=what,
        verdict="agrees" if sound else "deviates",
        command=f"fuzz_{target} -max_total_time={seconds} {' '.join(LIMITS)}",
    )


def rows(tree: Path, folder: Path, small: bool) -> Iterator[FuzzRow]:
    """Run each target from our seeds; an input that breaks one is kept in the folder."""
    seconds = SMALL_SECONDS if small else SECONDS
    if (lacking := missing()) is not None:
        yield FuzzRow("all", 0, 0, 0, f"skipped: {lacking}", "skipped", "cmake --preset fuzz")
        return
    programs = build(tree)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="homenode-fuzz-") as name:
        corpus = Path(name)
        subprocess.run([programs / "make_corpus", corpus], check=True, capture_output=True)
        for target in TARGETS:
            before = set(folder.iterdir())
            ended = subprocess.run(
                ["nice", programs / f"fuzz_{target}", f"-max_total_time={seconds}", *LIMITS,
                 f"-artifact_prefix={folder}/{target}-", corpus / target],
                capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
            kept = sorted(str(path) for path in set(folder.iterdir()) - before)
            yield row(target, seconds, ended.returncode, ended.stderr, f"; input: {kept[0]}" if kept else "")


def _rows(options: Options) -> Iterator[FuzzRow]:
    try:
        yield from rows(Path(__file__).parents[1], options.folder / "fuzz", options.small)
    except BuildFailed as error:
        raise SystemExit(f"the fuzz targets did not build: {error}") from None


STUDY = Study(
    "fuzz",
    "libFuzzer's inputs against each reader of files (tests/fuzz), a minute each; wants clang",
    "minutes",
    ("target", "seconds", "executions", "edges", "what", "verdict", "command"),
    _rows,
    status=lambda found: int(any(row.verdict == "deviates" for row in found)),
)
