"""`homenode map`: where each thread should run, and that as text other tools take."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode import compiler
from homenode.errors import UsageError
from homenode.map_suggestion import candidates
from homenode.thread_map import FORMATS, MappedThread
from support import Ended

MACHINE = "xeon-x5550-2s"  # 8 cores

THREADS = [
    MappedThread(0, "side-by-side", (0,), "main"),
    MappedThread(1, "autonomous", (2,), "work"),
    MappedThread(2, "side-by-side", (0, 2), "work"),
]


@pytest.fixture(scope="module")
def mix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("map") / "mix.hnt"
    hn.capture("threads_mix", output=file, leaders=2, workers=3)
    return file


@pytest.mark.capture
def test_btdm_maps_a_whole_program(mix: Path, homenode: Callable[..., Ended]) -> None:
    # main 0, summariser 1 (postponed), leaders 2 and 3 (autonomous), their threads 4 to 6 and 7 to 9 (side-by-side)
    done = homenode("map", mix, "--machine", MACHINE, "--mapping", "btdm", "--json")
    assert done.status == 0
    found = json.loads(done.stdout)["threads"]
    assert [entry["thread"] for entry in found] == list(range(10))
    assert [entry["type"] for entry in found[1:]] == ["postponed"] + ["autonomous"] * 2 + ["side-by-side"] * 6
    # autonomous: k = 8 / 2 = 4: cores 0 and 4; side-by-side: with their leader; the least loaded core for the postponed one is 1
    assert [entry["cores"] for entry in found] == [[0], [1], [0], [4], [0], [0], [0], [4], [4], [4]]
    assert [entry.as_dict() for entry in hn.thread_map(mix, MACHINE, mapping="btdm")] == found


@pytest.mark.capture
def test_a_replay_runs_where_the_map_says(mix: Path) -> None:
    result = hn.replay(mix, MACHINE, threads=10, mapping="btdm", oversubscribe=True)
    mapped = hn.thread_map(mix, MACHINE, mapping="btdm")
    assert [[core] for core in result.threads["core"]] == [list(entry.cores) for entry in mapped]


@pytest.fixture(scope="module")
def stencil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("map") / "jacobi3d.hnt"
    hn.capture("jacobi3d", output=file, ni=32, nj=32, nk=32, bk=32)
    return file


@pytest.mark.capture
def test_the_suggestion_is_the_first_of_those_as_fast_as_any(
    mix: Path, stencil: Path, homenode: Callable[..., Ended]
) -> None:
    for file, threads, oversubscribe in ((mix, 10, True), (stencil, 8, False)):  # as created; one a core
        done = homenode("map", file, "--machine", MACHINE, "--json")
        assert done.status == 0, done.stderr
        found = json.loads(done.stdout)
        options = {"threads": threads, "oversubscribe": oversubscribe}
        replayed = {name: hn.replay(file, MACHINE, mapping=name, **options).seconds for name in candidates()}
        assert found["seconds"] == replayed
        assert {"compact", "scatter", "btdm"} <= set(replayed)
        as_fast = [name for name in candidates() if replayed[name] <= 1.01 * min(replayed.values())]
        assert found["mapping"] == as_fast[0]
        assert [entry.as_dict() for entry in hn.thread_map(file, MACHINE)] == found["threads"]
        named = hn.thread_map(file, MACHINE, mapping=found["mapping"], threads=threads)
        assert [entry.as_dict() for entry in named] == found["threads"]


@pytest.mark.capture
def test_a_team_that_exchanges_data_is_not_put_on_one_core(stencil: Path) -> None:
    # NUMA-BTDM puts side-by-side threads on one core, where they take turns: a team of eight takes some eight times as long.
    one = hn.suggest_mapping(stencil, MACHINE, threads=8, mapping="btdm")
    assert {entry.cores for entry in one.threads} == {(0,)}
    assert set(one.seconds) == {"btdm", "compact", "scatter"}
    suggested = hn.suggest_mapping(stencil, MACHINE, threads=8)
    assert len({entry.cores for entry in suggested.threads}) == 8
    assert suggested.seconds["btdm"] == one.seconds["btdm"] > 3 * suggested.seconds[suggested.mapping]


@pytest.mark.capture
def test_predicted_times_are_printed_beside_the_map(stencil: Path, homenode: Callable[..., Ended]) -> None:
    table = homenode("map", stencil, "--machine", MACHINE, "--threads", 4).stdout
    for name in candidates():
        assert re.search(rf"^{name} +[\d.]+ µs +\+[\d.]+ %", table, re.MULTILINE), table
    script = homenode("map", stencil, "--machine", MACHINE, "--threads", 4, "--as", "omp-places")
    assert script.stdout.endswith("export OMP_NUM_THREADS=4\n")
    assert "predicted with compact: " in script.stderr
    assert "predicted with scatter: " in script.stderr
    # other choices of the replay change what is fastest, and are taken
    assert homenode("map", stencil, "--machine", MACHINE, "--placement", "bind:0").stdout != table


@pytest.mark.capture
def test_places_of_openmp_are_not_for_threads_that_a_program_creates(mix: Path, homenode: Callable[..., Ended]) -> None:
    done = homenode("map", mix, "--machine", MACHINE, "--as", "omp-places")
    assert (done.status, done.stdout) == (2, "")
    assert "does not look at OMP_PLACES; allowed: --as c, taskset or hwloc" in done.stderr


@pytest.mark.capture
def test_a_trace_of_fixed_thread_numbers_keeps_its_team(tmp_path: Path) -> None:
    file = tmp_path / "advection2d.hnt"
    hn.capture("advection2d", output=file, threads=4, patch=8)
    assert len(hn.suggest_mapping(file, MACHINE).threads) == 4  # not one a core


@pytest.mark.capture
@pytest.mark.parametrize("mapping", [*(policy["name"] for policy in hn.policies("mapping")), "cores:7:3"])
def test_every_mapping_can_be_written(mix: Path, homenode: Callable[..., Ended], mapping: str) -> None:
    for form in (form for form in FORMATS if form != "omp-places"):  # of which these threads know nothing
        done = homenode("map", mix, "--machine", MACHINE, "--mapping", mapping, "--as", form)
        assert done.status == 0
        assert done.stdout == FORMATS[form](
            hn.thread_map(mix, MACHINE, mapping=mapping), hn.Trace.open(mix).own_threads[1]
        )
    assert homenode("map", mix, "--machine", MACHINE, "--mapping", mapping).status == 0


def test_omp_places() -> None:
    text = FORMATS["omp-places"](THREADS)
    assert text == "export OMP_PLACES='{0},{2},{0,2}'\nexport OMP_PROC_BIND=close\nexport OMP_NUM_THREADS=3\n"


@pytest.mark.parametrize("form", ["taskset", "hwloc"])
def test_shell_scripts_name_the_threads_in_the_order_of_creation(form: str, tmp_path: Path) -> None:
    script = tmp_path / "bind.sh"
    script.write_text(FORMATS[form](THREADS))
    # In place of the tools: one that says what it is told.
    for tool in ("taskset", "hwloc-bind"):
        (tmp_path / tool).write_text(f'#!/bin/sh\necho {tool} "$@"\n')
        (tmp_path / tool).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    process, ends = os.getpid(), threading.Event()
    threads = [threading.Thread(target=ends.wait) for _ in THREADS[1:]]
    for thread in threads:
        thread.start()
    try:
        done = subprocess.run(
            ["sh", "-eu", script, str(process)], env=environment, capture_output=True, text=True, check=True
        )
    finally:
        ends.set()
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    if form == "taskset":
        assert [line.split()[:3] for line in lines] == [["taskset", "-pc", cores] for cores in ("0", "2", "0,2")]
        assert lines[0].split()[3] == str(process)  # the first thread has the process's number
    else:
        assert lines[0] == f"hwloc-bind --pid {process} --tid {process} core:0"
        assert lines[2].endswith("core:0 core:2")


def test_threads_with_lower_numbers_than_the_process_came_later(tmp_path: Path) -> None:
    (tmp_path / "bind.sh").write_text(FORMATS["taskset"](THREADS))
    for tool, says in (("taskset", 'echo "$3"'), ("ls", "printf '%s\\n' 310 32760 32767")):
        (tmp_path / tool).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / tool).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-eu", tmp_path / "bind.sh", "32760"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["32760", "32767", "310"]


@pytest.mark.parametrize(("form", "starts"), [("taskset", "taskset -c 0,2"), ("hwloc", "hwloc-bind core:0 core:2 --")])
def test_threads_that_do_not_live_at_once_are_bound_with_their_program(form: str, starts: str, tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text(FORMATS[form](THREADS, 2))
    assert script.read_text().endswith(f'exec {starts} "$@"\n')
    assert "/proc" not in script.read_text()
    (tmp_path / starts.split()[0]).write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / starts.split()[0]).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-eu", script, "./program", "a b"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{starts.partition(' ')[2]} ./program a b\n")
    assert FORMATS[form](THREADS[:1]).endswith(f'exec {starts.replace(",2", "").replace(" core:2", "")} "$@"\n')


@pytest.mark.parametrize("form", ["taskset", "hwloc"])
def test_a_process_with_fewer_threads_is_bound_in_no_part(form: str, tmp_path: Path) -> None:
    many = [MappedThread(thread, "autonomous", (0,), "work") for thread in range(5000)]
    script = tmp_path / "bind.sh"
    script.write_text(FORMATS[form](many))
    done = subprocess.run(["sh", script, str(os.getpid())], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [f"process {os.getpid()} has fewer than 5000 threads"]


@pytest.mark.capture
def test_a_program_has_its_own_number_of_threads(mix: Path, homenode: Callable[..., Ended]) -> None:
    done = homenode("map", mix, "--machine", MACHINE, "--threads", 8, "--mapping", "compact")
    assert (
        "10 threads are mapped, not 8: threads_mix has so many, whatever --threads says (main and the 9 that it creates)."
        in (done.stdout)
    )
    assert "10 threads at once share the 8 cores" in done.stdout
    assert "are mapped, not" not in homenode("map", mix, "--machine", MACHINE, "--threads", 10).stdout


@pytest.mark.capture
def test_of_a_serial_program_one_thread_is_mapped(
    own_cache: None, tmp_path: Path, homenode: Callable[..., Ended]
) -> None:
    source = """#include <math.h>
