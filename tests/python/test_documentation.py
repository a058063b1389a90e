"""Every command and every example in README.md and docs/ runs; what CONTRIBUTING.md names exists."""

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
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, Path, str]]:
    """One entry a page and language: later blocks of a page may use what earlier ones made."""
    found = []
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        for language in ("sh", "python"):
            text = "\n".join(body for kind, body in blocks if kind == language)
            if text:
                found.append((language, page, text))
    return found


@pytest.mark.parametrize(
    ("language", "page", "text"), examples(), ids=lambda value: value.name if isinstance(value, Path) else None
)
def test_examples_run(language: str, page: Path, text: str, tmp_path: Path) -> None:
    command = ["sh", "-eu", "-c", text] if language == "sh" else [sys.executable, "-W", "error", "-c", text]
    environment = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr


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
    assert done.stdout.count("rank") == 2  # a table for each machine
    lesson = done.stdout.strip().splitlines()[-1]
    assert lesson.startswith("What this says about jacobi3d")
    assert "xeon-x7560-4s" in lesson
    assert "opteron-8431-4s" in lesson


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
