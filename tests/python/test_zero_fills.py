"""Zero fills that gcc takes into `calloc`: the trace has them where the program itself has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from homenode.compiler.zero_fills import zeroed_lines
from support import Ended

pytestmark = pytest.mark.capture
Run = Callable[..., Ended]

WORDS = 1 << 15  # of 8 bytes: glibc maps such a block
FILLS = {
    "loop": "u = block(n);\n  kept = u;\n  for (long i = 0; i < n; i++)\n    u[i] = 0;",
    "memset": "u = malloc(n * sizeof *u);\n  memset(u, 0, n * sizeof *u);",
    "ones": "u = block(n);\n  for (long i = 0; i < n; i++)\n    u[i] = 1;",
    "half": "u = malloc(n * sizeof *u);\n  memset(u, 0, n / 2 * sizeof *u);",
    "both": "u = block(n);\n  for (long i = 0; i < n; i++)\n    u[i] = 0;\n"
    "  kept = u;\n  u = block(n);\n  for (long i = 0; i < n; i++)\n    u[i] = 1;",
}
PROGRAM = """#include <stdlib.h>
#include <string.h>
double *kept;
static void *block(long n) {
  void *found = malloc(n * sizeof(double));
  if (!found) exit(1);
  return found;
}
__attribute__((noinline)) double *filled(long n) {
  double *u;
  FILL
  return u;
}
int main(int count, char **words) {
  (void)words;
  double *u = filled(WORDS / count), sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < WORDS; i++) sum += u[i];
  return sum < 0;
}
"""


def serial_writes(homenode: Run, folder: Path, fill: str, optimisation: str) -> int:
    """Writes of the code before the loop."""
    (folder / "own.c").write_text(PROGRAM.replace("FILL", FILLS[fill]).replace("WORDS", f"{WORDS}L"))
    done = homenode("cc", optimisation, "-g", "-fopenmp", "own.c", "-o", "own")
    assert done.status == 0, done
    done = homenode("capture", "-o", "own.hnt", "--threads", "2", "--", "./own")
    assert done.status == 0, done
    found: dict[str, Any] = json.loads(homenode("inspect", "--json", "own.hnt").stdout)
    return sum(region["writes"] for region in found["regions"] if region["kind"] == "serial")


@pytest.mark.parametrize(
    ("fill", "writes"), [("loop", 0), ("memset", 0), ("ones", WORDS), ("half", WORDS // 16), ("both", WORDS)]
)
def test_only_what_calloc_zeroes_is_left_out(homenode: Run, tmp_path: Path, fill: str, writes: int) -> None:
    assert 0 <= serial_writes(homenode, tmp_path, fill, "-O2") - writes < 32


@pytest.mark.parametrize(("fill", "writes"), [("loop", WORDS), ("memset", WORDS // 8)])
def test_without_optimisation_the_fill_stays(homenode: Run, tmp_path: Path, fill: str, writes: int) -> None:
    assert 0 <= serial_writes(homenode, tmp_path, fill, "-O1") - writes < 32


FORTRAN = """program own
  implicit none
  integer, parameter :: n = 200
  real(8), allocatable :: u(:, :), v(:, :), w(:, :)
  allocate(u(n, n), v(n, n), w(n, n))
  u = 0d0
  v = 1d0
  w = 0d0
  u(1, 1) = sum(v) + w(n, n)
  call exit(merge(0, 1, u(1, 1) == n * n))
end program
"""


def test_of_blocks_that_are_allocated_together_each_has_its_own_fill(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "own.f90").write_text(FORTRAN)
    done = homenode("fortran", "-O2", "-g", "own.f90", "-o", "own")
    assert done.status == 0, done
    done = homenode("capture", "-o", "own.hnt", "--", "./own")
    assert done.status == 0, done
    found: dict[str, Any] = json.loads(homenode("inspect", "--json", "own.hnt").stdout)
    assert 0 <= found["writes"] - 200 * 200 < 32
    # what libgfortran does before the program starts is not the program's
    assert [one for one in found["objects"] if one["kind"] == "unknown"] == []
    assert [region["label"] for region in found["regions"]] == ["main:serial"]


def test_lines_that_store_are_told_from_those_that_do_not() -> None:
    assembly = """\t.file 1 "folder/x.c"
\t.loc 1 3 5
\tcall\tcalloc@PLT
\t.loc 1 4 5
\tmovq\t%rax, 8(%rsp)
\tpushq\t%rbx
\tmovsd\t(%rax), %xmm0
\t.loc 1 5 5
\tmovsd\t%xmm0, (%rax,%rdx,8)
\t.loc 1 6 1
\trep stosq
\t.loc 1 7 1
\tjmp\tmemset@PLT
\t.loc 1 8 1
\tcall\t*calloc@GOTPCREL(%rip)
"""
    assert zeroed_lines(assembly) == [{"file": "x.c", "calloc": [3, 8], "stores": [5, 6, 7]}]
    assert zeroed_lines(assembly.replace("calloc", "malloc")) == []
