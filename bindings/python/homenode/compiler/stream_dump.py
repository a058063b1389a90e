"""Reads the recording runtime's stream (traces/capture/runtime/stream.h): for tests and for looking at what a program sent."""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Opcodes in the header's order, with their fields: u unsigned, z signed, s text, t site (two numbers).
_MESSAGES: tuple[tuple[str, str], ...] = (
    ("hello", "uuuuu"),
    ("module", "uus"),
    ("pc", "uuuut"),
    ("run", ""),
    ("run_same", ""),
    ("column", ""),
    ("allocate", "uuuuuut"),
    ("release", "uut"),
    ("frame", "uuut"),
    ("tls", "uuu"),
    ("stack", "uuu"),
    ("parallel_begin", "uutt"),
    ("parallel_end", "u"),
    ("rank", "u"),
    ("loop_begin", "tzzzuu"),
    ("item", "u"),
    ("loop_end", "u"),
    ("barrier", "t"),
    ("sections_begin", "tu"),
    ("single", "tu"),
    ("single_end", ""),
    ("sync", "uuu"),
    ("user_rank", ""),
    ("mark", "uuuus"),
    ("loss", "uts"),
    ("end", "uu"),
    ("thread_create", "uuut"),
    ("thread", "u"),
    ("thread_end", "u"),
    ("task_begin", "tu"),
    ("task_end", ""),
    ("leaving", "s"),
)
_ACCESS, _PAIR = 64, 65  # of fixed length
KINDS = ("read", "write", "read_modify_write", "atomic")


@dataclass(frozen=True)
class Access:
    """One access; sequence counts those of its item."""

    address: int
    width: int
    kind: str
    distance: int
    sequence: int
    pc: int
    bulk: bool = False


@dataclass
class Message:
    """A control message, and the accesses between it and the next one, in sequence order."""

    name: str
    fields: tuple[int | str, ...]
    accesses: list[Access] = field(default_factory=list)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def little(self, size: int, *, signed: bool = False) -> int:
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little", signed=signed)

    def text(self) -> str:
        length = self.unsigned()
        self.at += length
        return self.data[self.at - length : self.at].decode()


def messages(data: bytes) -> Iterator[Message]:
    """The control messages in order, each with the accesses that follow it."""
    reader = _Reader(data)
    pcs: dict[int, tuple[str, int, bool]] = {}
    previous: dict[int, int] = {}
    shapes: dict[int, tuple[int, int, int, int]] = {}
    current: Message | None = None
    mask = (1 << 64) - 1
    while reader.at < len(data):
        opcode = reader.unsigned()
        if opcode in (_ACCESS, _PAIR):
            assert current is not None
            pc, first = reader.little(2), reader.little(4)
            kind, width, bulk = pcs[pc]
            base = (previous.get(pc, 0) + reader.little(6, signed=True)) & mask
            previous[pc] = base
            if opcode == _ACCESS:
                current.accesses.append(Access(base, width, kind, reader.little(2), first, pc, bulk))
                continue
            stride, step = reader.little(4, signed=True), reader.little(2)
            shapes[pc] = (2, stride, step, 0)
            current.accesses += [
                Access(base + k * stride, width, kind, 0, first + k * step, pc, bulk) for k in range(2)
            ]
            continue
        name, layout = _MESSAGES[opcode - 1]
        if name in ("run", "run_same", "column"):
            assert current is not None
            pc = reader.unsigned()
            kind, width, bulk = pcs[pc]
            if name == "column":
                address, sequence = previous.get(pc, 0), 0
                for _ in range(reader.unsigned()):
                    address = (address + reader.signed()) & mask
                    sequence += reader.unsigned()
                    current.accesses.append(Access(address, width, kind, reader.unsigned(), sequence, pc, bulk))
                previous[pc] = address
                continue
            count, stride, step, distance = shapes.get(pc, (1, 0, 0, 0))
            if name == "run":
                count, stride, step = reader.unsigned(), 0, 0
            base = (previous.get(pc, 0) + reader.signed()) & mask
            first = reader.unsigned()
            if name == "run":
                if count > 1:
                    stride, step = reader.signed(), reader.unsigned()
                distance = reader.unsigned()
                shapes[pc] = (count, stride, step, distance)
            previous[pc] = base
            current.accesses += [
                Access(base + k * stride, width, kind, distance, first + k * step, pc, bulk) for k in range(count)
            ]
            continue
        fields: list[int | str] = []
        for code in layout:
            if code == "z":
                fields.append(reader.signed())
            elif code == "s":
                fields.append(reader.text())
            else:
                fields += [reader.unsigned() for _ in range(2 if code == "t" else 1)]
        if name == "pc":
            pcs[int(fields[0])] = (KINDS[int(fields[1])], int(fields[2]), bool(int(fields[3]) & 1))
            continue
        if current is not None:
            current.accesses.sort(key=lambda access: access.sequence)
            yield current
        current = Message(name, tuple(fields))
    if current is not None:
        current.accesses.sort(key=lambda access: access.sequence)
        yield current


def record(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> tuple[bytes, str, int]:
    """Run a traced program; its stream, its standard output and its exit status (negative: the signal)."""
    read_end, write_end = os.pipe()
    chunks: list[bytes] = []

    def drain() -> None:
        with os.fdopen(read_end, "rb") as pipe:
            while chunk := pipe.read(1 << 20):
                chunks.append(chunk)

    process = subprocess.Popen(
        [str(word) for word in command],
        env={**os.environ, **(environment or {}), "HOMENODE_STREAM_FD": str(write_end)},
        pass_fds=[write_end],
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(write_end)
    drainer = threading.Thread(target=drain)
    drainer.start()
    output, _ = process.communicate()
    drainer.join()
    return b"".join(chunks), output, process.returncode
