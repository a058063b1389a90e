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

    Where most instructions are those of the system's headers, the program's line with most accesses says more.

    `regions`: of an inspection. Instructions of a parallel construct are counted for all of its loops together: where it has several
    regions, their accesses tell them apart.
    """

    def construct(label: str) -> str:
        found = _OF_CONSTRUCT.fullmatch(label)
        return found["construct"] if found is not None else label

    parts = Counter(construct(region["label"]) for region in regions)
    ran = instructions_by_line(code)
    found = []
    for region in regions:
        lines = ran.get(region["label"], {}) if parts[construct(region["label"])] == 1 else {}
        own = {place: count for place, count in lines.items() if not _is_header(place[0])}
        by_accesses = str(region["busiest_line"])
        if 2 * sum(own.values()) >= sum(lines.values()):
            found.append(hottest(own)[0] or by_accesses)
        elif by_accesses and not _is_header(by_accesses):
            found.append(by_accesses)
        else:
            found.append(hottest(lines)[0])
    return found


def _is_header(file: str) -> bool:
    """Whether a source is one of the system's: those alone have folders in a trace."""
    return "/" in file
