"""A file of another tool as text, and numbers out of it; whatever is wrong is refused with file and line."""

from __future__ import annotations

import math
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from homenode.errors import InputError
from homenode.visible import visible

MOST_BYTES = 32 << 20  # the largest hwloc file of a machine of 4096 cores has some 5 MB
MOST_LINE = 1 << 20  # characters; a row of a table of 1024 hardware threads has some 20 kB
MOST_ENTRIES = 1024  # rows and columns of a table of hardware threads

_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True)
class SourceText:
    """What one file holds. `name`: its last part, as a description names it; `shown`: as the user wrote it, for errors."""

    name: str
    shown: str
    text: str
    lines: list[str] = field(init=False)  # without their ends

    def __post_init__(self) -> None:
        """Split it once: at line ends alone, so that numbers are those of an editor."""
        lines = self.text.replace("\r\n", "\n").split("\n")
        object.__setattr__(self, "lines", lines)

    def refuse(self, line: int | None, found: str, allowed: str) -> NoReturn:
        """Raise InputError; `line` counts from 1."""
        place = self.shown if line is None else f"{self.shown}:{line}"
        raise InputError(f"{visible(place)}: {found}; allowed: {allowed}")

    def number(self, line: int, text: str, what: str, least: float, most: float) -> float:
        """A plain decimal number from `least` to `most`; no sign, no NaN, no infinity."""
        body = text.strip()
        value = float(body) if _NUMBER.fullmatch(body) else math.nan
        if not least <= value <= most:
            self.refuse(line, f"{what} is {quoted(body)}", f"a number from {least:g} to {most:g}")
        return value

    def whole(self, line: int, text: str, what: str, least: int, most: int) -> int:
        """A whole number from `least` to `most`, in decimal."""
        body = text.strip()
        value = int(body) if re.fullmatch(r"[0-9]{1,18}", body) else -1
        if not least <= value <= most:
            self.refuse(line, f"{what} is {quoted(body)}", f"a whole number from {least} to {most}")
        return value


def quoted(text: str) -> str:
    """A word of a file in an error: whole if it is short, without control characters."""
    return f"'{visible(text if len(text) <= 60 else text[:57] + '…')}'"


def read_source(path: Path) -> SourceText:
    """The file as UTF-8 text. InputError for what is no regular file, too large, in another encoding or no text."""
    name, shown = visible(path.name), str(path)
    refusing = SourceText(name, shown, "")
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            refusing.refuse(None, "is no regular file", "a file of another tool (docs/machines.md)")
        if found.st_size > MOST_BYTES:
            refusing.refuse(None, f"has {found.st_size} bytes", f"at most {MOST_BYTES}")
        content = path.read_bytes()
    except OSError as error:
        refusing.refuse(None, f"cannot be read ({error.strerror})", "a file of another tool (docs/machines.md)")
    if not content.strip():
        refusing.refuse(None, "is empty", "a file of another tool (docs/machines.md)")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        refusing.refuse(line, f"byte {content[error.start]:#04x} is no UTF-8", "text in UTF-8")
    return checked(SourceText(name, shown, text))


def checked(source: SourceText) -> SourceText:
    """The same text, if it is text with lines that can be shown."""
    for number, line in enumerate(source.lines, 1):
        if "\0" in line:
            source.refuse(number, "has a byte 0", "text in UTF-8")
        if len(line) > MOST_LINE:
            source.refuse(number, f"has {len(line)} characters", f"lines of at most {MOST_LINE} characters")
    return source
