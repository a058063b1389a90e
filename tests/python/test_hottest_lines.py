"""Which line stands for a region in `homenode inspect`, and which regions it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

import homenode as hn
from homenode import compiler
from homenode.cli import console
from homenode.cli.inspect import _print_regions, _shortened
from homenode.hottest_lines import hottest_lines


def _region(label: str, line: str) -> dict[str, str]:
    return {"label": label, "busiest_line": line}


def _code(line: int, **executions: int) -> dict[str, object]:
    ran = [{"region": label.replace("_", "#"), "executions": number} for label, number in executions.items()]
    return {"file": "a.c", "line": line, "library": "", "instructions": 2, "regions": ran}


def test_instructions_tell_the_line_of_a_region_that_has_its_construct_alone() -> None:
    regions = [_region("main#0", "a.c:1"), _region("main#1", "a.c:2"), _region("sweep", "a.c:3")]
    assert hottest_lines(regions, [_code(7, main_0=5, sweep=1), _code(8, main_0=9)]) == ["a.c:8", "a.c:2", "a.c:7"]


def test_accesses_tell_apart_the_regions_of_one_construct() -> None:
    labels = ["main#0", "main#0.1", "main#0:code2", "f#0:task1", "f#0:task2", "main#01"]
    regions = [_region(label, f"a.c:{place}") for place, label in enumerate(labels)]
    code = [_code(7, **{label.replace("#", "_"): 5 for label in ("main#0", "main#01")})]
    assert hottest_lines(regions, code) == ["a.c:0", "a.c:1", "a.c:2", "a.c:3", "a.c:4", "a.c:7"]


def test_headers_of_the_system_stand_for_a_region_only_where_nothing_else_does() -> None:
    def header(count: int) -> dict[str, object]:
        return {**_code(45, sweep=count), "file": "c++/12/bits/stl_vector.h"}

    own, outside = _region("sweep", "a.c:3"), _region("sweep", "c++/12/bits/stl_heap.h:9")
    assert hottest_lines([own], [header(5), _code(7, sweep=5)]) == ["a.c:7"]
    assert hottest_lines([own], [header(6), _code(7, sweep=5)]) == ["a.c:3"]
    assert hottest_lines([outside], [header(6), _code(7, sweep=5)]) == ["c++/12/bits/stl_vector.h:45"]


@pytest.mark.capture
def test_what_comes_from_the_system_s_headers_is_told_by_the_program_s_own_line(tmp_path: Path) -> None:
    text = """#include <numeric>
#include <vector>
int main(int count, char**) {
  std::vector<double> values(40000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (i * 7919) % 40009;
  std::partial_sum(values.begin(), values.end(),
                   values.begin());
  return values[count] < 0;
}
"""
    (tmp_path / "own.cpp").write_text(text)
    program = tmp_path / "own"
    assert compiler.main(["-O2", "-g", str(tmp_path / "own.cpp"), "-o", str(program)], "c++") == 0
    found = hn.capture(command=[program]).inspect()
    assert [one["symbol"] for one in found["objects"] if one["kind"] == "heap"] == ["own.cpp:4"]
    assert {region["hottest_line"].partition(":")[0] for region in found["regions"]} == {"own.cpp"}


@pytest.mark.parametrize(("tiny", "every", "shown"), [(8, False, 1), (7, False, 8), (8, True, 9)])
def test_many_tiny_regions_become_one_line(
    capsys: pytest.CaptureFixture[str], tiny: int, every: bool, shown: int
) -> None:
    names = ("executions", "items", "reads", "writes", "miss_parallelism")
    rest = dict.fromkeys(names, 1) | {"kind": "thread", "hottest_line": "a.c:1"}
    regions = [{"label": "sweep", "accesses": 10**6, **rest}]
    regions += [{"label": f"sweep:code{number}", "accesses": 1, **rest} for number in range(tiny)]
    _print_regions(console.output(), regions, every)
    said = capsys.readouterr().out
    assert said.count("a.c:1") == shown
    assert ("… and 8 regions with 8 accesses in all; --all shows them." in said) == (shown == 1)


def test_long_names_lose_their_middle() -> None:
    assert _shortened("a" * 60) == "a" * 60
    assert _shortened("a" * 30 + "b" * 31) == "a" * 29 + "…" + "b" * 29
