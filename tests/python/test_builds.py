"""Builds that ask for a compiler's name or options: what they get, and what they are told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import homenode as hn
from support import SCRIPTS

pytestmark = pytest.mark.capture


def test_openmp_without_its_option_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text(
        "int a[9];\nint main(void) {\n#pragma omp parallel for\n  for (int i = 0; i < 9; ++i) a[i] = i;\n}\n"
    )
    (tmp_path / "loop.f90").write_text(
        "program loop\n integer :: i, a(9)\n!$omp parallel do\n do i = 1, 9\n  a(i) = i\n end do\n print *, a\nend\n"
    )
    (tmp_path / "simd.c").write_text(
        "int a[9];\nint main(void) {\n#pragma omp simd\n  for (int i = 0; i < 9; ++i) a[i] = i;\n}\n"
    )

    def said(compiler: str, *words: str) -> str:
        call = [SCRIPTS / compiler, *words, "-c", "-o", "loop.o"]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stderr

    assert "warning: loop.c:3: OpenMP without -fopenmp does nothing" in said("homenode-gcc", "loop.c")
    assert "warning: loop.f90:3: OpenMP without -fopenmp does nothing" in said("homenode-gfortran", "loop.f90")
    assert said("homenode-gcc", "loop.c", "-fopenmp") == ""
    assert said("homenode-gfortran", "loop.f90", "-fopenmp") == ""
    assert said("homenode-gcc", "simd.c") == ""
    assert said("homenode-g++", "simd.c") == ""


def test_a_build_that_looks_for_gcc_in_the_name_gets_openmp(tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text(
        "int a[9];\nint main(void) {\n#pragma omp parallel for\n  for (int i = 0; i < 9; ++i) a[i] = i;\n  return 0;\n}\n"
    )
    (tmp_path / "Makefile").write_text(
        "ifneq (,$(findstring gcc,$(CC)))\nCFLAGS += -fopenmp\nendif\nloop: loop.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
    )
    subprocess.run(["make", f"CC={SCRIPTS / 'homenode-gcc'}", "loop"], cwd=tmp_path, check=True)
    regions = hn.capture(command=[tmp_path / "loop"]).regions
    assert list(regions[regions.kind == "loop"].writes) == [9]


def test_a_build_that_asks_for_gcc_by_name_finds_homenode_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gcc").symlink_to(SCRIPTS / "homenode-gcc")
    (tmp_path / "own.c").write_text("int a[9];\nint main(void) { for (int i = 0; i < 9; ++i) a[i] = i; return 0; }\n")
    (tmp_path / "Makefile").write_text("CC = gcc\nown: own.c\n\t$(CC) -O1 -o $@ $<\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    subprocess.run(["make", "own"], cwd=tmp_path, check=True)
    assert hn.capture(command=[tmp_path / "own"]).accesses >= 9
    # by its path there is nothing behind it
    monkeypatch.setenv("HOMENODE_GCC", str(SCRIPTS / "homenode-gcc"))
    done = subprocess.run(
        [SCRIPTS / "homenode-gcc", "own.c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "which is homenode itself; allowed: gcc" in done.stderr


def test_a_device_as_output_is_written_to_and_stays_one(tmp_path: Path) -> None:
    # as configure scripts do, also as root: -o /dev/null
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "sink").symlink_to("/dev/null")
    call = [SCRIPTS / "homenode-cc", "-c", "empty.c", "-o", "sink"]
    assert subprocess.run(call, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert (tmp_path / "sink").is_symlink()
    assert Path("/dev/null").is_char_device()
