"""Advice: whether chunks by latency pay off, why, where they would, and what else to change."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import homenode as hn
from homenode import advising, progress
from homenode.advice_words import _uneven, snippet
from homenode.advising import _Replays, dynamic_chunks, plain_distributions
from homenode.cli import console
from homenode.estimating import RegionEstimate
from homenode.gain_map import GainModel, near, remote_ratio, with_hops
from homenode.gain_map_page import map_page
from homenode.grids import follow_seconds, replay_seconds
from homenode.replaying import replay_one
from homenode.sampling import changed, sampled_factors
from support import SCRIPTS, Ended

Run = Callable[..., Ended]
MACHINE = "xeon-x5550-2s"


@pytest.fixture(scope="module")
def stencil(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """jacobi2d, 256 x 256 points, rows shared by 8 threads: 32 each, of which two are read by neighbours."""
    path = tmp_path_factory.mktemp("advice") / "jacobi2d.hnt"
    return hn.capture("jacobi2d", output=path, n=256, sweeps=3)


@pytest.fixture(scope="module")
def advice(stencil: hn.Trace) -> hn.Advice:
    return hn.advise(stencil, MACHINE, threads=8, samples=4, workers=1)


def test_the_document_has_what_is_promised(advice: hn.Advice) -> None:
    document = json.loads(advice.to_json())
    assert document["schema"] == "homenode.advice/1"
    assert {"gain", "gain_low", "gain_high", "pays_off", "reason", "break_even", "weights"} <= set(document)
    assert set(document["break_even"]) == {"remote_ratio", "halo_share", "working_set_bytes"}
    # gain = best plain schedule / weighted; it pays off from 2 % on
    assert document["gain"] == min(document["plain_seconds"].values()) / document["weighted_seconds"]
    assert document["pays_off"] == (document["gain"] >= 1.02)
    assert document["gain_low"] <= document["gain"] <= document["gain_high"]
    assert len(document["weights"]) == 8
    assert sum(document["weights"]) == pytest.approx(1)
    assert document["boundaries"][0] == 0
    assert len(document["boundaries"]) == 9
    assert document["reason"].startswith(f"in '{document['region']}' ")


def test_the_halo_share_is_that_of_the_rows_at_the_borders(stencil: hn.Trace, advice: hn.Advice) -> None:
    # 254 inner rows for 8 threads, 31 or 32 each: of two arrays the row beyond each border, written by a neighbour, and for
    # half of the pairs one row more, as init cuts 256 rows otherwise: 4 to 6 rows of 2 x 34
    assert 4 / 68 * 0.9 < advice.here["halo_share"] < 6 / 68 * 1.1
    assert advice.here["working_set_bytes"] == stencil.inspect()["footprint_bytes"]


def test_what_serial_code_initialises_is_no_halo() -> None:
    # The interior of 46^3 points in blocks of 8 x 8 x 48; faces of blocks are read by neighbours, the rest by its own thread alone.
    parallel, serial = (
        hn.advise(hn.capture("jacobi3d", init=init), MACHINE, threads=8, samples=2, engine="closed-form").here[
            "halo_share"
        ]
        for init in ("parallel", "serial")
    )
    assert 0.05 < parallel < 0.5
    assert 0.05 < serial < 0.5  # it was 1: the initialising thread counted as another one that writes


def test_without_a_halo_the_map_has_one_row() -> None:
    advice = hn.advise(hn.capture("stream", n=50_000), MACHINE, threads=8, samples=2, engine="closed-form")
    assert advice.here["halo_share"] == 0
    assert advice.map["halo_share"].tolist() == [0] * advice.map["remote_ratio"].nunique()
    assert advice.break_even["halo_share"] in (None, 0)  # nowhere, or always
    assert "<table>" in map_page(advice).to_html()


def test_gains_are_those_of_replays(stencil: hn.Trace, advice: hn.Advice) -> None:
    for schedule, seconds in advice.plain.items():
        distribution = advice.plain_distributions[schedule]
        assert hn.replay(stencil, MACHINE, threads=8, distribution=distribution).seconds == seconds
    assert hn.replay(stencil, MACHINE, threads=8, distribution="latency-weighted").seconds == advice.weighted_seconds


def test_runs_that_follow_a_log_share_what_caches_saw_and_nothing_else(stencil: hn.Trace) -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    log = replay_one(stencil, hn.RunSpec(machine, threads=4, distribution="latency-weighted"), keep_log=True).log
    assert log is not None
    machines = [machine.with_changes(link_latency=f"x{1 + i}") for i in range(3)]
    others: list[dict[str, str]] = [
        {"caches.2.size": "64 KiB"},
        {"coherence.snoop": "directory"},
        {"core.overlap": "none"},
    ]
    machines += [machine.with_changes(changes) for changes in others]
    specs = [hn.RunSpec(each, threads=4, placement="interleave", caches="lines") for each in machines]
    alone = [replay_one(stencil, spec, follow=log).seconds for spec in specs]
    assert follow_seconds(stencil, specs, log, workers=2) == alone
    assert len(set(alone)) > 1


def test_fewer_lines_on_sampled_machines_leave_the_stated_gain(
    stencil: hn.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = hn.Machine.of(MACHINE)
    spec = hn.RunSpec(machine, threads=8)
    timing = _Replays(stencil, spec, {"static": "static:1"}, 1)  # whose rows are all at borders
    with ThreadPoolExecutor(1) as pool:
        plain, weighted = timing.stated(pool)
    monkeypatch.setattr(advising, "ONE_IN_EIGHT", timing.static_run()["caches"])
    monkeypatch.setattr(advising, "ONE_IN_32", "lines:sample=4")
    machines = [machine, machine.with_changes(**{"nodes.latency": "x3"})]
    gains = timing.gains(machines, lambda steps: None)
    fewer = advising._gains(timing._times(machines, list(plain), {"caches": "lines:sample=4"}, lambda steps: None))
    assert fewer[0] != pytest.approx(min(plain.values()) / weighted, rel=1e-6)
    assert gains[0] == pytest.approx(min(plain.values()) / weighted)
    assert gains[1] / gains[0] == pytest.approx(fewer[1] / fewer[0])


def test_where_lines_are_long_sampled_machines_follow_as_many_as_the_stated_one(
    stencil: hn.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = hn.Machine.of("a64fx")  # 16 lines a page
    timing = _Replays(stencil, hn.RunSpec(machine, threads=8), {"static": "static:1"}, 1)
    with ThreadPoolExecutor(1) as pool:
        plain, weighted = timing.stated(pool)
    run = timing.static_run()
    assert run is not None
    monkeypatch.setattr(advising, "ONE_IN_EIGHT", run["caches"])
    assert timing.gains([machine], lambda steps: None) == [min(plain.values()) / weighted]


@pytest.mark.parametrize("mapping", ["scatter", "compact"])  # on one node weights are equal
def test_schedules_that_come_near_on_no_machine_are_replayed_on_few(
    stencil: hn.Trace, monkeypatch: pytest.MonkeyPatch, mapping: str
) -> None:
    machine = hn.Machine.of(MACHINE)
    spec = hn.RunSpec(machine, threads=4, mapping=mapping)
    timing = _Replays(stencil, spec, plain_distributions(stencil, 4), 1)
    with ThreadPoolExecutor(1) as pool:
        timing.stated(pool)
    rows = sampled_factors(machine.uncertainties, advising._TRIED + 4, 0)
    machines = [changed(machine, machine.uncertainties, row) for row in rows]
    monkeypatch.setattr(timing, "plain", dict.fromkeys(timing.plain, 1.0))  # all of them near on the stated one
    advanced: list[int] = []
    replayed = 0

    def counting(trace: hn.Trace, specs: Sequence[hn.RunSpec], **more: Any) -> list[float]:
        nonlocal replayed
        replayed += len(specs)
        return replay_seconds(trace, specs, **more)

    monkeypatch.setattr(advising, "replay_seconds", counting)
    gains = timing.gains(machines, advanced.append)
    assert replayed < len(machines) * len(timing.plain)
    assert sum(advanced) == len(machines) * (len(timing.plain) + 1)
    monkeypatch.setattr(advising, "_CLOSE", 1e9)
    monkeypatch.setattr(timing._static, "log", np.empty((0, 4), np.int64))  # of other weights
    every = timing.gains(machines, lambda steps: None)
    assert gains == pytest.approx(every, rel=1e-9)


def test_the_number_of_workers_changes_nothing(stencil: hn.Trace, advice: hn.Advice) -> None:
    assert hn.advise(stencil, MACHINE, threads=8, samples=4, workers=3).to_json() == advice.to_json()


def test_the_closed_form_advises_without_replays(stencil: hn.Trace) -> None:
    quick = hn.advise(stencil, MACHINE, threads=8, samples=2, engine="closed-form")
    assert quick.engine == "closed-form"
    seconds = hn.estimate(stencil, MACHINE, threads=8, distribution="latency-weighted").seconds
    assert quick.weighted_seconds == seconds
    assert quick.gain_low <= quick.gain <= quick.gain_high


def test_what_is_wrong_is_refused(stencil: hn.Trace) -> None:
    with pytest.raises(hn.errors.UsageError, match="unknown engine of advice 'simgrid'"):
        hn.advise(stencil, MACHINE, threads=8, engine="simgrid")
    with pytest.raises(hn.errors.UsageError, match="argument 'samples' is 1; allowed"):
        hn.advise(stencil, MACHINE, threads=8, samples=1)
    with pytest.raises(hn.errors.UsageError, match="argument 'samples' is 1; allowed"):
        hn.program_changes(stencil, MACHINE, threads=8, samples=1)
    with pytest.raises(hn.errors.UsageError, match="unknown placement 'firsttouch'"):
        hn.advise(stencil, MACHINE, threads=8, placement="firsttouch")


# ---- the map


def test_the_remote_ratio_follows_the_hops() -> None:
    machine = hn.Machine.load(MACHINE)
    latency = machine.latency_ns
    # two nodes: the mean of both directions over the mean of both diagonals
    assert remote_ratio(machine) == pytest.approx((latency[0, 1] + latency[1, 0]) / (latency[0, 0] + latency[1, 1]))
    # remote = local + hop: twice the hop adds as much again
    added = remote_ratio(machine) - 1
    assert remote_ratio(with_hops(machine, 2)) == pytest.approx(1 + 2 * added, rel=1e-6)
    assert remote_ratio(near(machine)) == pytest.approx(1, abs=2e-3)
    for name in hn.Machine.names():  # however far or near the hops, it stays a machine
        for scale in (1e-3, 0.25, 8):
            assert with_hops(hn.Machine.load(name), scale).nodes == hn.Machine.load(name).nodes


@pytest.fixture(scope="module")
def model(stencil: hn.Trace) -> GainModel:
    choice = {"placement": "first-touch", "mapping": "compact"}
    return GainModel(stencil, hn.RunSpec(MACHINE, threads=8, **choice))


def test_gains_grow_with_halo_share(model: GainModel) -> None:
    along_halo = [model.gain(scale) for scale in (0, 1, 2, 4, 8)]
    assert along_halo == sorted(along_halo)
    # all threads work as long as the mean, or one works longer: max >= mean
    assert min(along_halo) >= 1
    assert model.gain(1, 8) >= 1


def test_break_even_is_where_two_percent_are_gained(model: GainModel) -> None:
    scale = model.break_even_halo_scale()
    if scale:
        assert model.gain(scale) == pytest.approx(1.02, abs=1e-6)
    else:
        assert model.gain(1e3) < 1.02 or model.gain(0) >= 1.02
    ratio = model.break_even_ratio()
    if ratio is None:
        assert model.gain(1, 8) < 1.02


def test_the_map_is_a_picture_and_a_table(advice: hn.Advice) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    table = advice.map
    assert {"halo_scale", "halo_share", "remote_ratio", "gain"} <= set(table.columns)
    assert len(table) == table["halo_scale"].nunique() * table["remote_ratio"].nunique()
    assert np.isclose(table["remote_ratio"], advice.here["remote_ratio"]).any()
    page = map_page(advice)
    for figure in page.figures:
        graph_objects.Figure(figure)
    text = page.to_html()
    assert "<table>" in text
    # per cent in the headline as in the map, which says that it is a bound and what the bound is here
    assert f"Unequal chunks gain {100 * (advice.gain - 1):+.1f} % (" in text
    # C is printed where it pays off alone; "here" can be read on the dark colours below it
    assert ("The weights in C" in text) == advice.pays_off
    assert page.figures[0]["data"][-1]["textfont"]["color"] == "#ffffff"
    assert (
        f"upper bounds, by the closed form, over equal chunks: at most {100 * (advice.gain_bound - 1):+.1f} % here"
        in text
    )
    here = table[np.isclose(table["remote_ratio"], advice.here["remote_ratio"]) & (table["halo_scale"] == 1)]
    assert here["gain"].tolist() == [advice.gain_bound]


# ---- the snippet


@pytest.mark.parametrize(
    ("iterations", "weights"), [(1000, [0.5, 0.2, 0.3]), (2, [0.25] * 4), (7, [1.0]), (0, [0.5, 0.5])]
)
def test_the_snippet_runs_each_iteration_once(tmp_path: Path, iterations: int, weights: list[float]) -> None:
    text = snippet("sweep", weights, MACHINE)
    declaration, _, loop = text.partition("#pragma omp parallel")
    body = f"#pragma omp parallel{loop}".replace("// the loop's body", "seen[i]++; by[thread]++;")
    program = f"""#include <omp.h>
