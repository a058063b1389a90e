"""A program that was copied, linked to or found through PATH is captured with its twin, or says that it is not."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import Ended

pytestmark = pytest.mark.capture
Run = Callable[..., Ended]

PROGRAM = """double a[5000];
int main(void) {
  for (int i = 0; i < 5000; ++i) a[i] = a[i] * 3 + i;
  return 0;
}
"""


@pytest.fixture
def built(homenode: Run, tmp_path: Path) -> Path:
    (tmp_path / "made").mkdir()
    (tmp_path / "own.c").write_text(PROGRAM)
    assert homenode("cc", "-O1", "-g", "own.c", "-o", "made/own").status == 0
    return tmp_path


def instructions(homenode: Run, folder: Path, program: str) -> tuple[float, str]:
    done = homenode("capture", "-o", "own.hnt", "--", program)
    assert done.status == 0, done
    found: dict[str, Any] = json.loads(homenode("inspect", "--json", folder / "own.hnt").stdout)
    return sum(region["work"]["instructions"] for region in found["regions"]), done.stderr


@pytest.mark.parametrize("way", ["copy", "link", "moved link", "path"])
def test_the_twin_is_found(homenode: Run, built: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    program = "./other"
    if way == "copy":
        shutil.copy(built / "made" / "own", built / "other")
    elif way == "link":
        (built / "other").symlink_to("made/own")
    elif way == "moved link":
        (built / "made").rename(built / "elsewhere")
        (built / "other").symlink_to("elsewhere/own")
    else:
        monkeypatch.setenv("PATH", f"{built / 'made'}{os.pathsep}{os.environ['PATH']}")
        program = "own"
    counted, said = instructions(homenode, built, program)
    assert counted > 5000 * 3
    assert "warning" not in said
    assert "counting instructions" in said


def test_a_copy_whose_original_is_gone_says_so(homenode: Run, built: Path) -> None:
    shutil.copy(built / "made" / "own", built / "other")
    shutil.rmtree(built / "made")
    counted, said = instructions(homenode, built, "./other")
    assert counted == 0
    assert said.count("homenode: warning: other.twin, which counts instructions, is not beside other") == 1
    assert "counting instructions" not in said


def test_another_link_is_not_its_twin(homenode: Run, built: Path) -> None:
    shutil.copy(built / "made" / "own", built / "other")
    assert homenode("cc", "-O2", "-g", "own.c", "-o", "made/own").status == 0
    assert "warning: other.twin" in instructions(homenode, built, "./other")[1]
