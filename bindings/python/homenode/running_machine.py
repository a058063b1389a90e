"""The machine of the run that goes on in a thread: what a policy in Python is told as its machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from homenode.machine import Machine

if TYPE_CHECKING:
    from homenode import _core

_here = threading.local()


@contextmanager
def running_on(machine: Machine) -> Iterator[None]:
    """While the extension runs in this thread."""
    before = getattr(_here, "machine", None)
    _here.machine = machine
    try:
        yield
    finally:
        _here.machine = before


def machine_of(core: _core.Machine) -> Machine:
    """The machine that the extension tells of: with its sources and what was changed, if it is the one of the run."""
    machine: Machine | None = getattr(_here, "machine", None)
    if machine is not None and (machine.name, machine.hash) == (core.name, core.hash):
        return machine
    return Machine(core)
