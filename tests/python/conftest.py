"""What the tests share: one small captured trace, and the command line as a user runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from support import SCRIPTS, Ended


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled kernels of this session live in a folder of its own."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def trace_file(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """hotspot, 128 x 128 cells, 2 steps, arrays initialised by one thread."""
    path = tmp_path_factory.mktemp("traces") / "hotspot.hnt"
    hn.capture("hotspot", output=path, size=128, steps=2)
    return path


@pytest.fixture(scope="session")
def trace(trace_file: Path) -> hn.Trace:
    return hn.Trace.open(trace_file)


@pytest.fixture
def homenode(tmp_path: Path) -> Callable[..., Ended]:
    """Runs `homenode ARGUMENTS` in an empty folder."""

    def run(*arguments: str | Path) -> Ended:
        words = [str(SCRIPTS / "homenode"), *(str(word) for word in arguments)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