#include <stdio.h>
{declaration}
int main(void) {{
  const long n = {iterations};
  static int seen[1001];
  static long by[{len(weights)}];
  omp_set_dynamic(0);
{body}
  for (long i = 0; i < n; ++i) if (seen[i] != 1) return 1;
  if (seen[n] != 0) return 2;
  for (int t = 0; t < {len(weights)}; ++t) printf("%ld\\n", by[t]);
}}
"""
    (tmp_path / "weighted.c").write_text(program, encoding="utf-8")
    built = ["gcc", "-Wall", "-Werror", "-fopenmp", "weighted.c", "-o", "weighted"]
    subprocess.run(built, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "weighted"], capture_output=True, text=True, check=True)
    counts = [int(line) for line in done.stdout.split()]
    # each thread's share: weight x iterations, to within the rounding of its two borders
    assert sum(counts) == iterations
    for count, weight in zip(counts, weights, strict=True):
        assert abs(count - weight / sum(weights) * iterations) <= 1


# ---- the command


def test_the_command_says_whether_and_why(homenode: Run, stencil: hn.Trace, tmp_path: Path) -> None:
    options = ("--machine", MACHINE, "--threads", "8", "--samples", "2")
    done = homenode("advise", stencil.path, *options, "--map", "map.html")
    assert done.status == 0, done.stderr
    for text in (
        "pay off on xeon-x5550-2s with 8 threads",
        "Why: ",
        "latency-weighted",
        "halo share",
        "working set",
        "By the closed form (an estimate without replays) no weights gain more than ",
        "halo share: of the bytes that a thread reads, the share that another thread writes.",
        "an upper bound. The gain is that of the replays: ",
        "Upper bound of the gain over equal chunks (closed form, no replays)",
    ):
        assert text in done.stdout
    assert "<figure " in (tmp_path / "map.html").read_text(encoding="utf-8")
    document = json.loads(homenode("advise", stencil.path, *options, "--json").stdout)
    assert document["threads"] == 8
    assert "changes" not in document
    assert "map" not in document
    quick = homenode(
        "advise", stencil.path, *options, "--engine", "closed-form", "--change", "link_latency=x4", "--json"
    )
    assert json.loads(quick.stdout)["machine_changes"] == {"link_latency": "x4"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--threads", "8"], "--machine"),
        (["--machine", MACHINE], "--threads"),
        (["--machine", MACHINE, "--threads", "9"], "9 threads on the 8 cores"),
        (["--machine", MACHINE, "--threads", "8", "--engine", "line"], "unknown engine of advice 'line'"),
        (["--machine", MACHINE, "--threads", "8", "--samples", "1"], "--samples"),
        (["--machine", MACHINE, "--threads", "8", "--change", "link_latency"], "--change 'link_latency'"),
        (["--machine", "x", "--threads", "8"], "unknown machine 'x'"),
        (
            ["--machine", MACHINE, "--threads", "8", "--samples", "2", "--map", "no/map.html"],
            "cannot write 'no/map.html'",
        ),
    ],
)
def test_bad_usage(homenode: Run, stencil: hn.Trace, tmp_path: Path, arguments: list[str], expected: str) -> None:
    done = homenode("advise", stencil.path, *arguments)
    assert done.status == 2
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


# ---- the whole program

PROGRAM = """#include <stdlib.h>
enum { ROWS = 512, COLUMNS = 4096 };
int main(void) {
  double (*read)[COLUMNS] = malloc(ROWS * sizeof *read);
  double (*written)[COLUMNS] = malloc(ROWS * sizeof *written);
  for (int i = 0; i < ROWS; ++i) for (int j = 0; j < COLUMNS; ++j) read[i][j] = i;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < ROWS; ++i) for (int j = 0; j < COLUMNS; ++j) written[i][j] = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ROWS; ++i) for (int j = 0; j < COLUMNS; ++j) written[i][j] += 2 * read[i][j];
  }
  free(read);
  free(written);
}
"""


def test_a_log_tells_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    with console.progress("weighing", 6) as advance:
        advance(2)
        advance(3)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" after ")[0] for line in lines] == ["weighing: 2 of 6", "weighing: 5 of 6"]
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 1e9)
    with console.progress("weighing") as advance:
        advance(1)
    assert capsys.readouterr().err == ""


def test_dynamic_takes_chunks_that_someone_would_ask_for(serial: hn.Trace, stencil: hn.Trace) -> None:
    # 512 rows / (64 x 4 threads) = 2; 256 points less two borders / (64 x 8) < 1
    assert set(dynamic_chunks(serial, 4).values()) == {2}
    assert set(dynamic_chunks(stencil, 8).values()) == {1}
    assert plain_distributions(stencil, 8)["dynamic"] == "dynamic"
    assert plain_distributions(serial, 4)["dynamic"] == "main#0@dynamic:2 main#1@dynamic:2"


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """One array that a single thread fills and all read, line 4; one that each thread writes its part of, line 5."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    homenode = str(SCRIPTS / "homenode")
    subprocess.run([homenode, "cc", "-O2", "-g", "-fopenmp", "program.c", "-o", "program"], cwd=folder, check=True)
    subprocess.run(
        [homenode, "capture", "-o", "program.hnt", "--", "./program"], cwd=folder, check=True, capture_output=True
    )
    return hn.Trace.open(folder / "program.hnt")


