"""What TOML descriptions have in common: a name, a line about it, parameters with their sources."""

from pathlib import Path
from typing import Any


class Described:
    """Something read from a description."""

    def __init__(self, path: Path, described: dict[str, Any]) -> None:
        """`described`: as the extension gives it."""
        self.path = path
        self.name: str = described["name"]
        self.description: str = described["description"]
        self.parameters: list[dict[str, Any]] = described["parameters"]
        self.sources: dict[str, str] = described["sources"]

    def __repr__(self) -> str:
        """Name and description."""
        return f"{type(self).__name__}({self.name!r}: {self.description})"
