"""`homenode machine calibrate`: what it says when the host was not idle, from given findings (never from the clock)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.native.calibrations import compared, page

import homenode as hn
from homenode import errors
from homenode.cli.machine import disturbance_warning, sharing_warning, unsettled_warning
from support import Ended

Run = Callable[..., Ended]


def test_an_idle_host_gets_no_warning() -> None:
    assert disturbance_warning([], 40) == []


def test_disturbed_figures_are_one_summary(caplog: pytest.LogCaptureFixture) -> None:
    reason = "other work took its processors away 41 times in 2 s"
    names = ["clock", "latency/8192", "latency/16384", "clock"]
    found = [{"step": name, "reason": reason} for name in names]
    # three figures, each once, whatever their number: three lines
    assert disturbance_warning(found, 40) == [
        "warning: this host was not idle. 3 of 40 figures were disturbed, and have confidence C with the reason in their source.",
        f"Disturbed: latency (2), clock; clock, for one, because {reason}.",
        "Calibrate again when nothing else runs. -v lists them.",
    ]
    with caplog.at_level(logging.INFO, logger="homenode"):
        lines = disturbance_warning(found, 40)
    assert lines[-1] == "Calibrate again when nothing else runs."
    assert caplog.messages == [f"{name}: {reason}" for name in names[:3]]


def test_what_did_not_settle_is_said_apart_from_what_was_disturbed(caplog: pytest.LogCaptureFixture) -> None:
    assert unsettled_warning([]) == []
    reason = "it is known to 7 % after 15 passes"
    lines = unsettled_warning([{"step": "latency/8192", "reason": reason}])
    assert lines == ["1 figure did not settle: confidence C, with the reason in the source. -v lists them."]
    with caplog.at_level(logging.INFO, logger="homenode"):
        lines = unsettled_warning([{"step": "latency/8192", "reason": reason}])
    assert lines == ["1 figure did not settle: confidence C, with the reason in the source."]
    assert caplog.messages == [f"latency/8192: {reason}"]


def test_cpus_that_share_a_core_are_said() -> None:
    assert sharing_warning([]) == []
    assert sharing_warning([1, 3])[0].startswith("CPU 1, 3: shares a core")


def calibration(**values: str) -> list[dict[str, Any]]:
    """A machine's parameters: these numbers, each 10 % up and down, and one without an interval."""
    bounds = {
        name.replace("__", "."): (text, f"{float(text.split()[0]) * 0.9} ns", f"{float(text.split()[0]) * 1.1} ns")
        for name, text in values.items()
    }
    source = "measured on this host by homenode calibrate"
    return [
        {"path": path, "value": value, "low": low, "high": high, "confidence": "A", "source": source}
        for path, (value, low, high) in bounds.items()
    ] + [{"path": "sockets", "value": "1", "low": None, "high": None, "confidence": "A", "source": "hwloc"}]


def test_two_calibrations_are_compared_number_by_number() -> None:
    first = calibration(nodes__latency="100 ns", caches__1__latency="1 ns")
    second = calibration(nodes__latency="108 ns", caches__1__latency="1.2 ns")
    rows = compared(first, second)
    assert [(row.path, row.inside) for row in rows] == [("nodes.latency", True), ("caches.1.latency", False)]
    text = page(rows)
    assert "1 of 2 numbers" in text
    assert "| `caches.1.latency` | 1 ns | 0.9 ns … 1.1 ns | A | 1.2 ns | no |" in text


MEASURED = "measured on this host by homenode calibrate"


@pytest.fixture
def described(tmp_path: Path) -> Callable[[str], Path]:
    """A description whose clock has this source."""

    def of(source: str) -> Path:
        file = tmp_path / "host.toml"
        text = (Path(__file__).parents[2] / "models" / "machines" / "xeon-x5550-2s.toml").read_text()
        lines = [
            f'clock = {{ value = "2.66 GHz", source = "{source}" }}' if line.startswith("clock =") else line
            for line in text.splitlines()
        ]
        file.write_text("\n".join(lines))
        return file

    return of


def test_whoever_uses_a_disturbed_description_is_warned(described: Callable[[str], Path]) -> None:
    reason = "the hypervisor took 0.2 s of 1 s"
    file = described(f"{MEASURED} while {reason}; unsettled: it is known to 7 % after 15 passes")
    with pytest.warns(errors.DisturbedMachine) as said:
        hn.Machine.load(file)
    assert [str(one.message) for one in said] == [
        f"{file}: 1 of 1 measured numbers may be off, for other work ran when they were measured: clock, for one, while {reason}. "
        "Calibrate again when nothing else runs"
    ]


@pytest.mark.parametrize(
    "source", [MEASURED, f"{MEASURED}; unsettled: it is known to 7 % after 15 passes", "a data sheet"]
)
def test_a_description_that_nothing_disturbed_warns_of_nothing(described: Callable[[str], Path], source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hn.Machine.load(described(source))


def test_a_command_says_once_that_its_machine_was_disturbed(homenode: Run, described: Callable[[str], Path]) -> None:
    ended = homenode("machines", described(f"{MEASURED} while other work used processors for 3 s of 4 s"))
    assert ended.status == 0
    assert ended.stderr.count("homenode: warning:") == 1
    assert "other work used processors for 3 s of 4 s" in ended.stderr
