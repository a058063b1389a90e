"""The types of a run's options say what the table of options says, and a type checker refuses what a run would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import homenode as hn
from homenode import run_types
from homenode.run_spec import AXES, CLOSED_FORM, FIELDS, NAMES, command


def test_the_types_have_the_options_of_the_table() -> None:
    assert set(get_type_hints(run_types.Options)) == set(NAMES)
    assert set(get_type_hints(run_types.RunOptions)) == set(NAMES)
    assert set(get_type_hints(run_types.GridOptions)) == set(NAMES) - {"threads"}
    assert set(get_type_hints(run_types.EstimateOptions)) == set(CLOSED_FORM)
    assert set(get_type_hints(run_types.AdviceOptions)) == set(CLOSED_FORM) - {"distribution"}
    assert run_types.RunOptions.__required_keys__ == {field.name for field in FIELDS if field.required}
    hints = get_type_hints(run_types.Options)
    for field in FIELDS:
        if field.names:
            assert set(get_args(hints[field.name])) == set(field.names)
        else:
            assert isinstance(field.default, hints[field.name])
    varied = {name for name, hint in get_type_hints(run_types.GridOptions).items() if "Iterable" in str(hint)}
    assert varied | {"threads"} == set(AXES)


PROGRAM = """import homenode as hn
hn.replay("x.hnt", "xeon-x5550-2s", threads=8, engine="line", placement="interleave")
hn.grid(["xeon-x5550-2s"], [4, 8], placement=["interleave"])
hn.replay("x.hnt", "xeon-x5550-2s", threads=8, engine="lines")
hn.replay("x.hnt", "xeon-x5550-2s", threads="8")
hn.replay("x.hnt", "xeon-x5550-2s")
hn.grid("xeon-x5550-2s", 4, pages="3KiB")
hn.advise("x.hnt", "xeon-x5550-2s", threads=8, engine="line")
"""


def test_a_type_checker_refuses_what_a_run_would(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(PROGRAM, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--config-file", "/dev/null", "--strict", "user.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == {"4", "5", "6", "7", "8"}, done.stdout


MACHINE = "xeon-x5550-2s"


def test_a_grid_takes_names_and_paths_one_or_many(trace: hn.Trace, tmp_path: Path) -> None:
    machine = hn.Machine.load(MACHINE)
    (tmp_path / "own.toml").write_text(machine.to_toml(), encoding="utf-8")
    whole = hn.grid([machine], [4], placement=["interleave"])
    assert hn.grid(MACHINE, [4], placement="interleave") == whole
    assert hn.grid(machine, 4, placement=("interleave",)) == whole
    assert hn.grid([MACHINE], range(4, 5), placement="interleave") == whole
    assert len(hn.grid([MACHINE, tmp_path / "own.toml"], [2, 4])) == 4
    results = hn.replay_grid(trace.path, whole)
    assert [result.seconds for result in hn.replay_grid(str(trace.path), whole[0])] == [results[0].seconds]
    ranked = hn.rank(trace.path, whole[0], samples=2)
    assert ranked.results[0].seconds == results[0].seconds


@pytest.mark.parametrize(
    "options",
    [
        {"threads": "4"},
        {"threads": 4.0},
        {"threads": None},
        {"threads": 4, "placement": 5},
        {"threads": 4, "distribution": {"sweep": "static"}},
        {"threads": 4, "distribution": None},
    ],
)
def test_wrong_types_are_one_usage_error(trace: hn.Trace, options: dict[str, Any]) -> None:
    with pytest.raises(hn.errors.UsageError, match="allowed: "):
        hn.replay(trace, MACHINE, **options)
    with pytest.raises(hn.errors.UsageError, match="allowed: "):
        hn.grid(MACHINE, **options)


def test_what_is_no_trace_machine_or_run_is_refused(trace: hn.Trace) -> None:
    with pytest.raises(hn.errors.UsageError, match="a trace is int; allowed: "):
        hn.replay(5, MACHINE, threads=2)  # type: ignore[arg-type]
    with pytest.raises(hn.errors.UsageError, match="a machine is int; allowed: "):
        hn.replay(trace, 5, threads=2)  # type: ignore[arg-type]
    with pytest.raises(hn.errors.UsageError, match="a run is str; allowed: "):
        hn.replay_grid(trace, MACHINE)  # type: ignore[arg-type]
    with pytest.raises(hn.errors.UsageError, match="a run is str; allowed: "):
        hn.rank(trace, [MACHINE])  # type: ignore[list-item]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("engine", ["flow", "line"])
def test_an_interrupt_in_a_placement_stays_what_it_is(trace: hn.Trace, kind: type[BaseException], engine: Any) -> None:
    @hn.page_placement("interrupted")
    def place(faults: hn.PageFaults) -> Any:
        raise kind(3)

    with pytest.raises(kind) as raised:
        hn.replay(trace, MACHINE, threads=2, placement="interrupted", engine=engine)
    assert raised.value.args == (3,)


def test_a_grid_of_changed_machines_prints_a_command_with_each_value() -> None:
    machine = hn.Machine.load(MACHINE)
    changed = [machine.with_changes(link_bandwidth=text) for text in ("10 GB/s", "25 GB/s")]
    said = command("x.hnt", hn.grid(changed, 8))
    assert said.count("--change 'link_bandwidth=") == 2
    assert said.count("--machine") == 1
