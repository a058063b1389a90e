"""What a heap manager in Python sees: the pages that it may have, and the calls of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homenode import _core
    from homenode.machine import Machine


@dataclass(frozen=True, slots=True)
class Allocation:
    """A call of malloc and its kin."""

    object: int
    """The traced object (`Trace.objects`)."""
    bytes: int
    """At least 1."""
    alignment: int
    """A power of two; 8 at least is asked of a block, whatever this says."""
    site: int
    """Number of the source line that calls: equal for equal lines."""
    owner: int
    """The thread that the block is marked to be for; -1 without a mark."""
    thread: int
    core: int
    node: int
    """Who calls, and where it runs."""
    time_ps: int
    """Simulated time in picoseconds."""


@dataclass(frozen=True, slots=True)
class Release:
    """A call of free."""

    object: int
    """The traced object; -1 where the heap is asked for a lock only."""
    address: int
    bytes: int
    """What was allocated."""
    thread: int
    core: int
    node: int
    """Who calls, and where it runs."""
    time_ps: int
    """Simulated time in picoseconds."""


class Heap:
    """The memory of a heap manager: pages from the system, by address in bytes."""

    def __init__(self, pages: _core.HeapPages, machine: Machine, cores: NDArray[np.int64], seed: int) -> None:
        """`pages` is the extension's."""
        self.machine = machine
        self.cores = cores
        """The core of each thread, as it starts."""
        self.seed = seed
        """For random choices: of the run."""
        self._pages = pages

    @property
    def page_bytes(self) -> int:
        """Size of a page."""
        return self._pages.page_bytes

    @property
    def reserved_bytes(self) -> int:
        """What `reserve` gave and `unmap` did not take back."""
        return self._pages.reserved_bytes

    def reserve(self, bytes: int, alignment: int = 1) -> int:
        """Take whole pages with consecutive addresses, at least so many bytes: the address of the first byte."""
        return self._pages.reserve(bytes, alignment)

    def unmap(self, address: int, bytes: int) -> None:
        """Give whole pages back to the system, when the present call has ended. No block may lie on them."""
        self._pages.unmap(address, bytes)

    def bind(self, address: int, bytes: int, node: int) -> None:
        """Put whole pages on a node whatever the placement says (mbind), until they are unmapped."""
        self._pages.bind(address, bytes, node)
