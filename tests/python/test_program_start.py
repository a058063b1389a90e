"""The start of a process in the study of whole programs: an empty program with the libraries of another."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.native.program_start import NoStart, empty_program, libraries  # noqa: E402


def linked(folder: Path, *options: str) -> Path:
    (folder / "one.c").write_text("int main(void) { return 3; }\n", encoding="utf-8")
    subprocess.run(["gcc", folder / "one.c", *options, "-o", folder / "one"], check=True)
    return folder / "one"


def test_an_empty_program_has_the_libraries_of_another(tmp_path: Path) -> None:
    needed = libraries(linked(tmp_path, "-Wl,--no-as-needed", "-lm"))
    assert needed == ("libm.so.6", "libc.so.6")
    empty = empty_program(needed, tmp_path / "empty")
    assert libraries(empty) == needed
    assert subprocess.run([empty], check=False).returncode == 0


def test_a_static_program_has_none(tmp_path: Path) -> None:
    assert libraries(linked(tmp_path, "-static")) is None
    assert libraries(empty_program(None, tmp_path / "empty")) is None


def test_what_cannot_be_made_is_said(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(NoStart, match=r"^readelf: exit code 1: "):
        libraries(script)
    with pytest.raises(NoStart, match=r"^gcc: exit code 1: "):
        empty_program(("libnowhere.so.1",), tmp_path / "empty")
