"""A run's options: the command line, hn.replay, the report, the caches' key and the printed command all have them from one table."""

from __future__ import annotations

import ast
import dataclasses
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import _core
from homenode.run_spec import command, option_of

FIELDS = _core.run_fields()
MACHINE = "xeon-x5550-2s"
# Another value of each option where the second of its names would not do.
ANOTHER = {
    "placement": "interleave",
    "mapping": "scatter",
    "distribution": "dynamic:4",
    "heap": "glibc",
    "system": "linux-6.1",
    "energy": "default",
    "engine": "line",
    "caches": "lines",
    "core_factors": "0@2",
}


def another(field: _core.RunField) -> Any:
    if isinstance(field.default, bool):
        return not field.default
    if isinstance(field.default, int):
        return field.default + 1
    return ANOTHER[field.name] if field.name in ANOTHER else next(name for name in field.names if name != field.default)


@pytest.fixture(scope="module")
def everything() -> hn.RunSpec:
    """A run with another value for each option."""
    return hn.RunSpec(MACHINE, **{field.name: another(field) for field in FIELDS})


def test_the_command_line_has_every_option(homenode: Callable[..., Any]) -> None:
    text = homenode("replay", "--help").stdout
    for field in FIELDS:
        assert f"{option_of(field)} " in text


def test_a_replay_takes_every_option_and_its_report_names_those_that_the_table_says(
    trace: hn.Trace, everything: hn.RunSpec
) -> None:
    run = hn.replay(trace, MACHINE, **everything.options()).run
    reported = sorted((field for field in FIELDS if field.report), key=lambda field: field.report)
    keys = ["machine", "machine_hash", "machine_changes", *(field.name for field in reported)]
    assert list(run)[: len(keys)] == keys
    assert {field.name: run[field.name] for field in reported} == {
        field.name: getattr(everything, field.name) for field in reported
    }
    for field in FIELDS:
        assert f"    {field.name}: {field.meaning}" in (hn.replay.__doc__ or "")


def test_the_printed_command_repeats_the_run(
    homenode: Callable[..., Any], trace: hn.Trace, everything: hn.RunSpec
) -> None:
    words = shlex.split(everything.command(trace))
    assert words[:2] == ["homenode", "replay"]
    ended = homenode(*words[1:], "--json")
    assert json.loads(ended.stdout)["runs"] == [hn.replay(trace, MACHINE, **everything.options()).run]


def test_a_grid_is_printed_as_one_command() -> None:
    machine = hn.Machine.load(MACHINE).with_changes(link_bandwidth="25 GB/s")
    specs = hn.grid([machine], [2, 4], placement=["first-touch", "interleave"], seed=3)
    assert [(spec.threads, spec.placement, spec.seed) for spec in specs] == [
        (2, "first-touch", 3),
        (2, "interleave", 3),
        (4, "first-touch", 3),
        (4, "interleave", 3),
    ]
    assert command("F.hnt", specs) == (
        f"homenode replay F.hnt --machine {MACHINE} --change 'link_bandwidth=25 GB/s' "
        "--threads 2 --threads 4 --placement first-touch --placement interleave --seed 3"
    )


@pytest.mark.parametrize("name", [field.name for field in FIELDS])
def test_runs_share_what_caches_did_if_no_option_that_caches_see_differs(name: str) -> None:
    field = next(field for field in FIELDS if field.name == name)
    run, other = _core.RunSpec(), _core.RunSpec(**{name: another(field)})
    differ = run != other and field.caches_see
    assert (_core.what_caches_see(run, by_lines=True) != _core.what_caches_see(other, by_lines=True)) == differ


def test_seeds_matter_to_caches_by_lines_alone() -> None:
    run, other = _core.RunSpec(), _core.RunSpec(seed=1)
    assert _core.what_caches_see(run) == _core.what_caches_see(other)
    assert hn.RunSpec(MACHINE).what_caches_see() != hn.RunSpec("xeon-x7560-4s").what_caches_see()


@pytest.mark.parametrize(
    ("call", "allowed"),
    [(hn.replay, "placement"), (hn.advise, "placement"), (hn.program_changes, "placement"), (hn.estimate, "placement")],
)
def test_an_unknown_option_is_refused_with_those_that_are_allowed(
    trace: hn.Trace, call: Callable[..., Any], allowed: str
) -> None:
    with pytest.raises(TypeError, match=f"unknown option 'placment'; allowed: {allowed}, .*pages"):
        call(trace, MACHINE, threads=2, placment="interleave")
    with pytest.raises(hn.errors.UsageError, match="option 'threads' is missing; allowed: threads=N"):
        call(trace, MACHINE)
    with pytest.raises(TypeError, match="unknown option of a run 'placment'; allowed: placement"):
        hn.grid([hn.Machine.load(MACHINE)], [2], placment="interleave")


