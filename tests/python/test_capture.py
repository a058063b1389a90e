"""Capture from the user's side: kernels, programs of one's own, aliased memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode import errors
from support import Ended

Run = Callable[..., Ended]

FILL = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  double* a = malloc(n * sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = i;
  printf("last %g\\n", a[n - 1]);
  free(a);
  return argc - 2;
}
"""


@pytest.fixture
def fill(homenode: Run, tmp_path: Path) -> Path:
    (tmp_path / "fill.c").write_text(FILL)
    ended = homenode("cc", "-O2", "-g", "-fopenmp", "fill.c", "-o", "fill")
    assert ended.status == 0, ended.stderr
    return tmp_path / "fill"


def test_own_program(homenode: Run, tmp_path: Path, fill: Path) -> None:
    ended = homenode("capture", "-o", "fill.hnt", "--json", "--", "./fill", "1000")
    assert ended.status == 0, ended.stderr
    assert "last 999" in ended.stderr  # the program's own output
    written = json.loads(ended.stdout)
    assert written["complete"] is True
    found = hn.Trace.open(tmp_path / "fill.hnt")
    assert found.hash == written["hash"]
    # the loop writes each of its 1000 elements once
    loops = found.regions[found.regions.kind == "loop"]
    assert loops.writes.sum() == 1000


def test_compiler_errors_are_the_compilers(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n")
    ended = homenode("cc", "-c", "bad.c", "-o", "bad.o")
    assert ended.status != 0
    assert "nothing" in ended.stderr
    assert not (tmp_path / "bad.o").exists()


def test_capturing_twice_gives_the_same_hash(tmp_path: Path) -> None:
    first, second = (hn.capture("stream", n=2000) for _ in range(2))
    assert first.path != second.path
    assert first.hash == second.hash
    other = hn.capture("stream", n=2001)
    assert other.hash != first.hash


def test_temporary_traces_go_with_their_object() -> None:
    trace = hn.capture("stream", n=1000)
    path = trace.path
    assert path.exists()
    del trace
    assert not path.exists()


def test_aliased_memory_gives_the_trace_of_real_memory() -> None:
    # addresses of the stencil do not depend on its values, so the window changes nothing
    settings = {"ni": 20, "nj": 20, "nk": 64, "check": 0}
    assert hn.capture("jacobi3d", alias_over=100_000, **settings).hash == hn.capture("jacobi3d", **settings).hash


def test_aliased_memory_is_refused_where_addresses_depend_on_values(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "branchy.c").write_text(
        "#include <stdlib.h>\n"
        "int main(void) {\n"
        "  double* a = malloc(1 << 20);\n"
        "  double* b = malloc(1 << 20);\n"
        "  for (int i = 0; i < 1000; ++i) if (a[i] > 1.2) b[i] = 2;\n"
        "  volatile double keep = b[7];\n"
        "  return keep > 1e300;\n"
        "}\n"
    )
    assert homenode("cc", "-O1", "-g", "branchy.c", "-o", "branchy").status == 0
    ended = homenode("capture", "--alias-over", "500000", "-o", "x.hnt", "--", "./branchy")
    assert ended.status == 2
    assert "aliased memory is unsound" in ended.stderr
    assert not (tmp_path / "x.hnt").exists()


def test_failing_kernel_is_an_error() -> None:
    with pytest.raises(errors.CaptureError, match="nothing was written"):
        hn.capture("hotspot", size=17)
