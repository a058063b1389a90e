"""`homenode recommend --verify`: the choices run natively beside the present way."""

# ruff: noqa: F811  fixtures that are imported
from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.recommend_verifying import verify
from homenode.recommending import Recommendation
from recommend_support import MACHINE, compiled, folder, native, serial, traces  # noqa: F401  fixtures
from support import SCRIPTS, Ended

Run = Callable[..., Ended]


@pytest.mark.capture
def test_choices_are_run_beside_the_present_way(traces: dict[str, Path], folder: Path) -> None:
    program = str(native("churn", folder, "-fopenmp"))
    found = hn.recommend(traces["churn"], words=[program], samples=2)
    measured = verify(found, program, runs=2)
    assert [row.what for row in measured.rows] == ["as it is", *(one.what for one in found.choices)]
    for row in measured.rows:
        assert row.predicted_seconds > 0
        assert (len(row.seconds) == 2) == (row.reason == "")
        assert all(seconds > 0 for seconds in row.seconds)
        if not row.reason:
            assert row.least is not None
            assert row.median is not None
            assert row.least <= row.median
    assert measured.rows[0].reason == ""
    assert 0 <= measured.busy_share <= 1
    assert measured.is_disturbed == (measured.busy_share > 0.05)
    # what cannot be run is said
    for one, row in zip(found.choices, measured.rows[1:], strict=True):
        if len(one.commands) > 1:
            assert "it sets the kernel, which is left to you" in row.reason


@pytest.mark.capture
def test_what_cannot_be_run_here_is_said(traces: dict[str, Path], folder: Path, serial: Recommendation) -> None:
    rows = verify(serial, str(folder / "serial_init"), runs=1).rows
    assert {row.reason for row in rows} == {
        f"'{MACHINE}' is not this host as 'homenode machine detect' or 'calibrate' describes it"
    }
    here = hn.recommend(traces["serial_init"], words=[str(folder / "serial_init")], samples=2)
    assert (
        "is compiled for tracing; --native names the program"
        in verify(here, str(folder / "serial_init")).rows[0].reason
    )
    assert "no program './absent'" in verify(here, "./absent").rows[0].reason
    assert any("is compiled for tracing" in remark for remark in here.remarks)


@pytest.mark.capture
def test_a_program_that_fails_is_not_measured(traces: dict[str, Path]) -> None:
    found = hn.recommend(traces["compute"], words=["false"], samples=2, replays=1)
    row = verify(found, "false", runs=1).rows[0]
    assert (row.seconds, row.reason) == ([], "it ended with exit code 1")


@pytest.mark.capture
def test_a_kernel_is_run_natively_without_its_self_check(homenode: Run) -> None:
    done = homenode("recommend", "stream", "--set", "n=20000", "--samples", 2, "--verify", "--runs", 1, "--json")
    assert done.status == 0, done.stderr
    document = json.loads(done.stdout)
    present = document["verification"]["rows"][0]
    assert present["predicted_seconds"] > 0
    assert present["least"] > 0
    assert document["present"]["commands"][0].endswith("./stream n=20000 repeats=2 check=0")


@pytest.mark.capture
def test_a_program_that_reads_a_pipe_is_verified_on_the_same_input(tmp_path: Path) -> None:
    text = """#include <stdio.h>
int main(void) { int n = 0; static int a[1000]; if (scanf("%d", &n) != 1) return 1; for (int i = 0; i < n; ++i) a[i] = i; return 0; }
"""
    source = tmp_path / "reader.c"
    source.write_text(text)
    compiled(source, tmp_path)
    subprocess.run(["gcc", "-O2", source, "-o", tmp_path / "plain"], check=True)
    words = [
        SCRIPTS / "homenode",
        "recommend",
        "--samples",
        "2",
        "--verify",
        "--runs",
        "2",
        "--native",
        "./plain",
        "--json",
    ]
    done = subprocess.run(
        [*words, "--", "./reader"], cwd=tmp_path, input="700", capture_output=True, text=True, check=True
    )
    present = json.loads(done.stdout)["verification"]["rows"][0]
    assert (len(present["measured_seconds"]), present["reason"]) == (2, "")