def test_an_estimate_takes_only_what_the_closed_form_depends_on(trace: hn.Trace) -> None:
    with pytest.raises(TypeError, match="unknown option 'heap'"):
        hn.estimate(trace, MACHINE, threads=2, heap="glibc")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threads": 0}, "0 threads; allowed: at least 1"),
        ({"threads": -1}, "-1 threads; allowed: at least 1"),
        ({"threads": 9}, "9 threads on the 8 cores of 'xeon-x5550-2s'; allowed: 1 to 8, or more with --oversubscribe"),
        ({"threads": 1, "seed": -1}, r"seed -1; allowed: 0 to 2\^64-1"),
        ({"threads": 1, "seed": 2**64}, f"seed {2**64}; allowed: 0 to"),
        ({"threads": 1, "engine": "flows"}, "unknown engine 'flows'; allowed: flow"),
        ({"threads": 1, "stores": "non-temporal"}, "unknown treatment of stores 'non-temporal'; allowed: nt"),
        ({"threads": 1, "caches": "line"}, "unknown cache model 'line'; allowed: lines"),
        ({"threads": 1, "caches": "lines:sample=3"}, "cache model 'lines': sample=3; allowed: 1, 2, 4, 8, 16, 32"),
        ({"threads": 1, "caches": "lines:sample=64"}, "sample = '64' is not an integer of at least 1 and at most 32"),
        ({"threads": 1, "caches": "runs:sample=8"}, "cache model 'runs'"),
        (
            {"threads": 1, "engine": "line", "caches": "lines:sample=8"},
            "engine 'line' follows every line; found caches",
        ),
        ({"threads": 1, "placement": "firsttouch"}, "unknown placement 'firsttouch'; allowed: first-touch"),
        ({"threads": 1, "distribution": "nowhere@static"}, "unknown region label 'nowhere'; allowed: "),
        ({"threads": 1, "pages": "1GiB"}, "unknown page size '1GiB'; allowed: "),
        ({"threads": 1, "system": "linux-0.01"}, "'linux-0.01'"),
        ({"threads": 1, "energy": "none"}, "'none'"),
    ],
)
def test_a_bad_value_is_refused(trace: hn.Trace, options: dict[str, Any], said: str) -> None:
    with pytest.raises(hn.errors.Error, match=said):
        hn.replay(trace, MACHINE, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"threads": "8"},
        {"threads": 8.0},
        {"threads": None},
        {"placement": 3},
        {"distribution": {"sweep": "static"}},
        {"oversubscribe": 1},
    ],
)
def test_a_value_of_another_type_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(hn.errors.UsageError, match=r"option '.*' is .*; allowed: "):
        hn.RunSpec(**options)


def test_runs_are_compared_by_what_they_ask() -> None:
    one, same = (hn.RunSpec(MACHINE, threads=8, placement="interleave") for _ in range(2))
    assert one == same and len({one, same}) == 1
    assert one != one.with_(threads=4) and one == one.with_(threads=4).with_(threads=8)
    assert one != one.with_(machine="xeon-x7560-4s")
    assert one != one.with_(machine=one.machine.with_changes(link_bandwidth="25 GB/s"))
    assert repr(hn.RunSpec(heap="glibc")) == "RunSpec(None, heap='glibc')"


def test_a_run_does_not_change() -> None:
    run = hn.RunSpec(MACHINE, threads=8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.threads = 4
    with pytest.raises(AttributeError, match="a run has no 'placment'"):
        _ = run.placment


def test_the_machine_may_be_left_open_until_it_runs(trace: hn.Trace) -> None:
    policies = hn.RunSpec(placement="interleave", threads=2)
    with pytest.raises(hn.errors.UsageError, match="a run without a machine"):
        hn.replay_grid(trace, [policies])
    found = hn.replay_grid(trace, [policies.with_(machine=name) for name in (MACHINE, "xeon-x7560-4s")])
    assert [result.run["machine"] for result in found] == [MACHINE, "xeon-x7560-4s"]


def _imports(file: Path) -> set[str]:
    """Modules of the package that a module names in any import, at its top, in a function or for types alone."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("homenode"):
            module = str(node.module)
            found |= {f"{module}.{alias.name}" for alias in node.names} | {module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("homenode")}
    return found - {"homenode"}


def test_no_module_of_the_package_imports_itself_by_way_of_others() -> None:
    folder = Path(str(hn.__file__)).parent
    modules = {
        ".".join(("homenode", *file.relative_to(folder).with_suffix("").parts)): _imports(file)
        for file in folder.rglob("*.py")
        if file.name != "__init__.py"
    }
    left = {name: named & modules.keys() for name, named in modules.items()}
    while leaves := {name for name, named in left.items() if not named}:
        left = {name: named - leaves for name, named in left.items() if name not in leaves}
    assert not left, f"circles among: {sorted(left)}"
