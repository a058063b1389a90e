"""Advice for a program without chunks to weigh: it creates its threads itself, or shares out tasks. Pages and threads can be elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from homenode import _core
from homenode.advising import SCHEMA, where_it_stands
from homenode.confidence import LEVEL
from homenode.machine import Machine
from homenode.program_changes import Change, program_changes
from homenode.replaying import replay_one
from homenode.run_spec import asked
from homenode.trace import Trace


@dataclass(frozen=True)
class AdviceWithoutChunks:
    """What there is to say."""

    choice: dict[str, Any]
    """What was asked for, in a report's keys."""
    seconds: float
    """Of the program as it is."""
    changes: list[Change]
    """That gain, each tried alone: pages by allocation, pages of the whole program, threads."""
    samples: int
    here: dict[str, float]
    unseen: dict[str, Any]
    reason: str
    """Why there are no chunks."""

    def to_dict(self) -> dict[str, Any]:
        """The keys of `Advice.to_dict`, with nothing to gain from weights, and `changes`."""
        return {
            "schema": SCHEMA,
            "homenode_version": _core.version,
            **dict.fromkeys(("gain", "gain_low", "gain_high", "gain_bound"), 1.0),
            "pays_off": False,
            "reason": self.reason,
            "break_even": dict.fromkeys(self.here),
            "weights": [],
            "here": self.here,
            "region": None,
            "boundaries": None,
            "best_plain": "static",
            "plain_seconds": {"static": self.seconds},
            "plain_distributions": {"static": "static"},
            "weighted_seconds": self.seconds,
            "level": LEVEL,
            "samples": self.samples,
            "snippet": "",
            **self.choice,
            "engine": "flow",
            "unseen": self.unseen,
            "changes": [change.to_dict() for change in self.changes],
        }


def advise(
    trace: Trace,
    machine: Machine,
    *,
    reason: str,
    samples: int,
    workers: int | None,
    advance: Callable[[int], None],
    **options: Any,
) -> AdviceWithoutChunks:
    """Try what needs no weights; more threads of the program's own at once than the machine has cores share them."""
    if trace.own_threads:
        options = {**options, "oversubscribe": trace.own_threads[1] > machine.cores}
    spec = asked(machine, options)
    spec.check(trace)
    seconds = replay_one(trace, spec).seconds
    changes = program_changes(trace, machine, samples=samples, workers=workers, advance=advance, **options)
    return AdviceWithoutChunks(
        spec.keys(), seconds, changes, samples, where_it_stands(trace, machine, spec.threads), trace.unseen, reason
    )
