"""Programs that are recommended for, captured, and what the tests of `homenode recommend` share."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import homenode as hn
from homenode.recommending import Recommendation
from support import SCRIPTS

MACHINE = "xeon-x7560-4s"  # 4 sockets, 32 cores
PROGRAMS = Path(__file__).parent / "programs"
CPUS = sorted(os.sched_getaffinity(0))


def compiled(source: Path, folder: Path) -> Path:
    """A program for tracing."""
    program = folder / source.stem
    words = [SCRIPTS / "homenode", "cc", "-O2", "-g", "-fopenmp", source, "-o", program]
    subprocess.run(words, check=True, capture_output=True)
    return program


def native(name: str, folder: Path, *flags: str) -> Path:
    """The same as the usual compiler makes it."""
    program = folder / f"{name}-native"
    subprocess.run(["gcc", "-O2", *flags, PROGRAMS / f"{name}.c", "-o", program], check=True)
    return program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recommend")


@pytest.fixture(scope="module")
def traces(folder: Path) -> dict[str, Path]:
    """Each program, captured."""
    found = {}
    for name in ("serial_init", "compute", "schedules", "churn"):
        found[name] = folder / f"{name}.hnt"
        hn.capture(command=[compiled(PROGRAMS / f"{name}.c", folder)], output=found[name])
    found["threads_mix"] = folder / "threads_mix.hnt"
    hn.capture("threads_mix", output=found["threads_mix"], leaders=2, workers=2)
    return found


@pytest.fixture(scope="module")
def serial(traces: dict[str, Path]) -> Recommendation:
    return hn.recommend(traces["serial_init"], MACHINE, samples=4, workers=1)


def cpus_of(omp_places: str) -> list[int]:
    """``{0}:4:8,{3}`` is 0, 8, 16, 24, 3 (OpenMP 5.2, 21.1.6)."""
    found: list[int] = []
    for first, number, stride in re.findall(r"\{(\d+)\}(?::(\d+))?(?::(\d+))?", omp_places):
        found += [int(first) + at * int(stride or 1) for at in range(int(number or 1))]
    return found
