"""What `homenode capture` says to words that it cannot run, of words that are not for it, and of the program's own exit code."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from support import SCRIPTS, Ended

pytestmark = pytest.mark.capture
Run = Callable[..., Ended]

PROGRAM = """#include <stdlib.h>
int a[1000];
int main(int count, char** words) {
  for (int i = 0; i < 1000; ++i) a[i] = i;
  (void)words;
  return count > 1 ? 3 : 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the command line runs: a source and its program."""
    (tmp_path / "own.c").write_text(PROGRAM)
    subprocess.run([SCRIPTS / "homenode-gcc", "-O2", "-g", "own.c", "-o", "own"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("source", "driver"), [("x.c", "cc"), ("x.cpp", "c++"), ("x.C", "c++"), ("x.f90", "fortran"), ("x.F", "fortran")]
)
@pytest.mark.parametrize("before", [[], ["--"]])
def test_a_source_is_compiled_first(homenode: Run, tmp_path: Path, source: str, driver: str, before: list[str]) -> None:
    (tmp_path / source).write_text("")
    done = homenode("capture", *before, source)
    assert (done.status, done.stderr.count("\n")) == (2, 1), done
    assert "is a source" in done.stderr
    assert f"homenode {driver} -O2 -g {source} -o x && homenode capture -o x.hnt -- ./x" in done.stderr


def test_the_advice_for_a_source_works(homenode: Run, folder: Path) -> None:
    (folder / "own").unlink()
    said = homenode("capture", "own.c").stderr
    for command in said.partition("program: ")[2].split("&&"):
        done = homenode(*shlex.split(command)[1:])
        assert done.status == 0, done
    assert hn.Trace.open(folder / "own.hnt").accesses >= 1000


def test_a_program_of_the_folder_is_called_by_its_path(homenode: Run, folder: Path) -> None:
    assert "no program 'own' that can be run. Did you mean ./own\n" in homenode("capture", "--", "own").stderr
    assert "Did you mean: homenode capture -o own.hnt -- ./own\n" in homenode("capture", "own").stderr
    (folder / "text").write_text("no program")
    assert (
        "no program './text' that can be run: the file is not executable" in homenode("capture", "--", "./text").stderr
    )
    assert "it is a folder" in homenode("capture", "--", "..").stderr


def test_options_behind_the_program_are_told_to_be_its_own(homenode: Run, folder: Path) -> None:
    done = homenode("capture", "--", "./own", "-o", "x.hnt", "--label=y", "-o", "--verbose")
    assert done.status == 0, done
    assert done.stderr.count("homenode: note: '-o', '--label' after the program goes to the program") == 1
    assert hn.Trace.open(folder / "own.hnt").arguments == "-o x.hnt --label=y -o --verbose"
    assert "after the program" not in homenode("capture", "-o", "z.hnt", "--", "./own", "--verbose").stderr
    assert "after the program" not in homenode("capture", "-o", "y.hnt", "--", "./own", "-o", "file").stderr


def test_the_programs_exit_code_is_said_and_the_trace_kept(homenode: Run, folder: Path) -> None:
    done = homenode("capture", "--", "./own", "word")
    assert done.status == 0, done
    assert (
        done.stderr.splitlines()[-1]
        == "homenode: note: own ended with exit code 3; its trace is kept, and it was not timed"
    )
    assert hn.Trace.open(folder / "own.hnt").complete
    assert json.loads(homenode("capture", "--json", "-o", "a.hnt", "--", "./own", "word").stdout)["program_status"] == 3
    well = homenode("capture", "-o", "b.hnt", "--", "./own")
    assert "ended with" not in well.stderr
    # a code that the program means well: it is timed, and nothing is said
    timed = homenode("capture", "--success", "3", "-o", "c.hnt", "--", "./own", "word")
    assert "ended with" not in timed.stderr
    assert hn.Trace.open(folder / "a.hnt").measured == []
    assert hn.Trace.open(folder / "c.hnt").measured != []
    assert homenode("capture", "--success", "256", "-o", "d.hnt", "--", "./own").status == 2
    assert "The exit code is that of homenode" in " ".join(homenode("capture", "--help").stdout.split())
