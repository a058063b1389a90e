"""A last level with random victims keeps part of what a program runs through again and again."""

from __future__ import annotations

from typing import Any

import pytest

import homenode as hn

MACHINE = "xeon-x5550-2s"


def runs(trace: hn.Trace, victim: str, **options: Any) -> hn.Result:
    """Replay on one thread with that victim in the last level."""
    machine = hn.Machine.load(MACHINE).with_changes({"caches.3.victim": victim})
    return hn.replay(trace, machine, threads=1, **options)


@pytest.fixture(scope="module")
def trace() -> hn.Trace:
    """Three vectors of 4.8 MB, 1.7 times the 8 MiB of the last level, six times over."""
    return hn.capture("stream", n=600_000, repeats=6)


@pytest.mark.parametrize("options", [{}, {"caches": "lines"}, {"engine": "line"}])
def test_a_sweep_larger_than_the_level_hits_in_part(trace: hn.Trace, options: dict[str, str]) -> None:
    """LRU has next to none of it, random victims a part: fewer lines from memory, and less time."""
    oldest, random = (runs(trace, victim, stores="regular", **options) for victim in ("oldest", "random"))
    assert 0.3 < random.run["memory_lines"] / oldest.run["memory_lines"] < 0.9
    assert random.seconds < oldest.seconds


def test_silence_means_the_oldest() -> None:
    """What a description does not say does not change its hash."""
    machine = hn.Machine.load(MACHINE)
    assert machine.with_changes({"caches.3.victim": "oldest"}).hash == machine.hash
    assert machine.with_changes({"caches.3.victim": "random"}).hash != machine.hash


def test_an_unknown_victim_is_refused() -> None:
    """The message names what is allowed."""
    with pytest.raises(hn.errors.UsageError, match="'newest' is unknown; allowed: oldest, random"):
        hn.Machine.load(MACHINE).with_changes({"caches.3.victim": "newest"})
