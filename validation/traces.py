"""Captured traces, kept in a folder: a second validation reads what the first one captured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import homenode as hn


def trace_path(folder: Path, kernel: str, parameters: Mapping[str, int | str]) -> Path:
    """Name the file after the kernel and its parameters."""
    return folder / ("-".join([kernel, *(f"{name}{value}" for name, value in sorted(parameters.items()))]) + ".hnt")


def captured(
    folder: Path, kernel: str, parameters: Mapping[str, int | str], alias_over: int | None = None, threads: int = 1
) -> hn.Trace:
    """Open the kernel's trace, captured first if the folder lacks it. Aliasing garbles values: use check=0."""
    path = trace_path(folder, kernel, parameters)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = dict(parameters)
        hn.capture(kernel, output=path, alias_over=alias_over, threads=threads, **settings)
    return hn.Trace.open(path)
