"""Captured traces, kept in a folder: a second validation reads what the first one captured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import homenode as hn


def trace_path(folder: Path, kernel: str, parameters: Mapping[str, int | str]) -> Path:
    """Name the file after the kernel and its parameters."""
    return folder / ("-".join([kernel, *(f"{name}{value}" for name, value in sorted(parameters.items()))]) + ".hnt")


@contextmanager
def aliased_memory(blocks_over: int | None) -> Iterator[None]:
    """While inside, captured programs map blocks of at least so many bytes onto one small window."""
    before = os.environ.get("HOMENODE_ALIAS_OVER")
    if blocks_over is not None:
        os.environ["HOMENODE_ALIAS_OVER"] = str(blocks_over)
    try:
        yield
    finally:
        if blocks_over is not None:
            if before is None:
                del os.environ["HOMENODE_ALIAS_OVER"]
            else:
                os.environ["HOMENODE_ALIAS_OVER"] = before


def captured(folder: Path, kernel: str, parameters: Mapping[str, int | str], alias_over: int | None = None) -> hn.Trace:
    """Open the kernel's trace, captured first if the folder lacks it. Aliasing garbles values: use check=0."""
    path = trace_path(folder, kernel, parameters)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with aliased_memory(alias_over):
            hn.capture(kernel, output=path, **parameters)
    return hn.Trace.open(path)
