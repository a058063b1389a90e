"""Operating systems: described in TOML, each number with its source."""

from __future__ import annotations

from pathlib import Path

from homenode import _core
from homenode.described import Described
from homenode.resources import SYSTEMS


class System(Described):
    """An operating system to replay on."""

    def __init__(self, path: Path) -> None:
        """Use `System.load`."""
        super().__init__(path, _core.describe_system(path))

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
