"""Captured traces, kept in a folder: a second validation reads what the first one captured."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import homenode as hn


def trace_path(folder: Path, kernel: str, parameters: Mapping[str, int | str]) -> Path:
    """Name the file after the kernel and its parameters."""
    return folder / ("-".join([kernel, *(f"{name}{value}" for name, value in sorted(parameters.items()))]) + ".hnt")


def capture_to(path: Path, kernel: str | None = None, **settings: Any) -> hn.Trace:
    """Capture to `path`, by way of a folder of its own: what a killed capture left beside `path` does not stand in the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".capture-", dir=path.parent) as own:
        fresh = Path(own) / path.name
        hn.capture(kernel, output=fresh, **settings)
        fresh.replace(path)
    return hn.Trace.open(path)


def captured(folder: Path, kernel: str, parameters: Mapping[str, int | str], threads: int = 1) -> hn.Trace:
    """Open the kernel's trace, captured first if the folder lacks it."""
    path = trace_path(folder, kernel, parameters)
    if path.exists():
        return hn.Trace.open(path)
    return capture_to(path, kernel, threads=threads, **parameters)


def enlarged(
    folder: Path, kernel: str, parameters: Mapping[str, int | str], name: str, captures: Sequence[int], size: int
) -> hn.Trace:
    """The kernel's trace at `name` = `size`, by the law of captures at smaller sizes, the last of which checks it.
    UsageError where the program follows no such law.
    """
    path = trace_path(folder, kernel, {**parameters, name: size})
    if path.exists():
        return hn.Trace.open(path)
    for one in captures:
        captured(folder, kernel, {**parameters, name: one})
    files = [trace_path(folder, kernel, {**parameters, name: one}) for one in captures]
    with tempfile.TemporaryDirectory(prefix=".enlarge-", dir=folder) as own:
        fresh = Path(own) / path.name
        hn.extrapolate(*files[:-1], check=files[-1], output=fresh, **{name: size})
        fresh.replace(path)
    return hn.Trace.open(path)
