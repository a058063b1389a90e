"""What machines consume: described in TOML, each number with its source or assumed, and with an interval."""

from homenode import _core
from homenode.described import Described
from homenode.resources import ENERGY


class EnergyModel(Described):
    """Powers and energies that a run's joules are computed from."""

    _folder = ENERGY
    _variable = "HOMENODE_ENERGY_PATH"
    _names = staticmethod(_core.energy_names)
    _find = staticmethod(_core.find_energy)
    _describe = staticmethod(_core.describe_energy)
