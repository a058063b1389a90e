"""Operating systems: described in TOML, each number with its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from homenode import _core
from homenode.resources import SYSTEMS

PAGES = tuple(_core.page_size_names())


class System:
    """An operating system to replay on."""

    def __init__(self, path: Path) -> None:
        """Use `System.load`."""
        described = _core.describe_system(path)
        self.path = path
        self.name: str = described["name"]
        self.description: str = described["description"]
        self.parameters: list[dict[str, Any]] = described["parameters"]
        self.sources: dict[str, str] = described["sources"]

    @staticmethod
    def names() -> list[str]:
        """The systems that `load` knows by name."""
        return _core.system_names([SYSTEMS])

    @staticmethod
    def load(name: str | Path) -> System:
        """Load a described system by its name, or by the path of its TOML file (anything with a slash or ending in .toml)."""
        text = str(name)
        path = Path(text) if text.endswith(".toml") or "/" in text else Path(_core.find_system(text, [SYSTEMS]))
        return System(path)

    def __repr__(self) -> str:
        """Name and description."""
        return f"System({self.name!r}: {self.description})"
