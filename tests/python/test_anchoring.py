"""Times that a capture measured, and factors on core time made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import homenode as hn
from homenode import compiler
from homenode.anchoring import FACTORS, _bracket
from homenode.cli.main import command as homenode
from homenode.errors import UsageError

# A chain of divisions in one loop, few accesses: the core binds. Serial code between two constructs.
PROGRAM = """
#include <stdlib.h>
int main(void) {
  enum { N = 200000 };
  double* a = malloc(N * sizeof *a);
  for (int i = 0; i < N; ++i) a[i] = i + 1.5;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < N; ++i) { double x = a[i]; for (int k = 0; k < 20; ++k) x = 1 / (x + 1); sum += x; }
  for (int i = 0; i < N; ++i) a[i] *= 2;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < N; ++i) sum += a[i];
  return sum < 0;
}
"""
MACHINE = "xeon-e5-2697v2-2s"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    folder = tmp_path_factory.mktemp("anchor")
    (folder / "program.c").write_text(PROGRAM)
    program = folder / "program"
    assert compiler.main(["-O2", "-fopenmp", str(folder / "program.c"), "-o", str(program)], "cc") == 0
    return hn.capture(command=[program], output=folder / "program.hnt")


def test_each_construct_and_the_serial_code_is_timed(trace: hn.Trace) -> None:
    kinds = [region["kind"] for region in trace.inspect()["regions"]]
    timed = [region for part, _ in trace.measured for region in part]
    assert sorted(timed) == list(range(len(kinds)))
    loops = [(part, seconds) for part, seconds in trace.measured if any(kinds[region] == "loop" for region in part)]
    assert len(loops) == 2
    # 4 million divisions against 200 000 additions
    assert loops[0][1] > 5 * loops[1][1] > 0
    assert trace.inspect()["measured_times"] == [
        {"regions": list(part), "seconds": seconds} for part, seconds in trace.measured
    ]


def test_times_are_no_part_of_the_content_hash(trace: hn.Trace) -> None:
    again = hn.capture(command=[trace.path.with_suffix("")])
    assert again.hash == trace.hash


def test_the_timed_program_is_the_program(trace: hn.Trace, tmp_path: Path) -> None:
    import subprocess

    timed = Path(f"{trace.path.with_suffix('')}.timed")
    assert subprocess.run([timed], check=False).returncode == 0
    words = tmp_path / "times"
    assert subprocess.run([timed], env={"HOMENODE_TIMED": str(words)}, check=False).returncode == 0
    lines = [json.loads(line) for line in words.read_text().splitlines() if line]
    assert lines[0] == {"kind": "timing"}
    assert lines[-1] == {"kind": "timed"}
    assert [(line["of"], line["ordinal"]) for line in lines[1:-1]] == [
        ("serial", 0), ("parallel", 0), ("serial", 1), ("parallel", 1), ("serial", 2),
    ]  # fmt: skip


def test_an_anchored_time_is_what_was_measured(trace: hn.Trace) -> None:
    found = hn.anchor(trace, MACHINE)
    assert found.machine == MACHINE
    anchored = [part for part in found.parts if part.factor]
    assert anchored
    for part in anchored:
        assert part.anchored_seconds == pytest.approx(part.measured_seconds, rel=0.03)
    for part in found.parts:
        if part.factor is None:
            assert part.anchored_seconds == part.predicted_seconds


def test_factors_go_to_other_numbers_of_threads(trace: hn.Trace) -> None:
    division = next(region for part, _ in trace.measured for region in part if trace.labels[region].endswith("#0"))
    machine = hn.Machine.load(MACHINE)
    plain = hn.replay(trace, machine, threads=4, core="blocks")
    doubled = hn.replay(trace, machine, threads=4, core="blocks", core_factors=f"{division}@2")
    assert (plain.run["core"], doubled.run["core"]) == ("blocks", "anchored")
    assert "core_factors" not in plain.run
    assert doubled.run["core_factors"] == f"{division}@2"
    seconds = [result.regions["seconds"].iloc[division] for result in (plain, doubled)]
    assert seconds[1] == pytest.approx(2 * seconds[0], rel=0.05)  # the core binds it
    estimates = [hn.estimate(trace, machine, threads=4, core="blocks", core_factors=f) for f in ("", f"{division}@2")]
    assert estimates[1].seconds > 1.5 * estimates[0].seconds


def test_a_factor_is_where_the_curve_reaches_the_measured_time() -> None:
    rising = [1.0 + factor for factor in FACTORS]
    bracket = _bracket(rising, 2.5)
    assert bracket is not None
    assert bracket.factor(2.5) == pytest.approx(1.5)
    assert _bracket(rising, 1.1) is None
    assert _bracket(rising, 9.0) is None
    # Memory binds, whatever the core takes; a tenth of a per cent is no evidence of the core's time.
    assert _bracket([1.0] * len(FACTORS), 1.0) is None
    assert _bracket([1.0 + 0.001 * factor for factor in FACTORS], 1.002) is None


def test_a_corner_between_two_tried_factors_is_found() -> None:
    def curve(factor: float) -> float:
        return max(1.1, factor)

    seconds = 1.2
    bracket = _bracket([curve(factor) for factor in FACTORS], seconds)
    assert bracket is not None
    for _ in range(2):
        bracket = bracket.narrowed(curve(bracket.factor(seconds)), seconds)
    assert curve(bracket.factor(seconds)) == pytest.approx(seconds, rel=0.01)


def test_the_command_says_what_it_found_and_what_replay_takes(trace: hn.Trace) -> None:
    def run(*words: str) -> str:
        ended = CliRunner().invoke(homenode, ["anchor", str(trace.path), "--machine", MACHINE, *words])
        assert ended.exit_code == 0, ended.output
        return ended.output

    document: dict[str, Any] = json.loads(run("--json"))
    assert document["schema"] == "homenode.anchor/1"
    assert document["core_factors"] == hn.anchor(trace, MACHINE).core_factors
    assert document["core_factors"] in run().replace("\n", " ")
    assert {*document["parts"][0]} == {
        "regions", "labels", "measured_seconds", "predicted_seconds", "factor", "anchored_seconds",
    }  # fmt: skip


def test_what_cannot_be_anchored_is_refused(trace: hn.Trace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="allowed: REGION@FACTOR"):
        hn.replay(trace, MACHINE, threads=1, core_factors="sweep@2")
    with pytest.raises(UsageError, match="timed by classes"):
        hn.replay(trace, "knc-5110p", threads=1, core_factors="0@2")
    with pytest.raises(UsageError, match="has no model"):
        hn.anchor(trace, "knc-5110p")
    words = ["capture", "--no-times", "-o", str(tmp_path / "untimed.hnt"), "--", str(trace.path.with_suffix(""))]
    assert CliRunner().invoke(homenode, words).exit_code == 0
    untimed = hn.Trace.open(tmp_path / "untimed.hnt")
    assert untimed.measured == []
    assert untimed.hash == trace.hash
    with pytest.raises(UsageError, match="has no measured times"):
        hn.anchor(untimed, MACHINE)
    with pytest.raises(UsageError, match="creates its threads"):
        hn.anchor(hn.capture("threads_autonomous", elements=64), MACHINE)


ENDS = """
#include <stdlib.h>
#include <unistd.h>
int main(int words, char** word) {
  static double a[512];
  for (int k = 0; k < 500; ++k) {
#pragma omp parallel for
    for (int i = 0; i < 512; ++i) a[i] += k;
  }
  if (word[1][0] == 'x') _exit(0);
  if (word[1][0] == 'a') abort();
  if (word[1][0] == 'f' && fork() == 0) exit(0);
  return words < 2;
}
"""


@pytest.mark.parametrize("end", ["x", "a", "f", "r"])
def test_a_program_of_many_constructs_is_captured_however_it_ends(tmp_path: Path, end: str) -> None:
    (tmp_path / "ends.c").write_text(ENDS)
    assert compiler.main(["-O1", "-fopenmp", str(tmp_path / "ends.c"), "-o", str(tmp_path / "ends")], "cc") == 0
    found = hn.capture(command=[tmp_path / "ends", end], output=tmp_path / "ends.hnt")
    assert found.accesses > 500 * 512
    assert bool(found.measured) == (end != "a")


TASKS = """
#include <stdlib.h>
static double work(double x) { for (int k = 0; k < 2000; ++k) x = 1 / (x + 1); return x; }
static double split(int depth, double x) {
  if (depth == 0) return work(x);
  double a, b;
#pragma omp task shared(a)
  a = split(depth - 1, x);
  b = split(depth - 1, x + 1);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  double sum;
#pragma omp parallel
#pragma omp single
  sum = split(6, 1);
  return sum < 0;
}
"""


def test_regions_of_tasks_overlap_and_are_not_added_up(tmp_path: Path) -> None:
    source, program = tmp_path / "tasks.c", tmp_path / "tasks"
    source.write_text(TASKS)
    assert compiler.main(["-O2", "-fopenmp", str(source), "-o", str(program)], "cc") == 0
    trace = hn.capture(command=[program])
    predicted = sum(part.predicted_seconds for part in hn.anchor(trace, MACHINE).parts)
    assert predicted == pytest.approx(hn.replay(trace, MACHINE, threads=1).seconds, rel=0.05)


TEAMS = """
#include <omp.h>
#include <stdio.h>
int main(int words, char** word) {
  static double a[512];
#pragma omp parallel for
  for (int i = 0; i < 512; ++i) a[i] += i;
  FILE* teams = fopen(word[words - 1], "a");
  fprintf(teams, "%d\\n", omp_get_max_threads());
  return fclose(teams);
}
"""


def test_teams_of_several_are_timed_as_teams_of_one(tmp_path: Path) -> None:
    """One thread at a time runs in a capture: the time of a larger team would have its hand-overs."""
    (tmp_path / "teams.c").write_text(TEAMS)
    assert compiler.main(["-O1", "-fopenmp", str(tmp_path / "teams.c"), "-o", str(tmp_path / "teams")], "cc") == 0
    found = hn.capture(command=[tmp_path / "teams", str(tmp_path / "said")], threads=4, output=tmp_path / "teams.hnt")
    assert (tmp_path / "said").read_text().split() == ["4", "4", "1", "1"]  # recorded, counted, timed twice
    assert {label for part, _ in found.measured for label in (found.labels[region] for region in part)} >= {"main#0"}
