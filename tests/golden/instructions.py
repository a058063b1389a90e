"""`python tests/golden/instructions.py`: instructions of the host that a replay takes for each access, counted by valgrind.

They are equal from run to run, where seconds are not; so a test can hold them against `instructions.json`. `--write` takes the present
ones, which wants a line in the changelog where one has risen. The figures depend on the compiler: Debian 12's g++.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("instructions.json")
LIMIT = 1.15  # times what is recorded

# By classes: no core model is asked. The machine is read by the extension alone; nothing else of the package is loaded.
REPLAY = """
import json, sys
from homenode import _core
trace, machine, options = sys.argv[1:]
if trace:
    _core.replay(_core.Trace.open(trace), _core.read_machine(machine), _core.RunSpec(core="classes", **json.loads(options)))
"""


@dataclass(frozen=True)
class Replay:
    """A small case of a row of the bench."""

    kernel: str
    settings: dict[str, Any]
    machine: str
    options: dict[str, Any] = field(default_factory=dict)


CASES = {
    "flow, stencil": Replay("jacobi2d", {"n": 1024}, "xeon-e5-2697v2-2s", {"threads": 24}),
    "flow, caches by lines, sparse product": Replay("spmv", {"rows": 20_000}, "xeon-x5550-2s", {"threads": 8, "caches": "lines"}),
    "flow, caches by runs, blocks": Replay("hotspot", {"size": 256}, "xeon-x7560-4s", {"threads": 32, "caches": "runs"}),
    "flow, short loops": Replay("mg", {"class": "S"}, "opteron-8431-4s", {"threads": 16}),
    "flow, tasks": Replay("jacobi3d_tasks", {"ni": 160, "nj": 160, "nk": 64, "bi": 4, "bj": 4, "bk": 64}, "xeon-x5550-2s",
                          {"threads": 8, "distribution": "tasks"}),
    "line, stencil": Replay("jacobi2d", {"n": 256}, "xeon-x5550-2s", {"threads": 8, "engine": "line"}),
}  # fmt: skip


def executed(trace: str, machine: str, options: dict[str, Any]) -> int:
    """Instructions of a process that replays; of one that only loads the extension if no trace is named."""
    words = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    words += [sys.executable, "-c", REPLAY, trace, machine, json.dumps(options)]
    ended = subprocess.run(words, env={**os.environ, "PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True)
    found = re.search(r"I +refs: +([\d,]+)", ended.stderr)
    assert found, ended.stderr
    return int(found[1].replace(",", ""))


def counted(names: list[str]) -> dict[str, float]:
    """By case: instructions an access of opening the trace and replaying it once."""
    import homenode as hn
    from homenode.resources import MACHINES

    def one(name: str, folder: Path, nothing: int) -> float:
        case = CASES[name]
        trace = hn.capture(case.kernel, output=folder / f"{name}.hnt", check=0, **case.settings)
        path = MACHINES / f"{case.machine}.toml"
        return round((executed(str(trace.path), str(path), case.options) - nothing) / trace.accesses, 3)

    with tempfile.TemporaryDirectory(prefix="homenode-instructions-") as folder, ThreadPoolExecutor(2) as pool:
        nothing = executed("", "", {})
        return dict(zip(names, pool.map(lambda name: one(name, Path(folder), nothing), names), strict=True))


def main() -> None:
    """Print, compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="take the present figures")
    write = parser.parse_args().write
    found = counted(list(CASES))
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for name, figure in found.items():
        old = recorded.get(name)
        print(
            f"{name}: {figure:.3f} instructions an access"
            + (f", {figure / old:.3f} of what is recorded" if old else "")
        )
    if write:
        RECORDED.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    elif any(figure > LIMIT * recorded.get(name, 0) for name, figure in found.items()):
        sys.exit(f"more than {LIMIT} of what is recorded")


if __name__ == "__main__":
    main()
