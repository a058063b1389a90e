"""What a Dask worker keeps for studies: the files of traces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin

from homenode.errors import InputError
from homenode.extensions import load_extension

_files: dict[str, Path] = {}  # of this worker, by digest


def file_of(content: str) -> Path:
    """A trace that came to this worker."""
    if content not in _files:
        raise InputError(f"no trace {content} came to this worker")
    return _files[content]


class TraceFile(WorkerPlugin):
    """Writes one trace into a worker's own folder."""

    def __init__(self, content: str, data: bytes) -> None:
        """`content`: the trace's digest."""
        self.name = f"homenode-trace-{content}"
        self._content, self._data = content, data

    def setup(self, worker: Any) -> None:
        """Write it whole."""
        path = Path(worker.local_directory) / f"{self._content}-{os.getpid()}.hnt"
        part = path.with_suffix(".part")
        part.write_bytes(self._data)
        part.replace(path)
        _files[self._content] = path


class ExtensionFile(WorkerPlugin):
    """Loads a file of policies in each worker."""

    def __init__(self, path: Path) -> None:
        """The file lies on the host of the study; its content goes to the workers."""
        self.name = f"homenode-extension-{path}"
        self._file, self._data = path.name, path.read_bytes()

    def setup(self, worker: Any) -> None:
        """Write it, and load it."""
        folder = Path(worker.local_directory) / f"extensions-{os.getpid()}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / self._file).write_bytes(self._data)
        load_extension(folder / self._file)
