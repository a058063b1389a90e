"""What a placement in Python sees: a batch of page faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homenode.machine import Machine


class PageFaults:
    """A batch of page faults, in address order. Columns are NumPy arrays, a value a fault."""

    def __init__(self, faults: NDArray[np.void], machine: Machine) -> None:
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
    def pages(self) -> NDArray[np.uint64]:
        """How many pages the fault maps, from `page` on: 1, or those of a transparent huge page."""
        return self.faults["pages"]

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
