"""What a Dask worker keeps for studies: the files of traces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin

from homenode.errors import InputError

_files: dict[str, Path] = {}  # of this worker, by hash


def file_of(content: str) -> Path:
    """A trace that came to this worker."""
    if content not in _files:
        raise InputError(f"no trace {content} came to this worker")
    return _files[content]


class TraceFile(WorkerPlugin):
    """Writes one trace into a worker's own folder."""

    def __init__(self, content: str, data: bytes) -> None:
        """`content`: the trace's hash."""
        self.name = f"homenode-trace-{content}"
        self._content, self._data = content, data

    def setup(self, worker: Any) -> None:
        """Write it whole."""
        path = Path(worker.local_directory) / f"{self._content}-{os.getpid()}.hnt"
        part = path.with_suffix(".part")
        part.write_bytes(self._data)
        part.replace(path)
        _files[self._content] = path
