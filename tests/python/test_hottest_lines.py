"""Which line stands for a region in `homenode inspect`, and which regions it leaves out."""

from __future__ import annotations

import pytest

from homenode.cli import console
from homenode.cli.inspect import _print_regions
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
