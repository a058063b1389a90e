"""Policies: those that are built in, and page placements written in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.arguments import text
from homenode.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    PlaceFunction = Callable[["PageFaults"], ArrayLike]

KINDS = ("placement", "mapping", "distribution", "heap", "engine", "cache model")


class PageFaults:
    """A batch of page faults, in address order. Columns are NumPy arrays, valid during the call that they are given to."""

    def __init__(self, faults: NDArray[np.void], machine: Any) -> None:
        """`faults` is the structured array, `machine` the hn.Machine of the run."""
        self.faults = faults
        self.machine = machine

    def __len__(self) -> int:
        """Number of faults: as many nodes are to be returned."""
        return len(self.faults)

    @property
    def page(self) -> NDArray[np.uint64]:
        """Virtual page numbers."""
        return self.faults["page"]

    @property
    def object(self) -> NDArray[np.uint32]:
        """The traced object that the page belongs to (`Trace.objects`)."""
        return self.faults["object"]

    @property
    def thread(self) -> NDArray[np.uint32]:
        """The thread that touched the page first."""
        return self.faults["thread"]

    @property
    def core(self) -> NDArray[np.uint32]:
        """The core it ran on."""
        return self.faults["core"]

    @property
    def node(self) -> NDArray[np.uint32]:
        """The NUMA node of that core: returning this is first touch."""
        return self.faults["node"]

    @property
    def time_ps(self) -> NDArray[np.int64]:
        """Simulated time in picoseconds."""
        return self.faults["time_ps"]

    @property
    def write(self) -> NDArray[np.bool_]:
        """Whether the touch was a write."""
        return self.faults["write"]


_placements: dict[str, PlaceFunction] = {}


def page_placement(name: str) -> Callable[[PlaceFunction], PlaceFunction]:
    """Register a function as the placement `name`: it gets `PageFaults` and returns one node for each of them.

    It is called once a batch, never once an access. A class may stand in place of the function: it is created anew for each
    run and its instance called, so that it may keep state. Registering a name again replaces it.
    """
    text("name", name, "a text")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise UsageError(f"placement name '{name}'; allowed: a small letter, then small letters, digits and hyphens")
    if any(policy["kind"] == "placement" and policy["name"] == name for policy in _core.policies()):
        raise UsageError(f"placement '{name}' is built in; allowed: any other name")

    def register(place: PlaceFunction) -> PlaceFunction:
        register_placement(name, place)
        return place

    return register


def register_placement(name: str, place: PlaceFunction) -> None:
    """What `page_placement` does, for a name that is known to be good."""
    _placements[name] = place


def forget_placement(name: str) -> None:
    """Take a placement back."""
    _placements.pop(name, None)


def python_placement(name: str, machine: Any) -> Callable[[NDArray[np.void]], ArrayLike] | None:
    """The registered placement for one run, as the extension calls it; None when `name` is not one of Python's.

    `name` may go on with modifiers (`pairs+autonuma`), which the extension puts on it.
    """
    registered = _placements.get(name.partition("+")[0])
    if registered is None:
        return None
    place: PlaceFunction = registered() if isinstance(registered, type) else registered
    return lambda faults: place(PageFaults(faults, machine))


def policies(kind: str | None = None) -> list[dict[str, Any]]:
    """Every policy with its parameters, units and defaults; of one kind if asked.

    `examples` are texts with settings; `deviations` what it does not keep of its kind's contract, and why.
    """
    if kind is not None and text("kind", kind, ", ".join(KINDS)) not in KINDS:
        raise UsageError(_core.unknown_name("kind of policy", kind, list(KINDS)))
    found = _core.policies()
    for name, place in _placements.items():
        description = (place.__doc__ or "written in Python").strip().splitlines()[0]
        empty: dict[str, Any] = {"modifier": False, "parameters": [], "examples": [], "deviations": []}
        found.append({"kind": "placement", "name": name, "description": description, **empty})
    return [policy for policy in found if kind is None or policy["kind"] == kind]
