"""What a mapping in Python sees: the threads of a run and, if it asks for it, who shares what with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homenode.machine import Machine


class ThreadsToMap:
    """All threads of a run. What is told of the graph needs ``hn.thread_mapping(name, graph=True)``; bytes are distinct ones."""

    def __init__(self, machine: Machine, threads: int, graph: dict[str, Any] | None) -> None:
        """`graph`: columns of threads and of pairs, as the extension has them."""
        self.machine = machine
        self._threads = threads
        self._graph = graph

    def __len__(self) -> int:
        """Number of threads: as many cores are to be returned, or rows of a table."""
        return self._threads

    @property
    def numbers(self) -> NDArray[np.int64]:
        """0, 1, 2 ...: returning this modulo the number of cores is `compact`."""
        import numpy

        return numpy.arange(self._threads)

    @property
    def parent(self) -> NDArray[np.int64]:
        """Who created each thread; -1 for the first."""
        return self._column("parent")

    @property
    def routine(self) -> list[str]:
        """What each thread runs first; empty for the threads of a team."""
        return list(self._told["routine"])

    @property
    def accesses(self) -> NDArray[np.uint64]:
        """Accesses of each thread."""
        return self._column("accesses")

    @property
    def read_bytes(self) -> NDArray[np.uint64]:
        """Bytes that each thread reads."""
        return self._column("read_bytes")

    @property
    def written_bytes(self) -> NDArray[np.uint64]:
        """Bytes that each thread writes."""
        return self._column("written_bytes")

    @property
    def pairs(self) -> NDArray[np.uint64]:
        """A row for each two threads that share bytes: writer, reader, shared bytes, and those of them that make a dependence."""
        import numpy

        return numpy.stack([self._column(name) for name in ("writer", "reader", "shared", "dependent")], axis=1)

    @property
    def shared_bytes(self) -> NDArray[np.uint64]:
        """The communication matrix: bytes that one thread (row) writes and another (column) reads."""
        return self._matrix("shared")

    @property
    def dependent_bytes(self) -> NDArray[np.uint64]:
        """The part of `shared_bytes` whose writes and reads creation and joining do not order."""
        return self._matrix("dependent")

    @property
    def _told(self) -> dict[str, Any]:
        if self._graph is None:
            raise UsageError("a mapping looks at the graph of threads; allowed: one that is registered with graph=True")
        return self._graph

    def _column(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] = self._told[name]
        return column

    def _matrix(self, name: str) -> NDArray[np.uint64]:
        import numpy

        matrix = numpy.zeros((self._threads, self._threads), dtype=numpy.uint64)
        matrix[self._column("writer").astype(numpy.int64), self._column("reader").astype(numpy.int64)] = self._column(
            name
        )
        return matrix
