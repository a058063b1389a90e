"""Traces: what a program did, independent of which thread did it and of where its data lay."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import InputError, UsageError

if TYPE_CHECKING:
    import pandas as pd


class Trace:
    """An open .hnt file. Bodies of regions are read when they are needed, so that memory does not grow with the trace."""

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        """Use `Trace.open` or `hn.capture`."""
        self._path = path
        self._core = _core.Trace.open(path)
        self._inspection: dict[str, Any] | None = None
        if temporary:
            weakref.finalize(self, path.unlink, missing_ok=True)

    @staticmethod
    def open(path: str | Path) -> Trace:
        """Open a trace; a file that is damaged, empty or of another version is refused."""
        path = Path(path)
        if not path.exists():
            raise InputError(f"no trace '{path}'")
        if path.is_dir():
            raise InputError(f"'{path}' is a folder, not a trace")
        return Trace(path)

    @staticmethod
    def of(trace: Trace | str | Path) -> Trace:
        """The trace itself, or the one in the file that is named."""
        if not isinstance(trace, Trace | str | Path):
            raise UsageError(f"a trace is {type(trace).__name__}; allowed: an hn.Trace or the path of a .hnt file")
        return trace if isinstance(trace, Trace) else Trace.open(trace)

    @property
    def path(self) -> Path:
        """Its file."""
        return self._path

    @property
    def hash(self) -> str:
        """Hash of its content: capturing the same program twice gives the same one."""
        return self._core.hash

    @property
    def complete(self) -> bool:
        """Whether the program ran to its end."""
        return self._core.complete

    @property
    def program(self) -> str:
        """The traced program."""
        return self._core.program

    @property
    def arguments(self) -> str:
        """Its arguments."""
        return self._core.arguments

    @property
    def labels(self) -> list[str]:
        """Labels of its regions; a distribution may name them."""
        return self._core.labels

    @property
    def accesses(self) -> int:
        """Memory accesses in all."""
        return self._core.accesses

    def inspect(self) -> dict[str, Any]:
        """Everything `homenode inspect --json` prints."""
        if self._inspection is None:
            self._inspection = self._core.inspect()
        return self._inspection

    def thread_graph(self, team: int | None = None) -> dict[str, Any]:
        """Who created and joined whom, the bytes that one thread writes and another reads, and what type that makes a thread.

        ``{"threads": [{"thread", "parent", "joined_by", "routine", "read_bytes", "written_bytes", "accesses", "type", "level",
        "side_by_side_with", "communication_parents"}], "shared_bytes": [[writer × reader]], "dependent_bytes": [[…]]}``;
        bytes are distinct bytes. `dependent_bytes` leaves out what creation and joining hand over; of it the types follow:
        ``autonomous``, ``side-by-side`` (relative to which threads), ``postponed`` (I. Stirb's NUMA-BTLP).
        `team`: threads that share OpenMP loops in equal blocks, by default those of the capture.
        """
        if team is not None and team < 1:
            raise UsageError(f"a team of {team} threads; allowed: at least 1")
        graph: dict[str, Any] = self._core.thread_graph(team or 0)
        return graph

    @property
    def regions(self) -> pd.DataFrame:
        """Regions with their kind, executions, items, accesses, reads, writes, work by class and misses in flight."""
        import pandas

        return pandas.DataFrame(self.inspect()["regions"])

    @property
    def objects(self) -> pd.DataFrame:
        """Objects with their kind, size and symbol."""
        import pandas

        return pandas.DataFrame(self.inspect()["objects"])

    def __repr__(self) -> str:
        """Program, accesses, hash."""
        return f"Trace({self.program!r} {self.arguments!r}, {self.accesses:,} accesses, hash {self.hash})"
