"""What tests import by name."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str


def heed_signals() -> None:
    """Before a program begins: where tests run in the background SIGINT is ignored, under nohup SIGHUP, and children inherit that."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def processes_with(mark: str) -> list[int]:
    """The processes whose environment has it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # has ended, or is somebody else's
            continue
    return found
