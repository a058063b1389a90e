"""mg and ft against the verification values that NPB publishes for its classes; sizes; captured, as the two srad are."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import _core

FOLDER = Path(__file__).parents[2] / "traces" / "kernels"
LISTED: dict[str, dict[str, Any]] = {
    kernel["name"]: kernel for kernel in tomllib.loads((FOLDER / "kernels.toml").read_text(encoding="utf-8"))["kernel"]
}
# B and C take minutes and gigabytes: HOMENODE_NPB_CLASSES=B,C runs them too.
CLASSES = ["S", "W", "A", *filter(None, os.environ.get("HOMENODE_NPB_CLASSES", "").split(","))]
NPB = ("mg", "ft", "mg_rows", "ft_c")
SMALLEST: dict[str, dict[str, Any]] = {
    "srad_v1": {"rows": 37, "cols": 23, "steps": 3},
    "srad_v2": {"rows": 29, "cols": 41, "roi": 11, "steps": 3, "init": "parallel"},
    "mg": {"class": "S", "iterations": 1},
    "ft": {"class": "S", "iterations": 1},
    "mg_rows": {"class": "S", "iterations": 1},
    "ft_c": {"class": "S", "iterations": 1},
}


@pytest.fixture(scope="module")
def natively(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("nas")
    for name in NPB:
        command = ["gcc", *LISTED[name]["flags"], "-o", folder / name, FOLDER / LISTED[name]["file"], "-lm"]
        subprocess.run(command, check=True)
    return {name: folder / name for name in NPB}


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    return subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("size_class", CLASSES)
@pytest.mark.parametrize("name", NPB)
def test_published_verification_values(natively: dict[str, Path], name: str, size_class: str) -> None:
    # mg: |norm - published| <= 1e-8 published; ft: |checksum - published| <= 1e-12 |published|, each iteration.
    result = run(natively[name], f"class={size_class}")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{name}: self-check passed\n", "")


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("name", NPB)
def test_fewer_iterations_are_checked_too(natively: dict[str, Path], name: str, iterations: int) -> None:
    assert run(natively[name], f"iterations={iterations}").returncode == 0


def array_bytes(name: str, variables: dict[str, Any]) -> int:
    """What the sources of mg and ft say of their arrays."""
    if name == "mg":
        levels = range(1, variables["levels"] + 1)
        return int(8 * (2 * sum((2**level + 2) ** 3 for level in levels) + (variables["n"] + 2) ** 3))
    return int((variables["nx"] + variables["pad"]) * variables["ny"] * variables["nz"] * (16 + 16 + 8))


def fixed(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The variables of a kernel's expressions: its parameters, and what the chosen class fixes."""
    described = LISTED[name]["parameters"]
    variables = {key: settings.get(key, value["default"]) for key, value in described.items()}
    for key, value in described.items():
        variables |= value.get("fixes", {}).get(variables[key], {})
    return variables


@pytest.fixture(scope="module")
def traces(own_cache: None) -> dict[str, list[hn.Trace]]:
    """Each kernel at its smallest size captured twice; a failed self-check would be an error here."""
    return {name: [hn.capture(name, **settings) for _ in range(2)] for name, settings in SMALLEST.items()}


@pytest.mark.capture
@pytest.mark.parametrize("name", SMALLEST)
def test_captures_are_whole_and_repeat(traces: dict[str, list[hn.Trace]], name: str) -> None:
    first, second = traces[name]
    assert first.complete
    assert _core.check_trace(first.path) == []
    assert first.hash == second.hash


@pytest.mark.capture
@pytest.mark.parametrize("name", SMALLEST)
def test_captured_accesses_are_those_of_the_sources(traces: dict[str, list[hn.Trace]], name: str) -> None:
    variables = fixed(name, SMALLEST[name])
    captured = traces[name][0].regions.set_index("label")
    for region in LISTED[name]["regions"]:
        for figure in ("executions", "reads", "writes"):
            if figure in region:
                expected = eval(region[figure], dict(variables))
                found = captured.loc[region["label"], figure]
                assert (region["label"], figure, found) == (region["label"], figure, expected)


@pytest.mark.capture
@pytest.mark.parametrize(("name", "others"), [("mg", 32 * 20 * 16), ("ft", 512 * 16)])
def test_captured_arrays_have_the_computed_size(traces: dict[str, list[hn.Trace]], name: str, others: int) -> None:
    # heap bytes = arrays + mg's ten largest and smallest of each plane (value and place), ft's roots of unity.
    objects = traces[name][0].objects
    computed = array_bytes(name, fixed(name, SMALLEST[name]))
    assert objects[objects.kind == "heap"].bytes.sum() == computed + others


@pytest.mark.parametrize(
    ("name", "size_class", "megabytes"),
    [("mg", "A", 452.7), ("mg", "C", 3574.4), ("ft", "A", 335.5), ("ft", "C", 5368.7)],
)
def test_sizes_of_the_classes(name: str, size_class: str, megabytes: float) -> None:
    # S0's Table 2 prints the whole process: mg A 619, C 4736, ft A 450, C 6897 MB; the arrays are 0.73 to 0.78 of that.
    assert round(array_bytes(name, fixed(name, {"class": size_class})) / 1e6, 1) == megabytes
