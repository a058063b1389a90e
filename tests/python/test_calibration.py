"""`homenode machine calibrate`: what it says when the host was not idle, from given findings (never from the clock)."""

from __future__ import annotations

from homenode.cli.machine import disturbance_warning


def test_an_idle_host_gets_no_warning() -> None:
    assert disturbance_warning([]) == []


def test_each_disturbed_measurement_is_named_once() -> None:
    reason = "other work took its processors away 41 times in 2 s"
    lines = disturbance_warning([{"step": "clock", "reason": reason}, {"step": "clock", "reason": reason}])
    assert lines[0].startswith("warning: this host was not idle") and "confidence C" in lines[0]
    assert [line for line in lines if "clock" in line] == [f"  clock: {reason}"]
