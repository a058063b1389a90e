"""The built-in programs, run natively: self-checks with one and two threads, refusals, kernels.toml against them."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "traces" / "kernels"
KERNELS: dict[str, dict[str, Any]] = {
    kernel["name"]: kernel for kernel in tomllib.loads((FOLDER / "kernels.toml").read_text(encoding="utf-8"))["kernel"]
}


def compiled(name: str, source: Path, program: Path, *flags: str) -> None:
    """A kernel's own build, native."""
    cxx = KERNELS[name]["language"] == "c++"
    libraries = [f"-l{library}" for library in KERNELS[name].get("libraries", [])]
    words = ["g++" if cxx else "gcc", *flags, *KERNELS[name]["flags"], "-o", program, source, *libraries, "-lm"]
    subprocess.run([str(word) for word in words], check=True)


def is_installed(name: str) -> bool:
    """Whether this machine has the headers that the kernel needs."""
    looks = [["g++", "-E", "-x", "c++", "-include", header, os.devnull] for header in KERNELS[name].get("needs", {})]
    return all(subprocess.run(look, capture_output=True, check=False).returncode == 0 for look in looks)


INSTALLED = [name for name in KERNELS if is_installed(name)]
SMALL = {
    "hotspot": ["size=64", "steps=3"],
    "hotspot_text": ["size=32", "steps=3"],
    "jacobi3d": ["ni=20", "nj=17", "nk=13", "bi=7", "bj=5", "bk=6", "sweeps=3"],
    "jacobi3d_tasks": ["ni=20", "nj=17", "nk=13", "bi=7", "bj=5", "bk=6", "sweeps=3", "order=kji"],
    "jacobi3d_tbb": ["ni=20", "nj=17", "nk=13", "bi=7", "bj=5", "bk=6", "sweeps=3", "partitioner=affinity"],
    "stream": ["n=1001", "repeats=3"],
    "chase": ["nodes=501", "steps=1200", "chains=4", "walks=3"],
    "gather": ["n=777", "reads=5001", "repeats=2"],
    "spmv": ["rows=301", "width=5", "matrix=skewed", "repeats=2"],
    "bfs": ["vertices=501", "degree=3", "drawn=skewed"],
    "histogram": ["bins=37", "keys=5001", "drawn=skewed", "repeats=2"],
    "jacobi2d": ["n=37", "sweeps=3"],
    "diffusion2d": ["n=37", "steps=3", "init=serial"],
    "buffer_copy": ["n=1001", "repeats=3", "init=serial"],
    "advection2d": ["patch=5", "patches=3", "steps=7"],
    "advection3d": ["patch=4", "patches=3", "steps=5"],
    "advection2d_messages": ["patch=5", "patches=3", "steps=7", "temporaries=scratch"],
    "advection3d_messages": ["patch=4", "patches=3", "steps=5", "buffers=message"],
    "heap_list1": ["blocks=5", "bytes=10000", "passes=3"],
    "srad_v1": ["rows=37", "cols=23", "steps=3"],
    "srad_v2": ["rows=29", "cols=41", "roi=11", "steps=3", "init=parallel"],
    "mg": ["class=S"],
    "mg_rows": ["class=S", "headers=left"],
    "ft": ["iterations=2", "pad=1"],
    "ft_c": ["iterations=2", "warmup=0"],
    "fdtd3d": ["patch=10", "patches=3"],
    "fdtd3d_messages": ["patch=6", "patches=8", "layout=compact", "buffers=message"],
    "threads_autonomous": ["integer=3", "floating=1", "elements=7", "rounds=5"],
    "threads_side_by_side": ["workers=3", "logarithm=4", "rounds=5"],
    "threads_postponed": ["workers=2", "rounds=4", "elements=5"],
    "threads_pingpong": ["turns=7"],
    "threads_teams": ["iterations=7"],
    "threads_counters": ["kind=integer", "iterations=7", "samples=3"],
    "threads_mix": ["leaders=3", "workers=2", "logarithm=3"],
    "sliding_tile": ["moves=24", "table=6", "nodes=heap"],
    "sliding_tile_lists": ["moves=16", "nodes=heap"],
}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kernels")
    for name in INSTALLED:
        kernel = KERNELS[name]
        standard = [] if kernel["language"] == "c++" else ["-std=c11"]
        flags = [*standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        compiled(name, FOLDER / kernel["file"], folder / name, *flags)
    return {name: folder / name for name in INSTALLED}


def run(program: Path, *arguments: str, threads: int = 1, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "OMP_NUM_THREADS": str(threads), **environment}
    return subprocess.run([str(program), *arguments], env=variables, capture_output=True, text=True, check=False)


def test_the_five_kernels_are_listed() -> None:
    assert {"hotspot", "jacobi3d", "stream", "chase", "gather"} <= set(KERNELS)


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("small", [True, False])
def test_self_check_passes(programs: dict[str, Path], name: str, threads: int, small: bool) -> None:
    result = run(programs[name], *(SMALL[name] if small else []), threads=threads)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{name}: self-check passed\n", "")


@pytest.mark.parametrize("schedule", ["static", "static,1", "dynamic,2", "guided"])
def test_jacobi3d_under_every_schedule(programs: dict[str, Path], schedule: str) -> None:
    assert run(programs["jacobi3d"], *SMALL["jacobi3d"], threads=2, OMP_SCHEDULE=schedule).returncode == 0


@pytest.mark.parametrize("order", ["ijk", "kji"])
def test_jacobi3d_in_either_order_of_tasks(programs: dict[str, Path], order: str) -> None:
    assert run(programs["jacobi3d_tasks"], f"order={order}", threads=3, OMP_SCHEDULE="static,1").returncode == 0


@pytest.mark.skipif("jacobi3d_tbb" not in INSTALLED, reason="no libtbb-dev")
@pytest.mark.parametrize("partitioner", ["auto", "affinity"])
def test_jacobi3d_with_several_threads_of_tbb(programs: dict[str, Path], partitioner: str) -> None:
    ended = run(programs["jacobi3d_tbb"], *SMALL["jacobi3d"], "tbb_threads=3", f"partitioner={partitioner}")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "jacobi3d_tbb: self-check passed\n", "")


