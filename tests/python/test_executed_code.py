"""The machine code that ran: blocks, their counts and mispredictions, and core time made of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import homenode as hn
from homenode import compiler
from homenode.cli.main import command as homenode
from homenode.errors import UsageError
from homenode.resources import core_model

ROUNDS = 20000
# Calls of libm, a branch that nobody can predict and one that anybody can, and a chain of additions.
PROGRAM = f"""
#include <math.h>
#include <stdlib.h>
int main(void) {{
  enum {{ N = {ROUNDS} }};
  static unsigned char random[N];
  unsigned long x = 1;
  for (int i = 0; i < N; ++i) x = x * 6364136223846793005u + 1442695040888963407u, random[i] = x >> 63;
  static volatile int sink;
  double* a = malloc(N * sizeof *a);
  for (int i = 0; i < N; ++i) a[i] = exp(sin(i * 1e-3));
  for (int i = 0; i < N; ++i) if (random[i]) sink = 1; else sink = 2;
  for (int i = 0; i < N; ++i) if (i % 4) sink = 3; else sink = 4;
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += a[i];
  return sum < 0;
}}
"""

# An interpreter: twelve times one operation, then one of two others in turns; and one whose operations nobody can know.
INTERPRETER = f"""
static volatile long sum;
static void run(const unsigned char* code) {{
  static void* const operations[] = {{&&add, &&subtract, &&negate, &&stop}};
  goto *operations[*code++];
add: sum += 1; goto *operations[*code++];
subtract: sum -= 1; goto *operations[*code++];
negate: sum = -sum; goto *operations[*code++];
stop: return;
}}
int main(void) {{
  enum {{ N = {ROUNDS} }};
  static unsigned char known[N + 1], random[N + 1];
  unsigned long x = 1;
  for (int i = 0; i < N; ++i) known[i] = i % 13 < 12 ? 0 : i % 26 < 13 ? 1 : 2;
  for (int i = 0; i < N; ++i) x = x * 6364136223846793005u + 1442695040888963407u, random[i] = x >> 33 & 1;
  known[N] = random[N] = 3;
  run(known);
  sum = 0;
  run(random);
  return 0;
}}
"""


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def build(folder: Path, text: str, name: str, *flags: str) -> Path:
    (folder / name).write_text(text)
    program = folder / name.partition(".")[0]
    driver = "c++" if name.endswith(".cpp") else "cc"
    assert compiler.main(["-O2", str(folder / name), *flags, "-o", str(program), "-lm"], driver) == 0
    return program


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    folder = tmp_path_factory.mktemp("code")
    program = build(folder, PROGRAM, "code.c", "-fno-if-conversion", "-fno-if-conversion2")
    return hn.capture(command=[program], output=folder / "code.hnt")


def executions(block: dict[str, Any]) -> float:
    return float(sum(region["executions"] for region in block["regions"]))


def mispredictions(block: dict[str, Any]) -> float:
    return float(sum(region["mispredictions"] for region in block["regions"]))


def blocks_at(trace: hn.Trace, text: str, cpu: str = "") -> list[dict[str, Any]]:
    return [block for block in trace.executed_code(cpu) if block["line"] == line_of(text) and block["file"] == "code.c"]


def test_blocks_are_counted_and_have_their_line(trace: hn.Trace) -> None:
    # behind exp the block of the store, which runs once an iteration
    assert max(executions(block) for block in blocks_at(trace, "exp(sin")) == ROUNDS
    code = trace.executed_code()
    instructions = sum(executions(block) * block["instructions"] for block in code)
    assert instructions == pytest.approx(trace.inspect()["work"]["instructions"])


def test_branches_are_mispredicted_as_often_as_nobody_could_know(trace: hn.Trace) -> None:
    # a fair coin: every second time; a period of four: hardly ever
    assert sum(map(mispredictions, blocks_at(trace, "if (random[i])"))) == pytest.approx(ROUNDS / 2, rel=0.1)
    assert sum(map(mispredictions, blocks_at(trace, "if (i % 4)"))) < ROUNDS / 100


def test_jumps_of_an_interpreter_are_predicted_by_what_was_before(tmp_path: Path) -> None:
    wrong = []
    for left_out in ("run(random)", "run(known)"):
        program = build(
            tmp_path, INTERPRETER.replace(f"  {left_out};", ""), "interpreter.c", "-fno-crossjumping", "-fno-gcse"
        )
        wrong.append(sum(map(mispredictions, hn.capture(command=[program]).executed_code())))
    known, random = wrong
    # Of 26 operations two are told apart only by what was 13 before; by the last eight alone each would be wrong.
    assert known < ROUNDS / 200
    assert random > ROUNDS / 3


def test_code_of_libraries_stands_behind_its_calls(trace: hn.Trace) -> None:
    code = trace.executed_code()
    called: dict[str, float] = {}
    for block in code:
        if block["calls"] is not None:
            name = code[block["calls"]]["function"]
            called[name] = called.get(name, 0) + executions(block)
    assert called["exp"] == ROUNDS
    assert called["sin"] in (ROUNDS, ROUNDS - 1)  # gcc knows the first one
    assert "malloc" not in called  # the heap model has its time


def test_two_captures_have_the_same_code(trace: hn.Trace, tmp_path: Path) -> None:
    again = hn.capture(command=[trace.path.with_suffix("")], output=tmp_path / "again.hnt")
    of_program = [[block for block in one.executed_code() if not block["function"]] for one in (trace, again)]
    assert of_program[0] == of_program[1]
    assert again.hash == trace.hash


def test_a_template_in_two_files_is_linked_once(tmp_path: Path) -> None:
    (tmp_path / "t.h").write_text(
        'template <class T> __attribute__((noinline)) T twice(T x) { asm(""); return x + x; }\n'
    )
    (tmp_path / "other.cpp").write_text('#include "t.h"\nint other(int x) { return twice(x); }\n')
    text = '#include "t.h"\nint other(int), a[9];\nint main(int n, char**) { for (int i = 0; i < 9; ++i) a[i] = n; '
    text += "return twice(a[n]) + other(n) - 4; }\n"
    program = build(tmp_path, text, "main.cpp", str(tmp_path / "other.cpp"))
    trace = hn.capture(command=[program], output=tmp_path / "t.hnt")
    twice = [block for block in trace.executed_code() if block["file"] == "t.h"]
    assert sum(map(executions, twice)) == 2


def test_an_asm_that_repeats_lines_is_counted_as_often(tmp_path: Path) -> None:
    # the loop's block begins within what the assembler repeats; a label there would be defined thirty times
    text = """
        int main(void) {
          long sum = 0;
          for (int i = 0; i < 1000; ++i) __asm__ volatile(".rept 30\\n add %1, %0\\n.endr\\n jc 9f\\n 9:" : "+r"(sum) : "r"(1l) : "cc");
          return sum != 30000;
        }"""
    program = build(tmp_path, text, "repeats.c")
    trace = hn.capture(command=[program], output=tmp_path / "t.hnt")
    assert trace.unseen["seen_instructions"] == pytest.approx(1000 * (30 + 3), rel=0.05)


needs_llvm = pytest.mark.skipif(core_model() is None, reason="built without LLVM 19")


@needs_llvm
def test_core_time_is_that_of_the_chain(trace: hn.Trace) -> None:
    # additions of doubles, one after the other: 3 cycles each on a Zen 3, whether or not the loop is unrolled
    loop = [
        block
        for text in ("double sum", "sum += a[i]")
        for block in blocks_at(trace, text, "znver3")
        if executions(block) >= ROUNDS / 4
    ]
    assert sum(executions(block) * block["cycles"] for block in loop) == pytest.approx(3 * ROUNDS, rel=0.05)
    assert {block["bound"] for block in loop} == {"latency"}


@needs_llvm
def test_loads_that_a_core_waits_for(trace: hn.Trace) -> None:
    def waited(*texts: str) -> float:
        blocks = [block for text in texts for block in blocks_at(trace, text, "znver3") if block["loads"]]
        loads = sum(executions(block) * block["loads"] for block in blocks)
        assert loads >= ROUNDS / 4
        return sum(executions(block) * block["waited"] for block in blocks) / loads

    # half of the branches on random bits are wrong, and wait for the bit; the additions wait for each other, not for their loads
    assert waited("if (random[i])") == pytest.approx(0.5, abs=0.1)
    assert waited("double sum", "sum += a[i]") < 0.05
    assert {block["waited"] for block in trace.executed_code()} == {None}


@needs_llvm
def test_loads_of_one_block_have_the_waits_of_their_own_lines(tmp_path: Path) -> None:
    text = f"""
        int main(void) {{
          static int next[4096], payload[4096];
          for (int i = 0; i < 4096; ++i) next[i] = (i * 1021 + 7) % 4096, payload[i] = i % 7;
          int at = 0;
          long sum = 0;
          for (int i = 0; i < {ROUNDS}; ++i) {{
            sum += payload[i * 64 % 4096];
            at = next[at];
          }}
          return sum + at < 0;
        }}"""
    trace = hn.capture(command=[build(tmp_path, text, "two.c")], output=tmp_path / "t.hnt")
    waits = [
        wait for block in trace.executed_code("znver3") if executions(block) >= ROUNDS / 8 for wait in block["waits"]
    ]

    def share(text_of_line: str) -> float:
        line = next(number for number, each in enumerate(text.splitlines(), 1) if text_of_line in each)
        found = [wait for wait in waits if wait["line"] == line]
        return sum(wait["waited"] for wait in found) / sum(wait["loads"] for wait in found)

    assert {wait["file"] for wait in waits} == {"two.c"}
    assert share("at = next[at]") > 0.95
    assert share("sum += payload") < 0.05


@needs_llvm
def test_replays_take_core_time_from_blocks_where_they_can(trace: hn.Trace) -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    seconds = {core: hn.replay(trace, machine, core=core) for core in ("auto", "blocks", "classes")}
    assert [one.run["core"] for one in seconds.values()] == ["blocks", "blocks", "classes"]
    assert seconds["auto"].seconds == seconds["blocks"].seconds
    # exp and sin take some 100 cycles, for which the classes have nothing
    assert seconds["blocks"].seconds - seconds["classes"].seconds > ROUNDS * 50 / 2.66e9
    estimated = {core: hn.estimate(trace, machine, threads=1, core=core).seconds for core in ("blocks", "classes")}
    assert estimated["blocks"] > estimated["classes"]


@needs_llvm
def test_a_misprediction_costs_what_the_machine_says(trace: hn.Trace) -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    free, dear = (
        hn.replay(trace, machine.with_changes(**{"core.misprediction": cost})).seconds for cost in ("0", "100")
    )
    wrong = sum(map(mispredictions, trace.executed_code()))
    assert dear - free == pytest.approx(wrong * 100 / 2.66e9, rel=0.1)


def test_a_machine_without_a_core_model_says_so(trace: hn.Trace) -> None:
    with pytest.raises(UsageError, match=r"knc-5110p.*core\.llvm_cpu"):
        hn.replay(trace, "knc-5110p", core="blocks")
    assert hn.replay(trace, "knc-5110p").run["core"] == "classes"


@needs_llvm
def test_inspect_shows_the_hot_blocks(trace: hn.Trace) -> None:
    done = CliRunner().invoke(
        homenode, ["inspect", str(trace.path), "--code", "--cpu", "znver3"], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert "exp (libm.so.6)" in done.stdout
    assert f"code.c:{line_of('exp(sin')}" in done.stdout
    with pytest.raises(UsageError, match="unknown CPU 'k6'"):
        trace.executed_code("k6")


def test_a_program_whose_log_is_full_goes_on(trace: hn.Trace) -> None:
    # 8192 blocks fill the log; the twin ran some 100 times as many, and computed the same
    twin = subprocess.run([f"{trace.path.with_suffix('')}.twin"], check=False)
    assert twin.returncode == 0
