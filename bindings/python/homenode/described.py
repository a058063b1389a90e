"""What TOML descriptions of systems and of energy have in common: where they are found, and what is known about their values."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

from homenode.arguments import is_path
from homenode.errors import UsageError


class Described:
    """Something read from a description; its class says where they lie, and which functions of the extension know them."""

    _folder: ClassVar[Path]
    _variable: ClassVar[str]  # of the environment: further folders
    _names: ClassVar[staticmethod[[list[Path]], list[str]]]
    _find: ClassVar[staticmethod[[str, list[Path]], Path]]
    _describe: ClassVar[staticmethod[[Path], dict[str, Any]]]

    def __init__(self, path: Path) -> None:
        """Use `load`."""
        described = type(self)._describe(path)
        self.path = path
        self.name: str = described["name"]
        self.description: str = described["description"]
        self.parameters: list[dict[str, Any]] = described["parameters"]
        self.sources: dict[str, str] = described["sources"]

    @classmethod
    def names(cls) -> list[str]:
        """The descriptions that `load` knows by name."""
        return cls._names([cls._folder])

    @classmethod
    def path_of(cls, name: str | Path) -> str:
        """Where a description lies that is named or given by its path; it is not read."""
        text = str(name)
        if text.endswith(".toml") or "/" in text:
            return text
        return _found(cls._find, cls._folder, text, os.environ.get(cls._variable, ""))

    @classmethod
    def check(cls, name: str | Path) -> None:
        """Refuse what `load` refuses; a file that did not change is read once."""
        path = Path(cls.path_of(name))
        try:
            state = path.stat()
        except OSError:
            cls.load(name)
            return
        _read_once(cls.load, str(path), state.st_mtime_ns, state.st_size)

    @classmethod
    def load(cls, name: str | Path) -> Self:
        """Load a description by its name, or by the path of its TOML file (anything with a slash or ending in .toml)."""
        if not is_path(name):
            kind = cls.__name__
            raise UsageError(
                f"argument of {kind}.load is {type(name).__name__}; allowed: a name or the path of a TOML file"
            )
        return cls(Path(cls.path_of(name)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its path, or its name if it came with the package."""
        return type(self).load, (self.name if self.path.parent == self._folder else self.path.absolute(),)

    def __repr__(self) -> str:
        """Name and description."""
        return f"{type(self).__name__}({self.name!r}: {self.description})"


@lru_cache(maxsize=256)
def _found(find: Callable[[str, list[Path]], Path], folder: Path, name: str, folders: str) -> str:
    """Runs of a grid ask for the same few descriptions over and over; `folders` is what the environment adds."""
    return str(find(name, [folder]))


@lru_cache(maxsize=256)
def _read_once(load: Callable[[str | Path], object], path: str, changed: int, size: int) -> None:
    load(path if "/" in path else f"./{path}")
