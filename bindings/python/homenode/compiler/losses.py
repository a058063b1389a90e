"""Accesses that gcc did not instrument, found by disassembling the object: nothing is lost silently."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
_REASONS = (
    (re.compile(r"%zmm\d+.*\(%|\(%.*%zmm\d+"), "64-byte vector access is not recorded"),
    (re.compile(r"%ymm\d+.*\(%|\(%.*%ymm\d+"), "32-byte vector access is not recorded"),
    (re.compile(r"\block cmpxchg"), "inline compare and exchange (omp atomic) is not recorded"),
    (re.compile(r"\bv?movnt"), "non-temporal store is not recorded"),
)


def losses_of(instrumented: Path, source: str) -> list[dict[str, Any]]:
    """One entry a function and reason, with the number of instructions."""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(instrumented)], capture_output=True, text=True, check=True
    ).stdout
    found: Counter[tuple[str, str]] = Counter()
    function = "?"
    for line in text.splitlines():
        if (header := _FUNCTION.match(line)) is not None:
            function = header["name"]
            continue
        for pattern, reason in _REASONS:
            if pattern.search(line):
                found[function, reason] += 1
                break
    return [
        {"function": name, "file": source, "reason": reason, "count": count}
        for (name, reason), count in sorted(found.items())
    ]
