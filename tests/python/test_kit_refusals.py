"""What comes back from a kit wrong, truncated or hostile: one error with file and line, exit code 2, nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from homenode.cli.main import main
from kit_support import HOST, Lines, lines, sealed, written
from support import Ended
from test_command_errors import refused
from test_hostile_files import bounded

Change = Callable[[Lines], object]


def put(line: int, *path: Any, value: Any) -> Change:
    """A value of a line (from 1 on) by its keys."""

    def change(found: Lines) -> None:
        part: Any = found[line - 1]
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value

    return change


CASES: dict[str, tuple[Change, list[str]]] = {
    "other schema": (put(1, "schema", value="homenode.kit/2"), ["jsonl:1: 'schema' is \"homenode.kit/2\"; allowed"]),
    "unknown kernel": (put(1, "manifest", "cases", 0, "kernel", value="rm"), [":1: 'manifest.cases.kernel' is \"rm\""]),
    "unknown parameter": (
        put(1, "manifest", "cases", 0, "parameters", "path", value=1),
        [":1: case 'stream-tiny'", "'path'"],
    ),
    "parameter of words": (
        put(1, "manifest", "cases", 0, "parameters", "n", value="1; rm"),
        ["'1; rm'; allowed: an integer"],
    ),
    "case that is a path": (
        put(1, "manifest", "cases", 0, "case", value="../x"),
        [":1: 'manifest.cases.case' is \"../x\""],
    ),
    "no manifest": (put(1, "manifest", value=3), [":1: 'manifest' is 3; allowed: an object"]),
    "no hash": (
        put(1, "manifest", "kernels", "stream", "source", value="f00"),
        [":1: 'manifest.kernels.stream.source'"],
    ),
    "two hosts": (lambda found: found.insert(2, found[1]), [':3: \'kind\' is "host"; allowed: "machine" here']),
    "name of words": (put(2, "name", value="a b"), [":2: 'name' is \"a b\"; allowed: letters"]),
    "escape": (put(2, "cpu", "name", value="\x1b[31m"), [":2: 'cpu.name' is", "characters that can be shown"]),
    "lone surrogate": (put(2, "system", value="\ud800"), [":2: 'system' is"]),
    "no TOML": (put(3, "toml", value="schema ="), ["jsonl (machine.toml):1:"]),
    "machine without sense": (
        put(3, "toml", value=lines()[2]["toml"].replace("sockets = { value = 2", "sockets = { value = 0")),
        ["machine.toml):"],
    ),
    "another machine": (
        put(3, "toml", value=lines()[2]["toml"].replace(f'"{HOST}"', '"other"', 1)),
        [":3: the description is of 'other'; allowed: 'node17'"],
    ),
    "unknown case": (
        put(4, "case", value="chase-tiny"),
        [":4: 'case' is \"chase-tiny\"; allowed: a case of the manifest"],
    ),
    "no threads": (put(4, "threads", value=0), [":4: 'threads' is 0; allowed: a whole number from 1 to 8192"]),
    "threads by a boolean": (put(4, "threads", value=True), [":4: 'threads' is true"]),
    "negative node": (put(4, "placement", value="bind:-1"), [":4: 'placement' is \"bind:-1\""]),
    "placement with more": (put(4, "placement", value="bind:1\n"), [":4: 'placement' is"]),
    "schedule": (put(5, "schedule", value="dynamic:0"), [":5: 'schedule' is \"dynamic:0\""]),
    "ending": (put(5, "ended", value="well"), [":5: 'ended' is \"well\""]),
    "negative time": (put(5, "regions", "copy", value=-1), [":5: 'regions.copy' is -1; allowed: a number from 0"]),
    "infinite time": (put(5, "seconds", value=float("inf")), [":5: ", "is no object of JSON"]),
    "no number": (put(5, "regions", "copy", value=float("nan")), [":5: ", "is no object of JSON"]),
    "huge number": (put(5, "seconds", value=10**400), [":5: 'seconds' is"]),
    "region by a path": (put(5, "regions", "a/b", value=1), [":5: 'regions' is \"a/b\"; allowed: plain names"]),
    "no block": (put(6, "blocks", value=["number=0"]), [":6: 'blocks' is \"number=0\""]),
    "more pages than bytes": (
        put(6, "blocks", value=["number=0 bytes=8192 0*999999999999"]),
        [":6: 'blocks' is", "at most 4 pages"],
    ),
    "node by words": (put(6, "blocks", value=["number=0 bytes=8192 x*2"]), [":6: 'blocks' is"]),
    "unknown kind": (put(6, "kind", value="shell"), [':6: \'kind\' is "shell"; allowed: "run", "pages"']),
    "key that is missing": (lambda found: found[4].pop("counters"), [":5: no 'counters'; allowed: an object"]),
}


@pytest.mark.parametrize("name", CASES)
def test_wrong_values_are_refused_with_their_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, expected = CASES[name]
    status = main(["kit", "import", str(written(tmp_path, change)), "-o", str(tmp_path / "host.toml")])
    refused(Ended(status, *capsys.readouterr()), "returned.jsonl", *expected)
    assert not (tmp_path / "host.toml").exists()


WHOLE = sealed(lines())
LINES = WHOLE.splitlines(keepends=True)
FILES: dict[str, tuple[bytes, list[str]]] = {
    "empty": (b"", [":1: does not begin as"]),
    "another file": (b"# kit\n", [":1: does not begin as"]),
    "packed": (b"\x1f\x8b\x08\x00", ["is packed"]),
    "cut within a line": (WHOLE[:-20], [f"returned.jsonl:{len(LINES)}: the file is cut off here"]),
    "cut after a line": (b"".join(LINES[:5]), ["returned.jsonl:5: the file is cut off here"]),
    "a line less": (b"".join([*LINES[:4], *LINES[5:]]), [":6: 'lines' is 6; allowed: 5"]),
    "a digit changed": (
        WHOLE.replace(b'"copy": 0.002', b'"copy": 0.001', 1),
        [":7: 'crc32' is", "was changed on its way"],
    ),
    "lines behind the end": (WHOLE + LINES[3], ["returned.jsonl:8: the file is cut off here"]),
    "no UTF-8": (b"".join([*LINES[:3], b"\xff\n", *LINES[4:]]), [":4: byte 0xff is no UTF-8"]),
    "deep": (b"".join([*LINES[:3], b"[" * 100_000 + b"\n", *LINES[4:]]), [":4: ", "is no object of JSON"]),
    "a list": (b"".join([*LINES[:3], b"[1]\n", *LINES[4:]]), [":4: '[1]' is no object of JSON"]),
    "only the kit": (sealed(lines()[:1]), ["returned.jsonl:2: the file is cut off here"]),
}


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused(name: str, tmp_path: Path) -> None:
    content, expected = FILES[name]
    (tmp_path / "returned.jsonl").write_bytes(content)
    ended = bounded(tmp_path, "kit", "import", "returned.jsonl", "-o", "host.toml")
    refused(ended, "returned.jsonl", *expected)
    assert not (tmp_path / "host.toml").exists()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    refused(
        bounded(tmp_path, "kit", "import", "missing.jsonl"), "missing.jsonl: cannot be read (No such file or directory)"
    )
    refused(bounded(tmp_path, "kit", "import", "."), ".: is no regular file")


def test_an_output_that_cannot_be_is_refused_before_any_work(tmp_path: Path) -> None:
    refused(
        bounded(tmp_path, "kit", "import", written(tmp_path).name, "-o", "nowhere/host.toml"),
        "cannot write 'nowhere/host.toml'",
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kit"], "no output; allowed: homenode kit -o"),
        (["kit", "--size", "huge", "-o", "k.tar.gz"], "'huge' is not one of 'tiny', 'usual'"),
        (["kit", "--kernel", "steam", "-o", "k.tar.gz"], "unknown kernel of a kit of size 'usual' 'steam'"),
        (["kit", "-o", "nowhere/k.tar.gz"], "cannot write 'nowhere/k.tar.gz'"),
        (["kit", "-o", "."], "output '.' is no name of a file"),
    ],
)
def test_wrong_words_are_refused(words: list[str], expected: str, tmp_path: Path) -> None:
    refused(bounded(tmp_path, *words), expected)
