"""Ctrl-C and SIGTERM: a command ends in one line, and what it started ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from pathlib import Path

import pytest

from support import ROOT, SCRIPTS, heed_signals, processes_with


@pytest.mark.parametrize("program", ["homenode", "homenode-gcc"])
def test_ctrl_c_while_homenode_is_imported_is_one_line(tmp_path: Path, program: str) -> None:
    # of what is imported first, one module waits for us
    os.mkfifo(tmp_path / "gate")
    for module in ("click", "shlex"):
        (tmp_path / f"{module}.py").write_text(f"open({str(tmp_path / 'gate')!r}).read()\n")
    process = subprocess.Popen(
        [SCRIPTS / program, "--help"], env={**os.environ, "PYTHONPATH": str(tmp_path)}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=heed_signals,
    )  # fmt: skip
    with (tmp_path / "gate").open("w"):  # it has come there
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (130, "homenode: interrupted\n")


def test_one_place_tells_of_an_interrupt() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "bindings" / "python").rglob("*.py")}
    telling = [path.parent.name for path, text in texts.items() if "homenode: interrupted" in text]
    assert telling == ["homenode_command"]


def test_ctrl_c_in_a_command_is_told_once(tmp_path: Path) -> None:
    # a compiler that waits for words from us
    os.mkfifo(tmp_path / "gate")
    (tmp_path / "x.c").write_text("int main(void) { return 0; }")
    (tmp_path / "slow").write_text(f"#!/bin/sh\nexec < {tmp_path / 'gate'}\nread line\n")
    (tmp_path / "slow").chmod(0o755)
    process = subprocess.Popen(
        [SCRIPTS / "homenode", "cc", "-c", "x.c"], env={**os.environ, "HOMENODE_GCC": str(tmp_path / "slow")}, text=True,
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals, start_new_session=True,
    )  # fmt: skip
    with (tmp_path / "gate").open("w"):  # the compiler has come there
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said.strip()) == (130, "homenode: interrupted")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_validation_ends_with_its_command(tmp_path: Path, number: signal.Signals) -> None:
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [SCRIPTS / "homenode", "validate", "published", "--folder", tmp_path], cwd=ROOT, env={**os.environ, "MARK": mark},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals,
    )  # fmt: skip

    def has_begun() -> bool:
        lines = [Path(f"/proc/{found}/cmdline").read_bytes() for found in processes_with(mark)]
        return any(b"validation\0published" in line and b"supervise" not in line for line in lines)

    while not has_begun():
        assert process.poll() is None
        os.sched_yield()
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == (130 if number != signal.SIGKILL else -signal.SIGKILL)
    assert "Traceback" not in said
    while processes_with(mark):
        os.sched_yield()
