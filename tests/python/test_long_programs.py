"""Programs whose accesses do not fold: captured in parts, in bounded memory, with the same trace each time."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
from pathlib import Path

import pytest

import homenode as hn
from homenode import _core
from homenode.resources import PROGRAMS
from support import SCRIPTS

pytestmark = pytest.mark.capture

GATHER = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { BINS = 1 << 16 };
static int bins[BINS];
static void* gather(void* words) {
  unsigned long drawn = 1;
  for (long left = (long)words; left > 0; --left) {
    drawn = drawn * 6364136223846793005ul + 1442695040888963407ul;
    bins[(drawn >> 33) % BINS] += 1;
  }
  return 0;
}
int main(int count, char** words) {
  const long each = atol(words[1]);
  pthread_t thread;
  if (count > 2) pthread_create(&thread, 0, gather, (void*)each), pthread_join(thread, 0);
  else gather((void*)each);
  long sum = 0;
  for (int i = 0; i < BINS; ++i) sum += bins[i];
  return sum == each ? 0 : 1;
}
"""
UPDATES = 3_000_000  # two accesses each, of which none continues a run


@pytest.fixture(scope="module")
def gather(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gather")
    (folder / "gather.c").write_text(GATHER)
    call = [SCRIPTS / "homenode-gcc", "-O2", "-g", "-pthread", "gather.c", "-o", "gather"]
    subprocess.run(call, cwd=folder, check=True)
    return folder / "gather"


def test_serial_code_that_does_not_fold_is_several_iterations(gather: Path) -> None:
    trace, again = (hn.capture(command=[gather, str(UPDATES)]) for _ in range(2))
    assert trace.hash == again.hash
    (region,) = trace.regions.to_dict("records")
    assert region["label"] == "main:serial"
    assert (region["executions"], region["items"]) == (1, 2)
    assert region["writes"] == UPDATES
    # The parts have all of the twin's work, which is one stretch: eight instructions an update.
    assert region["work"]["instructions"] == pytest.approx(8 * UPDATES, rel=0.05)


def test_a_thread_that_does_not_fold_is_several_iterations(gather: Path) -> None:
    trace = hn.capture(command=[gather, str(UPDATES), "thread"])
    region = trace.regions.set_index("label").loc["gather"]
    assert (region.executions, region["items"]) == (1, 2)
    assert region.writes == UPDATES
    assert _core.check_trace(trace.path) == []
    # By itself the code takes the first thread as long.
    alone = hn.replay(hn.capture(command=[gather, str(UPDATES)]), "xeon-x5550-2s")
    replayed = hn.replay(trace, "xeon-x5550-2s").regions
    assert replayed.exclusive_seconds.sum() == pytest.approx(alone.regions.exclusive_seconds.sum(), rel=0.05)


def short_messages(count: int) -> bytes:
    """A stream of so many accesses at places without regularity, in one iteration of a loop (traces/capture/runtime/stream.h)."""

    def numbers(*values: int) -> bytes:
        coded = bytearray()
        for value in values:
            while value >= 128:
                coded.append(value & 127 | 128)
                value >>= 7
            coded.append(value)
        return bytes(coded)

    begin = bytes([1]) + numbers(4, 4096, 1, 0x700000000000, 0x700000100000)  # HELLO
    begin += bytes([3]) + numbers(0, 0, 8, 0, 0, 0x1000)  # PC
    begin += bytes([7]) + numbers(0x10000, 1 << 30, 0, 0, 0, 16, 0, 0x9000)  # ALLOCATE
    begin += bytes([12]) + numbers(0, 1, 0, 0x2000, 0, 0x2000)  # PARALLEL_BEGIN
    begin += bytes([15]) + numbers(0, 0x3000, 0, 2, 2, 0, 1)  # LOOP_BEGIN
    begin += bytes([16]) + numbers(0)  # ITEM
    accesses = bytearray()
    before = 0
    for sequence in range(count):
        address = 0x10000 + (sequence * sequence * 48271 % (1 << 27)) * 8
        accesses += b"\x40\x00\x00" + sequence.to_bytes(4, "little")
        accesses += ((address - before) % (1 << 48)).to_bytes(6, "little") + b"\x00\x00"
        before = address
    return begin + bytes(accesses)


def assembled_within(most: int, accesses: int, folder: Path) -> dict[str, str]:
    """What the assembler answers to so many accesses, with an address space of `most` bytes."""
    ours, theirs = socket.socketpair()
    stream = folder / "stream"
    stream.write_bytes(short_messages(accesses))
    with stream.open("rb") as source, (folder / "counts").open("w+b") as counts:
        descriptors = (source.fileno(), counts.fileno(), theirs.fileno())
        call = [PROGRAMS / "assemble", *map(str, descriptors), folder / "out.hnt", "program", "", "word"]
        ended = subprocess.Popen(
            call, pass_fds=descriptors, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
        )
        theirs.close()
        with ours, ours.makefile() as answers:
            ours.shutdown(socket.SHUT_WR)
            answer: dict[str, str] = json.loads(answers.readline())
        ended.wait()
    return answer


def test_a_program_beyond_the_memory_ends_with_one_error(tmp_path: Path) -> None:
    assert "hash" in assembled_within(96 << 20, 1000, tmp_path)
    (tmp_path / "out.hnt").unlink()
    answer = assembled_within(96 << 20, 1_500_000, tmp_path)
    assert answer["error"] == "Error"
    assert "this machine's memory does not hold" in answer["message"]
    assert not (tmp_path / "out.hnt").exists()
