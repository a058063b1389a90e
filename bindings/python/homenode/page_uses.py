"""What a placement in Python that watches pages sees of them, and does to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from homenode import _core
    from homenode.machine import Machine


_NONE = 2**32 - 1  # the extension's node of a page that is on none


@dataclass(frozen=True, slots=True)
class Place:
    """Who runs where, and when."""

    thread: int
    core: int
    node: int
    time_ps: int
    """Simulated time in picoseconds."""


class PageUses:
    """Pages that one slice of a thread's work used, each at most once, in address order. Columns are NumPy arrays."""

    def __init__(self, uses: NDArray[np.void], place: Place, machine: Machine) -> None:
        """`uses` is the structured array."""
        self.uses = uses
        self.place = place
        """Whose slice it is: who waits for what is done to pages."""
        self.machine = machine

    def __len__(self) -> int:
        """Number of pages."""
        return len(self.uses)

    @property
    def page(self) -> NDArray[np.uint64]:
        """Virtual page numbers."""
        return self.uses["page"]

    @property
    def home(self) -> NDArray[np.int64]:
        """The node that each page is on; -1 for one that was read and nobody wrote."""
        import numpy

        home = self.uses["home"].astype(numpy.int64)
        home[home == _NONE] = -1
        return home

    @property
    def read_bytes(self) -> NDArray[np.uint64]:
        """Bytes that came from memory; none are told of hinting faults."""
        return self.uses["read_bytes"]

    @property
    def written_bytes(self) -> NDArray[np.uint64]:
        """Bytes that went to memory."""
        return self.uses["written_bytes"]


class MappedPages:
    """The pages of a run, during the call that they are given to. Whoever's slice it is waits for what is done."""

    def __init__(self, pages: _core.MappedPages) -> None:
        """`pages` is the extension's."""
        self._pages = pages

    def __len__(self) -> int:
        """Numbers of pages are less than this."""
        return self._pages.pages

    @property
    def page_bytes(self) -> int:
        """Size of a page."""
        return self._pages.page_bytes

    def homes(self, pages: ArrayLike) -> NDArray[np.int64]:
        """Tell the node of each; -1 where nobody wrote it yet, or it was given back."""
        return self._pages.homes(pages)

    def migrate(self, pages: ArrayLike, nodes: ArrayLike) -> None:
        """Copy pages that have a home to other nodes: one for each page, or one for all."""
        import numpy

        numbers = numpy.asarray(pages)
        self._pages.migrate(numbers, numpy.broadcast_to(numpy.asarray(nodes), numbers.shape))

    def unmap(self, pages: ArrayLike) -> int:
        """Let the next touch of each be a hinting fault; how many were mapped."""
        return self._pages.unmap(pages)