@pytest.mark.parametrize("name", ["hotspot", "jacobi3d"])
@pytest.mark.parametrize("initialisation", ["serial", "parallel"])
def test_either_initialisation(programs: dict[str, Path], name: str, initialisation: str) -> None:
    assert run(programs[name], f"init={initialisation}", threads=2).returncode == 0


# One line each that breaks the algorithm: the self-check must see it.
BREAKAGES = [
    ("hotspot", "cell[1] + cell[-1]", "cell[1] + cell[1]"),
    ("hotspot", "if (r > 0) vertical", "if (r > 1) vertical"),
    ("jacobi3d", "from[k - row] + from[k + row]", "from[k - row] + from[k - row]"),
    ("jacobi3d", "1.0 / 6.0", "1.0 / 6.1"),
    ("jacobi3d_tasks", "from[k - 1] + from[k + 1]", "from[k - 1] + from[k - 1]"),
    ("jacobi3d_tbb", "ib * of.bi, (ib + 1) * of.bi", "ib * of.bi, ib * of.bi + 1"),
    ("stream", "c[i] = a[i];", "c[i] = b[i];"),
    ("chase", "node[j].next = swap;", "node[j].next = node + j;"),
    ("chase", "d = d->next;", "d = c->next;"),
    ("gather", "sum += x[index[i]];", "sum += x[index[i] / 2];"),
    ("spmv", "value[k] * x[column[k]]", "value[k] * x[column[k] / 2]"),
    ("spmv", "first[i] = entries;", "first[i] = entries + (i > 1);"),
    ("bfs", "distance[v] = level;", "distance[v] = level - 1;"),
    ("bfs", "next[v] = 1;", "next[v] = v % 2;"),
    ("histogram", "++count[key[i]];", "++count[key[i] / 2];"),
    ("jacobi2d", "from[(i - 1) * n + j] +", "from[(i + 1) * n + j] +"),
    ("diffusion2d", "from[(i - 1) * n + j])", "from[(i + 1) * n + j])"),
    ("diffusion2d", "(right - left) * inverse +", "(right + left) * inverse +"),
    ("buffer_copy", "b[i] = a[i];", "b[i] = a[i / 2];"),
    ("advection2d", "c_y * field[j * row + i + 1]", "c_x * field[j * row + i + 1]"),
    ("advection2d", "east[j * row + 1]", "east[j * row]"),
    ("advection3d", "inside[(k - 1) * layer", "inside[k * layer"),
    ("advection3d", "neighbour[SOUTH] + n * row", "neighbour[NORTH] + n * row"),
    ("fdtd3d", "ey[at + 1] - ey[at]", "ey[at + row] - ey[at]"),
    ("fdtd3d", "if (patch->absorbing) absorb", "if (0) absorb"),
    ("fdtd3d", "return (dt - 1) / (dt + 1);", "return (1 - dt) / (dt + 1);"),
    ("fdtd3d", "factor * (edge[-1] - *edge)", "factor * (edge[-1] + *edge)"),
    ("fdtd3d", "patch->behind[1]->h[2]", "patch->ahead[1]->h[2]"),
    ("threads_autonomous", "0.5 * y[i] + 1", "0.5 * y[i]"),
    ("threads_autonomous", "affine_value(knuth, x[i])", "affine_value(knuth, x[0])"),
    ("threads_side_by_side", "(i + 1) * n / threads", "(i + 1) * n / threads - 1"),
    ("threads_postponed", "queue->waiting[queue->taken % QUEUE]", "queue->waiting[0]"),
    ("threads_pingpong", ".word = 1", ".word = 1, .next = 1"),
    ("threads_teams", "made[14] = made[14] * c[5];", "made[14] = made[14] * c[0];"),
    ("threads_teams", "(made)[12] = (c)[2] * (c)[2];", "(made)[12] = (c)[2] + (c)[2];"),
    ("threads_counters", "order[k] = (struct order){&count[k], k};", "order[k] = (struct order){&count[0], k};"),
    ("threads_counters", "sampled[sample][k] = count[k];", "sampled[sample][k] = count[k] + 1;"),
    ("threads_mix", "(leader->number + 1) % prime", "(leader->number + 2) % prime"),
    ("threads_mix", "sum += summary->totals[i];", "sum += summary->totals[0];"),
    ("sliding_tile", "node->remaining < search->least", "node->remaining > search->least"),
    ("sliding_tile", "const uint32_t cost = parent ? parent->cost + 1 : 0;", "const uint32_t cost = 0;"),
    ("srad_v1", "image[column_west * rows + i] - here", "image[column_east * rows + i] - here"),
    ("srad_v1", "coefficient[column_east * rows + i] * east[k]", "here * east[k]"),
    ("srad_v1", "mean * mean) / (mean * mean)", "mean) / (mean * mean)"),
    ("srad_v1", "logf(image[k]) * 255.0f", "logf(image[k]) * 256.0f"),
    ("srad_v2", "coefficient[row_south * columns + j] * south[k]", "here * south[k]"),
    ("srad_v2", "i < roi", "i < roi - 1"),
    ("srad_v2", "image[row * columns + column_west[j]] - here", "image[row * columns + j] - here"),
    ("mg", "- edge * (edges[i1] + faces", "- edge * (corner + faces"),
    ("mg", "0.125 * (diagonal", "0.25 * (diagonal"),
    ("ft", "(a_im - b_im) + im", "(a_im - b_im) - im"),
    ("ft", "j < ny / 2 ? j : j - ny", "j < ny / 4 ? j : j - ny"),
    ("ft", "3 * j % ny", "2 * j % ny"),
    ("hotspot_text", "values[cell] = value;", "values[cell] = 2 * value;"),
    ("mg_rows", "to[2 * j1 + 1] += 0.5 * weight", "to[2 * j1 + 1] += weight"),
    ("mg_rows", "{below[i2 - 1], below[i2 + 1],", "{below[i2 - 1], below[i2 - 1],"),
    ("ft_c", "exponential[iteration * index[point]]", "exponential[index[point]]"),
    ("ft_c", "from + (k * ny + j) * nx, to", "from, to"),
    ("advection2d_messages", "east[WEST]", "east[EAST]"),
    ("advection3d_messages", "field + first + last * layer", "field + first"),
    (
        "fdtd3d_messages",
        "return of->magnetic ? ghost_at(of, d) + of->n * of->stride[d] : 0;",
        "return ghost_at(of, d);",
    ),
    ("fdtd3d_messages", "magnetic ? patch->absorbing : patch->source);", "1);"),
    ("sliding_tile_lists", "open ? in_open : search->open.count - 1", "0"),
    (
        "sliding_tile_lists",
        "at < list->count && list->node[at]->state != state",
        "at < list->count / 2 && list->node[at]->state != state",
    ),
    ("heap_list1", "content(rank, i, pass), (size_t)bytes)", "content(rank, i, pass), (size_t)bytes - 1)"),
]


