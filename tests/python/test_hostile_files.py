"""Files made to break the reader: one line, exit code 2, soon and in little memory; or they are read as if nothing was wrong."""

from __future__ import annotations

import json
import os
import resource
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import homenode as hn
from homenode import report
from homenode.cli.main import main
from sealed_trace import CALIBRATION, INDEX, ITEM, META, REGION, STRING, Frame, compressed, number, record, resealed
from support import SCRIPTS, Ended
from test_command_errors import refused

Run = Callable[..., Ended]
Change = Callable[[list[Frame]], None]
COMMANDS = [("check",), ("inspect",), ("replay", "--machine", "xeon-x5550-2s", "--threads", "4")]
MEMORY = 2 << 30  # of addresses; the package itself takes half of it


def bounded(folder: Path, *words: str | Path) -> Ended:
    """`homenode ARGUMENTS` with a bound on its memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [str(SCRIPTS / "homenode"), *map(str, words)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, preexec_fn=limit
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def first(frames: list[Frame], kind: int) -> Frame:
    return next(frame for frame in frames if frame.type == kind)


def put(kind: int, fields: bytes) -> Change:
    """The frame of a kind holds one record with these fields."""

    def change(frames: list[Frame]) -> None:
        first(frames, kind).raw = record(kind, fields)

    return change


ZEROS = 64 << 20  # unpacked; some 2 kB in the file, which may then unpack to 17 MiB


def many(kind: int, head: bytes) -> Change:
    count = ZEROS - 100
    return put(kind, head + number(count) + bytes(count))


BOMBS: dict[str, Change] = {
    "features": many(META, bytes(5) + number(1) + number(4096)),
    "dimensions": many(REGION, bytes(4)),
    "blocks": many(ITEM, number(0)),
    "index": many(INDEX, number(0)),
    "strings": put(STRING, bytes(ZEROS)),
}


def test_a_calibration_is_read(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    """Two types of one name were linked together: every command crashed on this valid record."""
    # region 0, no cost class, cycles, hertz, no host, measured
    fields = number(1) + number(0) + struct.pack("<dd", 1000.0, 1e9) + number(0) + b"\1"
    added = Frame(CALIBRATION, True, record(CALIBRATION, fields))
    changed = resealed(trace_file, tmp_path / "cal.hnt", lambda frames: frames.insert(2, added))
    for command, *more in COMMANDS:
        assert homenode(command, changed, *more).status == 0


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_before_they_go_off(tmp_path: Path, trace_file: Path, name: str) -> None:
    bomb = resealed(trace_file, tmp_path / "bomb.hnt", BOMBS[name])
    assert bomb.stat().st_size < 100_000
    refused(bounded(tmp_path, "check", bomb), "unpacks the file to more than", "bomb.hnt: frame at offset")


def test_frames_that_nobody_reads_are_not_unpacked(tmp_path: Path, trace_file: Path) -> None:
    """Thirty times 1 GiB, as their headers say; what they hold is no zstd."""
    junk = [Frame(30, False, b"", stored=b"no zstd", raw_bytes=1 << 30) for _ in range(30)]
    changed = resealed(trace_file, tmp_path / "junk.hnt", lambda frames: frames.__setitem__(slice(1, 1), junk))
    assert bounded(tmp_path, "check", changed).status == 0


def test_lies_about_sizes(tmp_path: Path, trace_file: Path) -> None:
    def lie(size: int, stored: bytes | None = None) -> Change:
        def change(frames: list[Frame]) -> None:
            frames[0].raw_bytes, frames[0].stored = size, stored

        return change

    for size, message in ((1 << 62, "at most 1073741824"), (1 << 24, "does not unpack to"), (3, "does not unpack to")):
        refused(bounded(tmp_path, "check", resealed(trace_file, tmp_path / "lie.hnt", lie(size))), message)
    # zstd's own header says 16 MiB, its data 1 byte
    claims = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 24) + b"\x0b\0\0\0"
    refused(
        bounded(tmp_path, "check", resealed(trace_file, tmp_path / "lie.hnt", lie(1 << 24, claims))),
        "cannot be unpacked",
    )
    assert len(compressed(bytes(ZEROS))) < 20_000


def test_what_check_refuses_is_not_replayed(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    """The object that the loops work on has 1 byte: they used to end with an IndexError, or to read beyond a table."""

    def shrink(frames: list[Frame]) -> None:
        for frame in frames:
            if frame.type == 9:
                # OBJECT: row, kind, private, bytes (a number of three bytes, 128 x 128 x 4), ...
                frame.raw = frame.raw.replace(number(128 * 128 * 4), b"\x81\x80\0")

    broken = resealed(trace_file, tmp_path / "broken.hnt", shrink)
    checked = homenode("check", broken)
    assert checked.status == 2
    assert "which has 1" in checked.stderr
    problems = json.loads(homenode("check", broken, "--json").stdout)["problems"]
    assert len(problems) == checked.stderr.count("\n")
    for command, *more in COMMANDS[1:]:
        refused(homenode(command, broken, *more), "which has 1", "`homenode check` lists all that is wrong")


def renamed(trace_file: Path, target: Path, label: bytes) -> Path:
    """The trace with the region `sweep` under another name."""

    def change(frames: list[Frame]) -> None:
        named = [frame for frame in frames if frame.type == STRING and b"\5sweep" in frame.raw]
        assert named
        for frame in named:
            at = frame.raw.index(b"\5sweep")  # before it the record's tag and length, and the text's id
            text = frame.raw[at - 1 : at] + number(len(label)) + label
            frame.raw = frame.raw[: at - 3] + record(STRING, text) + frame.raw[at + 6 :]

    return resealed(trace_file, target, change)


def test_names_that_are_no_utf8(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    """A source file may be called s\\xe9.c: its name is read with an escape, everywhere the same."""
    named = renamed(trace_file, tmp_path / "latin.hnt", b"caf\xe9")
    label = "caf\\xE9"
    assert label in hn.Trace.open(named).labels
    for command, *more in COMMANDS:
        ended = homenode(command, named, *more)
        assert ended.status == 0, ended
    assert label in homenode("inspect", named).stdout
    assert label in json.dumps(json.loads(homenode("inspect", named, "--json").stdout), ensure_ascii=False).replace(
        "\\\\", "\\"
    )
    report = json.loads(homenode("replay", named, *COMMANDS[2][1:], "--json").stdout)
    assert label in [region["label"] for region in report["runs"][0]["regions"]]
    assert homenode("replay", named, *COMMANDS[2][1:], "--distribution", f"{label}@static:1").status == 0


def test_arguments_that_are_no_utf8(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    """A file may be called so; what is no file is refused by what was typed."""
    file = tmp_path / os.fsdecode(b"caf\xe9.hnt")
    file.write_bytes(trace_file.read_bytes())
    for command, *more in COMMANDS:
        assert homenode(command, file.name, *more).status == 0
    file.write_bytes(b"")
    refused(homenode("inspect", file.name), "caf\\xE9.hnt: offset 0: the file is empty")
    refused(homenode("machines", os.fsdecode(b"caf\xe9")), "caf\\xE9")
    refused(homenode(os.fsdecode(b"caf\xe9")), "unknown command 'caf\\xE9'")


def test_no_text_of_a_file_commands_the_terminal(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    named = renamed(trace_file, tmp_path / "red.hnt", b"\x1b]0;x\x07\x1b[31m\xc2\x9b1mred\nline")
    for command, *more in (*COMMANDS, (*COMMANDS[2], "--explain", "--idle")):
        ended = homenode(command, named, *more)
        assert ended.status == 0, ended
        assert not any(letter in ended.stdout + ended.stderr for letter in "\x1b\x07\x9b")
    assert "\\x1B[31m\\x9B1mred\\nline" in homenode("inspect", named).stdout
    machine = hn.Machine.load("xeon-x5550-2s").to_toml().replace('"xeon-x5550-2s"', '"a\\u001b[31mb\\nc"', 1)
    (tmp_path / "red.toml").write_text(machine)
    for words in (("machines", "./red.toml"), ("replay", trace_file, "--machine", "./red.toml", "--threads", "4")):
        shown = homenode(*words)
        assert shown.status == 0, shown
        assert "\x1b" not in shown.stdout
        assert "a\\x1B[31mb\\nc" in shown.stdout
    refused(homenode("machines", "a\x1b[31m\nb"), "unknown machine 'a\\x1B[31m\\nb'")


def test_files_that_are_no_files(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "pipe.hnt")
    refused(homenode("machines", "./pipe.toml"), "cannot be read; allowed: a file")
    refused(homenode("machines", "/dev/zero"), "cannot be read; allowed: a file")
    refused(homenode("inspect", "pipe.hnt"), "not a regular file")
    long = "n" * 5000
    options = ("replay", trace_file, "--threads", "4")
    refused(homenode("inspect", long), "no trace", "File name too long")
    refused(homenode(*options, "--machine", long), "unknown machine 'nnn", "…' (5000 characters); allowed: ")
    refused(homenode(*options, "--machine", f"./{long}"), "cannot be read")
    refused(homenode(*options, "--machine", "xeon-x5550-2s", "--system", long), "unknown system")
    refused(homenode(*options, "--machine", "xeon-x5550-2s", "--energy", long), "unknown energy")
    (tmp_path / "in.csv").write_text("address,size,kind\n0x1000,8,read\n")
    refused(homenode("import", "csv", "in.csv", "-o", "."), "is no name of a file")


def test_options_that_ask_for_too_much(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    options = ("replay", trace_file, "--machine", "xeon-x5550-2s")
    for threads in ("1000000000", "4294967297"):
        refused(
            homenode(*options, "--oversubscribe", "--threads", threads),
            f"{threads} threads; allowed: at least 1, at most 65536",
        )
    most = 2**63 - 1
    weighted = f"latency-weighted:dims=3,rows={most},columns={most}"
    refused(homenode(*options, "--threads", "4", "--distribution", weighted), "does not know how the")
    refused(homenode(*options, "--threads", "4", "--placement", "bind:node=0,node=1"), "node is set again to '1'")
    (tmp_path / "binary.py").write_bytes(bytes(range(256)))
    refused(homenode(*options, "--threads", "4", "--python", "binary.py"), "'binary.py' is no Python")
    (tmp_path / "wrong.py").write_text("1 / 0\n")
    wrong = homenode(*options, "--threads", "4", "--python", "wrong.py")
    assert wrong.status == 2
    assert wrong.stderr.startswith("homenode: 'wrong.py' ended with ZeroDivisionError")
    refused(homenode("capture", "hotspot", "--set", "size=4096\n", "-o", "x.hnt"), "an integer")
    full = homenode(*options, "--threads", "4", "--timeline", "/dev/full/x.json")
    assert full.status == 2
    assert "Traceback" not in full.stderr


def test_messages_are_short(homenode: Run, tmp_path: Path) -> None:
    """A key of 1 MB used to come back twice."""
    megabyte = "k" * (1 << 20)
    (tmp_path / "long.toml").write_text(f'{megabyte} = 1\nschema = "homenode.machine/1"\n')
    ended = homenode("machines", "./long.toml")
    refused(ended, "long.toml:")
    assert len(ended.stderr) < 2000
    ended = homenode("machines", "k" * 100_000)
    refused(ended, "unknown machine")
    assert len(ended.stderr) < 2000


def damaged(document: Any, random: Random) -> Any:
    """The document with one value somewhere in it replaced, taken away or doubled."""
    if isinstance(document, dict) and document and random.random() < 0.95:
        key = random.choice(sorted(document))
        changed = dict(document)
        changed[key] = damaged(document[key], random)
        if random.random() < 0.1:
            del changed[key]
        return changed
    if isinstance(document, list) and document and random.random() < 0.95:
        place = random.randrange(len(document))
        middle = random.choice([[], [document[place]] * 2, [damaged(document[place], random)]])
        return [*document[:place], *middle, *document[place + 1 :]]
    return random.choice(
        [None, -1, 0, 1e308, 2**70, "", "</script><!--", "nan", [], [[]], {}, True, float("inf"), float("nan")]
    )


def test_damaged_reports_make_a_page_or_are_refused(tmp_path: Path, trace: hn.Trace) -> None:
    """Whatever a value of a report becomes."""
    results = [hn.replay(trace, "xeon-x5550-2s", threads=threads) for threads in (2, 4)]
    good = json.loads(json.dumps(report.document(trace, [result.run for result in results])))
    file, page, random = tmp_path / "report.json", tmp_path / "page.html", Random(1)
    outcomes = set()
    for _ in range(60):
        file.write_text(json.dumps(damaged(good, random)))
        outcomes.add(main(["report", str(file), "-o", str(page)]))
    assert outcomes == {0, 2}
    file.write_text("[" * 100_000)
    assert main(["report", str(file), "-o", str(page)]) == 2


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"2.66 GHz"', '"1e-9 Hz"', "too large"),
        ('"2.66 GHz"', '"1e3 Hz"', "the clock is 1 kHz; allowed: more than 0: from 1 MHz"),
        ("sockets = [0, 1]", "sockets = [0, 0]", "names socket 0 again"),
        ("[[0, 1]]", "[[0, 1], [1, 0], [0, 1]]", "link 1 is another between 1 and 0"),
        ("issue = { value = 4.0", "issue = { value = 1e308", "core.issue is 1e+308"),
        ("issue = { value = 4.0", "issue = { value = 1e-308", "core.issue is 1e-308"),
        ("cores = { value = 4", "cores = { value = 4097", "nodes.cores is 4097; allowed: 0 to 4096"),
    ],
)
def test_machines_that_cannot_be(homenode: Run, tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = (hn.resources.MACHINES / "xeon-x5550-2s.toml").read_text()
    assert old in text
    (tmp_path / "c.toml").write_text(text.replace(old, new, 1))
    refused(homenode("machines", "./c.toml"), expected)
