"""Takes a trace apart into its frames and seals it again with right checksums, so that a test can say anything in it.

libzstd and libxxhash are those that the extension is linked with.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

META, STRING, REGION, ITEM, CALIBRATION, INDEX = 1, 2, 5, 7, 18, 20
HEADER_BYTES = 16


@dataclass
class Frame:
    """One frame: its payload as plain bytes; `stored` in place of what zstd makes of it, `raw_bytes` in place of its true size."""

    type: int
    critical: bool
    raw: bytes
    stored: bytes | None = None
    raw_bytes: int | None = None


def _library(name: str) -> ctypes.CDLL:
    found = ctypes.util.find_library(name)
    assert found is not None, f"no lib{name}"
    return ctypes.CDLL(found)


def compressed(raw: bytes) -> bytes:
    """One zstd frame."""
    zstd = _library("zstd")
    zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
    bound = zstd.ZSTD_compressBound(ctypes.c_size_t(len(raw)))
    target = ctypes.create_string_buffer(bound)
    size = zstd.ZSTD_compress(target, ctypes.c_size_t(bound), raw, ctypes.c_size_t(len(raw)), 3)
    return target.raw[:size]


def _uncompressed(stored: bytes, size: int) -> bytes:
    zstd = _library("zstd")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    target = ctypes.create_string_buffer(size + 1)
    assert zstd.ZSTD_decompress(target, ctypes.c_size_t(size + 1), stored, ctypes.c_size_t(len(stored))) == size
    return target.raw[:size]


def _checksum(data: bytes, seed: int = 0) -> int:
    xxhash = _library("xxhash")
    xxhash.XXH64.restype = ctypes.c_uint64
    value: int = xxhash.XXH64(data, ctypes.c_size_t(len(data)), ctypes.c_uint64(seed))
    return value


def frames_of(trace: Path) -> list[Frame]:
    """The frames of a sound trace."""
    data, at, frames = trace.read_bytes(), HEADER_BYTES, []
    while data[at : at + 4] == b"HNFR":
        kind, flags, size, stored = struct.unpack("<HHQQ", data[at + 4 : at + 24])
        frames.append(Frame(kind, bool(flags & 1), _uncompressed(data[at + 32 : at + 32 + stored], size)))
        at += 32 + stored
    return frames


def number(value: int) -> bytes:
    """LEB128."""
    coded = b""
    while value >= 128:
        coded += bytes([value & 127 | 128])
        value >>= 7
    return coded + bytes([value])


def record(kind: int, fields: bytes) -> bytes:
    """A critical record."""
    return number(kind << 1 | 1) + number(len(fields)) + fields


def _read(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def _moved(index: bytes, moved: dict[int, int]) -> bytes:
    """INDEX with the offsets of ITEM frames that are elsewhere now."""
    out, at = b"", 0
    while at < len(index):
        tag, at = _read(index, at)
        length, at = _read(index, at)
        end = at + length
        row, at = _read(index, at)
        count, at = _read(index, at)
        fields, before, offset = number(row) + number(count), 0, 0
        for _ in range(count):
            step, at = _read(index, at)
            offset += step
            now = moved.get(offset, offset)
            fields += number(now - before)
            before = now
        fields += index[at:end]
        out, at = out + number(tag) + number(len(fields)) + fields, end
    return out


def _sealed(frames: list[Frame]) -> tuple[bytes, list[int]]:
    data, offsets = b"\x89HNT\r\n\x1a\n" + struct.pack("<II", 1, 0), []
    for frame in frames:
        stored = compressed(frame.raw) if frame.stored is None else frame.stored
        size = len(frame.raw) if frame.raw_bytes is None else frame.raw_bytes
        head = struct.pack("<4sHHQQ", b"HNFR", frame.type, frame.critical, size, len(stored))
        offsets.append(len(data))
        data += head + struct.pack("<Q", _checksum(stored, _checksum(head))) + stored
    trailer = b"HNTFOOT\n" + struct.pack("<Q", offsets[-1])
    return data + trailer + struct.pack("<Q", _checksum(trailer)), offsets


def resealed(trace: Path, target: Path, change: Callable[[list[Frame]], None]) -> Path:
    """Write `trace` with changed frames to `target`; its index follows ITEM frames that move."""
    frames = frames_of(trace)
    indexes = [frame.raw for frame in frames if frame.type == INDEX]
    _, before = _sealed(frames)
    items = [offset for offset, frame in zip(before, frames, strict=True) if frame.type == ITEM]
    change(frames)
    _, after = _sealed(frames)
    places = [offset for offset, frame in zip(after, frames, strict=True) if frame.type == ITEM]
    if len(items) == len(places):
        for frame in frames:
            if frame.type == INDEX and frame.raw in indexes:
                frame.raw = _moved(frame.raw, dict(zip(items, places, strict=True)))
    target.write_bytes(_sealed(frames)[0])
    return target