# What a wrong sign reflects is little in the first steps: the boundary is checked by itself.
SIGN_OF_MUR = ("return (dt - 1) / (dt + 1);", "return -(dt - 1) / (dt + 1);")


@pytest.mark.parametrize(
    "arguments", [["steps=1"], ["patch=4", "steps=2"], ["patch=8", "patches=8", "layout=compact", "steps=3"]]
)
def test_fdtd3d_sees_the_sign_of_its_boundary(programs: dict[str, Path], tmp_path: Path, arguments: list[str]) -> None:
    text = (FOLDER / "fdtd3d.c").read_text(encoding="utf-8")
    assert text.count(SIGN_OF_MUR[0]) == 1
    for header in sources("fdtd3d")[1:]:
        (tmp_path / header).write_bytes((FOLDER / header).read_bytes())
    (tmp_path / "fdtd3d.c").write_text(text.replace(*SIGN_OF_MUR), encoding="utf-8")
    compiled("fdtd3d", tmp_path / "fdtd3d.c", tmp_path / "broken")
    assert run(programs["fdtd3d"], *arguments).returncode == 0
    assert run(tmp_path / "broken", *arguments).returncode == 1


def sources(name: str) -> list[str]:
    """The kernel's own file, and the files of this folder that it includes."""
    found: list[str] = [KERNELS[name]["file"]]
    for file in found:
        included = re.findall(r'#include "(\w+\.[ch])"', (FOLDER / file).read_text(encoding="utf-8"))
        found += [header for header in included if header not in found and (FOLDER / header).is_file()]
    return found


