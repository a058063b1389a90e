"""`homenode extrapolate`: a held-out capture is predicted exactly, or the region that follows no law is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.errors import UsageError
from support import Ended

pytestmark = pytest.mark.capture

Captured = Callable[..., Path]


@pytest.fixture(scope="module")
def captured(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captured]:
    """Captures a kernel, once for each set of its parameters."""
    folder = tmp_path_factory.mktemp("captures")
    made: dict[str, Path] = {}

    def capture(kernel: str, threads: int = 1, **parameters: Any) -> Path:
        name = f"{kernel}-{threads}-" + "-".join(f"{key}{value}" for key, value in parameters.items())
        if name not in made:
            made[name] = folder / f"{name}.hnt"
            hn.capture(kernel, output=made[name], threads=threads, **parameters)
        return made[name]

    yield capture


# Kernel, what is fixed, the captures, the one held out, the one that is extrapolated and captured for comparison.
# Sizes are such that each repeated part occurs three times, and multiples of what the program or its allocator rounds to.
EXACT: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]], dict[str, Any], dict[str, Any]]] = {
    "jacobi2d size": ("jacobi2d", {}, [{"n": n} for n in (40, 48, 56)], {"n": 72}, {"n": 100}),
    "jacobi2d steps": ("jacobi2d", {"n": 20}, [{"sweeps": s} for s in (6, 8, 10)], {"sweeps": 16}, {"sweeps": 40}),
    "hotspot size": ("hotspot", {}, [{"size": s} for s in (96, 112, 128)], {"size": 160}, {"size": 256}),
    "jacobi3d planes": (
        "jacobi3d",
        {"nj": 40, "nk": 16, "bj": 8, "bk": 16},
        [{"ni": ni} for ni in (48, 56, 64)],
        {"ni": 80},
        {"ni": 96},
    ),
    "srad_v2 rows": (
        "srad_v2",
        {"cols": 32, "roi": 8},
        [{"rows": r} for r in (48, 64, 80)],
        {"rows": 112},
        {"rows": 160},
    ),
    "srad_v2 square": (
        "srad_v2",
        {"roi": 8},
        [{"rows": n, "cols": n} for n in (48, 64, 80)],
        {"rows": 112, "cols": 112},
        {"rows": 160, "cols": 160},
    ),
    "advection2d patch": ("advection2d", {}, [{"patch": n} for n in (40, 48, 56)], {"patch": 72}, {"patch": 96}),
    "advection2d steps": (
        "advection2d",
        {"patch": 8, "temporaries": "anew"},
        [{"steps": s} for s in (6, 8, 10)],
        {"steps": 14},
        {"steps": 30},
    ),
    "advection3d steps": (
        "advection3d",
        {"patch": 6},
        [{"steps": s} for s in (6, 8, 10)],
        {"steps": 14},
        {"steps": 30},
    ),
    "mg cycles": ("mg", {}, [{"iterations": i} for i in (4, 5, 6)], {"iterations": 8}, {"iterations": 9}),
}


@pytest.mark.parametrize("case", EXACT)
def test_a_trace_of_another_size_is_the_one_that_is_captured(case: str, captured: Captured, tmp_path: Path) -> None:
    kernel, fixed, sizes, check, asked = EXACT[case]
    captures = [captured(kernel, **fixed, **size) for size in sizes]
    held_out = captured(kernel, **fixed, **check)
    made = hn.extrapolate(*captures, check=held_out, output=tmp_path / "made.hnt", **asked)
    truth = hn.Trace.open(captured(kernel, **fixed, **asked))
    # Equal content: what every region does to which bytes, in which order; and so equal counts.
    assert made.hash == truth.hash
    assert made.arguments == truth.arguments
    for name in ("accesses", "reads", "writes", "footprint_bytes"):
        assert made.inspect()[name] == truth.inspect()[name], name
    # Instructions are interpolated: within 2 % of the counted ones in each region that has many.
    for found, expected in zip(made.inspect()["regions"], truth.inspect()["regions"], strict=True):
        counted = expected["work"]["instructions"]
        if counted > 1e5:
            assert abs(found["work"]["instructions"] - counted) <= 0.02 * counted, found["label"]


def test_what_cannot_be_captured_here_is_written(captured: Captured, homenode: Callable[..., Ended]) -> None:
    captures = [captured("jacobi2d", n=n) for n in (40, 48, 56)]
    done = homenode(
        "extrapolate", *captures, "--check", captured("jacobi2d", n=72), "--set", "n=200000", "-o", "E.hnt", "--json"
    )
    assert done.status == 0, done.stderr
    found = json.loads(done.stdout)
    # 2 n^2 writes at first, then 6 accesses a point of the interior in each of 2 sweeps, and 3 of main's own before each stage.
    n = 200000
    assert found["accesses"] == 2 * n**2 + 2 * 6 * (n - 2) ** 2 + 9
    # Two grids of n^2 doubles, 640 GB, and the program's own variables.
    assert 16 * n**2 < found["footprint_bytes"] < 16 * n**2 + 4096
    assert found["schema"] == "homenode.extrapolate/1"
    assert (found["captured_at"], found["checked_at"], found["at"]) == ("n=40, n=48, n=56", "n=72", "n=200000")
    assert found["remarks"] == []
    assert homenode("check", "E.hnt").status == 0
    shown = homenode("inspect", "E.hnt")
    assert "extrapolated: from captures at n=40, n=48, n=56" in " ".join(shown.stdout.split())


def refusal(captures: list[Path], check: Path, output: Path, **settings: int) -> str:
    with pytest.raises(UsageError) as refused:
        hn.extrapolate(*captures, check=check, output=output, **settings)
    assert not output.exists()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_irregular_accesses_are_refused_by_region(captured: Captured, tmp_path: Path) -> None:
    captures = [captured("chase", steps=50, nodes=nodes) for nodes in (100, 200, 300)]
    check = captured("chase", steps=50, nodes=400)
    message = refusal(captures, check, tmp_path / "E.hnt", nodes=500)
    assert "region 'shuffle'" in message
    assert "irregular" in message


def test_classes_are_no_numbers(captured: Captured, tmp_path: Path) -> None:
    captures = [captured("mg", **{"class": "S", "iterations": i}) for i in (4, 5)]
    captures.append(captured("mg", **{"class": "W", "iterations": 1}))
    message = refusal(captures, captured("mg", **{"class": "S", "iterations": 8}), tmp_path / "E.hnt", iterations=9)
    assert "class=S" in message
    assert "class=W" in message
    assert "whole numbers only" in message


def test_a_patch_that_the_allocator_rounds_is_refused_by_object(captured: Captured, tmp_path: Path) -> None:
    # Fields of (n + 2)^2 doubles in blocks of whole lines: 64 * ceil((n + 2)^2 / 8) bytes is no polynomial of n.
    captures = [captured("jacobi2d", n=n) for n in (40, 43, 46)]
    message = refusal(captures, captured("jacobi2d", n=72), tmp_path / "E.hnt", n=100)
    assert "kernel.h:" in message
    assert "bytes" in message


def test_a_larger_team_is_the_one_that_is_captured(
    captured: Captured, tmp_path: Path, homenode: Callable[..., Ended]
) -> None:
    # The team is no argument of the program; free loops do the same whatever it is, ranks and their stacks come with it.
    captures = [captured("hotspot", threads=threads, size=128) for threads in (4, 5, 6)]
    check = captured("hotspot", threads=9, size=128)
    made = hn.extrapolate(*captures, check=check, output=tmp_path / "E.hnt", threads=16)
    assert made.hash == hn.Trace.open(captured("hotspot", threads=16, size=128)).hash
    assert len(made.inspect()["threads"]) == 16


def test_a_size_between_the_captured_ones_is_remarked(
    captured: Captured, tmp_path: Path, homenode: Callable[..., Ended]
) -> None:
    captures = [captured("jacobi2d", n=n) for n in (40, 48, 56)]
    check = captured("jacobi2d", n=72)
    done = homenode("extrapolate", *captures, "--check", check, "--set", "n=101", "-o", "E.hnt")
    assert done.status == 0, done.stderr
    assert "n=101 is not 72 and a multiple of 8" in " ".join(done.stdout.split())


@pytest.mark.parametrize("name", ["patches", "threads"])
def test_patches_in_other_numbers_are_refused_by_region(captured: Captured, tmp_path: Path, name: str) -> None:
    # a rank's code names a heap block a patch, and its runs fold at other places for other numbers of them (traces/parametric)
    captures = [captured("advection2d", **{"patch": 6, "patches": 4, "threads": 2, name: n}) for n in (6, 8, 10)]
    check = captured("advection2d", **{"patch": 6, "patches": 4, "threads": 2, name: 12})
    message = refusal(captures, check, tmp_path / "E.hnt", **{name: 20})
    assert re.match(rf"the structure at {name}=6 is another than at {name}=\d+: region '\S+': ", message)
    assert not (tmp_path / "E.hnt").exists()


def test_steps_that_are_no_whole_number_of_swaps_are_refused(captured: Captured, tmp_path: Path) -> None:
    captures = [captured("jacobi2d", n=20, sweeps=s) for s in (6, 8, 10)]
    message = refusal(captures, captured("jacobi2d", n=20, sweeps=16), tmp_path / "E.hnt", sweeps=15)
    assert "7.5" in message
    assert "sweeps=15" in message


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["A", "B", "--check", "D", "--set", "n=100"], "captures given: 2; allowed: at least three"),
        (["A", "B", "C", "--set", "n=100"], "allowed: --check FILE"),
        (["A", "B", "C", "--check", "D"], "allowed: --set NAME=NUMBER"),
        (["A", "B", "C", "--check", "D", "--set", "n=many"], "allowed: NAME=NUMBER, a whole number"),
        (["A", "B", "C", "--check", "D", "--set", "sweeps=3"], "parameter that varies among the captures"),
        (["A", "A", "A", "--check", "D", "--set", "n=100"], "have the same parameters"),
        (["A", "B", "C", "--check", "B", "--set", "n=100"], "the parameters of one of the captures (n=48)"),
        (["A", "B", "other", "--check", "D", "--set", "n=100"], "captures of different programs"),
        (["A", "B", "C", "--check", "D", "--set", "n=100.5"], "allowed: NAME=NUMBER, a whole number"),
        (["A", "B", "missing.hnt", "--check", "D", "--set", "n=100"], "no trace 'missing.hnt'"),
        (["A", "B", "C", "--check", "D", "--set", "n=-8"], "would be -"),
    ],
)
def test_bad_input_gives_one_clear_error(
    arguments: list[str], problem: str, captured: Captured, homenode: Callable[..., Ended], tmp_path: Path
) -> None:
    files = {name: captured("jacobi2d", n=n) for name, n in (("A", 40), ("B", 48), ("C", 56), ("D", 72))}
    files["other"] = captured("stream", n=1000)
    done = homenode("extrapolate", *(files.get(word, word) for word in arguments), "-o", "E.hnt")
    assert done.status == 2
    assert done.stderr.startswith("homenode: ")
    assert done.stderr.count("\n") == 1
    assert problem in done.stderr
    assert list(tmp_path.iterdir()) == []
