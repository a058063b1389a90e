"""Where in the sources a region spends its instructions: labels such as `main#0` count loops, and name no line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any


def hottest_lines(code: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By label of a region ``"file:line"`` of the block in which most of its instructions ran; of equal ones the first in the file.

    `code`: `Trace.executed_code`. Regions without code of the program's own are left out.
    """
    ran: defaultdict[str, defaultdict[tuple[str, int], float]] = defaultdict(lambda: defaultdict(float))
    for block in code:
        if block["file"] and not block["library"]:
            for region in block["regions"]:
                ran[region["region"]][block["file"], block["line"]] += block["instructions"] * region["executions"]
    found = {}
    for label, by_line in ran.items():
        (file, line), _ = min(by_line.items(), key=lambda item: (-item[1], item[0]))
        found[label] = f"{file}:{line}"
    return found