def test_the_allocation_to_change_is_named_by_its_line(serial: hn.Trace) -> None:
    changes = hn.program_changes(serial, "opteron-8431-4s", threads=24, samples=3)
    assert [change.gain for change in changes] == sorted((change.gain for change in changes), reverse=True)
    moved = [change for change in changes if change.kind == "allocation"]
    # what one thread fills gains; the other array is where its users are, and to spread it merely relieves node 0's controller a little
    assert moved[0].site == "program.c:4"
    assert all(change.site == "program.c:4" or change.gain < 1.02 for change in moved)
    assert any("first touch by the threads that use it" in change.change for change in moved)
    for change in changes:
        assert change.gain >= 1.005
        assert change.gain_low <= change.gain <= change.gain_high
    # nothing stays registered
    assert not [policy for policy in hn.policies("placement") if policy["name"].startswith("advice-")]


def test_all_changes_on_the_command_line(homenode: Run, serial: hn.Trace) -> None:
    options = ("--machine", "opteron-8431-4s", "--threads", "24", "--samples", "2", "--all")
    done = homenode("advise", serial.path, *options)
    assert done.status == 0, done.stderr
    assert "Changes that gain, each tried alone" in done.stdout
    assert "program.c:4" in done.stdout
    document = json.loads(homenode("advise", serial.path, *options, "--json").stdout)
    assert {"kind", "site", "what", "change", "gain", "gain_low", "gain_high", "seconds"} == set(document["changes"][0])


def test_unpinned_threads_are_told_to_be_pinned(stencil: hn.Trace) -> None:
    changes = hn.program_changes(stencil, MACHINE, threads=8, samples=2, mapping="unpinned", system="linux-4.4")
    for change in changes:
        if change.kind == "threads":
            assert change.change.startswith("pin them")


@pytest.mark.parametrize(
    ("iterations", "times", "uneven"),
    [
        ([5, 5, 4, 4], [10, 10, 8, 8], True),
        ([5, 5, 4, 4], [10, 10, 1, 1], False),  # a fifth more work, ten times the time
        ([1000001, 1000001, 1000000, 1000000], [11, 11, 10, 10], False),
        ([5, 5, 5, 5], [10, 10, 8, 8], False),
    ],
)
def test_a_remainder_is_the_reason_where_it_explains_the_time(
    iterations: list[int], times: list[float], uneven: bool
) -> None:
    weights = np.asarray(iterations, dtype=np.float64) / sum(iterations)
    schedule = np.zeros((0, 3), dtype=np.int64)
    estimated = RegionEstimate("loop", 1.0, 1, "core", np.asarray(times, dtype=np.float64), weights, schedule)
    assert _uneven(estimated, [0, 1]) == uneven
