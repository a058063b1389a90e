"""What the compiler wrapper, the recording runtime and the assembler make of small programs, against counts by hand."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import _core, compiler
from support import ROOT

PROGRAMS = ROOT / "tests" / "python" / "tracing_programs"
LEVELS = ("-O1", "-O2", "-O3")


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Compile a program of tracing_programs for tracing."""

    def compiled(name: str, *flags: str) -> Path:
        program = tmp_path / (name + "".join(flags).replace("/", "_"))
        status = compiler.main(
            [*(flags or ("-O2",)), "-g", "-fopenmp", str(PROGRAMS / f"{name}.c"), "-o", str(program)]
        )
        assert status == 0
        return program

    return compiled


def captured(program: Path, *arguments: str, threads: int = 1, **settings: Any) -> hn.Trace:
    return hn.capture(command=[program, *arguments], threads=threads, **settings)


def region(trace: hn.Trace, label: str) -> dict[str, Any]:
    found = [entry for entry in trace.inspect()["regions"] if entry["label"] == label]
    assert len(found) == 1, f"{label}: {trace.labels}"
    return found[0]


@pytest.mark.parametrize("level", LEVELS)
def test_stencil_counts(build: Callable[..., Path], level: str) -> None:
    n = 18
    trace = captured(build("stencil", level), str(n))
    init, sweep = region(trace, "init"), region(trace, "sweep")
    # init: two arrays of n^2; sweep: five reads and a write for each of (n - 2)^2 inner points
    assert (init["reads"], init["writes"]) == (0, 2 * n**2)
    assert (sweep["reads"], sweep["writes"]) == (5 * (n - 2) ** 2, (n - 2) ** 2)


@pytest.mark.parametrize("level", LEVELS)
def test_matrix_vector_counts(build: Callable[..., Path], level: str) -> None:
    n = 24
    multiply = region(captured(build("matrix_vector", level), str(n)), "multiply")
    assert (multiply["reads"], multiply["writes"]) == (2 * n**2, n)


@pytest.mark.parametrize("level", LEVELS)
def test_chase_counts(build: Callable[..., Path], level: str) -> None:
    steps, nodes = 3000, 1024
    trace = captured(build("chase", level))
    # each step of a chain is one read; the results are written once a chain; a gather reads index and table
    assert (region(trace, "one")["reads"], region(trace, "one")["writes"]) == (steps, 1)
    assert (region(trace, "four")["reads"], region(trace, "four")["writes"]) == (4 * steps, 4)
    assert region(trace, "gather")["reads"] - 2 * nodes in (0, 1)  # and, depending on the level, the sum


def test_chains_of_short_indices_and_of_differences(build: Callable[..., Path]) -> None:
    trace = captured(build("short_indices"))
    loops = [entry["miss_parallelism"] for entry in trace.inspect()["regions"] if entry["kind"] == "loop"]
    # a next place, a way back: each load waits for the one before; a gather has what ten miss buffers hold
    assert loops == [pytest.approx(1, abs=0.1), pytest.approx(1, abs=0.1), pytest.approx(10, abs=1)]


@pytest.mark.parametrize("program", ["stencil", "chase", "constructs"])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_same_program_has_the_same_hash(build: Callable[..., Path], program: str, threads: int) -> None:
    executable = build(program)
    assert captured(executable, threads=threads).hash == captured(executable, threads=threads).hash


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_traced_program_computes_what_it_should(
    build: Callable[..., Path], capfd: pytest.CaptureFixture[str], threads: int
) -> None:
    captured(build("constructs"), threads=threads)
    assert f"team {threads}, ordered 1, parts 123, tasks 12345" in capfd.readouterr().out


def test_free_loops_do_not_depend_on_the_team(build: Callable[..., Path]) -> None:
    executable = build("stencil")
    one, seven = (region(captured(executable, threads=threads), "sweep") for threads in (1, 7))
    assert (one["items"], one["accesses"]) == (seven["items"], seven["accesses"])


