"""Which kernels a kit has, in which sizes: traces/kit/plan.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from homenode._core import unknown_name
from homenode.errors import UsageError
from homenode.kernel_sources import kernel
from homenode.resources import KIT_PARTS

SIZES = {"tiny": ("tiny",), "usual": ("small", "large")}
"""What `homenode kit --size` takes, with the columns of the plan that it stands for."""
_QUICK = ("tiny", "small")
PARTS = 64  # chunks of a loop


@dataclass(frozen=True)
class Case:
    """A kernel with its parameters. The name stands in names of files."""

    name: str
    kernel: str
    parameters: dict[str, int | str]
    chunk: int
    """Of the schedules that hand out chunks; 0: static alone."""
    quick: bool
    """Whether `run.sh --quick` runs it."""
    by_thread: bool
    """Whether its code divides the work by thread number: a trace for each number of threads."""

    def to_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "case": self.name,
            "kernel": self.kernel,
            "parameters": self.parameters,
            "chunk": self.chunk,
            "quick": self.quick,
            "by_thread": self.by_thread,
        }


def _case(entry: dict[str, Any], column: str) -> Case:
    given = dict(entry[column])
    items = given.pop("items", 0)
    parameters = kernel(entry["kernel"]).settings({**given, "check": 0})
    return Case(
        f"{entry['kernel']}-{column}",
        entry["kernel"],
        parameters,
        max(1, items // PARTS) if items else 0,
        column in _QUICK,
        entry.get("by_thread", False),
    )


def cases(size: str = "usual", kernels: Sequence[str] = ()) -> list[Case]:
    """The cases of a size, all kernels of the plan or those named; UsageError for unknown names."""
    if size not in SIZES:
        raise UsageError(unknown_name("size of a kit", size, list(SIZES)))
    with (KIT_PARTS / "plan.toml").open("rb") as file:
        entries = tomllib.load(file)["case"]
    found = [(entry["kernel"], column) for entry in entries for column in SIZES[size] if column in entry]
    known = list(dict.fromkeys(name for name, _ in found))
    for name in kernels:
        if name not in known:
            raise UsageError(unknown_name(f"kernel of a kit of size '{size}'", name, known))
    by_name = {entry["kernel"]: entry for entry in entries}
    return [_case(by_name[name], column) for name, column in found if not kernels or name in kernels]
