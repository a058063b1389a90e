"""The cores of each thread of a program, and that as text other tools take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MappedThread:
    """A thread and the cores that it may run on; threads are numbered by creation, cores socket by socket."""

    thread: int
    type: str
    cores: tuple[int, ...]
    routine: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As `homenode map --json` lists it."""
        return {"thread": self.thread, "type": self.type, "cores": list(self.cores), "routine": self.routine}


def _list_of(cores: Sequence[int]) -> str:
    return ",".join(str(core) for core in cores)


def _script(
    threads: Sequence[MappedThread], at_once: int | None, bind: Callable[[MappedThread], str], start: str
) -> str:
    """Shell lines that bind the threads of process $1, which are in /proc in the order of creation while none has ended.

    Where a thread ends before another begins there is no such moment, so the program is started on the cores of all its threads.
    """
    number = len(threads)
    at_once = number if at_once is None else at_once
    if at_once < number or number == 1:
        reason = f"Of the {number} threads at most {at_once} live at once, and a thread can be bound from outside only while it lives."
        lines = ["#!/bin/sh", "# usage: sh FILE PROGRAM ARGUMENTS"]
        lines += (
            [f"# {reason}", "# This starts the program on the cores of all of them; '--as c' binds each."]
            if number > 1
            else []
        )
        return "\n".join([*lines, f'exec {start} "$@"']) + "\n"
    lines = ["#!/bin/sh", f"# usage: sh FILE PROCESS, while all its {number} threads live"]
    lines.append("process=${1:?the number of a process}")
    # Numbers ascend, and begin again from below when there are no more: threads with a lower one than the process came later.
    lines.append("""tids() { ls "/proc/$process/task" | sort -n | awk -v process="$process" "\\$1 $1 process"; }""")
    lines.append("""tid() { { tids '>='; tids '<'; } | sed -n "$1p"; }""")
    lines.append(
        f'[ -n "$(tid {number})" ] || {{ echo "process $process has fewer than {number} threads" >&2; exit 1; }}'
    )
    lines += [bind(entry) for entry in threads]
    return "\n".join(lines) + "\n"


def _all_cores(threads: Sequence[MappedThread]) -> list[int]:
    return sorted({core for entry in threads for core in entry.cores})


def as_taskset(threads: Sequence[MappedThread], at_once: int | None = None) -> str:
    """By the operating system's numbers of cores; so many threads live `at_once`, all by default."""
    return _script(
        threads,
        at_once,
        lambda entry: f'taskset -pc {_list_of(entry.cores)} "$(tid {entry.thread + 1})"',
        f"taskset -c {_list_of(_all_cores(threads))}",
    )


def as_omp_places(threads: Sequence[MappedThread]) -> str:
    """The environment of an OpenMP program: as many places as threads, thread k on place k."""
    places = ",".join("{" + _list_of(entry.cores) + "}" for entry in threads)
    return f"export OMP_PLACES='{places}'\nexport OMP_PROC_BIND=close\nexport OMP_NUM_THREADS={len(threads)}\n"


def as_hwloc(threads: Sequence[MappedThread], at_once: int | None = None) -> str:
    """As `as_taskset`, by hwloc's logical numbers of cores, whatever the system numbers them by."""

    def named(cores: Sequence[int]) -> str:
        return " ".join(f"core:{core}" for core in cores)

    return _script(
        threads,
        at_once,
        lambda entry: f'hwloc-bind --pid "$process" --tid "$(tid {entry.thread + 1})" {named(entry.cores)}',
        f"hwloc-bind {named(_all_cores(threads))} --",
    )


def _rows(numbers: Sequence[int], width: int = 24) -> str:
    rows = [", ".join(str(number) for number in numbers[at : at + width]) for at in range(0, len(numbers), width)]
    return ",\n  ".join(rows)


def as_c(threads: Sequence[MappedThread]) -> str:
    """A header with the table and a function that binds a thread after pthread_create."""
    firsts: list[int] = [0]
    cores: list[int] = []
    for entry in threads:
        cores += entry.cores
        firsts.append(len(cores))
    return f"""/* Written by homenode map: the cores of each thread; threads are numbered by creation, 0 is the first.
 * Define _GNU_SOURCE before the first include. After pthread_create(&handle, ...): homenode_bind(k, handle). */
#include <pthread.h>
#include <sched.h>

enum {{ homenode_threads = {len(threads)} }};
static const int homenode_cores[] = {{
  {_rows(cores)}
}};
static const int homenode_first_core[] = {{
  {_rows(firsts)}
}};

/* 0, or the error of pthread_setaffinity_np. A thread that is not in the table stays where it is. */
static inline int homenode_bind(int thread, pthread_t handle) {{
  cpu_set_t set;
  if (thread < 0 || thread >= homenode_threads) return 0;
  CPU_ZERO(&set);
  for (int i = homenode_first_core[thread]; i < homenode_first_core[thread + 1]; ++i) CPU_SET(homenode_cores[i], &set);
  return pthread_setaffinity_np(handle, sizeof set, &set);
}}
"""


FORMATS: dict[str, Callable[..., str]] = {
    "taskset": as_taskset,
    "omp-places": lambda threads, at_once=None: as_omp_places(threads),
    "hwloc": as_hwloc,
    "c": lambda threads, at_once=None: as_c(threads),
}
