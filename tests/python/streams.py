"""What tests of `homenode cc` share: programs compiled, and the stream that they send."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from homenode.compiler.stream_dump import Access, Message, messages, record

PROGRAMS = Path(__file__).parent / "programs"


def compile_with(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "homenode.compiler", "cc", *(str(word) for word in words)],
        cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


def build(folder: Path, name: str, *flags: str) -> Path:
    program = folder / name
    ended = compile_with("-fopenmp", *(flags or ("-O2",)), PROGRAMS / f"{name}.c", "-o", program, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return program


def stream(program: Path, *arguments: str, **environment: str) -> list[Message]:
    data, _, status = record([program, *arguments], environment)
    assert status == 0
    found = list(messages(data))
    assert found[-1].name == "end"
    # the runtime's own count of all it recorded
    assert found[-1].fields[1] == sum(len(message.accesses) for message in found)
    return found


def regions(found: list[Message]) -> list[list[Message]]:
    """The messages of each parallel region, in order."""
    result: list[list[Message]] = []
    inside = False
    for message in found:
        if message.name == "parallel_begin":
            result.append([])
            inside = True
        elif message.name == "parallel_end":
            inside = False
        if inside:
            result[-1].append(message)
    return result


def accesses(found: list[Message]) -> Iterator[Access]:
    return (access for message in found for access in message.accesses)


def kinds(found: list[Message]) -> dict[str, int]:
    return dict(Counter(access.kind for access in accesses(found)))


def work_of(twin: Path, folder: Path, *arguments: str) -> list[dict[str, int]]:
    subprocess.run(
        [twin, *arguments], env={"HOMENODE_WORK": str(folder / "work")}, stdout=subprocess.DEVNULL, check=True
    )
    lines = [json.loads(line) for line in (folder / "work").read_text().splitlines()]
    assert lines.pop() == {"kind": "end"}
    return [line for line in lines if line["kind"] in ("serial", "parallel", "thread")]
