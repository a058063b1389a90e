"""Traces: what a program did, independent of which thread did it and of where its data lay."""

from __future__ import annotations

import hashlib
import logging
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core, notebook, unseen
from homenode.arguments import is_path, whole_number
from homenode.errors import InputError, TruncatedTrace, UsageError
from homenode.hottest_lines import hottest_lines
from homenode.losses import by_reason, unrecorded_share
from homenode.program_hints import other_than_trace

if TYPE_CHECKING:
    import pandas as pd

    from homenode.machine import Machine

_log = logging.getLogger(__name__)


def existing(path: str | Path) -> Path:
    """The path of a file that is there."""
    if not is_path(path):
        raise UsageError(f"a trace is {type(path).__name__}; allowed: the path of a .hnt file")
    path = Path(path)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise InputError(f"no trace '{path}': {error.strerror}") from None
    if is_folder:
        raise InputError(f"'{path}' is a folder, not a trace")
    if not is_there:
        raise InputError(f"no trace '{path}'")
    if (other := other_than_trace(path)) is not None:
        raise InputError(f"'{path}' is {other}")
    return path


_ON_LIBRARY_THREADS = (
    "a part of the program ran on threads of a library, where it is not recorded: another part each time; allowed: "
    "'taskset -c 0 homenode capture …', where such libraries (std::execution's, say) run all of it on the calling thread"
)


