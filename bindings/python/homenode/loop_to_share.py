"""What a distribution in Python sees: one execution of a parallel loop, or of a region of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from homenode import _core
    from homenode.machine import Machine


class Loop:
    """One execution of a loop: its iterations are to be shared out among a team of threads."""

    def __init__(self, loop: _core.LoopView, machine: Machine) -> None:
        """`loop` is the extension's."""
        self.machine = machine
        self._loop = loop

    @property
    def label(self) -> str:
        """The region's label."""
        return self._loop.label

    @property
    def tasks(self) -> bool:
        """Whether it is a region of tasks: its iterations become ready one by one."""
        return self._loop.tasks

    @property
    def execution(self) -> int:
        """Number of the execution, over all regions of the program."""
        return self._loop.execution

    @property
    def iterations(self) -> int:
        """Number of iterations: 0 to iterations - 1, each to be handed out once."""
        return self._loop.iterations

    @property
    def threads(self) -> int:
        """Size of the team."""
        return len(self.cores)

    @property
    def cores(self) -> NDArray[np.int64]:
        """The core of each thread."""
        return self._loop.cores

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The NUMA node of each thread's core."""
        return self.machine.node_of_core[self.cores]

    @property
    def seed(self) -> int:
        """For random choices: of the run, another one for each execution."""
        return self._loop.seed

    def homes(self, first: int = 0, last: int | None = None) -> NDArray[np.int64]:
        """Where the data of iterations lies now: the node of most of what each writes; -1 where none of it is placed yet.

        Of all iterations, or of those from `first` to before `last`. UsageError when the execution is over.
        """
        return self._loop.homes(first, self.iterations if last is None else last)

    def seconds(self, first: ArrayLike, last: ArrayLike, thread: ArrayLike) -> NDArray[np.float64]:
        """Estimate a plan by the closed form: seconds of work by thread. Needs ``hn.work_distribution(name, estimates=True)``.

        In a program for which the closed form tells none (tasks, threads of its own) it is a UsageError.
        """
        import numpy

        return numpy.asarray(self._loop.seconds(first, last, thread), dtype=numpy.float64)
