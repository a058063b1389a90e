"""What the extension calls of a policy in Python: ``make(machine, settings)`` for each run, and what that returns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from homenode.heap_to_manage import Allocation, Heap, Release
from homenode.loop_to_share import Loop
from homenode.page_faults import PageFaults
from homenode.page_uses import MappedPages, PageUses, Place
from homenode.running_machine import machine_of
from homenode.threads_to_map import ThreadsToMap

if TYPE_CHECKING:
    from homenode import _core

Policy = Callable[..., Any]
Settings = dict[str, int]


class PlacingPages:
    """A function of a batch of faults; what watches pages is an instance of the user's class."""

    def __init__(self, policy: Policy, core: _core.Machine, settings: Settings) -> None:
        """For a run on a machine."""
        self._machine = machine_of(core)
        self._place: Any = _decider(policy, settings)

    def __call__(self, faults: Any) -> Any:
        """A node for each."""
        return self._place(PageFaults(faults, self._machine))

    def observe(self, uses: Any, place: Any, pages: _core.MappedPages) -> None:
        """What one slice did with pages."""
        self._place.observe(PageUses(uses, Place(*place), self._machine), MappedPages(pages))

    def wakeup_ps(self) -> Any:
        """When `wake` is to be called; None: never."""
        return self._place.wakeup_ps

    def wake(self, place: Any, pages: _core.MappedPages) -> None:
        """It is time."""
        self._place.wake(Place(*place), MappedPages(pages))


def mapping(policy: Policy, core: _core.Machine, settings: Settings) -> Callable[[int, Any], Any]:
    """A function of the number of threads and their graph."""
    machine, assign = machine_of(core), _decider(policy, settings)
    return lambda threads, graph: assign(ThreadsToMap(machine, threads, graph))


def distribution(policy: Policy, core: _core.Machine, settings: Settings) -> Callable[[_core.LoopView], Any]:
    """A function of an execution."""
    machine, share = machine_of(core), _decider(policy, settings)
    return lambda loop: share(Loop(loop, machine))


class ManagedHeap:
    """An instance of the user's class."""

    def __init__(self, policy: Policy, core: _core.Machine, settings: Settings) -> None:
        """Without pages yet."""
        self._machine = machine_of(core)
        self._heap: Any = _decider(policy, settings)
        self.lock_to_allocate = self._lock_to_allocate if hasattr(self._heap, "lock_to_allocate") else None
        self.lock_to_release = self._lock_to_release if hasattr(self._heap, "lock_to_release") else None

    def prepare(self, pages: _core.HeapPages, cores: Any, seed: int) -> None:
        """Before the first call."""
        self._heap.prepare(Heap(pages, self._machine, cores, seed))

    def allocate(self, *call: Any) -> tuple[Any, Any, Any]:
        """Address, and nanoseconds without and with the lock."""
        answer = self._heap.allocate(Allocation(*call[:-1], *call[-1]))
        address, *times = answer if isinstance(answer, tuple) else (answer,)
        return address, *_times(times)

    def release(self, *call: Any) -> tuple[Any, Any]:
        """Nanoseconds without and with the lock."""
        answer = self._heap.release(Release(*call[:-1], *call[-1]))
        return _times(answer if isinstance(answer, tuple) else () if answer is None else (answer,))

    def _lock_to_allocate(self, *call: Any) -> Any:
        return self._heap.lock_to_allocate(Allocation(*call[:-1], *call[-1]))

    def _lock_to_release(self, *call: Any) -> Any:
        return self._heap.lock_to_release(Release(-1, *call[:-1], *call[-1]))


def _decider(policy: Policy, settings: Settings) -> Policy:
    """What decides in a run: an instance, or the function with its settings."""
    if inspect.isclass(policy):
        made: Any = policy(**settings)
        return cast(Policy, made)
    return functools.partial(policy, **settings) if settings else policy


def _times(times: Any) -> tuple[Any, Any]:
    if len(times) > 2:
        raise TypeError(f"{len(times)} times of a call; allowed: cost_ns, or cost_ns and held_ns")
    cost, held = [*times, 0, 0][:2]
    return cost, held
