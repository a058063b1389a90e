"""Advice for a program that creates its threads itself: no chunks to weigh, but pages and threads can be put elsewhere."""

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

REASON = "the program creates its threads itself, and no schedule hands out their work"


@dataclass(frozen=True)
class CreatedThreadsAdvice:
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
    reason: str = REASON

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
    samples: int,
    workers: int | None,
    advance: Callable[[int], None],
    **options: Any,
) -> CreatedThreadsAdvice:
    """Try what does not need loops; more threads at once than the machine has cores share them."""
    at_once = trace.own_threads[1] if trace.own_threads else options["threads"]
    options = {**options, "oversubscribe": at_once > machine.cores}
    spec = asked(machine, options)
    spec.check(trace)
    seconds = replay_one(trace, spec).seconds
    changes = program_changes(trace, machine, samples=samples, workers=workers, advance=advance, **options)
    return CreatedThreadsAdvice(
        spec.keys(), seconds, changes, samples, where_it_stands(trace, machine, spec.threads), trace.unseen
    )
