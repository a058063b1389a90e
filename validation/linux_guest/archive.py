"""An initramfs: the kernel's newc format of cpio (Documentation/driver-api/early-userspace/buffer-format.rst)."""

from collections.abc import Mapping

_REGULAR, _FOLDER = 0o100755, 0o040755


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4)


def initramfs(files: Mapping[str, bytes], folders: tuple[str, ...]) -> bytes:
    """An archive of executable files and empty folders, by their paths without the leading slash."""
    entries = [_entry(number, name, _FOLDER, b"") for number, name in enumerate(folders, start=1)]
    entries += [
        _entry(number, name, _REGULAR, files[name]) for number, name in enumerate(files, start=1 + len(folders))
    ]
    return b"".join(entries) + _entry(0, "TRAILER!!!", 0, b"")
