"""What TOML descriptions of systems and of energy have in common: where they are found, and what is known about their values."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

from homenode.arguments import is_path
from homenode.errors import UsageError


class Described:
    """Something read from a description; its class says where they lie, and which functions of the extension know them."""

    _folder: ClassVar[Path]
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
    def load(cls, name: str | Path) -> Self:
        """Load a description by its name, or by the path of its TOML file (anything with a slash or ending in .toml)."""
        if not is_path(name):
            kind = cls.__name__
            raise UsageError(
                f"argument of {kind}.load is {type(name).__name__}; allowed: a name or the path of a TOML file"
            )
        text = str(name)
        return cls(Path(text) if text.endswith(".toml") or "/" in text else Path(cls._find(text, [cls._folder])))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its path, or its name if it came with the package."""
        return type(self).load, (self.name if self.path.parent == self._folder else self.path.absolute(),)

    def __repr__(self) -> str:
        """Name and description."""
        return f"{type(self).__name__}({self.name!r}: {self.description})"
