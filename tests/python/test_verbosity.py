"""`-v` and `-vv`: what is done, on stderr, through Python's standard logging."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.cli.main import main
from support import Ended

Run = Callable[..., Ended]
OPTIONS = ("--machine", "xeon-x5550-2s", "--threads", "4,8", "--no-confidence")


def lines(done: Ended, level: str) -> list[str]:
    assert done.status == 0, done.stderr
    return re.findall(rf"^homenode: {level}: (.*)$", done.stderr, re.MULTILINE)


def test_info_tells_traces_and_runs(homenode: Run, trace_file: Path) -> None:
    trace = hn.Trace.open(trace_file)
    quiet = homenode("replay", trace_file, *OPTIONS, "--json")
    told = homenode("replay", trace_file, *OPTIONS, "--json", "-v")
    assert lines(told, "info")[:1] == [f"trace {trace_file}: {trace.accesses} accesses, hash {trace.hash}"]
    assert any(line.startswith(f"{trace_file}: replaying 2, ") for line in lines(told, "info"))
    assert lines(told, "debug") == []
    # without it nothing is told, and what is printed is the same
    assert lines(quiet, "info") == []
    assert json.loads(told.stdout)["runs"] == json.loads(quiet.stdout)["runs"]


def test_debug_tells_each_run_and_where_it_comes_from(homenode: Run, trace_file: Path) -> None:
    told = lines(homenode("-vv", "replay", trace_file, *OPTIONS, "--json"), "debug")
    runs = sorted(line for line in told if line.startswith("homenode.workers: run "))
    assert [line.partition(":")[2].split(":")[0].strip() for line in runs] == ["run 1 of 2", "run 2 of 2"]
    assert any(re.match(r"homenode\.machine: machine xeon-x5550-2s from .*\.toml$", line) for line in told)


def test_before_and_behind_the_command_the_higher_one_holds(homenode: Run, trace_file: Path) -> None:
    assert lines(homenode("-vv", "replay", trace_file, *OPTIONS, "-v"), "debug")
    assert lines(homenode("--verbose", "inspect", trace_file, "-vv"), "info")


@pytest.mark.capture
def test_a_capture_tells_what_it_compiles_and_starts(homenode: Run) -> None:
    told = homenode("-vv", "capture", "hotspot", "--set", "size=64", "--set", "steps=1", "-o", "small.hnt")
    assert any(
        re.match(r"compiling kernel hotspot|kernel hotspot was compiled before: ", line) for line in lines(told, "info")
    )
    starts = [line for line in lines(told, "debug") if line.startswith("homenode.capture_processes: starting ")]
    assert any("/hotspot" in line for line in starts)


def test_a_line_end_in_a_name_begins_no_line(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    (tmp_path / "a\nhomenode: info: forged.hnt").write_bytes(trace_file.read_bytes())
    told = lines(homenode("inspect", "a\nhomenode: info: forged.hnt", "-v"), "info")
    assert len(told) == 1
    assert "\\n" in told[0]


def test_the_compilers_keep_their_own(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int main(void) { return 0; }\n")
    assert "gcc version" in homenode("cc", "-v", "one.c", "-o", "one").stderr


def test_after_a_command_logging_is_as_before(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("homenode")
    before = logger.level, logger.propagate, list(logger.handlers)
    assert main(["inspect", str(trace_file), "-vv"]) == 0
    assert "homenode: info: trace " in capsys.readouterr().err
    assert (logger.level, logger.propagate, logger.handlers) == before


def test_a_programs_own_logging_hears_the_package(trace_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="homenode"):
        hn.Trace.open(trace_file)
    assert [(record.name, record.levelname) for record in caplog.records] == [("homenode.trace", "INFO")]
