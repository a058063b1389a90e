"""Answers of replays, kept in a file as they come: a run of hours that was stopped goes on where it was.

A key holds the whole installed package, so that nothing outlives a change of the program or of a machine's description.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import homenode


def package_hash() -> str:
    """Hash every file of the installed package but Python's own caches."""
    root = Path(homenode.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path.relative_to(root)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class ResultCache:
    """JSON values by what they were asked for, in a file of one line each; a last line cut short is left out. Threads may share one."""

    def __init__(self, path: Path, version: str) -> None:
        self._path, self._version, self._writing = path, version, threading.Lock()
        self._known: dict[str, Any] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    continue
                self._known[entry["key"]] = entry["value"]

    def get(self, question: Mapping[str, Any], answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the value of this question; asked once."""
        key = self._key(question)
        if key not in self._known:
            value = json.loads(json.dumps(answer()))
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._writing, self._path.open("a", encoding="utf-8") as file:
                file.write("\n" * self._cut_short() + json.dumps({"key": key, "value": value}) + "\n")
            self._known[key] = value
        return dict(self._known[key])

    def __contains__(self, question: Mapping[str, Any]) -> bool:
        """Whether the question was asked already."""
        return self._key(question) in self._known

    def _key(self, question: Mapping[str, Any]) -> str:
        return json.dumps({**question, "version": self._version}, sort_keys=True)

    def _cut_short(self) -> bool:
        return self._path.exists() and self._path.read_bytes()[-1:] not in (b"", b"\n")
