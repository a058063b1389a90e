"""Builds the packaged kernels with the compiler at hand and times their regions."""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from homenode.native_times import Measurement, summarise, timed_labels

_TIME = re.compile(r"^region=(\S+) time_seconds=(\d+\.\d+)$", re.MULTILINE)


def descriptions() -> dict[str, dict[str, Any]]:
    """The kernels of kernels.toml by name."""
    text = files("homenode").joinpath("kernels", "kernels.toml").read_text(encoding="utf-8")
    return {kernel["name"]: kernel for kernel in tomllib.loads(text)["kernel"]}


def timed_regions(description: Mapping[str, Any]) -> list[str]:
    """Labels of the regions whose times are compared."""
    return timed_labels(description["regions"])


def build(kernel: str, folder: Path, any_schedule: bool = False) -> Path:
    """Compile a kernel with its own flags, without any instrumentation.

    `any_schedule`: its loops take the schedule of OMP_SCHEDULE where the source says schedule(static).
    """
    description = descriptions()[kernel]
    name = "g++" if description["language"] == "c++" else "gcc"
    compiler = shutil.which(name)
    if compiler is None:
        raise RuntimeError(f"no {name} on the path")
    libraries = [f"-l{library}" for library in description.get("libraries", [])]
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / (f"{kernel}-any" if any_schedule else kernel)
    with as_file(files("homenode").joinpath("kernels")) as sources:
        source = sources / description["file"]
        text = source.read_text(encoding="utf-8")
        language = ["-x", description["language"]]  # of what comes from stdin
        scheduled = text.replace("schedule(static)", "schedule(runtime)") if any_schedule else text
        words = [*description["flags"], "-I", sources, *language, "-o", program, "-", "-x", "none", *libraries, "-lm"]
        subprocess.run([compiler, *words], input=scheduled, text=True, check=True)
    return program


def region_seconds(output: str) -> dict[str, float]:
    """Sum the times that a kernel printed, by region."""
    seconds: dict[str, float] = {}
    for label, value in _TIME.findall(output):
        seconds[label] = seconds.get(label, 0.0) + float(value)
    return seconds


def measure(
    program: Path,
    parameters: Mapping[str, int | str],
    threads: int,
    labels: Iterable[str],
    repeats: int,
    distribution: str = "static",
) -> Measurement:
    """Run a native kernel once to warm up, then `repeats` times; a core for each thread.

    `distribution` is homenode's name of a schedule of OpenMP.
    """
    environment = {
        **os.environ,
        "HOMENODE_TIMES": "1",
        "OMP_NUM_THREADS": str(threads),
        "OMP_PLACES": "cores",
        "OMP_PROC_BIND": "close",
        "OMP_SCHEDULE": distribution.replace(":", ","),
        "OMP_DYNAMIC": "false",
    }
    command = [str(program), *(f"{name}={value}" for name, value in parameters.items())]
    runs = []
    for repeat in range(repeats + 1):
        result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        if repeat > 0:
            runs.append(region_seconds(result.stdout))
    return summarise(runs, labels)
