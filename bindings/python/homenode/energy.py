"""What machines consume: described in TOML, each number with its source or assumed, and with an interval."""

from __future__ import annotations

from pathlib import Path

from homenode import _core
from homenode.described import Described
from homenode.resources import ENERGY


class EnergyModel(Described):
    """Powers and energies that a run's joules are computed from."""

    def __init__(self, path: Path) -> None:
        """Use `EnergyModel.load`."""
        super().__init__(path, _core.describe_energy(path))

    @staticmethod
    def names() -> list[str]:
        """The descriptions that `load` knows by name."""
        return _core.energy_names([ENERGY])

    @staticmethod
    def load(name: str | Path) -> EnergyModel:
        """Load a description by its name, or by the path of its TOML file (anything with a slash or ending in .toml)."""
        text = str(name)
        path = Path(text) if text.endswith(".toml") or "/" in text else Path(_core.find_energy(text, [ENERGY]))
        return EnergyModel(path)
