"""Every command and every example in README.md and docs/ runs and prints what is shown there; what CONTRIBUTING.md names exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from homenode.cli.main import command as homenode
from support import ROOT, SCRIPTS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# `output` shows lines that the commands or the Python of its page print; `…` stands for anything.
BLOCK = re.compile(r"^```(sh|python|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, Path, str, list[str]]]:
    """One entry a page and language: later blocks of a page may use what earlier ones made, output belongs to what is above it."""
    found = []
    for page in PAGES:
        commands: dict[str, str] = {}
        shown: dict[str, list[str]] = {"sh": [], "python": []}
        language = ""
        for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind == "output":
                shown[language] += body.splitlines()
            else:
                language = kind
                commands[language] = commands.get(language, "") + body + "\n"
        found += [(language, page, text, shown[language]) for language, text in commands.items()]
    return found


def not_printed(shown: list[str], printed: str) -> list[str]:
    """Shown lines that no printed line matches, however many spaces stand between words."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    patterns = {line: ".*".join(re.escape(part) for part in " ".join(line.split()).split("…")) for line in shown}
    return [line for line, pattern in patterns.items() if not any(re.fullmatch(pattern, found) for found in lines)]


@pytest.mark.parametrize(
    ("language", "page", "text", "shown"), examples(), ids=lambda value: value.name if isinstance(value, Path) else None
)
def test_examples_run(language: str, page: Path, text: str, shown: list[str], tmp_path: Path) -> None:
    command = ["sh", "-eu", "-c", text] if language == "sh" else [sys.executable, "-W", "error", "-c", text]
    environment = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    assert not_printed(shown, done.stdout + done.stderr) == []


NOT_RUN = {
    "it installs, measures or tests for minutes": [
        ("README.md", "./dev demo"),  # `test_demo_ends_with_a_lesson` runs the demo, `.ci/run` the tests
        ("README.md", "homenode machine calibrate --quick"),
        ("kit.md", "homenode kit -o"),  # test_kit.py
        ("machines.md", "homenode machine calibrate"),
        ("recommend.md", "homenode machine calibrate"),
    ],
    "it needs sources from elsewhere": [
        ("classify.md", "python -m validation classification"),
        ("classify.md", "homenode classify pbzip2.cpp"),
        ("programs.md", "echo 'deb-src"),
        ("programs.md", "function next_random()"),
        ("programs.md", 'CC="homenode cc"'),
        ("programs.md", "make CC="),
        ("programs.md", "make CC=homenode-g++"),
        ("programs.md", "mkdir bin"),
        ("programs.md", "homenode capture -o xz.hnt"),
    ],
    "its files are the reader's": [
        ("capture.md", 'CC="homenode cc"'),  # test_build_systems.py
        ("capture.md", "homenode recover"),  # test_capture_kill.py
        ("extensions.md", "[project.entry-points"),  # test_extensions.py
        ("guide.md", 'eval "$(_HOMENODE_COMPLETE'),
        ("kit.md", "homenode kit import"),
        ("machines.md", "homenode anchor program.hnt"),
        ("machines.md", "homenode machine import machine.xml"),
        ("recommend.md", "homenode recommend -- ./program"),
    ],
}
"""Blocks that no test runs, by the reason: page, and how the block begins. Lines of homenode in them are parsed below."""


def test_each_block_is_run_or_has_a_reason() -> None:
    fenced = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    left = sorted(
        (page.name, body.splitlines()[0])
        for page in PAGES
        for kind, body in fenced.findall(page.read_text(encoding="utf-8"))
        if kind not in {"sh", "python", "output"}
    )
    excused = sorted(one for of_reason in NOT_RUN.values() for one in of_reason)
    assert [page for page, _ in left] == [page for page, _ in excused]
    for (page, line), (_, begin) in zip(left, excused, strict=True):
        assert line.startswith(begin), page


def told_commands() -> list[str]:
    """The command lines of homenode in blocks that are not run."""
    blocks = re.findall(
        r"^```text\n(.*?)^```$", "\n".join(page.read_text(encoding="utf-8") for page in PAGES), re.M | re.S
    )
    return [line for block in blocks for line in block.splitlines() if line.startswith("homenode ")]


@pytest.mark.parametrize("line", told_commands())
def test_commands_that_are_not_run_are_taken(line: str) -> None:
    name, *arguments = shlex.split(line)[1:]
    command = homenode.get_command(click.Context(homenode), name)
    assert command is not None
    command.parse_args(click.Context(command), arguments)  # raises UsageError at what it does not know


def test_contributing_names_what_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    words = {
        word
        for word in re.findall(r"`([\w./-]+)`", text)
        if "/" in word and not word.startswith("./") and word.upper() != word
    }
    named = {word for word in words if "NAME" not in word and "FOLDER" not in word}
    assert named
    assert [word for word in sorted(named) if not (ROOT / word).exists()] == []


def test_demo_ends_with_a_lesson() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "homenode.demo", "--size", "40", "--sweeps", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nrank ") == 2  # a table for each machine
    lesson = done.stdout[done.stdout.index("\nWhat this says about jacobi3d") :]
    assert "\n- On xeon-x7560-4s " in lesson
    assert "\n- On opteron-8431-4s " in lesson


def test_the_opening_table_is_what_the_demo_prints() -> None:
    """README's figures: placement, distribution, time, regret in whole percent, for the machine that it names."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| ([\w:-]+) \| ([\w:]+) \| ([\d.]+ ms) \| (\d+) % \|", page, re.MULTILINE)
    assert len(told) == 6
    done = subprocess.run([sys.executable, "-m", "homenode.demo"], capture_output=True, text=True, check=True)
    opteron = done.stdout[done.stdout.index("\nopteron-8431-4s") :]
    row = re.compile(r"^ +\d +(\S+) +compact +(\S+) +([\d.]+) ms +\+([\d.]+) %", re.MULTILINE)
    printed = [
        (placement, distribution, f"{float(milliseconds):.1f} ms", f"{float(regret):.0f}")
        for placement, distribution, milliseconds, regret in row.findall(opteron)
    ]
    assert told == printed
