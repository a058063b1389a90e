"""Files that commands write: whole or not at all, in place of regular files alone, never through a name that somebody else made."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from homenode.errors import UsageError

# How a file begins that a command may write over with one of its kind.
_BEGINS = {"trace": (b"\x89HNT",), "report": (b"{",), "page": (b"<",), "timeline": (b"{", b"\x1f\x8b")}
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
_PAGES = (".html", ".htm")


def check_output(path: Path, kind: str | None = None) -> None:
    """Refuse what cannot be written, is there and no regular file, or none of its `kind` (_BEGINS); before any work is done."""
    if str(path) in ("", "."):
        raise UsageError(f"output '{path}' is no name of a file")
    try:
        mode = stat.S_IFMT(path.lstat().st_mode)
    except FileNotFoundError:
        if not path.absolute().parent.is_dir():
            raise UsageError(f"cannot write '{path}': no folder '{path.parent}'") from None
        return
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None
    if mode != stat.S_IFREG:
        raise UsageError(f"output '{path}' is {_KINDS.get(mode, 'no file')}; allowed: a new name or a regular file")
    if kind is not None:
        with suppress(OSError), path.open("rb") as file:
            begin = file.read(8)
            if begin and not begin.startswith(_BEGINS[kind]):
                raise UsageError(
                    f"output '{path}' is there and no {kind}; allowed: a new name, or a {kind} to be replaced"
                )


def check_trace_output(path: Path) -> None:
    """As `check_output`; a file that is there and no trace is kept."""
    check_output(path, "trace")


def check_json_output(path: Path) -> None:
    """As `check_output`, for a report, which is no page."""
    check_output(path, "report")
    if path.suffix.lower() in _PAGES:
        raise UsageError(
            f"output '{path}' would be JSON; allowed: a name such as {path.with_suffix('.json').name}, "
            f"of which 'homenode report' makes a page"
        )


@contextmanager
def written_whole(path: Path, kind: str | None = None) -> Iterator[Path]:
    """A file of a new name beside `path`, renamed to it when the block succeeds and removed when it does not.

    Its name ends in .part, so that a trace's writer writes just there. `kind`: as of `check_output`.
    """
    check_output(path, kind)
    try:
        descriptor, name = tempfile.mkstemp(prefix=".homenode-", suffix=".part", dir=path.absolute().parent)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None
    temporary = Path(name)
    try:
        os.fchmod(descriptor, 0o666 & ~_mask())
        os.close(descriptor)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _mask() -> int:
    """What new files lack; there is no other way to ask, as `tempfile` gives nothing to others."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022


@contextmanager
def reserved_part(part: Path) -> Iterator[tuple[Path, int]]:
    """The name under which a capture writes, and the descriptor that holds it; gone in the end unless it was renamed.

    One capture at a time has it, until nobody has that descriptor open. What a killed capture left there is not overwritten.
    """
    descriptor = _created(part)
    try:
        yield part, descriptor
    finally:
        part.unlink(missing_ok=True)
        os.close(descriptor)


def _created(part: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(part, flags | os.O_EXCL, 0o666)
        except FileExistsError:
            descriptor = _left_over(part)
    except OSError as error:
        raise UsageError(f"cannot write '{part}': {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(f"another capture is writing '{part}'") from None
    if os.fstat(descriptor).st_size:
        os.close(descriptor)
        raise UsageError(
            f"'{part}' is left of a capture that was killed; "
            f"allowed: 'homenode recover {part} -o OUTPUT' makes a trace of it; then remove it"
        )
    return descriptor


def _left_over(part: Path) -> int:
    """Open what is there already, if it can be a capture's own."""
    found = part.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
        raise UsageError(f"'{part}' is there, and not a file that homenode made; allowed: another output, or remove it")
    return os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
