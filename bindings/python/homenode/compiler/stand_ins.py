"""Functions of the C library that call the program back (qsort, bsearch), from homenode's own source compiled for tracing.

They are linked where the program calls them, as weak functions behind its own; the timed program keeps the C library's.
"""

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from homenode.resources import capture_runtime

SOURCE = Path("library", "qsort.c")  # in the runtime's folder
# As glibc is compiled; nothing outside of the program finds them.
FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden")
_CALLS = re.compile(r"^\s+U (?P<name>qsort|qsort_r|bsearch)(?:@.*)?$", re.MULTILINE)


def source() -> Path:
    """The file with them."""
    return capture_runtime() / SOURCE


def _undefined(*words: str | Path) -> tuple[list[str], bool]:
    """Those that files call and do not define; whether all of the files could be read."""
    ended = subprocess.run(["nm", "-u", *(str(word) for word in words)], capture_output=True, check=False)
    return [found["name"] for found in _CALLS.finditer(os.fsdecode(ended.stdout))], ended.returncode == 0


def are_called(objects: Iterable[Path]) -> bool:
    """Whether one of these objects and archives calls one, or may do so, as it cannot be read."""
    files = list(objects)
    if not files:
        return False
    found, readable = _undefined(*files)
    return bool(found) or not readable


def missed(program: Path) -> list[dict[str, Any]]:
    """A loss for each that a linked program still has from the C library."""
    return [
        {"function": "?", "file": program.name, "reason": f"what {name} does to memory is not recorded", "count": 1}
        for name in _undefined("-D", program)[0]
    ]