def test_objects_archives_and_preprocessor_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flags = ["-O2", "-g", "-fopenmp", f"-I{PROGRAMS}", "-DCOUNT=500"]
    assert compiler.main([*flags, str(PROGRAMS / "uses_library.c"), str(PROGRAMS / "library.c"), "-o", "together"]) == 0
    assert compiler.main([*flags, "-c", str(PROGRAMS / "uses_library.c"), "-o", "main.o"]) == 0
    assert compiler.main([*flags, "-c", str(PROGRAMS / "library.c")]) == 0
    assert compiler.main([*flags, "main.o", "library.o", "-o", "objects"]) == 0
    subprocess.run(["ar", "rcs", "liblibrary.a", "library.o"], check=True)
    assert compiler.main([*flags, "main.o", "liblibrary.a", "-o", "archive"]) == 0
    traces = [captured(tmp_path / name) for name in ("together", "objects", "archive")]
    # the call reads 500 values, however the program was put together
    assert [region(trace, "call")["accesses"] for trace in traces] == [region(traces[0], "call")["accesses"]] * 3
    assert 500 <= region(traces[0], "call")["reads"] <= 502


def test_the_schedule_clause_is_kept(build: Callable[..., Path]) -> None:
    trace = captured(build("stencil"))
    clauses = [region(trace, label)["schedule"].replace(" ", "") for label in ("init", "sweep")]
    assert clauses == ["static,1", "dynamic,3"]


@pytest.mark.parametrize("level", LEVELS)
def test_loops_that_are_passed_nothing_keep_their_line_and_clause(build: Callable[..., Path], level: str) -> None:
    """gcc gives the call of such a loop the line of the statement before it."""
    trace = captured(build("global_loops", level))
    loops = [entry for entry in trace.inspect()["regions"] if entry["kind"] == "loop"]
    source = (PROGRAMS / "global_loops.c").read_text().splitlines()
    pragmas = [number for number, line in enumerate(source, 1) if line.startswith("#pragma omp")]
    assert [entry["site"] for entry in loops] == [f"global_loops.c:{number}" for number in pragmas]
    assert [entry["schedule"].replace(" ", "") for entry in loops] == ["static,100", "dynamic,50"]


def test_loops_whose_bound_is_inlined_keep_their_line_and_clause(tmp_path: Path) -> None:
    """The call that begins such a loop has the line of the bound's function, in a header."""
    program = tmp_path / "inlined_bounds"
    source = PROGRAMS / "inlined_bounds.cpp"
    assert compiler.main(["-O2", "-g", "-fopenmp", str(source), "-o", str(program)], "c++") == 0
    loops = [entry for entry in captured(program).inspect()["regions"] if entry["kind"] == "loop"]
    lines = {text: number for number, text in enumerate(source.read_text().splitlines(), 1)}
    inner, combined = (next(lines[line] for line in lines if text in line) for text in ("static, 16", "dynamic, 64"))
    assert [(entry["schedule"], entry["site"]) for entry in loops] == [
        ("static,16", f"inlined_bounds.cpp:{inner}"),
        ("dynamic,64", f"inlined_bounds.cpp:{combined}"),
    ]


def test_chains_of_loads_cost_their_latency(build: Callable[..., Path]) -> None:
    """A chain waits for each of its loads; four chains in step overlap four of them; a gather's are independent."""
    trace = captured(build("chase"))
    seconds = hn.replay(trace, "xeon-x7560-4s", threads=1).regions.seconds
    # equal numbers of steps: without any overlap, four chains would take four times as long as one
    assert seconds["four"] < 3 * seconds["one"]


def test_eight_gigabytes_can_be_captured(build: Callable[..., Path]) -> None:
    trace = captured(build("enormous"), alias_over=1 << 20)
    assert region(trace, "touch")["writes"] == 1024 * 1024
    assert max(entry["bytes"] for entry in trace.inspect()["objects"]) == 8 << 30


def test_a_killed_program_leaves_a_truncated_trace(build: Callable[..., Path], tmp_path: Path) -> None:
    trace = captured(build("killed"), output=tmp_path / "killed.hnt")
    assert not trace.complete
    # what had left the program before the signal, which is at most all that it did
    assert _core.Trace.open(tmp_path / "killed.hnt").accesses <= 2000


def test_vector_stores_are_recorded(build: Callable[..., Path]) -> None:
    found = captured(build("intrinsics", "-O2", "-mavx")).inspect()
    # 512 numbers, four a store
    assert sum(entry["writes"] for entry in found["regions"]) == 512 / 4
    assert found["losses"] == []
