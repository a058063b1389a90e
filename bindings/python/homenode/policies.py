"""Policies: those that are built in, and those of extensions, which enter the same registries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from homenode import _core, policy_adapters
from homenode.arguments import text
from homenode.errors import UsageError
from homenode.registering import Registration, look_further

KINDS = ("placement", "mapping", "distribution", "heap", "engine", "cache model")

Described = _core.PolicyDescription
Policy = Callable[..., Any]


def page_placement(
    name: str,
    *,
    watches: str = "nothing",
    examples: Sequence[str] = (),
    deviations: Mapping[str, str] | None = None,
) -> Registration:
    """Register a function as the placement `name`: it gets `PageFaults` and returns one node for each of them.

    It is called once a batch, never once an access. A class may stand in place of the function: it is created anew for each
    run and its instance called, so that it may keep state. Registering a name again replaces it.

    `watches`: a class may also look at pages that are mapped, and migrate or unmap them. With ``"traffic"`` its
    ``observe(uses, pages)`` gets `PageUses` of each slice of work and `MappedPages`; with ``"hinting-faults"`` only the first touches of
    pages that it unmapped. If it has ``wake(place, pages)``, that is called at the first slice that starts at its attribute
    ``wakeup_ps`` or later, simulated picoseconds, None for never.

    What holds for policies of every kind: arguments of the class, or keyword-only arguments of the function, that are whole numbers
    are settings (``name:key=value``). An exception becomes an `errors.PolicyError` whose cause it is. `examples` are texts with
    settings and `deviations` clauses of the contract that are not kept, with reasons: for ``homenode policies`` and the contract suites.
    """

    def add(described: Described, policy: Policy) -> None:
        wakes = inspect.isclass(policy) and hasattr(policy, "wake")
        if watches == "nothing" and wakes:
            raise UsageError(
                f"placement '{name}' has a method wake and watches nothing; allowed: watches='traffic' or 'hinting-faults'"
            )
        if watches != "nothing" and not (inspect.isclass(policy) and hasattr(policy, "observe")):
            raise UsageError(f"placement '{name}' watches pages; allowed: a class with a method observe")
        _core.add_placement(described, partial(policy_adapters.PlacingPages, policy), watches, wakes)

    return Registration("placement", name, examples, deviations, add)


def thread_mapping(
    name: str, *, graph: bool = False, examples: Sequence[str] = (), deviations: Mapping[str, str] | None = None
) -> Registration:
    """Register a function or class as the mapping `name`: it gets `ThreadsToMap` and returns the cores of all threads at once.

    That is one core for each thread (integers, a thread each), or a table of truth values: a row a thread, a column a core that it
    may run on. `graph`: it looks at who creates and who feeds whom. To refuse a machine, raise `errors.UsageError`: without a graph it
    is also asked, anew, when a run is checked before anything runs.
    The rest is as for `page_placement`.
    """

    def add(described: Described, policy: Policy) -> None:
        _core.add_mapping(described, partial(policy_adapters.mapping, policy), graph)

    return Registration("mapping", name, examples, deviations, add)


def work_distribution(
    name: str,
    *,
    estimates: bool = False,
    tasks: bool = False,
    examples: Sequence[str] = (),
    deviations: Mapping[str, str] | None = None,
) -> Registration:
    """Register a function or class as the distribution `name`: it is called once for each execution of a loop, with `Loop`.

    It returns a plan of the whole execution: arrays ``(first, last, thread)``, a value a chunk of the iterations from `first` to before
    `last`, and perhaps a fourth, nanoseconds that handing the chunk out takes. Each thread runs its chunks in their order. Or it
    returns an object that is asked for each chunk: ``next(thread, time_ps)`` returns ``(first, last)``, ``(first, last, overhead_ns)``
    or None when nothing is left for the thread; ``complete(first, last, thread, time_ps)`` is told, if it is there. Executions of one
    loop may overlap (`nowait`): what belongs to an execution belongs to that object.

    A class is created once a run and called for all loops of it, so that it may learn from one to the next. `estimates`: it asks
    `Loop.seconds`. The rest is as for `page_placement`.

    `tasks`: it also runs regions of tasks (`Loop.tasks`), one iteration each. The object is told of tasks that are ready:
    ``submit(task, thread, time_ps)`` returns None or True if it takes the task, False if the thread that creates it must run it, or
    ``(True, overhead_ns)``; ``queue(task, thread, time_ps)`` is one that it must take. ``withdraw(task, thread)`` takes one out that
    the thread waits for and runs itself; False if that thread may not. ``next`` returns ``(task, task + 1)``, or None if none is ready.
    """

    def add(described: Described, policy: Policy) -> None:
        _core.add_distribution(described, partial(policy_adapters.distribution, policy), estimates, tasks)

    return Registration("distribution", name, examples, deviations, add)


def heap_manager(
    name: str, *, examples: Sequence[str] = (), deviations: Mapping[str, str] | None = None
) -> Registration:
    """Register a class as the heap manager `name`; it is created anew for each run.

    ``prepare(heap)`` gets the `Heap` to take pages from. ``allocate(allocation)`` returns the block's address, or ``(address, cost_ns)``,
    or ``(address, cost_ns, held_ns)``: of the call, nanoseconds without and with the lock. ``release(release)`` returns None, ``cost_ns``
    or ``(cost_ns, held_ns)``. ``lock_to_allocate(allocation)`` and ``lock_to_release(release)``, if they are there, return the number of
    the lock that the call takes, or None. The rest is as for `page_placement`.
    """

    def add(described: Described, policy: Policy) -> None:
        missing = [one for one in ("prepare", "allocate", "release") if not callable(getattr(policy, one, None))]
        if not inspect.isclass(policy) or missing:
            found = "no class" if not inspect.isclass(policy) else f"a class without {', '.join(missing)}"
            raise UsageError(f"heap '{name}' is {found}; allowed: a class with methods prepare, allocate and release")
        _core.add_heap(described, partial(policy_adapters.ManagedHeap, policy))

    return Registration("heap", name, examples, deviations, add)


def policies(kind: str | None = None) -> list[dict[str, Any]]:
    """Every policy with its parameters, units and defaults; of one kind if asked. Those of installed packages are there, too.

    `examples` are texts with settings; `deviations` what it does not keep of its kind's contract, and why.
    """
    if kind is not None and text("kind", kind, ", ".join(KINDS)) not in KINDS:
        raise UsageError(_core.unknown_name("kind of policy", kind, list(KINDS)))
    look_further()
    return [policy for policy in _core.policies() if kind is None or policy["kind"] == kind]
