"""The members of a static library, in their order: also several of one name, and those of thin archives, which lie elsewhere."""

import os
from collections.abc import Iterator
from pathlib import Path

_MAGIC, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60  # bytes: name 16, date 12, owner 6, group 6, mode 8, size 10, end 2


def _text(name: bytes) -> str:
    return os.fsdecode(name.removesuffix(b"/"))


def _member_at(archive: Path, place: int) -> tuple[str, bytes]:
    data = archive.read_bytes()
    size = int(data[place + 48 : place + 58])
    return f"{place}.o", data[place + _HEADER : place + _HEADER + size]


def members_of(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Name, without its folder, and content of each member (ar's System V form, as GNU ar writes it). Nothing of what is no archive."""
    data = archive.read_bytes()
    thin = data.startswith(_THIN)
    if not thin and not data.startswith(_MAGIC):
        return
    long_names, place = b"", len(_MAGIC)
    while place + _HEADER <= len(data):
        name, size = data[place : place + 16].rstrip(), int(data[place + 48 : place + 58])
        place += _HEADER
        index = name in (b"/", b"/SYM64/")
        inside = not thin or index or name == b"//"
        content = data[place : place + size] if inside else b""
        place += size + size % 2 if inside else 0
        if name == b"//":
            long_names = content
        elif not index:
            if name.startswith(b"/"):
                # With an origin: where the member begins in an archive that a thin one holds.
                offset, _, origin = name[1:].partition(b":")
                name = long_names[int(offset) :].partition(b"\n")[0]
                if origin:
                    yield _member_at(archive.parent / _text(name), int(origin))
                    continue
            if name.startswith(b"#1/"):  # as BSD has it: the name stands before the content
                length = int(name[3:])
                name, content = content[:length].rstrip(b"\0"), content[length:]
            path = Path(_text(name))
            yield path.name, content if inside else (archive.parent / path).read_bytes()
