"""Functions of the C library that call the program back (qsort, bsearch), from homenode's own source compiled for tracing.

They are linked where the program calls them and defines none of its own; the timed program keeps the C library's.
"""

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from homenode.resources import capture_runtime

SOURCE = Path("library", "qsort.c")  # in the runtime's folder
# As glibc is compiled; nothing outside of the program finds them.
FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden")
_CALLS = re.compile(r"^\s+U (?:qsort|qsort_r|bsearch)$", re.MULTILINE)


def source() -> Path:
    """The file with them."""
    return capture_runtime() / SOURCE


def are_called(objects: Iterable[Path]) -> bool:
    """Whether one of these objects and archives calls one."""
    files = [str(file) for file in objects]
    if not files:
        return False
    listing = subprocess.run(["nm", "-u", *files], capture_output=True, check=False).stdout
    return _CALLS.search(os.fsdecode(listing)) is not None