static double a[20000];
int main(void) {
  for (int i = 0; i < 20000; ++i) a[i] = sin(i);
  return a[0] > 0;
}
"""
    (tmp_path / "serial.c").write_text(source)
    assert compiler.main(["-O2", str(tmp_path / "serial.c"), "-lm", "-o", str(tmp_path / "serial")]) == 0
    file = tmp_path / "serial.hnt"
    hn.capture(command=[tmp_path / "serial"], output=file)
    document = json.loads(homenode("map", file, "--machine", MACHINE, "--threads", 8, "--json").stdout)
    assert [entry["thread"] for entry in document["threads"]] == [0]
    assert document["remarks"] == [
        "1 thread is mapped, not 8: serial has so many, whatever --threads says (it has no parallel region)."
    ]
    # What was not seen is said where times are, as in the other reports.
    assert "instructions run in code that homenode did not see (libm: sin" in (
        homenode("map", file, "--machine", MACHINE).stdout
    )
    assert "did not see" in homenode("map", file, "--machine", MACHINE, "--as", "taskset").stderr


PROGRAM = """#define _GNU_SOURCE
#include "affinity.h"
#include <stdio.h>
static pthread_mutex_t bound = PTHREAD_MUTEX_INITIALIZER;
static void* routine(void* argument) {
  (void)argument;
  pthread_mutex_lock(&bound);  /* stays until it was looked at */
  pthread_mutex_unlock(&bound);
  return NULL;
}
int main(void) {
  for (int k = 0; k < homenode_threads; ++k) {
    pthread_t handle = pthread_self();
    cpu_set_t set;
    pthread_mutex_lock(&bound);
    if (k && pthread_create(&handle, NULL, routine, NULL)) return 1;
    if (homenode_bind(k, handle)) return 2;
    if (pthread_getaffinity_np(handle, sizeof set, &set)) return 3;
    pthread_mutex_unlock(&bound);
    printf("%d:", k);
    for (int core = 0; core < CPU_SETSIZE; ++core) if (CPU_ISSET(core, &set)) printf(" %d", core);
    printf("\\n");
    if (k) pthread_join(handle, NULL);
  }
  return 0;
}
"""


def test_the_c_table_binds_threads(tmp_path: Path) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    first, last = allowed[0], allowed[-1]
    threads = [
        MappedThread(0, "autonomous", (first,)),
        MappedThread(1, "autonomous", (last,)),
        MappedThread(2, "side-by-side", tuple(sorted({first, last}))),
    ]
    (tmp_path / "affinity.h").write_text(FORMATS["c"](threads))
    (tmp_path / "bound.c").write_text(PROGRAM)
    options = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"]
    subprocess.run(["gcc", *options, "bound.c", "-o", "bound"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "bound"], capture_output=True, text=True, check=True)
    expected = [f"{entry.thread}: {' '.join(str(core) for core in entry.cores)}" for entry in threads]
    assert done.stdout.splitlines() == expected


@pytest.mark.capture
def test_bad_input_is_refused(mix: Path, homenode: Callable[..., Ended]) -> None:
    assert homenode("map", mix).status == 2
    assert homenode("map", mix, "--machine", MACHINE, "--mapping", "btmd").status == 2
    assert homenode("map", mix, "--machine", MACHINE, "--as", "perl").status == 2
    assert homenode("map", mix, "--machine", MACHINE, "--mapping", "cores:9").status == 2
    with pytest.raises(UsageError, match="at least 1"):
        hn.thread_map(mix, MACHINE, threads=0)


@pytest.mark.capture
def test_energy_by_lines_differs_from_flows_by_time_alone(mix: Path, homenode: Callable[..., Ended]) -> None:
    runs = {}
    for engine in ("flow", "line"):
        options = [
            "--machine",
            MACHINE,
            "--threads",
            10,
            "--mapping",
            "cores:0",
            "--oversubscribe",
            "--caches",
            "lines",
        ]
        ended = homenode("replay", mix, *options, "--engine", engine, "--energy", "default", "--json")
        assert ended.status == 0, ended.stderr
        runs[engine] = json.loads(ended.stdout)["runs"][0]
    flow, line = (runs[engine]["energy_joules"] for engine in ("flow", "line"))
    # All on one core: the same accesses in the same order but at the ends of time slices, so the same hits and bytes to a percent (on
    # the link: snoops). static = (2 sockets x 20 W + 2 controllers x 8 W + 1.5 W of the link) x time.
    for counted in ("caches", "controllers", "links"):
        assert line[counted] == pytest.approx(flow[counted], rel=0.01), counted
    for run in runs.values():
        watts = 20 * 2 + 8 * 2 + 1.5
        assert run["energy_joules"]["static"] == pytest.approx(watts * run["seconds"])


@pytest.mark.capture
@pytest.mark.parametrize("engine", ["flow", "line"])
def test_joules_add_up_and_lie_within_their_intervals(mix: Path, engine: str) -> None:
    result = hn.replay(mix, MACHINE, threads=10, mapping="btdm", oversubscribe=True, engine=engine)
    joules = dict(result.energy)
    total = joules.pop("total")
    assert set(joules) == {"cores", "caches", "controllers", "links", "static"}
    assert sum(joules.values()) == pytest.approx(total)
    detail = result.run["energy_detail"]
    assert sum(detail["cores_joules"].values()) == pytest.approx(joules["cores"])
    assert sum(detail["static_joules"].values()) == pytest.approx(joules["static"])
    assert detail["watts"]["total"] == pytest.approx(total / result.seconds)
    assert detail["context_switches"] > 0  # four threads share core 0
    assert detail["core_busy_seconds"] == pytest.approx(result.threads["busy_seconds"].sum())
    for parameter, (low, high) in detail["sensitivity_joules"].items():
        assert low <= total <= high, parameter


def test_another_energy_description_is_taken_or_refused(tmp_path: Path) -> None:
    model = hn.EnergyModel.load("default")
    assert all(entry["low"] and entry["high"] and entry["assumed"] for entry in model.parameters)
    own = tmp_path / "own.toml"
    text = model.path.read_text(encoding="utf-8")
    own.write_text(text.replace('"20 W"', '"25 W"'), encoding="utf-8")
    changed = {entry["path"]: entry["value"] for entry in hn.EnergyModel.load(own).parameters}
    assert changed["static.socket"] == "25 W"
    own.write_text(re.sub(r'"20 W"', '"20 kg"', text), encoding="utf-8")
    with pytest.raises(hn.errors.InputError, match="allowed"):
        hn.EnergyModel.load(own)
