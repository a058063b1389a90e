"""Every command's help shows an example that the command takes, and every option with a default shows it; what the shell completes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import homenode as hn
from homenode.cli.examples import EXAMPLES
from homenode.cli.main import _GROUPS
from homenode.cli.main import command as homenode_command
from homenode.compiler.languages import DRIVERS
from support import SCRIPTS, Ended, heed_signals

Run = Callable[..., Ended]


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and every command of a group, with the words that call it."""
    top = click.Context(homenode_command)
    for name in homenode_command.list_commands(top):
        found = homenode_command.get_command(top, name)
        assert found is not None
        yield name, found
        if isinstance(found, click.Group):
            for below in found.list_commands(top):
                inner = found.get_command(top, below)
                assert inner is not None
                yield f"{name} {below}", inner


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in DRIVERS])
def test_help_shows_an_example_that_is_taken(name: str, homenode: Run) -> None:
    shown = homenode(*name.split(), "--help").stdout
    assert EXAMPLES[name], name
    for example in EXAMPLES[name]:
        for line in example.splitlines():
            assert f"  {line}\n" in shown
        words = shlex.split(example.replace("\\\n", ""))  # a shell joins such lines
        assert words[0] == "homenode"
        command = COMMANDS[name]
        arguments = words[1:] if isinstance(command, click.Group) else words[1 + len(name.split()) :]
        if not isinstance(command, click.Group):
            command.parse_args(
                click.Context(command, **command.context_settings), arguments
            )  # raises UsageError at what it does not know


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal(name: str, homenode: Run) -> None:
    shown = homenode(*name.split(), "--help").stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_default(name: str, homenode: Run) -> None:
    shown = " ".join(homenode(*name.split(), "--help").stdout.split())
    for option in COMMANDS[name].params:
        default: Any = option.default
        if (
            not isinstance(option, click.Option)
            or option.is_flag
            or option.count
            or default is None
            or "UNSET" in repr(default)
        ):
            continue
        text = ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
        if text:
            assert f"[default: {text}" in shown, option.name


def test_the_compilers_have_examples(homenode: Run) -> None:
    for name in DRIVERS:
        assert f"homenode {name} -O2 -g -fopenmp " in homenode(name, "--help").stdout


def test_commands_are_grouped_by_purpose(homenode: Run) -> None:
    shown = homenode("--help").stdout
    places = [shown.index(f"\n{title}:\n") for title in _GROUPS]
    assert places == sorted(places)
    for commands in _GROUPS.values():
        for name in commands:
            assert re.search(rf"^  {re.escape(name)} ", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("homenode replay x.hnt --machine xeon-x5", "xeon-x5550-2s"),
        ("homenode replay x.hnt --placement inter", "interleave"),
        ("homenode replay x.hnt --mapping sc", "scatter"),
        ("homenode replay x.hnt --distribution dyn", "dynamic"),
        ("homenode replay x.hnt --heap gl", "glibc"),
        ("homenode replay x.hnt --engine l", "line"),
        ("homenode replay x.hnt --system linux-6", "linux-6.1"),
        ("homenode map x.hnt --as omp", "omp-places"),
        ("homenode machines knc", "knc-5110p"),
        ("homenode systems linux-4", "linux-4.4"),
        ("homenode policies bi", "bind"),
        ("homenode capture hot", "hotspot"),
    ],
)
def test_the_shell_completes_values(words: str, expected: str) -> None:
    environment = {
        **os.environ,
        "_HOMENODE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run([SCRIPTS / "homenode"], env=environment, capture_output=True, text=True, check=False)
    found = [line.partition(",")[2] for line in done.stdout.splitlines()]
    assert expected in found, done


def test_several_values_of_a_change_are_an_axis(homenode: Run, trace_file: Path) -> None:
    changes = [f"link_bandwidth={text}" for text in ("6 GB/s", "25 GB/s")] + ["core_time=x2"]
    options = [word for change in changes for word in ("--change", change)]
    done = homenode(
        "replay", trace_file, "--machine", "xeon-x5550-2s", "--threads", "4,8", *options, "--placement", "bind:1"
    )
    assert done.status == 0, done.stderr
    for bandwidth in ("6 GB/s", "25 GB/s"):
        for threads in (4, 8):
            assert f"xeon-x5550-2s, link_bandwidth={bandwidth}, core_time=x2 · {threads} threads" in done.stdout
    assert done.stdout.count("\nrank ") == 4
    once = homenode("advise", trace_file, "--machine", "xeon-x5550-2s", "--threads", "4", *options)
    assert once.status == 2
    assert "--change link_bandwidth with several values; allowed: one here" in once.stderr


def test_one_policy_is_shown_by_its_name(homenode: Run) -> None:
    shown = homenode("policies", "bind").stdout
    assert "every page on one node" in shown
    assert "interleave" not in shown
    assert "heap" in homenode("policies", "--help").stdout


def test_changeable_names_are_listed(homenode: Run) -> None:
    listed = homenode("machines", "xeon-x5550-2s", "--changeable").stdout.splitlines()
    assert listed == hn.Machine.load("xeon-x5550-2s").changeable_names


HIDDEN = """import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "homenode._core":
            raise ImportError("libhwloc.so.15: cannot open shared object file: No such file or directory")
sys.meta_path.insert(0, Missing())
from homenode.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_doctor_runs_without_the_extension(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", HIDDEN, *arguments]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    doctor = run("doctor")
    assert doctor.returncode == 2
    assert "Traceback" not in doctor.stderr
    rows = {line.split()[0]: line.split()[1] for line in doctor.stdout.splitlines()[1:] if not line.startswith(" ")}
    assert (rows["extension"], rows["libhwloc"], rows["python"]) == ("no", "no", "yes")
    assert "libhwloc.so.15: cannot open shared object file" in " ".join(doctor.stdout.split())
    other = run("machines")
    assert other.returncode == 2
    assert other.stderr.count("\n") == 1
    assert "libhwloc.so.15" in other.stderr
    assert "'homenode doctor' lists what is missing" in other.stderr
    assert run("--help").returncode == 0


def test_doctor_lists_optional_parts(homenode: Run) -> None:
    shown = homenode("doctor").stdout
    for part in ("libsimgrid", "libhwloc", "clang", "plotly", "gfortran", "qemu", "setarch", "extension"):
        assert part in shown


SIGN = re.compile(r"\bS[0-4]\b(?! \(| +M\. Wittmann)")


@pytest.mark.parametrize(
    "words",
    [
        "kernels",
        "machines",
        "machines xeon-x5550-2s --sources",
        "machines knc-5110p --sources",
        "machines opteron-8431-4s --sources",
        "machines sgi-uv-32s --sources",
        "systems linux-6.1",
        "policies",
        *(f"{name} --help" for name in COMMANDS),
    ],
)
def test_a_paper_is_not_shown_by_its_sign_alone(words: str, homenode: Run) -> None:
    authors = "metzger|jarena|yang|gerofi|știrb|stirb|btlp|wittmann"
    for line in homenode(*words.split()).stdout.splitlines():
        if re.search(SIGN, line):
            assert re.search(authors, line.lower()), line


INTERRUPT = """import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "homenode.trace":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
"""


def test_an_interrupt_while_loading_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [SCRIPTS / "homenode", "machines"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=heed_signals,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "homenode: interrupted\n")
