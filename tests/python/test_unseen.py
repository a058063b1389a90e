"""Instructions that run outside of instrumented code: counted by the twin, kept in the trace, told by inspect, replay and advise."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import homenode as hn
from homenode import compiler, unseen
from homenode.cli.main import command as homenode
from homenode.resources import core_model

pytestmark = pytest.mark.capture
CALLS = 20_000
WAVES = f"""#include <math.h>
#include <stdlib.h>
int main(void) {{
  int n = {CALLS};
  double* a = malloc(n * sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = exp(sin(i * 1e-3));
#pragma omp parallel for
  for (int i = 1; i < n; ++i) a[i] = a[i] * 0.5 + i;
  return a[7] > 20;
}}
"""


def build(folder: Path, text: str, *flags: str, name: str = "waves.c") -> Path:
    (folder / name).write_text(text)
    program = folder / name.partition(".")[0]
    driver = "c++" if name.endswith(".cpp") else "cc"
    assert compiler.main(["-O2", "-fopenmp", str(folder / name), *flags, "-o", str(program), "-lm"], driver) == 0
    return program


def functions_of(program: Path, folder: Path) -> tuple[dict[str, dict[str, Any]], dict[str, int]]:
    """What the twin says of the functions without counters, by symbol: their line, and how often each was called."""
    environment = {**os.environ, "HOMENODE_WORK": str(folder / "work")}
    subprocess.run([f"{program}.twin"], env=environment, stdout=subprocess.DEVNULL, check=True)
    lines = [json.loads(line) for line in (folder / "work").read_text().splitlines()]
    functions = {line["ordinal"]: line for line in lines if line["kind"] == "function"}
    calls: dict[str, int] = {}
    called = {line["ordinal"]: line["calls"] for line in lines if line["kind"] == "block" and "calls" in line}
    for line in lines:
        for block, count, _ in line["blocks"] if line["kind"] in ("serial", "parallel", "thread") else []:
            if block in called:
                name = functions[called[block]]["name"]
                calls[name] = calls.get(name, 0) + count
    return {line["name"]: line for line in functions.values()}, calls


@pytest.fixture(scope="module")
def waves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of a program whose time is in libm."""
    folder = tmp_path_factory.mktemp("unseen")
    program = build(folder, WAVES)
    hn.capture(command=[program], output=folder / "waves.hnt")
    return folder / "waves.hnt"


def printed(*words: str | Path) -> str:
    done = CliRunner().invoke(homenode, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_instructions_of_libm_are_told(waves: Path) -> None:
    found = hn.Trace.open(waves).unseen
    by_name = {entry["function"]: entry for entry in found["functions"]}
    for name in ("sin", "exp"):
        assert by_name[name]["calls"] == CALLS
        assert by_name[name]["library"].startswith("libm.so")
        assert by_name[name]["basis"] == "stepped"
        assert 15 < by_name[name]["instructions"] / CALLS < 400
    # the loop itself has some ten instructions
    assert found["known"]
    assert found["share"] > 0.5
    assert found["share"] == pytest.approx(by_name["sin"]["share"] + by_name["exp"]["share"], abs=0.05)
    assert by_name["malloc"]["recorded"] == "heap"
    assert by_name["malloc"]["share"] == 0


def test_only_the_region_that_calls_is_open(waves: Path) -> None:
    regions = {entry["label"]: entry for entry in hn.Trace.open(waves).unseen["regions"]}
    assert not regions["main#0"]["settled"]
    assert regions["main#0"]["calls"] == 2 * CALLS
    assert regions["main#1"]["settled"]
    assert regions["main#1"]["share"] == 0


def test_every_report_says_it(waves: Path) -> None:
    inspected = printed("inspect", waves)
    assert "Not recorded: calls" in inspected
    assert f"in {2 * CALLS:,} calls of which nothing is recorded" in inspected
    machine = ("--machine", "xeon-x5550-2s", "--threads", "2")
    sentence = "of this program's instructions run in code that homenode did not see (libm: "
    # by classes of instructions the calls have no time, by blocks they have
    ranked = printed("replay", waves, *machine, "--explain", "--core", "classes")
    assert sentence in ranked
    assert "the times of main#0 (" in ranked
    assert "? (main#0)" in ranked
    assert "?: too much of the region was not seen to know" in ranked
    by_blocks = printed("replay", waves, *machine, "--explain")
    assert sentence in by_blocks
    assert ("? (main#0)" in by_blocks) == (core_model() is None)
    assert ("times have the calls" in by_blocks) == (core_model() is not None)
    advised = printed("advise", waves, *machine, "--samples", "2", "--engine", "closed-form")
    assert sentence in advised
    document = json.loads(printed("replay", waves, *machine, "--json"))
    assert document["trace"]["unseen"] == hn.Trace.open(waves).unseen
    assert json.loads(printed("inspect", waves, "--json"))["unseen"] == document["trace"]["unseen"]


def test_what_was_seen_is_not_doubted(tmp_path: Path) -> None:
    loops = "for (int k = 0; k < 99; ++k) for (int i = 0; i < 9999; ++i) a[i] += k;"
    program = build(tmp_path, f"static double a[9999];\nint main(void) {{ {loops} return a[7] < 0; }}\n")
    trace = hn.capture(command=[program])
    assert trace.unseen["share"] == 0
    assert unseen.sentence(trace.unseen) is None
    assert "?" not in printed("replay", trace.path, "--machine", "xeon-x5550-2s", "--threads", "1")


def test_a_trace_that_nobody_counted_for_says_that_it_is_not_known() -> None:
    assert unseen.summary([], ["main#0"])["known"] is False
    assert unseen.sentence(unseen.summary([], ["main#0"])) is None


def test_calls_of_every_kind_are_counted(tmp_path: Path) -> None:
    """Tail calls and calls through pointers; what is called back is the program's; long calls are timed; others are stepped."""
    text = """#include <math.h>
#include <stdlib.h>
#include <search.h>
#include <string.h>
static int compare(const void* a, const void* b) { double x = *(double*)a, y = *(double*)b; return x < y ? -1 : x > y; }
/* Far more than a tenth of what passes while lsearch calls it, even where the host gives the processor to others for milliseconds. */
static volatile unsigned long mixed;
static int long_compare(const void* a, const void* b) {
  unsigned long w = 1, x = 2, y = 3, z = 4;
  for (unsigned long i = 0; i < 400; ++i) w = 5 * w + i, x = (x << 1) ^ i, y = 9 * y - i, z = (z >> 1) + i;
  mixed = w ^ x ^ y ^ z;
  return *(double*)a < *(double*)b ? -1 : *(double*)a > *(double*)b;
}
__attribute__((noinline)) double tail(double x) { return cbrt(x); }
double (*functions[])(double) = {log, tail};
int main(int count, char** words) {
  (void)words;
  static double a[4000];
  static char block[1 << 20];
  for (int i = 0; i < sizeof block - 1; ++i) block[i] = 'x';
  size_t most = 12;
  for (int i = 0; i < 4000; ++i) a[i] = tail(i) + functions[i & count](i + 1.0);
  size_t all = 4000;
  if (lsearch(a + 3999, a, &all, 8, long_compare) == 0) return 1;
  for (int i = 0; i < 30; ++i) most += strlen(block + i) > 1 << 20;
  for (int i = 0; i < 40; ++i) if (lfind(a + 11, a, &most, 8, compare) == 0) return 1;
  return 0;
}
"""
    functions, calls = functions_of(build(tmp_path, text, name="calls.c"), tmp_path)
    # tail() is called 4000 times itself, and 2000 times by its pointer
    assert {name: calls[name] for name in ("cbrt", "lsearch", "strlen", "lfind", "")} == {
        "cbrt": 6000,
        "lsearch": 1,
        "strlen": 30,
        "lfind": 40,
        "": 4000,
    }
    assert functions["cbrt"]["basis"] == functions[""]["basis"] == functions["lfind"]["basis"] == "stepped"
    assert functions["strlen"]["basis"] == "timed"
    assert functions["lsearch"]["basis"] == "none"  # who can tell its time from compare's?
    # twelve comparisons, of some five instructions each, are not lfind's own; its own ones are some ten each
    assert 30 < functions["lfind"]["instructions"] < 400
    # of two calls through the pointer one goes to libm and one to a function with counters, which takes none
    assert functions[""]["library"].startswith("libm.so")
    assert 5 < functions[""]["instructions"] < 100


def test_seen_and_unseen_are_what_is_executed(tmp_path: Path) -> None:
    """Callgrind's count of two sizes; what start-up executes is in both."""
    text = """#include <math.h>
#include <stdlib.h>
int main(int count, char** words) {
  double sum = count;
  for (int i = 0; i < atoi(words[1]) * 500; ++i) sum += exp(sin(i * 1e-3));
  return sum < 0;
}
"""
    program = build(tmp_path, text, name="sized.c")
    subprocess.run(["gcc", "-O2", "-fopenmp", tmp_path / "sized.c", "-o", tmp_path / "native", "-lm"], check=True)
    counted, executed = [], []
    for size in ("10", "50"):
        found = hn.capture(command=[program, size]).unseen
        counted.append(found["instructions"] + found["seen_instructions"])
        words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={tmp_path}/out", tmp_path / "native", size]
        subprocess.run(words, capture_output=True, check=True)
        lines = (tmp_path / "out").read_text().splitlines()
        executed.append(int(next(line for line in lines if line.startswith(("summary:", "totals:"))).split()[1]))
    assert counted[1] - counted[0] == pytest.approx(executed[1] - executed[0], rel=0.1)


def test_no_sample_stands_for_many_of_the_calls(tmp_path: Path) -> None:
    # More than 512 instructions a call: given up, and timed. Calls 16 to 32 are looked at one by one, then one in a sixteenth
    # of those so far, so n calls have 16 ln(n / 32) samples and more.
    program = build(
        tmp_path,
        f"""#include <stdlib.h>
int main(void) {{
  double sum = 0;
  for (int i = 0; i < {CALLS}; ++i) sum += strtod("{"1234567890" * 30}e-3", 0);
  return sum < 1;
}}
""",
        name="digits.c",
    )
    functions, calls = functions_of(program, tmp_path)
    assert calls["strtod"] == CALLS
    assert functions["strtod"]["basis"] == "timed"
    assert functions["strtod"]["samples"] >= 16 * math.log(CALLS / 32)


@pytest.mark.parametrize(("calls", "bytes_searched", "timed"), [(3, 1 << 24, True), (15, 1 << 16, False)])
def test_few_calls_have_a_time_where_they_take_long(
    tmp_path: Path, calls: int, bytes_searched: int, timed: bool
) -> None:
    program = build(
        tmp_path,
        f"""#include <string.h>
static char block[{bytes_searched}];
int main(void) {{
  long sum = 0;
  for (int i = 0; i < 2000; ++i) block[i] = '.';
  for (int i = 0; i < {calls}; ++i) sum += memchr(block, 'a' + i, sizeof block) != 0;
  return sum != 0;
}}
""",
        name="search.c",
    )
    trace = hn.capture(command=[program])
    found = trace.unseen
    assert found["share"] > 0.5
    assert found["estimated_share"] == (pytest.approx(found["share"], abs=0.01) if timed else 0)
    assert bool(unseen.open_regions(found, by_blocks=True)) is not timed
    told = unseen.sentence(found, by_blocks=True)
    assert told is not None
    assert told.endswith("times have the calls, as sampled in the capture, without their accesses.") is timed


def test_samples_do_not_change_what_a_program_does(tmp_path: Path) -> None:
    """Exceptions through a sampled call, jumps out of it, a call with vector arguments, the program's own handler of the signal."""
    text = """#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <search.h>
#include <stdexcept>
#include <string>
static std::jmp_buf back;
static int jumps, traps;
static int leave(const void*, const void*) { std::longjmp(back, 1); }
static void trap(int) { ++traps; }
int main() {
  int caught = 0;
  for (int i = 0; i < 50; ++i) try { std::string("abc").at(5 + i); } catch (std::out_of_range&) { ++caught; }
  int numbers[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
  std::size_t many = 9;
  for (int i = 0; i < 20; ++i)
    if (setjmp(back) == 0) lfind(numbers, numbers, &many, sizeof *numbers, leave); else ++jumps;
  char text[64];
  double sum = 0;
  for (int i = 0; i < 40; ++i) { std::snprintf(text, sizeof text, "%d %g %g", i, i * .5, i * .25); sum += std::strtod(text + 3, nullptr); }
  std::signal(SIGTRAP, trap);
  for (int i = 0; i < 20; ++i) { std::raise(SIGTRAP); sum += std::strtod("1.5", nullptr); }
  std::printf("%d %d %d %g\\n", caught, jumps, traps, sum);
}
"""
    program = build(tmp_path, text, name="leaves.cpp")
    subprocess.run(["g++", "-O2", tmp_path / "leaves.cpp", "-o", tmp_path / "native"], check=True)
    said = [
        subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
        for words, environment in (
            ([tmp_path / "native"], os.environ),
            ([f"{program}.twin"], {**os.environ, "HOMENODE_WORK": str(tmp_path / "work")}),
        )
    ]
    assert said[0] == said[1]
    assert said[0].startswith("50 20 20 ")


def test_calls_between_files_of_the_program_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("double part(double x) { return x * 2; }\n")
    text = "double part(double); int main(void) { double s = 0; for (int i = 0; i < 99; ++i) s += part(s); return s != 0; }\n"
    _, calls = functions_of(build(tmp_path, text, str(tmp_path / "part.c"), name="two.c"), tmp_path)
    assert calls == {}


def test_files_that_catch_different_exceptions_have_counts(tmp_path: Path) -> None:
    # gcc's references to types and personality stand behind the debug information: hidden and weak, each in a group that files share
    text = "#include <vector>\nint f(int);\nint main() { std::vector<int> a(10); return f(3) + a[1] - 6; }\n"
    (tmp_path / "part.cpp").write_text(
        "#include <vector>\nint f(int k) { std::vector<int> v(k + 3); if (k > 100) throw true;\n"
        "try { v.resize(2 * k); } catch (bool) { return 3; }\nreturn static_cast<int>(v.size()); }\n"
    )
    program = build(tmp_path, text, str(tmp_path / "part.cpp"), name="both.cpp")
    assert hn.capture(command=[program]).inspect()["work"]["instructions"] > 0


def test_an_object_without_counters_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("double part(double x) { return x * 2; }\n")
    subprocess.run(["gcc", "-O2", "-c", tmp_path / "part.c", "-o", tmp_path / "part.o"], check=True)
    text = "double part(double); int main(void) { double s = 0; for (int i = 0; i < 99; ++i) s += part(s); return s != 0; }\n"
    functions, calls = functions_of(build(tmp_path, text, str(tmp_path / "part.o"), name="two.c"), tmp_path)
    assert calls == {"part": 99}
    assert functions["part"]["library"] == ""
    assert 2 <= functions["part"]["instructions"] <= 6
