"""Where in the sources a region spends its instructions: labels such as `main#0` count loops, and name no line."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_OF_CONSTRUCT = re.compile(r"(?P<construct>.*#\d+)(?:\.\d+)?(?::.*)?")  # main#0.1, main#0:code2, main#0:task
Lines = Mapping[tuple[str, int], float]
"""Instructions that ran, by file and line."""


def instructions_by_line(code: Iterable[Mapping[str, Any]]) -> dict[str, Lines]:
    """By label of a region its instructions in code of the program's own; regions without any are left out.

    `code`: `Trace.executed_code`. A block counts for the line on which it begins.
    """
    ran: defaultdict[str, defaultdict[tuple[str, int], float]] = defaultdict(lambda: defaultdict(float))
    for block in code:
        if block["line"] and not block["library"]:
            for region in block["regions"]:
                ran[region["region"]][block["file"], block["line"]] += block["instructions"] * region["executions"]
    return dict(ran)


def hottest(lines: Lines) -> tuple[str, float]:
    """``"file:line"`` with the most instructions, and these; of equal ones the first in the file. Nothing where there are none."""
    if not lines:
        return "", 0.0
    (file, line), instructions = min(lines.items(), key=lambda item: (-item[1], item[0]))
    return f"{file}:{line}", instructions


def hottest_lines(regions: Sequence[Mapping[str, Any]], code: Iterable[Mapping[str, Any]]) -> list[str]:
    """By region ``"file:line"`` where most of its instructions ran, else where most of its accesses are; empty if it has neither.

    `regions`: of an inspection. Instructions of a parallel construct are counted for all of its loops together: where it has several
    regions, their accesses tell them apart.
    """

    def construct(label: str) -> str:
        found = _OF_CONSTRUCT.fullmatch(label)
        return found["construct"] if found is not None else label

    parts = Counter(construct(region["label"]) for region in regions)
    ran = instructions_by_line(code)
    by_instructions = [
        hottest(ran.get(region["label"], {}))[0] if parts[construct(region["label"])] == 1 else "" for region in regions
    ]
    return [line or region["busiest_line"] for line, region in zip(by_instructions, regions, strict=True)]
