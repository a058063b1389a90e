"""Captured traces, kept in a folder: a second validation reads what the first one captured, if today's homenode would capture the same.

Beside a trace, NAME.hnt.by names the programs that made it.
"""

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.capturing import compiled_kernel
from homenode.kernel_sources import kernel as kernel_named
from homenode.resources import PROGRAMS
from homenode.study.store import build


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


@cache
def _makers(kernel: str) -> str:
    """The kernel as it is compiled for tracing today, and what makes a trace of its accesses."""
    assembler = hashlib.blake2b((PROGRAMS / "assemble").read_bytes(), digest_size=8).hexdigest()
    return f"{compiled_kernel(kernel_named(kernel)).parent.name} {assembler}"


def _kept(path: Path, made_by: str, make: Callable[[], object]) -> hn.Trace:
    """Open the trace, made first if it is not there or was made by another homenode or in another way."""
    note = path.with_name(path.name + ".by")
    if not (path.exists() and note.exists() and note.read_text(encoding="utf-8") == made_by):
        note.unlink(missing_ok=True)
        make()
        note.write_text(made_by, encoding="utf-8")
    return hn.Trace.open(path)


def captured(folder: Path, kernel: str, parameters: Mapping[str, int | str], threads: int = 1) -> hn.Trace:
    """Open the kernel's trace, captured first if the folder has none of today's homenode."""
    path = trace_path(folder, kernel, parameters)
    made_by = f"{_makers(kernel)}, {threads} threads\n"
    return _kept(path, made_by, lambda: capture_to(path, kernel, threads=threads, **parameters))


def enlarged(
    folder: Path, kernel: str, parameters: Mapping[str, int | str], name: str, captures: Sequence[int], size: int
) -> hn.Trace:
    """The kernel's trace at `name` = `size`, by the law of captures at smaller sizes, the last of which checks it.
    UsageError where the program follows no such law.
    """
    path = trace_path(folder, kernel, {**parameters, name: size})

    def make() -> None:
        for one in captures:
            captured(folder, kernel, {**parameters, name: one})
        files = [trace_path(folder, kernel, {**parameters, name: one}) for one in captures]
        with tempfile.TemporaryDirectory(prefix=".enlarge-", dir=folder) as own:
            fresh = Path(own) / path.name
            hn.extrapolate(*files[:-1], check=files[-1], output=fresh, **{name: size})
            fresh.replace(path)

    return _kept(path, f"{_makers(kernel)}, {build()}, {name} of {list(captures)}\n", make)
