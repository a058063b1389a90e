"""Threads of a team that wait for each other in loops of their own: flags between neighbours, a barrier, a lock.

Twin and traced program run one thread at a time; a loop that waits must give the others their turn.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.compiler.spins import routed, with_hooks
from support import Ended

pytestmark = pytest.mark.capture

# As NPB's LU: each thread waits for the one before it, plane by plane.
PIPELINE = """
#include <omp.h>
static int ready[64];
static double v[16][64][64];
int main(void) {
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (int k = 1; k < 16; ++k) {
      if (me > 0) {
        while (ready[me - 1] == 0) {
#pragma omp flush
        }
        ready[me - 1] = 0;
#pragma omp flush
      }
#pragma omp for schedule(static) nowait
      for (int j = 1; j < 64; ++j)
        for (int i = 1; i < 64; ++i) v[k][j][i] = 0.5 * (v[k - 1][j][i] + v[k][j - 1][i]) + 1;
      if (me < all - 1) {
        while (ready[me] == 1) {
#pragma omp flush
        }
        ready[me] = 1;
#pragma omp flush
      }
    }
  }
  return v[15][63][63] < 1;
}
"""
# A flag that is volatile, a barrier that turns, a lock by test and set.
OWN_BARRIER = """
#include <omp.h>
static int arrived, sense, lock;
static volatile int go;
static long total;
static double a[4][1000];
int main(void) {
#pragma omp parallel num_threads(4)
  {
    const int me = omp_get_thread_num();
    if (me == 3) go = 1; else while (!go) {}
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 1000; ++i) a[me][i] += i;
      const int mine = __atomic_load_n(&sense, __ATOMIC_SEQ_CST);
      if (__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST) == 4)
        arrived = 0, __atomic_store_n(&sense, !mine, __ATOMIC_SEQ_CST);
      else
        while (__atomic_load_n(&sense, __ATOMIC_SEQ_CST) == mine) __builtin_ia32_pause();
      while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {}
      total += me;
      __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
  }
  return total != 30;
}
"""


@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
@pytest.mark.parametrize(("name", "source"), [("pipeline", PIPELINE), ("own_barrier", OWN_BARRIER)])
def test_a_loop_that_waits_lets_the_others_go_on(
    name: str, source: str, optimise: str, homenode: Callable[..., Ended], tmp_path: Path
) -> None:
    (tmp_path / f"{name}.c").write_text(source)
    built = homenode("cc", optimise, "-g", "-fopenmp", tmp_path / f"{name}.c", "-o", tmp_path / name)
    assert built.status == 0, built.stderr
    first, second = (hn.capture(command=[str(tmp_path / name)], timeout=60) for _ in range(2))
    assert first.complete, first.truncated_by
    assert first.hash == second.hash
    lost = [loss["reason"] for loss in first.inspect()["losses"]]
    assert "spin on a word by a thread of a team: its loads are replayed, and no wait" in lost
    assert not any("twin" in reason or "work counts" in reason for reason in lost)
    assert hn.replay(first, "xeon-e5-2697v2-2s", threads=4, mapping="compact").seconds > 0


# Its bound is read again after each call: the same word, and nobody waits.
BOUND = """
#include <stdlib.h>
long samples = 100000, hits[4];
int main(void) {
#pragma omp parallel for num_threads(4)
  for (int part = 0; part < 4; ++part) {
    unsigned seed = part + 1;
    long n = 0;
    for (long i = 0; i < samples; ++i) n += rand_r(&seed) & 1;
    hits[part] = n;
  }
  return hits[0] == 0;
}
"""


def test_a_bound_that_is_read_again_is_no_wait(homenode: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "bound.c").write_text(BOUND)
    built = homenode("cc", "-O2", "-g", "-fopenmp", tmp_path / "bound.c", "-o", tmp_path / "bound")
    assert built.status == 0, built.stderr
    trace = hn.capture(command=[str(tmp_path / "bound")], timeout=60)
    assert not any("spin" in loss["reason"] for loss in trace.inspect()["losses"])


def loops(source: str, tmp_path: Path, *flags: str) -> int:
    """How many loops of a source wait, as gcc compiles it; what was made of it is assembled, too."""
    (tmp_path / "x.c").write_text(source)
    subprocess.run(["gcc", "-S", *flags, "x.c"], cwd=tmp_path, check=True)
    text, heads = routed((tmp_path / "x.s").read_text())
    (tmp_path / "y.s").write_text(with_hooks(text, heads))
    subprocess.run(["gcc", "-c", "y.s"], cwd=tmp_path, check=True)
    return len(heads)


WAIT = {
    "volatile": "void f(volatile int* go) { while (!*go) {} }",
    "atomic": "void f(int* go) { while (__atomic_load_n(go, __ATOMIC_ACQUIRE) < 3) __builtin_ia32_pause(); }",
    "jacld": "void jacld(volatile int* go) { while (!*go) {} }",  # a label that begins as jumps do
    "index": "extern int flag[], me; void f(void) { while (flag[me - 1] == 0) __sync_synchronize(); }",
    "exchange": "void f(char* lock) { while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE)) {} }",
    "pauses": "void f(volatile int* go) { while (!*go) for (int i = 0; i < 9; ++i) __asm__ volatile(\"pause\"); }",
    "bit": "void f(int* l) { while (__atomic_fetch_or(l, 1, __ATOMIC_ACQUIRE) & 1) {} }",
    "assembly": 'void f(int* l) { int o; do { o = 0; __asm__ volatile("lock; cmpxchgl %2, %1" : "+a"(o), "+m"(*l) : "r"(1)); }'
    " while (o); }",
    "double": "void f(volatile double* go) { while (*go < 0.5) {} }",
}  # fmt: skip
GO_ON = {
    "sum": "double f(const double* a, int n) { double s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }",
    "length": "int f(const char* a) { int n = 0; while (a[n]) ++n; return n; }",
    "list": "struct list { struct list* next; }; void f(volatile struct list* l) { while (l->next) l = l->next; }",
    "store": "void f(volatile int* a, const int* b) { while (*b) *a = *b + 1; }",
    "call": "int g(void); void f(void) { while (!g()) {} }",
    "tries": "void f(volatile int* go) { for (int i = 0; i < 1000 && !*go; ++i) {} }",
    "update": "void f(double* a) { double o, n; __atomic_load(a, &o, 0);"
    " do n = o + 1; while (!__atomic_compare_exchange(a, &o, &n, 0, 5, 0)); }",
    "newton": "double f(double x, double y) { while (x * x - y > 1e-9) x = 0.5 * (x + y / x); return x; }",
}


@pytest.mark.parametrize("flags", [("-O0",), ("-O1",), ("-O2",), ("-O3", "-march=haswell")])
@pytest.mark.parametrize("name", WAIT)
def test_loops_that_wait(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    assert loops(WAIT[name], tmp_path, *flags) == 1


# What is stored into the frame, as without optimisation everything is, is a register.
UNOPTIMISED = {
    "C11": "#include <stdatomic.h>\nvoid f(atomic_int* go) { while (!atomic_load(go)) {} }",
    "local": "int flag; void f(void) { int seen = 0; while (!seen) { seen = __atomic_load_n(&flag, 0); } }",
}


@pytest.mark.parametrize("name", UNOPTIMISED)
def test_loops_that_wait_with_variables_in_the_frame(name: str, tmp_path: Path) -> None:
    assert loops(UNOPTIMISED[name], tmp_path, "-O0") == 1
    assert loops(UNOPTIMISED[name], tmp_path, "-O2", "-fverbose-asm") == 1


@pytest.mark.parametrize("flags", [("-O0",), ("-O1",), ("-O2",), ("-O3", "-march=haswell")])
@pytest.mark.parametrize("name", GO_ON)
def test_loops_that_go_on(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    assert loops(GO_ON[name], tmp_path, *flags) == 0
