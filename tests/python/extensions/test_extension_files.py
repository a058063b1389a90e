"""Extensions from files and installed packages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import homenode as hn
from extension_support import MACHINE, ON_X5550, Run
from homenode import errors
from homenode.run_spec import command

MINE = """
import homenode as hn

@hn.page_placement("mine")
def place(faults):
    \"\"\"All on the last node.\"\"\"
    return [faults.machine.nodes - 1] * len(faults)

@hn.thread_mapping("mine")
def assign(threads):
    return threads.machine.cores - 1 - threads.numbers % threads.machine.cores

@hn.page_placement("failing")
def fail(faults):
    return nothing_of_this_name
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "TRACE", *ON_X5550, "--placement", "mine", "--mapping", "mine", "--extension", "mine.py"),
        ("replay", "TRACE", *ON_X5550, "--python", "mine.py", "--placement", "mine"),
        ("replay", "TRACE", *ON_X5550, "--placement", "mine", "--engine", "simgrid", "--extension", "mine.py"),
        ("map", "TRACE", *ON_X5550, "--mapping", "mine", "--extension", "mine.py"),
        ("advise", "TRACE", *ON_X5550, "--placement", "mine", "--samples", "2", "--extension", "mine.py"),
        ("policies", "mine", "--extension", "mine.py"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_commands_take_policies_of_a_file(homenode: Run, mine: Path, trace_file: Path, words: tuple[str, ...]) -> None:
    ended = homenode(*(str(trace_file) if word == "TRACE" else word for word in words))
    assert ended.status == 0, ended.stderr
    assert words[0] == "advise" or "mine" in ended.stdout
    unknown = homenode(
        *(
            str(trace_file) if word == "TRACE" else word
            for word in words
            if "mine.py" not in word and word not in ("--extension", "--python")
        )
    )
    assert unknown.status == 2
    assert "'mine'" in unknown.stderr


def test_only_the_new_option_is_shown(homenode: Run) -> None:
    for name in ("replay", "map", "advise", "policies"):
        shown = homenode(name, "--help").stdout
        assert "--extension F" in shown
        assert "--python" not in shown


@pytest.mark.parametrize("engine", ["flow", "simgrid"])
def test_an_error_is_the_users_own_traceback(homenode: Run, mine: Path, trace_file: Path, engine: str) -> None:
    ended = homenode("replay", trace_file, *ON_X5550, "--extension", mine, "--placement", "failing", "--engine", engine)
    assert ended.status == 2
    assert ended.stderr.startswith("homenode: placement 'failing' raised NameError")
    assert "    return nothing_of_this_name\n" in ended.stderr
    assert ended.stderr.rstrip().splitlines()[-1].startswith("NameError: ")


def test_an_error_of_the_file_is_the_users_own_traceback(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    (tmp_path / "wrong.py").write_text("import homenode as hn\n\nhn.page_placement('mine')(1 / 0)\n")
    ended = homenode("policies", "--extension", "wrong.py")
    assert ended.status == 2
    first, *lines = ended.stderr.splitlines()
    assert first == "homenode: 'wrong.py' ended with ZeroDivisionError: division by zero"
    assert [line for line in lines if line.startswith("  File ")] == ['  File "wrong.py", line 3, in <module>']


def test_what_is_no_extension_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "words.py").write_text("these are words")
    for extension, error, message in (
        (tmp_path / "missing.py", errors.UsageError, "no Python file"),
        (tmp_path / "missing.so", errors.UsageError, "no library"),
        (tmp_path / "text.so", errors.InputError, "cannot be loaded"),
        (tmp_path / "words.py", errors.UsageError, "is no Python file"),
        (3, errors.UsageError, "an extension is int; allowed: "),
    ):
        with pytest.raises(error, match=message):
            hn.load_extension(extension)  # type: ignore[arg-type]


def test_a_printed_command_names_the_files(mine: Path) -> None:
    hn.load_extension(mine)
    words = command("x.hnt", [hn.RunSpec(MACHINE, threads=2, placement="mine")])
    assert f"--extension {mine}" in words
    assert "--extension" not in command("x.hnt", [hn.RunSpec(MACHINE, threads=2)])


def test_only_what_others_can_load_goes_to_another_process(trace: hn.Trace, mine: Path) -> None:
    hn.load_extension(mine)
    hn.page_placement("of-this-test")(lambda faults: faults.node)
    spec = hn.RunSpec(MACHINE, threads=2, engine="simgrid")
    assert not spec.needs_this_process()
    assert not spec.with_(placement="mine").needs_this_process()
    assert spec.with_(placement="of-this-test+autonuma").needs_this_process()
    same = [
        hn.replay(trace, MACHINE, threads=2, engine="simgrid", placement=one).seconds
        for one in ("of-this-test", "first-touch")
    ]
    assert same[0] == same[1]
    flow, simgrid = (
        hn.replay(trace, MACHINE, threads=2, engine=one, placement="mine").run for one in ("flow", "simgrid")
    )
    assert flow["pages_by_node"] == simgrid["pages_by_node"]


# ---- installed packages


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a package that names a module of policies."""
    site = tmp_path / "site"
    information = site / "their_policies-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: their-policies\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[homenode.policies]\ntheirs = their_policies\n")
    (site / "their_policies.py").write_text(MINE.replace('"mine"', '"theirs"'))
    monkeypatch.setenv("PYTHONPATH", str(site))
    yield site


def test_policies_of_installed_packages_are_known_by_name(homenode: Run, installed: Path, trace_file: Path) -> None:
    assert "theirs" in homenode("policies", "placement").stdout
    for engine in ("flow", "simgrid"):
        ended = homenode(
            "replay", trace_file, *ON_X5550, "--placement", "theirs", "--mapping", "theirs", "--engine", engine
        )
        assert ended.status == 0, ended.stderr
    assert "--placement 'theirs'" not in homenode("replay", trace_file, *ON_X5550, "--placement", "thers").stderr


def test_packages_are_loaded_for_an_unknown_name_alone(installed: Path) -> None:
    code = (
        "import sys, homenode as hn\n"
        "hn.grid('xeon-x5550-2s', 2, placement='interleave', mapping='scatter')\n"
        "assert 'their_policies' not in sys.modules\n"
        "hn.grid('xeon-x5550-2s', 2, placement='theirs')\n"
        "assert 'their_policies' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_package_that_fails_is_named(homenode: Run, installed: Path, trace_file: Path) -> None:
    (installed / "their_policies.py").write_text("1 / 0\n")
    for words in (["policies"], ["replay", trace_file, *ON_X5550, "--placement", "theirs"]):
        ended = homenode(*words)
        assert ended.status == 2
        assert ended.stderr.startswith(
            "homenode: policies of the installed package 'their-policies' (their_policies) ended with ZeroDivisionError"
        )
        assert "their_policies.py" in ended.stderr
    assert homenode("replay", trace_file, *ON_X5550, "--placement", "interleave").status == 0
