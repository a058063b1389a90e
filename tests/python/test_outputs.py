"""Files that commands write: in place of regular files alone, and through no name that somebody else made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.errors import UsageError
from homenode.outputs import check_json_output, check_output, reserved_part, written_whole
from support import Ended

Run = Callable[..., Ended]
X5550 = ("--machine", "xeon-x5550-2s", "--threads", "2")


def test_what_is_no_regular_file_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    for name, what in (("link", "a symbolic link"), ("pipe", "a pipe"), (".", "a folder"), ("/dev/null", "a device")):
        with pytest.raises(UsageError, match=what), written_whole(tmp_path / name):
            pass
    with pytest.raises(UsageError, match="no folder"):
        check_output(tmp_path / "missing" / "file")
    with pytest.raises(UsageError, match="no name"):
        check_output(Path())
    with pytest.raises(UsageError, match="too long"):
        check_output(tmp_path / ("x" * 5000))
    assert (tmp_path / "file").read_text() == "kept"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)  # no room for an ending
    target.write_text("old")
    with pytest.raises(RuntimeError), written_whole(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    with written_whole(target) as temporary:
        temporary.write_text("new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]
    mask = os.umask(0)
    os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_part_that_somebody_else_made_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    part = tmp_path / "x.hnt.part"
    part.symlink_to("victim")
    with pytest.raises(UsageError, match="not a file that homenode made"), reserved_part(part):
        pass
    part.unlink()
    part.hardlink_to(tmp_path / "victim")
    with pytest.raises(UsageError, match="not a file that homenode made"), reserved_part(part):
        pass
    part.unlink()
    assert (tmp_path / "victim").read_text() == "kept"
    with reserved_part(part), pytest.raises(UsageError, match="another capture"), reserved_part(part):
        pass
    part.touch()  # of a capture that was killed before it wrote a byte
    with reserved_part(part):
        assert part.exists()
    assert not part.exists()
    part.write_text("frames")
    with (
        pytest.raises(UsageError, match=r"left of a capture that was killed; allowed: 'homenode recover"),
        reserved_part(part),
    ):
        pass
    assert part.read_text() == "frames"


def test_files_of_another_kind_stay(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    """`replay x.hnt -o x.hnt` replaced the trace by a report."""
    kept = {
        "own.hnt": trace_file.read_bytes(),
        "own.c": b"int main(void) { return 0; }\n",
        "own.json": b'{"schema": "x"}',
    }
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    for words, kind in (
        (("replay", trace_file, *X5550, "-o", "own.hnt"), "report"),
        (("replay", trace_file, *X5550, "-o", "own.c"), "report"),
        (("report", "own.json", "-o", "own.json"), "page"),
        (("advise", trace_file, *X5550, "--map", "own.hnt"), "page"),
        (("machine", "loaded-latency", "xeon-x5550-2s", "-o", "own.c"), "page"),
    ):
        done = homenode(*words)
        assert (done.status, done.stdout) == (2, "")
        assert f"is there and no {kind}; allowed: a new name, or a {kind} to be replaced" in done.stderr
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    for _ in range(2):  # one of its kind is replaced
        assert homenode("replay", trace_file, *X5550, "-o", "new.json").status == 0


def test_json_is_not_written_into_a_page() -> None:
    with pytest.raises(UsageError, match=r"allowed: a name such as r\.json, of which 'homenode report' makes a page"):
        check_json_output(Path("r.html"))


def test_commands_refuse_such_outputs_before_they_work(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    (tmp_path / "notes.txt").write_text("kept")
    for words in (
        ("replay", trace_file, *X5550, "-o", "/dev/full"),
        ("replay", trace_file, *X5550, "-o", "r.html"),
        ("replay", trace_file, *X5550, "--timeline", "."),
        ("report", trace_file, "-o", "/dev/full"),
        ("import", "csv", "in.csv", "-o", "."),
        ("capture", "stream", "-o", "."),
        ("capture", "stream", "-o", "notes.txt"),
        ("machine", "detect", "-o", "/dev/full"),
    ):
        ended = homenode(*words)
        assert ended.status == 2, words
        assert ended.stderr.startswith("homenode: "), ended.stderr
        assert ended.stderr.count("\n") == 1, ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]
    assert Path("/dev/full").is_char_device()
    assert (tmp_path / "notes.txt").read_text() == "kept"


def test_a_program_without_dashes_is_told_of_them(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "fill").touch(mode=0o755)
    ended = homenode("capture", "--threads", "4", "./fill", "100", "-q")
    assert ended.status == 2
    assert "Did you mean: homenode capture -o fill.hnt --threads 4 -- ./fill 100 -q" in ended.stderr


def test_a_trace_without_a_name_takes_no_other_trace_s_place(homenode: Run, tmp_path: Path) -> None:
    assert homenode("capture", "stream", "--set", "n=1000").status == 0
    assert (tmp_path / "stream.hnt").is_file()
    ended = homenode("capture", "stream", "--set", "n=1000")
    assert ended.status == 2
    assert "'stream.hnt' exists" in ended.stderr


def test_of_a_file_without_a_whole_access_nothing_is_recovered(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    cut = tmp_path / "cut.hnt"
    cut.write_bytes(trace_file.read_bytes()[:100])
    refused = homenode("recover", str(cut), "-o", str(tmp_path / "x.hnt"))
    assert refused.status == 2
    assert "nothing to recover, and nothing is written" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("x.hnt")) == []
    assert cut.exists()
