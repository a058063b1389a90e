"""What commands print on a narrow terminal: nothing wider than it, no word broken, nothing lost without a word; the same without colour."""

from __future__ import annotations

import errno
import itertools
import os
import pty
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from homenode.cli import console
from homenode.cli.fitted_table import Narrowing
from support import SCRIPTS

COMMANDS = {
    "ranking": "replay TRACE --machine xeon-x7560-4s --threads 8,32 --placement first-touch --placement interleave "
    "--mapping compact --mapping scatter --explain --idle --confidence=2",
    "long choices": "replay TRACE --machine xeon-x7560-4s --threads 8 --distribution static "
    "--distribution 'sweep@dynamic:4' --placement first-touch+autonuma --placement interleave --explain --no-confidence",
    "inspect": "inspect TRACE --threads",
    "advice": "advise TRACE --machine xeon-x5550-2s --threads 8 --samples 2 --engine closed-form",
    "mapping": "map TRACE --machine xeon-x5550-2s --threads 8",
    "machines": "machines",
    "policies": "policies",
    "policy with sizes": "policies autonuma",
    "policy with many parameters": "policies memtis",
    "policy with words": "policies latency-weighted",
    "policy with short sentences": "policies work-stealing",
    "comparison": "machine compare xeon-x7560-4s opteron-8431-4s",
    "comparison of unlike machines": "machine compare xeon-8380-2s epyc-7763-2s-nps1",
}


def printed(words: str, trace_file: Path, columns: int | None, folder: Path, **settings: str) -> str:
    """What a command prints on a terminal of so many columns; of none, what a pipe gets."""
    arguments = [str(SCRIPTS / "homenode"), *shlex.split(words.replace("TRACE", str(trace_file)))]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **settings}
    if columns is None:
        return subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
    environment |= {"COLUMNS": str(columns)}
    ours, theirs = pty.openpty()
    with subprocess.Popen(arguments, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        text = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert process.returncode == 0
    return text.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """What comes next; nothing when nobody has the other end open."""
    try:
        return os.read(terminal, 65536)
    except OSError as error:
        assert error.errno == errno.EIO
        return b""


def told(words: str, trace_file: Path, folder: Path) -> tuple[int, list[str]]:
    """Exit code, and what goes to stderr on a terminal; lines of progress are drawn over, and end in a carriage return."""
    arguments = [str(SCRIPTS / "homenode"), *shlex.split(words.replace("TRACE", str(trace_file)))]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        text = without_styles(b"".join(iter(lambda: _read(ours), b"")).decode())
    os.close(ours)
    return process.returncode, text.replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_wider_and_no_word_is_broken(name: str, trace_file: Path, tmp_path: Path) -> None:
    whole = printed(COMMANDS[name], trace_file, None, tmp_path)
    narrow = without_styles(printed(COMMANDS[name], trace_file, 80, tmp_path))
    assert [line for line in narrow.splitlines() if len(line) > 80] == []
    # a piece of a word is no word of what a pipe gets; what narrow tables say themselves has words of its own
    told = re.sub(r"^Not shown in so few columns: .*$", "", narrow, flags=re.MULTILINE)
    assert sorted(set(told.split()) - set(whole.split())) == []


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith(("polic", "comparison"))])
def test_nothing_is_lost_on_a_narrow_terminal(name: str, trace_file: Path, tmp_path: Path) -> None:
    whole = printed(COMMANDS[name], trace_file, None, tmp_path)
    narrow = without_styles(printed(COMMANDS[name], trace_file, 80, tmp_path))
    assert "Not shown" not in narrow
    assert sorted(set(whole.split()) - set(narrow.split())) == []


