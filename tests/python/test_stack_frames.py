"""The recording runtime says whose stack frame an address is in before it is touched, also where another frame lay there meanwhile."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support import SCRIPTS

pytestmark = pytest.mark.capture

CALLS = """
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE static void put(volatile char* at) { at[0] = 1; }
NOINLINE static void shallow(void) { char own[512]; put(own); put(own + 511); }
NOINLINE static void deep(void) { char own[256]; put(own); put(own + 255); }
NOINLINE static void between(void) { deep(); __asm__ volatile("" ::: "memory"); }
int main(void) {
  shallow();
  between();
  shallow();
  return 0;
}
"""

# traces/capture/runtime/stream.h: numbers of each message, a site counts as two; "s": a text follows them.
HELLO, MODULE, PC, RUN, RUN_SAME, FRAME, TLS, LOSS, END, LEAVING, ACCESS, PAIR = (
    1,
    2,
    3,
    4,
    5,
    9,
    10,
    25,
    26,
    32,
    64,
    65,
)
FIELDS = {HELLO: 5, MODULE: 2, PC: 6, RUN_SAME: 3, FRAME: 5, TLS: 3, LOSS: 3, END: 2, LEAVING: 0}
FIXED = {ACCESS: 14, PAIR: 18}


class Frame(NamedTuple):
    low: int
    high: int
    site: int


def frames_of(stream: bytes) -> Iterator[Frame]:
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = stream[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(stream):
        opcode = stream[at]
        at += 1
        if opcode in FIXED:
            at += FIXED[opcode]
        elif opcode == RUN:
            several = (number(), number())[1] > 1
            for _ in range(5 if several else 3):
                number()
        else:
            fields = [number() for _ in range(FIELDS[opcode])]
            if opcode in (MODULE, LOSS, LEAVING):
                length = number()  # which moves `at`
                at += length
            if opcode == FRAME:
                yield Frame(fields[1], fields[2], fields[4])


def test_a_frame_that_another_one_replaced_is_announced_again(tmp_path: Path) -> None:
    (tmp_path / "calls.c").write_text(CALLS)
    subprocess.run([SCRIPTS / "homenode-gcc", "-O1", "-g", "-w", "calls.c", "-o", "calls"], cwd=tmp_path, check=True)
    source, sink = os.pipe()
    program = subprocess.Popen(
        [tmp_path / "calls"], pass_fds=[sink], env={**os.environ, "HOMENODE_STREAM_FD": str(sink)}
    )
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        frames = list(frames_of(stream.read()))
    assert program.wait() == 0
    (shallow,) = {frame for frame in frames if 512 <= frame.high - frame.low < 1024}
    (deep,) = {frame for frame in frames if 256 <= frame.high - frame.low < 512}
    assert deep.low < shallow.high and shallow.low < deep.high  # else the program shows nothing
    assert [frame for frame in frames if frame in (shallow, deep)] == [shallow, deep, shallow]