class Trace:
    """An open .hnt file. Bodies of regions are read when they are needed, so that memory does not grow with the trace."""

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        """Use `Trace.open` or `hn.capture`."""
        self._path = path
        self._opened = _state(path)
        self._core = _core.Trace.open(path)
        self._digest = ""
        self._inspection: dict[str, Any] | None = None
        self._own_threads: list[tuple[int, int] | None] = []  # once it is known
        self._unseen: dict[str, Any] | None = None
        if _log.isEnabledFor(logging.INFO):
            _log.info("trace %s: %d accesses, hash %s", path, self.accesses, self.hash)
        if temporary:
            weakref.finalize(self, path.unlink, missing_ok=True)

    @staticmethod
    def open(path: str | Path) -> Trace:
        """Open a trace. A file that is damaged, empty or of another version is refused; what `check` tells of, here or at first use."""
        return Trace(existing(path))

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
    def digest(self) -> str:
        """Hash of the whole file: of all that a replay depends on. Two captures of a program have one `hash` and two digests.

        InputError if the file was replaced since it was opened.
        """
        if not self._digest:
            content = _digest_of(self._path)
            if _state(self._path) != self._opened:
                raise InputError(f"'{self._path}' was replaced after it was opened; allowed: open it again")
            self._digest = content
        return self._digest

    @property
    def complete(self) -> bool:
        """Whether the program ran to its end."""
        return self._core.complete

    @property
    def truncated_by(self) -> str:
        """Why the trace ends before the program's end, as far as it is known; empty for a complete trace."""
        if self.complete:
            return ""
        return self._core.truncated_by or "the program was killed or crashed"

    @property
    def remarks(self) -> list[str]:
        """What is to be known before anything is concluded from the trace."""
        found = []
        if not self.complete:
            found.append(f"truncated: {self.truncated_by}; what came after is not in it")
        if self._core.ran_on_library_threads:
            found.append(_ON_LIBRARY_THREADS)
        if self.accesses == 0:
            killed = "" if self.complete else "the program was ended before it had handed on its first ones, or "
            found.append(f"it holds no accesses: {killed}{self._why_no_accesses()}")
        return found

    def _why_no_accesses(self) -> str:
        """What of the compiled code is not recorded, where the compilers said so; else what may be the reason."""
        losses = [loss for loss in by_reason(self._core.inspect()["losses"]) if loss["functions"]]
        if not losses:
            return (
                "none of the code that ran was compiled by 'homenode cc' ('homenode c++', 'homenode fortran'), "
                "or it did nothing to memory until it ended"
            )
        what = "; ".join(
            f"{', '.join(loss['what'])}: {loss['reason']}" if loss["what"] else loss["reason"] for loss in losses
        )
        return f"what the compiled code did to memory is not recorded ({what}); an array from malloc is, or one that is static"

    def check_usable(self) -> None:
        """Refuse a trace that nothing can be told from; warn (`TruncatedTrace`) of one that is a part of its program."""
        if self.accesses == 0:
            raise InputError(f"{self._path}: {self.remarks[-1]}")
        if not self.complete:
            uncounted = (
                "" if self.unseen["known"] else "; its instructions were not counted, so times are of memory alone"
            )
            warnings.warn(f"{self._path} is {self.remarks[0]}{uncounted}", TruncatedTrace, stacklevel=2)
        if self._core.ran_on_library_threads:
            warnings.warn(f"{self._path}: {_ON_LIBRARY_THREADS}", TruncatedTrace, stacklevel=2)

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
    def has_tasks(self) -> bool:
        """Whether it creates OpenMP tasks."""
        return self._core.has_tasks

    @property
    def has_teams(self) -> bool:
        """Whether a team of OpenMP runs a part of it."""
        return self._core.has_teams

    @property
    def accesses(self) -> int:
        """Memory accesses in all."""
        return self._core.accesses

    def inspect(self) -> dict[str, Any]:
        """Everything `homenode inspect --json` prints."""
        if self._inspection is None:
            found = self._core.inspect()
            shares = {"losses_by_reason": by_reason(found["losses"]), "unrecorded_share": unrecorded_share(found)}
            lines = hottest_lines(found["regions"], self.executed_code())
            regions = [{**region, "hottest_line": line} for region, line in zip(found["regions"], lines, strict=True)]
            self._inspection = {**found, **shares, "regions": regions, "unseen": self.unseen}
        return self._inspection

    @property
    def own_threads(self) -> tuple[int, int] | None:
        """Of a program that creates its threads: how many it has with its first one, and how many of them at once; else None."""
        if not self._own_threads:
            self._own_threads.append(self._core.own_threads())
        return self._own_threads[0]

    @property
    def is_serial(self) -> bool:
        """Whether the program neither shares work between threads nor creates any."""
        return self._core.is_serial()

    @property
    def has_own_schedules(self) -> bool:
        """Whether a loop's schedule clause is another one than static; one of `runtime` leaves that open."""
        return self._core.has_own_schedules()

    def is_timed_by_blocks(self, machine: Machine) -> bool:
        """Whether replays on this machine take core time from the code that ran, with the calls of libraries that were sampled."""
        return self._core.is_timed_by_blocks(machine.llvm_cpu)

    def executed_code(self, llvm_cpu: str = "") -> list[dict[str, Any]]:
        """The basic blocks that ran: ``{"block", "file", "line", "instructions", "function", "library", "calls", "cycles", "bound",
        "loads", "waited", "waits": [{"file", "line", "loads", "waited"}], "regions": [{"region", "executions", "mispredictions"}]}``;
        empty in traces of older versions and of other tools.

        `function` and `library` name the code of a library that was stepped or timed; `calls` is the place of such a block in the list.
        `cycles` of one execution and what bounds them are LLVM-MCA's for the core `llvm_cpu`, such as ``"znver3"``; None without it.
        `loads`: of one execution, those that outer caches or memory may have to serve; `waited`: those of them that the core waits
        for, one after the other; None where the order in which the block ran was not recorded. `waits`: the same by instruction that
        loads, in order, with its line of the source, which is the block's in traces of older versions.
        """
        return self._core.executed_code(llvm_cpu)

    @property
    def measured(self) -> list[tuple[tuple[int, ...], float]]:
        """Regions by number, and the seconds that they took together: processor time of one thread, on the host of the capture.

        Of the program without instrumentation. Regions between which no clock was read are together; empty if it was not timed.
        """
        return [(tuple(part["regions"]), part["seconds"]) for part in self._core.measured_times()]

    @property
    def unseen(self) -> dict[str, Any]:
        """What ran outside of the instrumented code: calls and instructions of the whole program, by function, by region.

        ``{"known", "share", "at_least", "calls", "instructions", "seen_instructions", "recorded_instructions",
        "functions": [{"function", "library", "recorded", "basis", "samples", "calls", "instructions", "share"}],
        "regions": [{"label", "share", …, "settled"}]}``
        """
        if self._unseen is None:
            self._unseen = unseen.summary(self._core.code(), self.labels)
        return self._unseen

    def thread_graph(self, team: int | None = None) -> dict[str, Any]:
        """Who created and joined whom, the bytes that one thread writes and another reads, and what type that makes a thread.

        ``{"threads": [{"thread", "parent", "joined_by", "routine", "read_bytes", "written_bytes", "accesses", "type", "level",
        "side_by_side_with", "communication_parents"}], "shared_bytes": [[writer × reader]], "dependent_bytes": [[…]]}``;
        bytes are distinct bytes. `dependent_bytes` leaves out what creation and joining hand over; of it the types follow:
        ``autonomous``, ``side-by-side`` (relative to which threads), ``postponed`` (I. Stirb's NUMA-BTLP).
        `team`: threads that share OpenMP loops in equal blocks, by default those of the capture.
        """
        if team is not None:
            whole_number("team", team, 1)
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

    def _repr_html_(self) -> str:
        """For notebooks: what was traced."""
        found = {
            "program": f"{self.program} {self.arguments}",
            "accesses": f"{self.accesses:,}",
            "regions": ", ".join(self.labels[:12]) + (" …" if len(self.labels) > 12 else ""),
            "complete": "yes" if self.complete else f"no: {self.truncated_by}",
            "hash": self.hash,
        }
        return notebook.facts("Trace", found)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as the path and the digest of its file, which must be there when it is unpickled; its content may be large."""
        return opened_again, (self._path.absolute(), self.digest)

    def __repr__(self) -> str:
        """Program, accesses, hash."""
        return f"Trace({self.program!r} {self.arguments!r}, {self.accesses:,} accesses, hash {self.hash})"


def opened_again(path: Path, digest: str) -> Trace:
    """A trace in another process; InputError if its file is gone or another one."""
    trace = Trace.open(path)
    if trace.digest != digest:
        raise InputError(f"'{path}' is another trace than the one that was opened before; allowed: the same file")
    return trace


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