@pytest.mark.parametrize(
    "words",
    [
        "capture chase -o again.hnt",
        "replay TRACE --machine xeon-x7560-4s --threads 8 --placement first-touch --placement interleave "
        "--distribution static --distribution dynamic:4",
    ],
)
def test_remarks_fit_as_well(words: str, trace_file: Path, tmp_path: Path) -> None:
    status, all_lines = told(words, trace_file, tmp_path)
    assert status == 0
    lines = [line for line in all_lines if "accesses" in line or "memory at most" in line]
    assert lines
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize(
    "words",
    ["replay TRACE --machine no-such-machine --threads 8", "no-such-command", "policies no-such-policy"],
)
def test_errors_are_wrapped_on_a_terminal_and_one_line_in_a_pipe(words: str, trace_file: Path, tmp_path: Path) -> None:
    status, narrow = told(words, trace_file, tmp_path)
    piped = subprocess.run(
        [str(SCRIPTS / "homenode"), *shlex.split(words.replace("TRACE", str(trace_file)))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert status == piped.returncode == 2
    assert len(piped.stderr.splitlines()) == 1 < len(narrow)
    assert [line for line in narrow if len(line) > 80 and " " in line.strip()] == []
    assert " ".join(narrow).split() == piped.stderr.split()


def test_values_below_their_name_are_indented(trace_file: Path, tmp_path: Path) -> None:
    lines = without_styles(printed("policies placement", trace_file, 60, tmp_path)).splitlines()
    names = {"policy", "name", "what", "parameters", "source", "kind"}
    begin = next(number for number, line in enumerate(lines) if line.rstrip() == "parameters")
    below = list(itertools.takewhile(lambda line: line.strip() and line.split()[0] not in names, lines[begin + 1 :]))
    assert len(below) > 1
    assert [line for line in below if not line.startswith("  ")] == []


def narrow_lines(width: int, capsys: pytest.CaptureFixture[str], narrowing: Narrowing | None = None) -> list[str]:
    table = console.table("rank", "placement", "remote pages", "bound by", right=("rank",), narrowing=narrowing)
    table.add_row("1", "interleave", "75.0 %", "core 50.0 %, link 0->1 30.0 %", style="bold")
    table.add_row("2", "interleave", "0.0 %", "controller 0 98.9 %")
    console.SafeConsole(width=width, highlight=False).print(table)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_each_layout_in_its_turn(capsys: pytest.CaptureFixture[str]) -> None:
    narrowing = Narrowing(same=["placement"], listed="bound by", optional=["remote pages"])
    # columns: rank 4, placement 10, remote pages 12, bound by 29, with 2 between each two: 61
    assert narrow_lines(61, capsys, narrowing)[0] == "rank  placement   remote pages  bound by"
    # without placement, which is the same: 4 + 2 + 12 + 2 + 29 = 49
    assert narrow_lines(49, capsys, narrowing)[:2] == ["placement interleave", "rank  remote pages  bound by"]
    # "remote" above "pages", 6 wide: 43
    assert narrow_lines(43, capsys, narrowing)[1:3] == ["      remote", "rank  pages   bound by"]
    # an item a line, the widest of which is "controller 0 98.9 %", 19: 4 + 2 + 6 + 2 + 19 = 33
    assert "              link 0->1 30.0 %" in narrow_lines(33, capsys, narrowing)
    # without remote pages: 25, and that is told
    lines = narrow_lines(25, capsys, narrowing)
    assert "rank  bound by" in lines
    assert " ".join(lines).endswith("Not shown in so few columns: remote pages.")
    # what fits in no way: rows as lines of name and value, whole
    lines = narrow_lines(22, capsys, narrowing)
    assert "remote pages  75.0 %" in lines
    assert lines[lines.index("placement") + 1] == "  interleave"  # 12 + 2 + 10 would be 24
    assert "  controller 0 98.9 %" in lines


def test_each_of_several_tables_tells_its_rows_apart(capsys: pytest.CaptureFixture[str]) -> None:
    # rank 4 + 2 + placement 10 + 2 + bound by 29 = 47, as "remote pages" needs 2 + 6 more
    lines = narrow_lines(48, capsys, Narrowing(keys=["rank", "placement"]))
    heads = [line.split() for line in lines if line.startswith("rank")]
    assert heads == [["rank", "placement", "pages"], ["rank", "placement", "bound", "by"]]
    assert " ".join(lines).count("interleave") == 4


def test_several_tables_keep_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    # rank 4 + 2 + placement 10 + 2 + "remote pages" above each other 6 = 24; then rank 4 + 2 + bound by 29 = 35
    lines = narrow_lines(40, capsys)
    assert [line for line in lines if line.startswith("rank")] == ["rank  placement   pages", "rank  bound by"]
    assert " ".join(lines).count("interleave") == 2
    assert "75.0 %" in " ".join(lines)


def test_colour_says_nothing_alone(trace_file: Path, tmp_path: Path) -> None:
    """With and without colours a terminal shows the same words."""
    for words in (COMMANDS["ranking"], "machines xeon-x7560-4s"):
        plain = printed(words, trace_file, 80, tmp_path)
        coloured = printed(words, trace_file, 80, tmp_path, NO_COLOR="", TERM="xterm-256color")
        assert "\x1b[" in coloured
        assert without_styles(coloured) == without_styles(plain)


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
