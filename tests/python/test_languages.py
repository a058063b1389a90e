"""`homenode c++` and `homenode fortran`: counts against counts by hand, at every optimisation level."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import compiler
from homenode.compiler.fortran_pragmas import included, rewrite_fortran, without_markers
from support import ROOT

PROGRAMS = ROOT / "tests" / "python" / "languages"
LEVELS = ("-O1", "-O2", "-O3")


def built(folder: Path, name: str, *flags: str) -> Path:
    program = folder / Path(name).stem
    driver = "c++" if name.endswith(".cpp") else "fortran"
    modules = ["-J", str(folder)] if driver == "fortran" else []
    assert compiler.main([*flags, *modules, "-g", "-fopenmp", str(PROGRAMS / name), "-o", str(program)], driver) == 0
    return program


def captured(program: Path, *arguments: str, threads: int = 1) -> hn.Trace:
    return hn.capture(command=[program, *arguments], threads=threads)


def regions(trace: hn.Trace) -> dict[str, dict[str, Any]]:
    return {entry["label"]: entry for entry in trace.inspect()["regions"]}


def counts(region: dict[str, Any]) -> tuple[int, int, int]:
    return region["items"], region["reads"], region["writes"]


@pytest.mark.capture
@pytest.mark.parametrize("level", LEVELS)
def test_cxx_counts(tmp_path: Path, level: str) -> None:
    n = 18
    found = regions(captured(built(tmp_path, "kernels.cpp", level), str(n)))
    # five reads and a write for each of (n - 2)^2 points; a row is an item
    assert counts(found["grid::sweep<double>#0"]) == (n - 2, 5 * (n - 2) ** 2, (n - 2) ** 2)
    # two reads for each of n^2 elements, a write for each of n rows
    assert counts(found["grid::Matrix::multiply#0"]) == (n, 2 * n**2, n)
    assert found["grid::sweep<double>#0"]["schedule"] == "dynamic,3"


@pytest.mark.capture
@pytest.mark.parametrize("level", LEVELS)
def test_fortran_counts(tmp_path: Path, level: str) -> None:
    n = 18
    found = regions(captured(built(tmp_path, "kernels.f90", level), str(n)))
    # five reads and a write for each of (n - 2)^2 points; a column is an item
    assert counts(found["grid::sweep#0"]) == (n - 2, 5 * (n - 2) ** 2, (n - 2) ** 2)
    # two reads for each of n^2 elements, a write for each of n columns
    assert counts(found["grid::multiply#0"]) == (n, 2 * n**2, n)
    if level != "-O1":  # where gfortran's line of the loop is a line further down
        assert found["grid::sweep#0"]["schedule"] == "dynamic,3"


@pytest.mark.capture
@pytest.mark.parametrize("level", LEVELS)
def test_fixed_form_counts(tmp_path: Path, level: str) -> None:
    n = 20
    found = regions(captured(built(tmp_path, "fixed.f", level)))
    # two writes for each of n^2 elements, then the stencil
    assert counts(found["main#0"]) == (n, 0, 2 * n**2)
    assert counts(found["main#1"]) == (n - 2, 5 * (n - 2) ** 2, (n - 2) ** 2)


@pytest.mark.capture
@pytest.mark.parametrize("threads", [1, 3])
def test_a_traced_cxx_program_computes_what_it_should(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], threads: int
) -> None:
    program = built(tmp_path, "kernels.cpp", "-O2")
    first, second = (captured(program, "10", threads=threads) for _ in range(2))
    # 0.2 * (five neighbours of 1), a row of ten ones, one exception caught
    assert "1 10 1" in capfd.readouterr().out
    assert first.hash == second.hash
    assert subprocess.run([f"{program}.twin", "10"], capture_output=True, text=True, check=True).stdout == "1 10 1\n"


@pytest.mark.capture
@pytest.mark.parametrize("threads", [1, 3])
def test_a_traced_fortran_program_computes_what_it_should(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], threads: int
) -> None:
    program = built(tmp_path, "kernels.f90", "-O2")
    first, second = (captured(program, "10", threads=threads) for _ in range(2))
    # 0.2 * 5, a row of ten ones, the ranks 1 + ... + threads counted under a lock that is free afterwards
    expected = f"1.0 10 {threads * (threads + 1) // 2} 1"
    assert expected in capfd.readouterr().out
    assert first.hash == second.hash
    twin = subprocess.run(
        [f"{program}.twin", "10"],
        env={"HOMENODE_TEAM": str(threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert twin.stdout.strip() == expected


@pytest.mark.capture
def test_work_of_a_cxx_program_is_counted(tmp_path: Path) -> None:
    n = 18
    trace = captured(built(tmp_path, "kernels.cpp", "-O2", "-fno-tree-vectorize"), str(n))
    work = regions(trace)["grid::sweep<double>#0"]["work"]
    # four additions and a multiplication a point
    assert (round(work["fp_add"]), round(work["fp_multiply"])) == (4 * (n - 2) ** 2, (n - 2) ** 2)


@pytest.mark.capture
def test_blocks_of_new_are_named_by_who_asked(tmp_path: Path) -> None:
    trace = captured(built(tmp_path, "kernels.cpp", "-O0"), "10")
    heap = [entry for entry in trace.inspect()["objects"] if entry["kind"] == "heap"]
    # two vectors of 100 numbers, two of 10, the matrix of 100
    assert sorted(entry["bytes"] for entry in heap if entry["bytes"] in (80, 800)) == [80, 80, 800, 800, 800]
    line = next(
        k for k, text in enumerate((PROGRAMS / "kernels.cpp").read_text().splitlines(), 1) if "new double" in text
    )
    assert f"kernels.cpp:{line}" in [entry["symbol"] for entry in heap]


def test_free_form_directives_leave_the_numbers_of_lines() -> None:
    text = "\n".join(
        [
            "!$omp parallel do collapse(2) &  ! first",
            "!$omp & schedule(static, 4) &",
            "!$omp reduction(+ : s) private(a, b)",
            "do i = 1, n",
            "!$omp end parallel do",
            "!$omp workshare",
            '  print *, "!$omp do"',
        ]
    )
    made = rewrite_fortran(text, "a.f90", "folder", fixed=False)
    (note,) = made.notes
    assert (note["line"], note["for_line"], note["schedule"], note["collapse"]) == (1, 4, "static,4", 2)
    assert note["reduction"] and not note["nowait"] and note["directive"] == "parallel do"
    lines = made.text.split("\n")
    assert lines[:3] == [
        "!$omp parallel do collapse(2) reduction(+ : s) private(a, b) schedule(runtime)",
        "!",
        "!",
    ]
    assert lines[3:] == text.split("\n")[3:]


def test_fixed_form_directives_keep_to_72_columns() -> None:
    long = "PRIVATE(AAAAAAAA, BBBBBBBB, CCCCCCCC, DDDDDDDD, EEEEEEEE, FFF)"
    text = "\n".join(["C$OMP DO SCHEDULE(DYNAMIC", "*$OMP&,2) " + long, "      DO 1", f"!$omp do {long}", "      DO 2"])
    made = rewrite_fortran(text, "a.f", "folder", fixed=True)
    assert [(note["line"], note["for_line"], note["schedule"]) for note in made.notes] == [
        (1, 3, "dynamic,2"),
        (4, 6, None),
    ]
    assert made.text.split("\n") == [
        "!$omp DO schedule(runtime)",
        f"!$omp&{long}",
        "      DO 1",
        f"!$omp do {long}",
        "!$omp& schedule(runtime)",
        "      DO 2",
    ]


def test_included_loops_are_found(tmp_path: Path) -> None:
    (tmp_path / "loop.inc").write_text("!$omp do\ndo i = 1, n\nend do\n")
    (tmp_path / "outer.inc").write_text("include 'loop.inc'\n")
    (tmp_path / "plain.inc").write_text("integer :: i\n")
    found = included("include 'plain.inc'\n  INCLUDE \"outer.inc\" ! loops\n", [tmp_path])
    assert set(found) == {"outer.inc", "loop.inc"}


def test_preprocessed_lines_keep_their_numbers() -> None:
    text = '# 1 "a.F90"\n# 1 "<built-in>"\n# 1 "<command-line>"\n# 1 "a.F90"\none\n# 12 "a.F90"\ntwelve\n'
    lines = without_markers(text, "a.F90").split("\n")
    assert (lines[0], lines[11]) == ("one", "twelve")
