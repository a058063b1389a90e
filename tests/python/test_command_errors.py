"""Bad usage and bad input: exit code 2, one line on stderr that names what is allowed, nothing written."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Ended

Run = Callable[..., Ended]
X7560 = ("--machine", "xeon-x7560-4s")


def refused(ended: Ended, *expected: str) -> None:
    """One line, no traceback, exit code 2, nothing on stdout."""
    assert ended.status == 2, ended
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("homenode: ")
    for text in expected:
        assert text in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rank"], ["unknown command 'rank'; allowed: ", "did you mean 'replay'?"]),
        (["captrue"], ["unknown command 'captrue'; allowed: capture, cc, c++", "did you mean 'capture'?"]),
        (["kernels", "--bogus"], ["--bogus"]),
        (
            ["machines", "x7560"],
            ["unknown machine 'x7560'; allowed: a64fx, epyc-7763-2s-nps1", "did you mean 'xeon-x7560-4s'?"],
        ),
        (
            ["policies", "distr"],
            ["unknown policy or kind of policy 'distr'; did you mean 'distribution'", "? Allowed: one of "],
        ),
        (["inspect", "missing.hnt"], ["no trace 'missing.hnt'"]),
        (["inspect"], ["FILE"]),
        (["check", "."], ["is a folder"]),
        (["capture", "-o", "x.hnt"], ["nothing to capture", "hotspot"]),
        (["capture", "jacobi", "-o", "x.hnt"], ["unknown kernel 'jacobi'; did you mean 'jacobi3d'", "Allowed: one of"]),
        (["capture", "hotspot", "-o", ""], ["no name of a file"]),
        (["capture", "hotspot", "-o", "x.hnt", "--", "true"], ["both a kernel", "one of them"]),
        (
            ["capture", "hotspot", "--set", "stesp=1", "-o", "x.hnt"],
            ["unknown parameter of kernel 'hotspot' 'stesp'; allowed: steps, size"],
        ),
        (["capture", "hotspot", "--set", "size", "-o", "x.hnt"], ["--set 'size'", "NAME=VALUE"]),
        (["capture", "hotspot", "--set", "size=big", "-o", "x.hnt"], ["'big'", "an integer"]),
        (["capture", "hotspot", "--set", "init=late", "-o", "x.hnt"], ["'late'", "serial, parallel"]),
        (["capture", "hotspot", "--threads", "0", "-o", "x.hnt"], ["'threads' is 0", "at least 1, at most 1024"]),
        (["capture", "hotspot", "-o", "missing/x.hnt"], ["no folder 'missing'"]),
        (["capture", "-o", "x.hnt", "--", "./missing"], ["no program './missing'"]),
        (["validate", "native"], ["no validation/ here", "source tree"]),
    ],
)
def test_bad_usage(homenode: Run, tmp_path: Path, arguments: list[str], expected: list[str]) -> None:
    refused(homenode(*arguments), *expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([*X7560], ["--threads"]),
        (["--threads", "8"], ["--machine"]),
        ([*X7560, "--threads", "33"], ["33 threads", "32 cores", "--oversubscribe"]),
        ([*X7560, "--threads", "0"], ["0 threads", "at least 1"]),
        ([*X7560, "--threads", "eight"], ["eight"]),
        ([*X7560, "--threads", "8,"], ["'8,'", "8,16", "repeat the option"]),
        ([*X7560, "--threads", "1000000000", "--oversubscribe"], ["1000000000 threads", "at most 65536"]),
        (
            [*X7560, "--threads", "8", "--placement", "optimal+autonuma"],
            ["'optimal' is a bound", "'autonuma' moves pages"],
        ),
        ([*X7560, "--threads", "8", "--python", "/proc/self/exe"], ["'/proc/self/exe' is no Python file"]),
        (
            [*X7560, "--threads", "8", "--change", "linkbandwith=9 GB/s"],
            ["did you mean 'link_bandwidth'", "'homenode machines xeon-x7560-4s --changeable' lists them"],
        ),
        (["--machine", "bogus", "--threads", "8"], ["unknown machine 'bogus'", "xeon-x7560-4s"]),
        (
            [*X7560, "--threads", "8", "--placement", "first"],
            ["unknown placement 'first'; allowed: first-touch, interleave, bind"],
        ),
        ([*X7560, "--threads", "8", "--placement", "bind:9"], ["'bind:9'", "nodes 0 to 3"]),
        ([*X7560, "--threads", "8", "--placement", "bind:node=x"], ["x"]),
        ([*X7560, "--threads", "8", "--placement", "bind:bogus=1"], ["bogus", "node"]),
        ([*X7560, "--threads", "8", "--mapping", "bogus"], ["unknown mapping 'bogus'", "compact, scatter"]),
        (
            [*X7560, "--threads", "8", "--distribution", "dynamik"],
            ["unknown distribution 'dynamik'; allowed: dynamic, static, guided"],
        ),
        ([*X7560, "--threads", "8", "--distribution", "static:-1"], ["-1"]),
        ([*X7560, "--threads", "8", "--distribution", "bogus@static"], ["unknown region label 'bogus'", "sweep"]),
        ([*X7560, "--threads", "8", "--distribution", "sweep@static sweep@guided"], ["two distributions"]),
        ([*X7560, "--threads", "8", "--engine", "bogus"], ["unknown engine 'bogus'", "flow, simgrid"]),
        ([*X7560, "--threads", "8", "--stores", "bogus"], ["'bogus'", "nt, machine, regular"]),
        ([*X7560, "--threads", "8", "--seed", "-1"], ["seed -1"]),
        ([*X7560, "--threads", "8", "--change", "bogus=1 ns"], ["bogus"]),
        ([*X7560, "--threads", "8", "--change", "link_bandwidth"], ["NAME=VALUE"]),
        ([*X7560, "--threads", "8", "--change", "link_bandwidth=25"], ["25"]),
        ([*X7560, "--threads", "8", "--change", "link_bandwidth=-25 GB/s"], ["-25 GB/s"]),
        ([*X7560, "--threads", "8", "--python", "missing.py"], ["no Python file 'missing.py'"]),
        ([*X7560, "--threads", "8", "-o", "missing/report.json"], ["missing/report.json"]),
    ],
)
def test_bad_replay(homenode: Run, tmp_path: Path, trace_file: Path, arguments: list[str], expected: list[str]) -> None:
    refused(homenode("replay", trace_file, *arguments), *expected)
    assert list(tmp_path.iterdir()) == []


LONG = "a" * 5000


@pytest.mark.parametrize(
    "arguments",
    [
        [LONG],
        ["inspect", LONG],
        ["check", LONG],
        ["machines", LONG],
        ["machines", f"./{LONG}"],
        ["systems", LONG],
        ["policies", LONG],
        ["capture", LONG, "-o", "x.hnt"],
        ["recover", LONG, "-o", "x.hnt"],
        ["report", LONG, "-o", "x.html"],
        ["map", LONG, *X7560],
        ["machine", "detect", "-o", LONG],
        ["classify", LONG],
    ],
)
def test_names_of_5000_characters(homenode: Run, tmp_path: Path, arguments: list[str]) -> None:
    ended = homenode(*arguments)
    refused(ended)
    assert len(ended.stderr) < 1000
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option", ["--machine", "--placement", "--mapping", "--system", "--energy", "--python", "--timeline", "-o"]
)
def test_values_of_5000_characters(homenode: Run, tmp_path: Path, trace_file: Path, option: str) -> None:
    machine = () if option == "--machine" else X7560
    ended = homenode("replay", trace_file, *machine, "--threads", "2", option, LONG)
    refused(ended)
    assert len(ended.stderr) < 1000
    assert list(tmp_path.iterdir()) == []


def damaged(trace_file: Path, kind: str) -> bytes:
    good = trace_file.read_bytes()
    middle = len(good) // 2
    match kind:
        case "empty":
            return b""
        case "text":
            return b"not a trace\n" * 100
        case "truncated":
            return good[:middle]
        case "without its last byte":
            return good[:-1]
        case "bit-flipped":
            return good[:middle] + struct.pack("B", good[middle] ^ 0x10) + good[middle + 1 :]
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", ["empty", "text", "truncated", "without its last byte", "bit-flipped"])
@pytest.mark.parametrize("command", ["inspect", "check", "replay"])
def test_damaged_trace(homenode: Run, tmp_path: Path, trace_file: Path, command: str, kind: str) -> None:
    bad = tmp_path / "bad.hnt"
    bad.write_bytes(damaged(trace_file, kind))
    more = (*X7560, "--threads", "8") if command == "replay" else ()
    refused(homenode(command, bad, *more), "bad.hnt")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('name = "xeon-x5550-2s"', 'name = "xeon-x5550-2s"\nbogus = 1', "bogus"),
        ("GB/s", "", ""),
        ('latency = { value = "', 'latency = { value = "-', "-"),
    ],
)
def test_bad_machine_file(homenode: Run, tmp_path: Path, old: str, new: str, expected: str) -> None:
    import homenode as hn

    good = hn.Machine.load("xeon-x5550-2s").to_toml()
    assert old in good
    (tmp_path / "bad.toml").write_text(good.replace(old, new, 1))
    ended = homenode("machines", "./bad.toml")
    assert ended.status == 2
    assert ended.stdout == ""
    (message,) = ended.stderr.splitlines()
    assert re.match(
        r"homenode: \S*bad.toml:\d+:\d+: .*; allowed: .* in: ", message
    )  # where, what, then the user's own line
    assert expected in message


def test_failed_self_check_writes_nothing(homenode: Run, tmp_path: Path) -> None:
    ended = homenode("capture", "hotspot", "--set", "size=17", "-o", "x.hnt")
    assert ended.status == 2
    assert "nothing was written" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_python_policy_errors_keep_the_users_traceback(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import homenode as hn\n"
        "@hn.page_placement('broken')\n"
        "def place(faults):\n"
        "    return faults.page / nothing_of_this_name\n"
    )
    ended = homenode("replay", trace_file, *X7560, "--threads", "4", "--python", "mine.py", "--placement", "broken")
    assert ended.status == 2
    assert ended.stderr.startswith("homenode: placement 'broken' raised NameError")
    assert "return faults.page / nothing_of_this_name" in ended.stderr
