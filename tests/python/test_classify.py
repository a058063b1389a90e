"""Threads told apart by the compiler pass: the S3 programs, small programs for each rule, bound binaries, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.__main__ import main
from validation.classification import compare

import homenode as hn
from homenode.errors import InputError, UsageError
from support import ROOT, Ended

PROGRAMS = ROOT / "tests" / "python" / "classified_programs"

# The types that the programs themselves claim, in the order of creation (traces/kernels/threads_*.c).
CLAIMED = {
    "threads_autonomous": {"work_on_integers": "autonomous", "work_on_numbers": "autonomous"},
    "threads_side_by_side": {"work_on_part": "side-by-side"},
    "threads_pingpong": {"play": "side-by-side"},
    "threads_postponed": {"keep_log": "postponed", "work": "autonomous"},
    "threads_teams": {"work_on_numbers": "autonomous", "work_on_integers": "autonomous"},
    "threads_counters": {"work_on_numbers": "postponed", "work_on_integers": "postponed"},
    "threads_mix": {"summarise": "postponed", "lead": "autonomous", "work_on_part": "side-by-side"},
}


def types(found: dict[str, Any], key: str = "type") -> dict[str, str]:
    return {thread["routine"].partition("(")[0]: thread[key] for thread in found["threads"][1:]}


def dependence(found: dict[str, Any], writer: str, reader: str) -> dict[str, Any] | None:
    numbers = {thread["routine"].partition("(")[0]: thread["thread"] for thread in found["threads"]}
    for entry in found["dependences"]:
        if (entry["writer"], entry["reader"]) == (numbers[writer], numbers[reader]):
            return entry
    return None


@pytest.mark.parametrize("kernel", CLAIMED)
def test_the_s3_programs_get_the_types_they_claim_and_run_when_bound(kernel: str, tmp_path: Path) -> None:
    found = hn.classify(kernel, instrument=tmp_path / kernel)
    assert types(found) == CLAIMED[kernel]
    done = subprocess.run([tmp_path / kernel], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "self-check passed" in done.stdout


@pytest.mark.capture
@pytest.mark.parametrize(
    ("kernel", "pairs", "over_reported"),
    # Parts of a ring of 4 belong with 2 others, and the pass cannot tell which; the players are two.
    [("threads_side_by_side", 4 * 3, 4), ("threads_pingpong", 2, 0)],
)
def test_types_are_those_of_a_run_and_no_dependence_is_missed(kernel: str, pairs: int, over_reported: int) -> None:
    rows = list(compare(kernel, hn.classify(kernel), hn.capture(kernel).thread_graph()))
    assert [row.static_type for row in rows] == [row.trace_type for row in rows]
    assert sum(row.static_partners for row in rows) == pairs
    assert sum(row.over_reported for row in rows) == over_reported
    assert sum(row.missed for row in rows) == 0


def test_a_thread_that_several_creations_may_have_made_has_the_partners_of_all() -> None:
    # main creates f at two places; of what they make only the second place's meets g.
    def node(thread: int, generator: int | None, routine: str, partners: list[int]) -> dict[str, Any]:
        kind = "side-by-side" if partners else "autonomous"
        claimed = [{"thread": partner, "dependence": "possible"} for partner in partners]
        return {
            "thread": thread,
            "generator": generator,
            "routine": routine,
            "type": kind,
            "certain_type": kind,
            "partners": claimed,
        }

    found = {"threads": [node(0, None, "main", []), node(1, 0, "f", []), node(2, 0, "f", [3]), node(3, 0, "g", [2])]}
    run = [("main", None, "autonomous"), ("f", 0, "autonomous"), ("g", 0, "autonomous")]
    threads = [{"routine": routine, "parent": parent, "type": kind} for routine, parent, kind in run]
    rows = list(compare("drawn", found, {"threads": threads, "dependent_bytes": [[0] * 3 for _ in range(3)]}))
    assert [row.static_type for row in rows] == ["autonomous or side-by-side", "side-by-side"]
    assert [(row.static_partners, row.over_reported, row.missed) for row in rows] == [(1, 1, 0), (1, 1, 0)]


def test_absent_programs_of_debian_are_named(tmp_path: Path) -> None:
    (tmp_path / "pixz_1.0.7.orig.tar.gz").touch()
    with pytest.raises(SystemExit, match=r"pbzip2_1.1.13.orig.tar.gz, lbzip2_2.5.orig.tar.bz2; docs/programs.md"):
        main(["classification", "--sources", str(tmp_path)])
    with pytest.raises(SystemExit, match="--sources FOLDER"):
        main(["classification", "--write"])


def test_certain_and_possible_dependences_are_told_apart() -> None:
    # Two players take turns on one word of main's; the parts of the ring lie where the run says.
    found = hn.classify("threads_pingpong")
    assert types(found, "certain_type") == {"play": "side-by-side"}
    assert found["threads"][1]["partners"] == [{"thread": 1, "dependence": "certain"}]
    found = hn.classify("threads_side_by_side")
    assert types(found, "certain_type") == {"work_on_part": "autonomous"}
    assert found["threads"][1]["partners"] == [{"thread": 1, "dependence": "possible"}]
    # The logger and main pass records through a queue that both certainly use.
    assert dependence(hn.classify("threads_postponed"), "keep_log", "main")["dependence"] == "certain"


def test_generation_and_communication_tree_of_three_levels() -> None:
    main, summarise, lead, part = hn.classify("threads_mix")["threads"]
    assert [entry["generator"] for entry in (main, summarise, lead, part)] == [None, 0, 0, lead["thread"]]
    assert [entry["several"] for entry in (main, summarise, lead, part)] == [False, False, True, True]
    assert (main["communicates_below"], summarise["communicates_below"], lead["communicates_below"]) == ([], [0], [0])
    source = (hn.resources.KERNELS / "threads_mix.c").read_text().splitlines()
    for entry in (summarise, lead, part):
        assert f", {entry['routine']}, " in source[entry["created_at"]["line"] - 1]


def test_a_slot_for_each_thread_is_no_dependence() -> None:
    found = hn.classify(PROGRAMS / "neighbours.c")
    # `look` is read by main before it is joined; threads of one loop are brothers.
    assert types(found) == {"keep": "autonomous", "reach": "side-by-side", "look": "postponed"}
    assert dependence(found, "reach", "reach")["dependence"] == "possible"
    assert dependence(found, "keep", "main") is None
    assert dependence(found, "look", "main") is not None


def test_a_lone_thread_with_its_creator_is_side_by_side() -> None:
    found = hn.classify(PROGRAMS / "lone_helper.c")
    assert types(found) == {"help": "side-by-side"}
    assert found["threads"][1]["partners"] == [{"thread": 0, "dependence": "certain"}]
    # What main reads after the join is handed over.
    assert dependence(found, "help", "main") is None


def test_routines_from_a_table_and_functions_that_nobody_knows() -> None:
    found = hn.classify(PROGRAMS / "chosen.c")
    assert types(found) == {"branch": "autonomous", "leaf": "autonomous", "ask": "side-by-side"}
    through = dependence(found, "ask", "ask")
    assert (through["dependence"], through["through"]) == ("possible", "unknown")


def test_bound_threads_say_so(tmp_path: Path) -> None:
    found = hn.classify(PROGRAMS / "bound.c", instrument=tmp_path / "bound")
    assert types(found) == {"work": "autonomous"}
    cores = sorted(os.sched_getaffinity(0))
    for workers in (1, 3, 2 * len(cores)):
        done = subprocess.run([tmp_path / "bound", str(workers)], capture_output=True, text=True, check=True)
        # C55: k = cores / threads, core of thread i = floor(i k) modulo cores
        expected = [[i, cores[i * len(cores) // workers % len(cores)]] for i in range(workers)]
        assert [[int(word) for word in line.split()] for line in done.stdout.splitlines()] == expected


def test_std_thread(tmp_path: Path) -> None:
    found = hn.classify(PROGRAMS / "standard_threads.cpp", instrument=tmp_path / "threads")
    assert [thread["call"] for thread in found["threads"][1:]] == ["std::thread"] * 3
    assert [thread["type"] for thread in found["threads"][1:]] == ["side-by-side", "side-by-side", "autonomous"]
    assert {"thread": 2, "dependence": "certain"} in found["threads"][1]["partners"]
    done = subprocess.run([tmp_path / "threads"], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split("\n")[:-1]) == ["counter 1", "counter 1", "own 1"]


def test_the_command(homenode: Callable[..., Ended]) -> None:
    done = homenode("classify", "threads_postponed")
    assert done.status == 0
    assert "keep_log" in done.stdout
    assert "postponed" in done.stdout
    done = homenode("classify", "--json", PROGRAMS / "lone_helper.c", "--", "-DUNUSED")
    document = json.loads(done.stdout)
    assert document["schema"] == "homenode.classify/1"
    assert document["threads"][1]["routine"] == "help"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.c"], "no file 'nothing.c'"),
        (["no_such_kernel"], "no_such_kernel"),
        (["--instrument", "threads_mix"], "-o BINARY"),
        (["--llvm", "3", "threads_mix"], "no pass for LLVM 3"),
    ],
)
def test_bad_usage_is_refused(homenode: Callable[..., Ended], arguments: list[str], message: str) -> None:
    done = homenode("classify", *arguments)
    assert done.status == 2
    assert message in done.stderr


def test_what_cannot_be_compiled_or_has_no_main_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "part.c"
    source.write_text("int half(int x) { return x / 2; }\n")
    with pytest.raises(InputError, match="no function main"):
        hn.classify(source)
    source.write_text("int main(void) { return }\n")
    with pytest.raises(InputError, match=r"part\.c.*could not be compiled"):
        hn.classify(source)
    with pytest.raises(InputError):
        hn.classify(source, instrument=tmp_path / "binary")
    assert not (tmp_path / "binary").exists()


def test_missing_tools_are_named_by_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match=r"install Debian's packages clang-\d+ and llvm-\d+"):
        hn.classify("threads_mix")
