"""Unmodified CMake and Makefile projects, driven by CC, CXX and FC alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from support import ROOT, SCRIPTS

pytestmark = pytest.mark.capture
PROJECTS = ROOT / "tests" / "python" / "projects"


def run(folder: Path, *words: str) -> None:
    command = SCRIPTS / "homenode"
    compilers = {"CC": f"{command} cc", "CXX": f"{command} c++", "FC": f"{command} fortran"}
    ended = subprocess.run(
        words, cwd=folder, env={**os.environ, **compilers}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def loops(program: Path) -> dict[str, tuple[int, int, int]]:
    regions: list[dict[str, Any]] = hn.capture(command=[program]).inspect()["regions"]
    return {
        entry["label"]: (entry["items"], entry["reads"], entry["writes"])
        for entry in regions
        if entry["kind"] == "loop"
    }


# 100 writes; 98 times three reads and a write
HEAT = {"fill#0": (100, 0, 100), "smooth#0": (98, 3 * 98, 98)}


def test_cmake_project(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(PROJECTS / "cmake_project", tmp_path / "source")
    settings = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DTOTAL=ON"]
    run(tmp_path, "cmake", "-S", "source", "-B", "build", "-G", "Unix Makefiles", *settings)
    run(tmp_path, "cmake", "--build", "build")
    assert loops(tmp_path / "build" / "heat") == HEAT
    assert "7" in capfd.readouterr().out
    twin = subprocess.run([tmp_path / "build" / "heat.twin"], capture_output=True, text=True, check=True)
    assert twin.stdout == "7\n"
    assert loops(tmp_path / "build" / "total") == {"numbers::count_up#0": (50, 0, 50)}
    assert "1275" in capfd.readouterr().out


def test_makefile_project(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROJECTS / "makefile_project", folder)
    run(folder, "make", "heat")
    assert "heat.h" in (folder / "fill.d").read_text()
    assert loops(folder / "heat") == HEAT
    assert "7" in capfd.readouterr().out
    (folder / "heat.h").touch()
    question = subprocess.run(["make", "-q", "heat"], cwd=folder, env={**os.environ, "CC": "homenode cc"}, check=False)
    assert question.returncode == 1  # the dependencies were written: it is to be made again


def test_fortran_in_a_makefile_project(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROJECTS / "makefile_project", folder)
    run(folder, "make", f"FC={SCRIPTS / 'homenode'} fortran", "total")  # make has an FC of its own
    assert loops(folder / "total") == {"main#0": (50, 0, 50)}
    assert "1275" in capfd.readouterr().out


CHECKED = """cmake_minimum_required(VERSION 3.16)
project(checked C)
include(CheckLanguage)
check_language(Fortran)
if(NOT CMAKE_Fortran_COMPILER)
  message(FATAL_ERROR "no Fortran")
endif()
enable_language(Fortran)
add_executable(total total.f90)
"""


def test_a_cmake_project_that_asks_whether_there_is_fortran(tmp_path: Path) -> None:
    # check_language keeps the first word of FC alone, so the drop-in compilers have names of one word too
    (tmp_path / "CMakeLists.txt").write_text(CHECKED)
    (tmp_path / "total.f90").write_text(
        "program total\n  real(8), allocatable :: a(:)\n  allocate (a(9))\n  a = 2\n  print *, sum(a)\nend\n"
    )
    names = {
        "CC": str(SCRIPTS / "homenode-cc"),
        "CXX": str(SCRIPTS / "homenode-c++"),
        "FC": str(SCRIPTS / "homenode-fortran"),
    }
    for words in (["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]):
        ended = subprocess.run(
            words, cwd=tmp_path, env={**os.environ, **names}, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (tmp_path / "build" / "total.twin").is_file()
    assert hn.capture(command=[tmp_path / "build" / "total"]).accesses >= 9
