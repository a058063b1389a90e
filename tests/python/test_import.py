"""Traces made by other tools: what is decoded is what was read, bad input is refused whole, and what a trace lacks is named."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import homenode as hn
from homenode import _core, errors
from support import Ended
from test_command_errors import refused

Run = Callable[..., Ended]
X5550 = ("--machine", "xeon-x5550-2s")
KINDS = ("read", "write", "modify", "atomic")
LETTERS = {"L": 0, "S": 1, "M": 2}

Access = tuple[int, int, int]  # address, size, kind


def decoded(file: Path, iteration: int = 0) -> list[Access]:
    """The accesses of one iteration of every execution, in the order of the trace."""
    trace = _core.Trace.open(file)
    result: list[Access] = []
    for execution in range(sum(region["executions"] for region in trace.inspect()["regions"])):
        columns = _core.accesses_of(trace, execution, iteration)
        rows = zip(*(columns[name].tolist() for name in ("address", "width", "kind")), strict=True)
        result.extend((address, width, kind) for address, width, kind in rows)
    return result


def strided_and_random(seed: int, count: int) -> list[Access]:
    """Rows of a matrix, a table of random places, a counter on the stack."""
    source = random.Random(seed)
    accesses: list[Access] = []
    for step in range(count):
        accesses.append((0x4000000 + step % 1000 * 8, 8, 0))
        if source.random() < 0.5:
            accesses.append((0x7F0000000000 + source.randrange(1 << 22) * 4, 4, source.randrange(4)))
        accesses.append((0x1FFE000000, 8, 2))
    return accesses


def csv_of(accesses: list[Access], owner: str | None = None, owners: list[int] | None = None) -> str:
    """A table of them, addresses in hexadecimal."""
    lines = ["address,size,kind" + (f",{owner}" if owner else "")]
    for i, (address, size, kind) in enumerate(accesses):
        lines.append(f"{address:#x},{size},{KINDS[kind]}" + (f",{owners[i]}" if owners else ""))
    return "\n".join(lines) + "\n"


def test_a_program_under_valgrind(homenode: Run, tmp_path: Path) -> None:
    text, trace = tmp_path / "lackey.txt", tmp_path / "true.hnt"
    words = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={text}", "/bin/true", "two", "words"]
    subprocess.run(words, check=True, capture_output=True)
    expected: list[Access] = []
    instructions = 0
    for line in text.read_text().splitlines():
        instructions += line.startswith("I")
        if line[:3] in (" L ", " S ", " M "):
            address, size = line[3:].split(",")
            expected.append((int(address, 16), int(size), LETTERS[line[1]]))
    done = homenode("import", "lackey", text, "-o", trace)
    assert done.status == 0, done
    assert f"{len(expected):,} accesses" in done.stdout
    assert decoded(trace) == expected
    found = hn.Trace.open(trace)
    assert (found.program, found.arguments, found.complete) == ("/bin/true", "two words", True)
    # instructions = I lines, of all regions
    assert found.inspect()["work"]["instructions"] == instructions
    assert homenode("check", trace).status == 0
    # The same text makes the same file.
    again = tmp_path / "again.hnt"
    homenode("import", "lackey", text, "-o", again)
    assert again.read_bytes() == trace.read_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_a_table_comes_back_in_its_order(homenode: Run, tmp_path: Path, seed: int) -> None:
    accesses = strided_and_random(seed, 4000)
    (tmp_path / "in.csv").write_text(csv_of(accesses))
    assert homenode("import", "csv", "in.csv", "-o", "out.hnt").status == 0
    assert decoded(tmp_path / "out.hnt") == accesses


def test_threads_come_back_each_in_its_order(homenode: Run, tmp_path: Path) -> None:
    accesses = strided_and_random(9, 3000)
    source = random.Random(9)
    owners = [source.choice((5, 1, 40)) for _ in accesses]
    (tmp_path / "in.csv").write_text(csv_of(accesses, "thread", owners))
    done = homenode("import", "csv", "in.csv", "-o", "out.hnt", "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == "homenode.import/1"
    assert document["threads"] == [1, 5, 40]
    assert document["accesses"] == len(accesses)
    for rank, thread in enumerate(document["threads"]):
        own = [access for access, owner in zip(accesses, owners, strict=True) if owner == thread]
        assert decoded(tmp_path / "out.hnt", rank) == own


def test_replay_of_threads(homenode: Run, tmp_path: Path) -> None:
    """Thread t works on megabyte t, which it wrote first: all local under first-touch; half of the threads remote under bind."""
    lines = ["thread,address,size,kind"]
    for kind in ("write", "read"):
        for thread in range(8):
            lines += [f"{thread},{(1 << 30) + (thread << 20) + offset},8,{kind}" for offset in range(0, 1 << 20, 64)]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    assert homenode("import", "csv", "in.csv", "-o", "out.hnt").status == 0
    placements = ("--placement", "first-touch", "--placement", "bind:0", "--placement", "interleave")
    done = homenode("replay", "out.hnt", *X5550, "--threads", "8", *placements, "--json")
    assert done.status == 0, done
    runs = {run["placement"]: run for run in json.loads(done.stdout)["runs"]}
    assert runs["first-touch"]["remote_pages"] == 0
    # 4 threads of node 1 x 256 pages
    assert runs["bind:0"]["remote_pages"] == 4 * 256
    assert runs["bind:0"]["seconds"] > runs["first-touch"]["seconds"]
    assert runs["interleave"]["seconds"] > runs["first-touch"]["seconds"]
    refused(homenode("replay", "out.hnt", *X5550, "--threads", "4"), "region 'threads'", "--threads 8")


def test_replay_of_items_with_any_distribution(homenode: Run, tmp_path: Path) -> None:
    rows = [f"{item},{(1 << 30) + item * 4096 + offset},8,read" for item in range(64) for offset in range(0, 4096, 8)]
    (tmp_path / "in.csv").write_text("item,address,size,kind\n" + "\n".join(rows) + "\n")
    assert homenode("import", "csv", "in.csv", "-o", "out.hnt").status == 0
    trace = hn.Trace.open(tmp_path / "out.hnt")
    assert trace.regions.iloc[0]["items"] == 64
    machine = hn.Machine.load("xeon-x5550-2s")
    one = hn.replay(trace, machine, threads=1).seconds
    for distribution in ("static", "static:1", "dynamic:4", "guided"):
        assert hn.replay(trace, machine, threads=8, distribution=distribution).seconds < one


def test_what_the_trace_lacks_is_declared_and_refused_by_name(homenode: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(" L 1000,8\n S 2000,8\n")
    done = homenode("import", "lackey", "in.txt", "-o", "out.hnt")
    assert "lacks objects, heap-calls, iterations, work, dependence" in done.stdout
    trace = hn.Trace.open(tmp_path / "out.hnt")
    reasons = [loss["reason"] for loss in trace.inspect()["losses"]]
    for name in _core.lacks(_core.Trace.open(tmp_path / "out.hnt")):
        assert sum(f": {name} (" in reason for reason in reasons) == 1
    assert trace.inspect()["regions"][0]["miss_parallelism"] == 0  # nothing is said about it
    replay = ("replay", "out.hnt", *X5550, "--threads", "2")
    assert homenode(*replay).status == 0
    refused(homenode(*replay, "--stores", "nt"), "store treatment 'nt' needs stores marked streamable", "'in' lacks")
    refused(
        homenode(*replay, "--distribution", "dynamic:4"), "distribution 'dynamic:4' needs iterations", "(iterations)"
    )
    refused(homenode("inspect", "out.hnt", "--threads"), "the graph of threads", "needs the thread of each access")


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (
            "lackey",
            " L 1000,8\nprogram says hello\n",
            ["in.txt:2: found 'program says hello'; allowed: 'I  address,size'"],
        ),
        ("lackey", " L 1000,8\n S 20", ["in.txt:2: the file is cut off"]),
        ("lackey", " L 1000,1024\n", ["in.txt:1: found size '1024'; allowed: 1 to 512 bytes"]),
        ("lackey", "", ["'in.txt' has no accesses; allowed: at least one"]),
        ("csv", "", ["'in.txt' is empty; allowed: a header"]),
        ("csv", "adress,size,kind\n1,8,read\n", ["in.txt:1: in the header: unknown column 'adress'; allowed: address"]),
        ("csv", "address,kind\n1,read\n", ["in.txt:1: the header has no column 'size'"]),
        (
            "csv",
            "address,size,kind\n1,8,read\n1,8,fetch\n",
            ["in.txt:3: kind 'fetch'; allowed: read, write, modify, atomic"],
        ),
        ("csv", "item,address,size,kind\n1,1,8,read\n0,1,8,read\n", ["in.txt:3: item 0 after item 1; allowed"]),
        ("cvs", "", ["unknown format 'cvs'; allowed: csv, lackey"]),
    ],
)
def test_bad_input(homenode: Run, tmp_path: Path, form: str, text: str, expected: list[str]) -> None:
    (tmp_path / "in.txt").write_text(text)
    older = b"\x89HNT: an older trace"
    (tmp_path / "out.hnt").write_bytes(older)
    refused(homenode("import", form, "in.txt", "-o", "out.hnt"), *expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.hnt"]
    assert (tmp_path / "out.hnt").read_bytes() == older


def test_bad_places(homenode: Run, tmp_path: Path) -> None:
    refused(homenode("import", "csv", "missing.csv", "-o", "out.hnt"), "no file 'missing.csv'")
    refused(homenode("import", "csv", tmp_path, "-o", "out.hnt"), "no regular file")
    (tmp_path / "in.csv").write_text("address,size,kind\n1,8,read\n")
    refused(homenode("import", "csv", "in.csv", "-o", "missing/out.hnt"), "no folder 'missing'")
    refused(homenode("import", "csv", "in.csv", "-o", "in.csv"), "is there and no trace")
    refused(homenode("import", "csv", "in.csv"), "--output")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_unfolding_beyond_the_trace(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("address,size,kind\n1,8,read\n")
    _core.import_csv(tmp_path / "in.csv", tmp_path / "out.hnt")
    trace = _core.Trace.open(tmp_path / "out.hnt")
    assert np.array_equal(_core.accesses_of(trace, 0, 0)["address"], [1])
    with pytest.raises(errors.UsageError, match="iteration 1 of an execution with 1"):
        _core.accesses_of(trace, 0, 1)
    with pytest.raises(errors.UsageError, match="execution 1 of a trace with 1"):
        _core.accesses_of(trace, 1, 0)


def test_an_exception_in_the_progress_ends_the_import(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("address,size,kind\n1,8,read\n")

    def interrupt(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.import_csv(tmp_path / "in.csv", tmp_path / "out.hnt", interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