@pytest.mark.parametrize(("name", "right", "wrong"), BREAKAGES)
def test_self_check_sees_a_wrong_algorithm(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    texts = {file: (FOLDER / file).read_text(encoding="utf-8") for file in sources(name)}
    assert sum(text.count(right) for text in texts.values()) == 1
    for file, text in texts.items():
        (tmp_path / file).write_text(text.replace(right, wrong), encoding="utf-8")
    program = tmp_path / "broken"
    compiled(name, tmp_path / KERNELS[name]["file"], program)
    result = run(program, *SMALL[name])
    assert result.returncode == 1
    assert re.fullmatch(rf"{name}: self-check failed: \d+ .+\n", result.stderr)


REFUSALS = [
    ("hotspot", ["size=50"], "hotspot: 'size' is a multiple of 16"),
    ("hotspot", ["size=16"], "hotspot: wrong value in 'size=16': 'size' is an integer from 32 to 65536"),
    ("hotspot", ["width=64"], "hotspot: unknown parameter 'width=64': allowed are size, steps, init, check"),
    ("hotspot", ["init=both"], "hotspot: wrong value in 'init=both': 'init' is one of serial|parallel"),
    ("jacobi3d", ["ni=2"], "jacobi3d: wrong value in 'ni=2': 'ni' is an integer from 3 to"),
    ("jacobi3d", ["bk=0"], "jacobi3d: wrong value in 'bk=0'"),
    ("stream", ["n=-5"], "stream: wrong value in 'n=-5'"),
    ("stream", ["n=12x"], "stream: wrong value in 'n=12x'"),
    ("stream", ["n="], "stream: wrong value in 'n='"),
    ("chase", ["chains=3"], "chase: wrong value in 'chains=3': 'chains' is one of 1|4"),
    ("chase", ["--walks"], "chase: no value in '--walks': 'walks' is an integer from 1 to"),
    ("srad_v2", ["roi=200"], "srad_v2: 'roi' is at most 'rows' and 'cols'"),
    ("mg", ["class=D"], "mg: wrong value in 'class=D': 'class' is one of S|W|A|B|C"),
    ("ft", ["iterations=7"], "ft: 'iterations' is at most what the class has: 6 for S, W and A"),
    ("gather", ["reads=99999999999999999999"], "gather: wrong value in 'reads=99999999999999999999'"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSALS)
def test_wrong_parameters_are_refused(programs: dict[str, Path], name: str, arguments: list[str], message: str) -> None:
    result = run(programs[name], *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", INSTALLED)
def test_described_defaults_are_the_program_s(programs: dict[str, Path], name: str) -> None:
    described = {key: str(value["default"]) for key, value in KERNELS[name]["parameters"].items()}
    block = re.search(
        r"kernel_parameter p\[COUNT\] = \{(.*?)\};", (FOLDER / KERNELS[name]["file"]).read_text(encoding="utf-8"), re.S
    )
    assert block
    found = {}
    for key, value, words in re.findall(r'\{"(\w+)", (\d+), .*?, (NULL|"[^"]*")\}', block[1]):
        found[key] = value if words == "NULL" else words.strip('"').split("|")[int(value)]
    assert found == described


@pytest.mark.parametrize("name", INSTALLED)
def test_described_regions_are_the_program_s(programs: dict[str, Path], name: str) -> None:
    described = KERNELS[name]["parameters"]
    variables = {key: value["default"] for key, value in described.items()}
    for value in described.values():
        variables |= value.get("fixes", {}).get(value["default"], {})
    printed = re.findall(
        r"^region=(\w+) time_seconds=\d+\.\d{9}$", run(programs[name], HOMENODE_TIMES="1").stdout, re.M
    )
    expected = {r["label"]: eval(r["executions"], {}, variables) for r in KERNELS[name]["regions"]}
    assert {label: printed.count(label) for label in printed} == expected
    files = [file for file in sources(name) if file.endswith((".c", ".cpp"))]
    marks = [
        re.findall(r'(?:HOMENODE_LABEL|KERNEL_REGION)\("(\w+)"\)', (FOLDER / file).read_text(encoding="utf-8"))
        for file in files
    ]
    if len(files) == 1:
        assert marks[0] == list(expected)
    else:  # what it includes marks regions that it does not run
        assert set(marks[0]) <= set(expected) <= {label for marked in marks for label in marked}


def test_both_ways_to_write_a_parameter(programs: dict[str, Path]) -> None:
    for arguments in (["n=5"], ["--n=5"], ["--n", "5"]):
        assert run(programs["stream"], *arguments).returncode == 0
