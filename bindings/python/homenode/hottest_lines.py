"""Where in the sources a region spends its instructions: labels such as `main#0` count loops, and name no line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

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
