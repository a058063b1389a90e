"""Losses as a reader wants them: by reason, with places and functions counted, and how much of the work they can be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# As the compilers write them (compiler/losses.py, instrumentation.py, libraries.py): function, what, why.
_WHAT = r"'[^']*'|a temporary|a table of the compiler"
_COMPILED = re.compile(
    r"^(?!extrapolated: )(?P<function>\S+): (?:what (?P<called>\S+) does to memory is not recorded|"
    rf"(?:(?P<what>{_WHAT}) |(?P<intrinsic>\w+): )?(?P<why>.*))$"
)
_CALLED = "calls of library functions that work on the program's memory, which is not recorded"
_TRUNCATED = "truncated: "


def by_reason(losses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """``[{"reason", "count", "functions", "what"}]``, most places first.

    `functions`: how many have it, 0 where it is not said; `what`: names of variables, of called functions or places in the source.
    A truncated trace's reason is no part.
    """
    groups: dict[str, tuple[int, dict[str, None], dict[str, None]]] = {}
    for loss in losses:
        if loss["reason"].startswith(_TRUNCATED):
            continue
        found = None if loss["site"] else _COMPILED.match(loss["reason"])
        reason, function, what = loss["reason"], None, loss["site"]
        if found is not None:
            function = found["function"]
            reason = _CALLED if found["called"] else found["why"]
            what = found["called"] or found["intrinsic"] or (found["what"] or "").strip("'")
            if reason.endswith("what its functions access is not recorded"):
                function, what = None, function
        count, functions, named = groups.get(reason, (0, {}, {}))
        groups[reason] = (count + loss["count"], functions, named)
        if function is not None:
            functions[function] = None
        if what and not what.startswith("a t"):
            named[what] = None
    rows = [
        {"reason": reason, "count": count, "functions": len(functions), "what": list(named)}
        for reason, (count, functions, named) in groups.items()
    ]
    return sorted(rows, key=lambda row: -int(row["count"]))


def unrecorded_share(found: dict[str, Any]) -> float | None:
    """At most this share of the loads and stores that ran is not recorded, of `Trace.inspect`; None where that is not known.

    The twin counts instructions: spills of registers are among them, which are no accesses of the program's. Copies and fills are
    accesses of the program's and no instructions of compiled code: where they prevail, nothing can be said.
    """
    ran = found["work"]["load"] + found["work"]["store"]
    return 1 - found["accesses"] / ran if ran > found["accesses"] else None
