"""Runs on disk, by their content: what was asked for once is not run again, in whatever study it comes up."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
import weakref
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import InputError
from homenode.resources import cache_directory, core_model

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = 1
_MAKE_ENTRIES = ("report.py", "estimating.py", "run_spec.py", "study/executing.py")
_APPLICATION = 0x686E6F64  # "hnod", in SQLite's header
_SECONDS_TO_WAIT = 60.0  # for another process that writes


@dataclass(frozen=True)
class StoredRun:
    """What is kept of a run: `measured` are its numbers for the table of runs, `entry` is its entry of a report, compressed."""

    measured: str
    entry: bytes

    @staticmethod
    def of(measured: dict[str, Any], entry: dict[str, Any]) -> StoredRun:
        """Both as JSON."""
        return StoredRun(json.dumps(measured), zlib.compress(json.dumps(entry, separators=(",", ":")).encode(), 1))

    def measured_values(self) -> dict[str, Any]:
        """The numbers by name."""
        values: dict[str, Any] = json.loads(self.measured)
        return values

    def entry_values(self) -> dict[str, Any]:
        """The report's entry."""
        values: dict[str, Any] = json.loads(zlib.decompress(self.entry))
        return values


class Store:
    """A file of runs (SQLite), for several processes and threads at a time. Every run is written when it ends: a kill loses none."""

    def __init__(self, path: str | Path | None = None) -> None:
        """Open or make the file; without one, memory. InputError for a file that is no store of this version."""
        from sqlite3 import Error, connect

        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        refused = f"'{self.path}' is no store of runs"
        try:
            with _alone_in(self.path.absolute().parent) if self.path else nullcontext():
                file = ":memory:" if self.path is None else self.path
                self._file = connect(file, timeout=_SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False)
                weakref.finalize(self, self._file.close)
                self._prepare()
        except Error as error:
            raise InputError(f"{refused}: {error}; allowed: a new name, or such a file") from None
        except OSError as error:
            raise InputError(f"{refused}: {error.strerror}; allowed: a new name, or such a file") from None

    def _prepare(self) -> None:
        found = self._file.execute("PRAGMA application_id").fetchone()[0]
        version = self._file.execute("PRAGMA user_version").fetchone()[0]
        tables = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and (found, version) != (_APPLICATION, _SCHEMA):
            raise InputError(f"'{self.path}' is no store of runs of this version; allowed: a new name, or such a file")
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = NORMAL")  # a crash of the host may lose the last runs, never the file
        if tables:
            return
        self._file.execute("BEGIN IMMEDIATE")  # killed here, it is a new file still
        self._file.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._file.execute(f"PRAGMA user_version = {_SCHEMA}")
        self._file.execute("CREATE TABLE runs (key TEXT PRIMARY KEY, measured TEXT NOT NULL, entry BLOB NOT NULL)")
        self._file.execute("COMMIT")

    @staticmethod
    def default() -> Store:
        """The user's own, beside compiled kernels."""
        folder = cache_directory()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot keep runs in '{folder}': {error.strerror}; allowed: store=FILE or store=False"
            ) from None
        return Store(folder / "runs.sqlite")

    def __len__(self) -> int:
        """Runs in it."""
        with self._using() as file:
            return int(file.execute("SELECT count(*) FROM runs").fetchone()[0])

    @contextmanager
    def _using(self) -> Iterator[Connection]:
        from sqlite3 import Error

        with self._lock:
            try:
                yield self._file
            except Error as error:
                raise InputError(f"the store of runs '{self.path or 'in memory'}': {error}") from None

    def put(self, key: str, run: StoredRun) -> None:
        """Keep a run; the first one under a key stays."""
        with self._using() as file:
            file.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", (key, run.measured, run.entry))

    def measured(self, keys: Sequence[str]) -> dict[str, str]:
        """`StoredRun.measured` of those that are there."""
        found: dict[str, str] = {}
        with self._using() as file:
            for begin in range(0, len(keys), 500):
                part = list(keys[begin : begin + 500])
                marks = ",".join("?" * len(part))
                found.update(file.execute(f"SELECT key, measured FROM runs WHERE key IN ({marks})", part))
        return found

    def get(self, key: str) -> StoredRun | None:
        """One run."""
        with self._using() as file:
            row = file.execute("SELECT measured, entry FROM runs WHERE key = ?", (key,)).fetchone()
        return None if row is None else StoredRun(*row)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Nobody else opens a store in the folder meanwhile: two that make one file at a time would see each other's halves."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@cache
def build() -> str:
    """Hash of the code that decides results: another version's runs are others."""
    found = hashlib.blake2b(digest_size=16)
    found.update(Path(_core.__file__).read_bytes())
    for name in _MAKE_ENTRIES:
        found.update((Path(__file__).parents[1] / name).read_bytes())
    model = core_model()
    found.update(model.read_bytes() if model else b"")
    return found.hexdigest()


def key_of(parts: Sequence[Any]) -> str:
    """Hash of what decides a run, with that of the code."""
    text = json.dumps([_SCHEMA, build(), *parts], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()
