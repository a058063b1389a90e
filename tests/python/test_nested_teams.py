"""Nested parallel regions, whose teams are serialised: frames stay on the stack of the thread that runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from support import Ended

pytestmark = pytest.mark.capture

# Each thread of the outer team fills its part in an inner region, which reads a number of main's: on its stack, or not.
SHARED = """
#include <stdlib.h>
__attribute__((noinline)) static void fill(const double* step, double* to) {
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) to[i] = *step * i;
}
int main(void) {
  STORAGE double step = 0.5;
  double* a = malloc(8 * 1000 * sizeof *a);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for
    for (int part = 0; part < 8; ++part) fill(&step, a + part * 1000);
  }
  double sum = 0;
  for (int i = 0; i < 8 * 1000; ++i) sum += a[i];
  return sum < 0;
}
"""
CREATED = """
#include <pthread.h>
#include <stdlib.h>
static double a[4][1000];
struct part { const double* step; int number; };
static void* work(void* argument) {
  struct part* part = argument;
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) a[part->number][i] = *part->step * i;
  return NULL;
}
int main(void) {
  double step = 0.5;
  pthread_t thread[4];
  struct part part[4];
  for (int t = 0; t < 4; ++t) part[t] = (struct part){&step, t}, pthread_create(&thread[t], NULL, work, &part[t]);
  for (int t = 0; t < 4; ++t) pthread_join(thread[t], NULL);
  return a[3][999] < 0;
}
"""


# The first thread waits inside a nested region for what the second one does in its own.
WAITS = """
#include <omp.h>
#include <semaphore.h>
static sem_t done;
static omp_nest_lock_t lock;
static int a[2][1000];
int main(void) {
  sem_init(&done, 0, 0);
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
#pragma omp parallel for
    for (int i = 0; i < 1000; ++i) {
      a[me][i] = i;
      if (i != 500) continue;
      if (me == 1) omp_set_nest_lock(&lock), omp_set_nest_lock(&lock);
      if (me == 0) sem_wait(&done); else sem_post(&done);
      if (me == 1) omp_unset_nest_lock(&lock), omp_unset_nest_lock(&lock);
      if (me == 0) omp_set_nest_lock(&lock), omp_unset_nest_lock(&lock);
    }
  }
  return a[0][999] + a[1][999] != 1998;
}
"""


def compiled(homenode: Callable[..., Ended], folder: Path, name: str, source: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    built = homenode("cc", "-O2", "-g", "-fopenmp", *flags, folder / f"{name}.c", "-o", folder / name, "-lpthread")
    assert built.status == 0, built.stderr
    return folder / name


def largest_stack(trace: hn.Trace) -> int:
    return max(one["bytes"] for one in trace.inspect()["objects"] if one["kind"] == "stack")


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_variable_of_mains_stack_moves_nothing_else(
    threads: int, homenode: Callable[..., Ended], tmp_path: Path
) -> None:
    found: dict[str, Any] = {}
    for storage in ("", "static"):
        program = compiled(homenode, tmp_path, f"shared{storage}", SHARED, f"-DSTORAGE={storage}")
        trace = hn.capture(command=[str(program)], threads=threads)
        assert largest_stack(trace) < 1024
        assert trace.inspect()["footprint_bytes"] < 8 * 1000 * 8 + 4096
        found[storage] = hn.replay(trace, "xeon-e5-2697v2-2s", threads=threads, mapping="scatter")
    stack, static = (found[storage].run["traffic_bytes"] for storage in ("", "static"))
    assert sum(map(sum, stack)) == pytest.approx(sum(map(sum, static)), rel=0.02, abs=1024)


def test_regions_of_threads_that_the_program_creates(homenode: Callable[..., Ended], tmp_path: Path) -> None:
    trace = hn.capture(command=[str(compiled(homenode, tmp_path, "created", CREATED))])
    assert largest_stack(trace) < 1024
    assert trace.inspect()["footprint_bytes"] < 4 * 1000 * 8 + 4096


def test_waiting_in_a_nested_region_gives_the_others_their_turn(homenode: Callable[..., Ended], tmp_path: Path) -> None:
    trace = hn.capture(command=[str(compiled(homenode, tmp_path, "waits", WAITS))], timeout=60)
    assert trace.complete, trace.truncated_by
    assert trace.regions.writes.sum() >= 2000
