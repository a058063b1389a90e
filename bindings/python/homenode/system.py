"""Operating systems: described in TOML, each number with its source."""

from homenode import _core
from homenode.described import Described
from homenode.resources import SYSTEMS


class System(Described):
    """An operating system to replay on."""

    _folder = SYSTEMS
    _variable = "HOMENODE_SYSTEM_PATH"
    _names = staticmethod(_core.system_names)
    _find = staticmethod(_core.find_system)
    _describe = staticmethod(_core.describe_system)
