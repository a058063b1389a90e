"""Arguments that make no sense are one UsageError each, before anything runs, which names the argument and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import homenode as hn

MACHINE = "xeon-x5550-2s"


def refused(call: Callable[[], Any], *said: str) -> None:
    with pytest.raises(hn.errors.UsageError) as raised:
        call()
    for text in (*said, "allowed: "):
        assert text in str(raised.value)


@pytest.mark.parametrize("found", ["two", 0, -1, True, 1.5])
def test_a_number_of_workers_is_a_whole_one(trace: hn.Trace, found: Any) -> None:
    runs = hn.grid(MACHINE, 2)
    for call in (
        lambda: hn.replay_grid(trace, runs, workers=found),
        lambda: hn.rank(trace, runs, samples=2, workers=found),
        lambda: hn.suggest_mapping(trace, MACHINE, threads=2, workers=found),
    ):
        refused(call, f"argument 'workers' is {found!r}; allowed: a whole number, at least 1")


@pytest.mark.parametrize("found", ["x", True, 1, 2.5])
def test_a_number_of_samples_is_a_whole_one(trace: hn.Trace, found: Any) -> None:
    said = f"is {found!r}; allowed: a whole number, at least 2"
    refused(lambda: hn.replay(trace, MACHINE, threads=2, confidence=found), f"argument 'confidence' {said}")
    for call in (
        lambda: hn.rank(trace, hn.grid(MACHINE, 2), samples=found),
        lambda: hn.advise(trace, MACHINE, threads=2, samples=found),
        lambda: hn.program_changes(trace, MACHINE, threads=2, samples=found),
    ):
        refused(call, f"argument 'samples' {said}")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda trace: hn.Trace.open(3), "a trace is int"),
        (lambda trace: hn.Machine.load(3), "a machine is int"),
        (lambda trace: hn.Machine("xeon-x5550-2s"), "allowed: Machine.load"),  # type: ignore[arg-type]
        (lambda trace: hn.Machine.from_toml(3), "argument 'text' is int"),
        (lambda trace: hn.System.load(3), "System.load is int"),
        (lambda trace: hn.EnergyModel.load(3), "EnergyModel.load is int"),
        (lambda trace: hn.Machine.load(MACHINE).loaded_latency("x"), "argument 'node' is 'x'"),
        (lambda trace: hn.Machine.load(MACHINE).latency_map("x"), "argument 'first' is 'x'"),
        (lambda trace: trace.thread_graph("x"), "argument 'team' is 'x'"),
        (lambda trace: hn.suggest_mapping(trace, MACHINE, threads="x"), "argument 'threads' is 'x'"),
        (lambda trace: hn.replay(trace, MACHINE, threads=2, timeline=3), "argument 'timeline' is int"),
        (lambda trace: hn.replay(trace, MACHINE, threads=2, follow="x"), "argument 'follow' is str"),
        (lambda trace: hn.page_placement(3), "argument 'name' is int"),
        (lambda trace: hn.policies(3), "argument 'kind' is int"),
        (lambda trace: hn.grid(MACHINE, True), "option 'threads' is bool"),
        (lambda trace: hn.replay(trace, MACHINE, threads=True), "option 'threads' is bool"),
        (lambda trace: hn.grid(MACHINE, []), "argument 'threads' is empty"),
        (lambda trace: hn.grid([], 2), "argument 'machines' is empty"),
        (lambda trace: hn.replay_grid(trace, []), "argument 'specs' is empty"),
        (lambda trace: hn.replay(trace, MACHINE), "option 'threads' is missing"),
    ],
)
def test_a_wrong_argument_is_named(trace: hn.Trace, call: Callable[[hn.Trace], Any], said: str) -> None:
    refused(lambda: call(trace), said)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hn.capture(command="./program"), "argument 'command' is './program'; allowed: a list of words"),
        (lambda: hn.capture(command=3), "argument 'command' is int"),
        (lambda: hn.capture(3), "argument 'kernel_name' is int"),
        (lambda: hn.capture("stream", threads="x"), "argument 'threads' is 'x'"),
        (lambda: hn.capture("stream", timeout="x"), "argument 'timeout' is str"),
        (lambda: hn.capture("stream", alias_over="x"), "argument 'alias_over' is 'x'"),
        (lambda: hn.capture("stream", label=3), "argument 'label' is int"),
        (lambda: hn.capture("stream", output=3), "argument 'output' is int"),
    ],
)
def test_a_wrong_argument_of_a_capture_is_named(call: Callable[[], Any], said: str) -> None:
    refused(call, said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"placement": ["first-touch", "frist-touch"]}, "did you mean 'first-touch'?"),
        ({"mapping": ["compact", "cmpact"]}, "did you mean 'compact'?"),
        ({"distribution": ["static", "sttic"]}, "did you mean 'static'?"),
        ({"heap": ["plain", "plan"]}, "did you mean 'plain'?"),
        ({"system": "linux-6"}, "unknown system 'linux-6'"),
        ({"energy": "defualt"}, "unknown energy description 'defualt'"),
        ({"pages": "3KiB"}, "unknown page size '3KiB'"),
    ],
)
def test_a_misspelt_name_is_found_when_the_grid_is_made(options: dict[str, Any], said: str) -> None:
    refused(lambda: hn.grid(MACHINE, 2, **options), said)


def test_a_grid_takes_placements_of_python() -> None:
    @hn.page_placement("of-the-toucher")
    def place(faults: hn.PageFaults) -> Any:
        return faults.node

    assert len(hn.grid(MACHINE, 2, placement=["of-the-toucher", "of-the-toucher+autonuma"])) == 2
    refused(lambda: hn.grid(MACHINE, 2, placement="of-the-toucher+autonoma"), "did you mean 'autonuma'?")


@pytest.mark.parametrize("options", [{"placement": ["first-touch", "bind:9"]}, {"mapping": ["compact", "cores:0:99"]}])
def test_what_a_machine_does_not_have_is_refused_before_the_first_run(trace: hn.Trace, options: dict[str, Any]) -> None:
    ended: list[int] = []
    with pytest.raises(hn.errors.UsageError, match=MACHINE):
        hn.replay_grid(trace, hn.grid(MACHINE, 2, **options), workers=1, advance=ended.append)
    assert ended == []
