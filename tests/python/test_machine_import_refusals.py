"""Wrong, truncated and hostile files for `homenode machine import`: one error with the file and the line, exit code 2, nothing written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import machine_texts as texts
from homenode.cli.main import main
from homenode.errors import UsageError
from homenode.machine_files.importing import import_machine
from support import Ended
from test_command_errors import refused
from test_hostile_files import bounded

LAUGHS = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">\n' for at in range(1, 10))
DEEP = '<object type="Group">' * 5000

FILES: dict[str, tuple[str | bytes, list[str]]] = {
    "entities": (
        f'<?xml version="1.0"?>\n<!DOCTYPE topology [\n<!ENTITY a0 "ha">\n{LAUGHS}]>\n<topology version="2.0">&a9;</topology>',
        ["wrong:2: has declarations of its own in its DOCTYPE"],
    ),
    "outer entity": (
        '<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n&other;</topology>',
        ["wrong:3: names the entity 'other'"],
    ),
    "deep": (f'<topology version="2.0">\n{DEEP}', ["wrong:2: nests elements more than 64 deep"]),
    "truncated XML": (texts.TWO_SOCKETS[:900], ["wrong:", "is no whole XML"]),
    "hwloc 1": (
        '<?xml version="1.0"?>\n<topology>\n<object type="System"/></topology>',
        ["wrong:2: is XML of hwloc 1", "lstopo old.xml new.xml"],
    ),
    "hwloc 4": ('<topology version="4.0"/>', ["wrong:1: is of version '4.0'"]),
    "page": ("<html><body/></html>", ["wrong:1: begins with <html>"]),
    "no machine": ('<topology version="2.0"/>', ["wrong:1: holds 0 machines"]),
    "no core": ('<topology version="2.0">\n<object type="Machine"/></topology>', ["wrong:2: has no core"]),
    "strange type": (
        '<topology version="2.0">\n<object type="Tower"/></topology>',
        ["wrong:2: the type of an object is 'Tower'"],
    ),
    "huge size": (
        texts.TWO_SOCKETS.replace('"16777216"', '"99999999999999999999999"', 1),
        ["'cache_size' of L3Cache is", "a whole number"],
    ),
    "negative index": (texts.TWO_SOCKETS.replace('os_index="1"', 'os_index="-1"', 1), ["'os_index' of", "is '-1'"]),
    "short distances": (texts.TWO_SOCKETS.replace("10 21 21 10 ", "10 21 21 "), ["2 nodes have 3 distances"]),
    "two nodes of a number": (texts.TWO_SOCKETS.replace(texts.node(1), texts.node(0)), ["has two nodes of one number"]),
    "latin 1": (b"Package:2 # \xe9\n", ["wrong:1: byte 0xe9 is no UTF-8"]),
    "UTF-16": ("Package:2".encode("utf-16"), ["wrong:1: byte 0xff is no UTF-8"]),
    "zeros": ("Package:2\0", ["wrong:1: has a byte 0"]),
    "empty": (" \n", ["wrong: is empty"]),
    "prose": ("This is\nno machine.\n", ["wrong: begins with 'This is', which no known format does"]),
    "synthetic type": ("Package:2 Tower:3", ["wrong:1: 'Tower' is no type of hwloc"]),
    "synthetic nothing": ("Package:0 Core:3", ["wrong:1: 'Package:0' has no number of its parts"]),
    "synthetic huge": ("Package:99999 Core:99999", ["describes more than 300000 parts"]),
    "synthetic large": ("Package:64 Core:128", ["has 8192 cores and 0 nodes"]),
    "synthetic twice": ("Package:2 Package:2 Core:1", ["has the type Package twice"]),
    "synthetic size": ("Package:2 L3Cache:1(size=lots) Core:1", ["'size=lots' is no size"]),
    "synthetic bracket": ("Package:2 [NUMANode Core:1", ["is no level of a topology"]),
    "synthetic memory": ("Package:2 [NUMANode:999999999] Core:1", ["is no memory; allowed: [NUMANode]"]),
    "mlc NaN": (texts.MLC.replace("130.0", "  nan"), ["wrong:5: an idle latency in ns is 'nan'"]),
    "mlc negative": (texts.MLC.replace("130.0", "-13.0"), ["wrong:5: an idle latency in ns is '-13.0'"]),
    "mlc huge": (texts.MLC.replace("200000.0", "1e300"), ["'ALL Reads' in MB/s is '1e300'"]),
    "mlc short row": (texts.MLC.replace("134.0\t  82.0", "134.0"), ["wrong:6: node 1 has 1 figures"]),
    "mlc missing row": (texts.MLC.replace("       0\t  80.0\t 130.0\t\n", ""), ["wrong:2: node 0 has no row"]),
    "mlc cut": (texts.MLC[: texts.MLC.index("       0\t100000")], ["wrong:16: no figures follow this heading"]),
    "mlc nothing": ("Intel(R) Memory Latency Checker - v3.9\n", ["no figure of MLC follows"]),
    "numactl cut": (texts.NUMACTL[: texts.NUMACTL.index("  1:")], ["wrong:11: node 1 has no row of 2 distances"]),
    "numactl wrong": (texts.NUMACTL.replace("20\n", "2000\n", 1), ["wrong:10: a distance is '2000'"]),
    "numactl empty": ("available: 2 nodes (0-1)\n", ["has no 'node 0 cpus:'"]),
    "table not square": ("1,2,3\n4,5,6\n", ["wrong:1: has 3 cells"]),
    "table infinity": ("1,2,3\n4,5,inf\n7,8,9\n", ["wrong:2: a latency in ns is 'inf'"]),
    "table gaps": (",,\n4,,\n7,,\n", ["wrong:3: no time stands between threads 2 and 1"]),
    "curve unit": ("furlongs, ns\n1,2\n2,3\n", ["wrong:1: the columns are 'furlongs, ns'"]),
    "curve in MB": ("120000 80\n150000 90\n160000 90\n", ["wrong:1: a bandwidth is '120000'"]),
    "yaml alias": (texts.KERNCRAFT.replace("sockets: 2", "sockets: &a 2\nmore: *a", 1), ["refers to '*a'"]),
    "yaml deep": (texts.KERNCRAFT + "more: " + "[" * 10_000, ["is too deep or too long"]),
    "yaml broken": (texts.KERNCRAFT + "more: [1, 2\n", ["is no YAML"]),
    "yaml twice": (texts.KERNCRAFT + "clock: 3 GHz\n", ["has 'clock' twice"]),
    "yaml unit": (texts.KERNCRAFT.replace("2.0 GHz", "2.0 parsec"), ["wrong:3: 'clock' is '2.0 parsec'"]),
    "yaml counts": (texts.KERNCRAFT.replace("sockets: 2", "sockets: many", 1), ["wrong:4: 'sockets' is 'many'"]),
    "yaml domains": (
        texts.KERNCRAFT.replace("socket: 1", "socket: 3"),
        ["wrong:5: 2 sockets of 4 cores and 3 NUMA domains"],
    ),
}


HOSTILE = ("entities", "deep", "yaml deep", "synthetic huge")  # in a process of little memory, too


def write(folder: Path, kind: str) -> list[str]:
    """Writes the file of a kind and returns what its refusal says."""
    content, expected = FILES[kind]
    (folder / "wrong").write_bytes(content if isinstance(content, bytes) else content.encode())
    return expected


@pytest.mark.parametrize("kind", FILES)
def test_wrong_files(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = write(tmp_path, kind)
    monkeypatch.chdir(tmp_path)
    status = main(["machine", "import", "wrong", "-o", "x.toml"])
    said = capsys.readouterr()
    refused(Ended(status, said.out, said.err), *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["wrong"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_take_little_memory(kind: str, tmp_path: Path) -> None:
    expected = write(tmp_path, kind)
    refused(bounded(tmp_path, "machine", "import", "wrong", "-o", "x.toml"), *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["wrong"]


WORDS = [
    ([], "nothing to import; allowed: files (hwloc XML 2 or 3"),
    (["missing.xml"], "missing.xml: cannot be read"),
    (["."], "is no regular file"),
    (["box.xml", "--name", "a/b"], "the name is 'a/b'"),
    (["box.xml", "--donor", "nobody"], "unknown machine 'nobody'"),
    (["box.xml", "--donor", "knc-5110p"], "the donor 'knc-5110p' has its cores on a ring"),
    (["box.xml", "-o", "missing/x.toml"], "no folder 'missing'"),
]


@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_wrong_arguments(
    words: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "box.xml").write_text(texts.TWO_SOCKETS)
    monkeypatch.chdir(tmp_path)
    status = main(["machine", "import", *words])
    said = capsys.readouterr()
    refused(Ended(status, said.out, said.err), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["box.xml"]


def test_kerncraft_without_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made-up.yml").write_text(texts.KERNCRAFT)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"PyYAML, which is not installed; allowed: pip install 'homenode\[import\]'"):
        import_machine([tmp_path / "made-up.yml"])


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(33 << 20)
    refused(bounded(tmp_path, "machine", "import", "large", "-o", "x.toml"), "large: has 34603008 bytes")
