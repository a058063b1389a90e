"""A header as Doxygen reads it: our plain comments as documentation of what they stand at. Doxygen calls it with the header's path.

The comment at the top is the file's; whole lines of comment belong to what follows, a comment behind code to that code. Inside of
functions comments stay what they are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_CONTAINER = re.compile(r'\b(namespace|class|struct|union|enum)\b|extern\s+"')
_TRAILING = re.compile(r"^(?P<code>.*\S) +(?://(?P<line> .*)|/\*(?P<block> .*?)\*/)$")


def _words(text: str) -> str:
    """A line of comment without what Doxygen would take for commands, with what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<tt>\1</tt>", re.sub(r"([\\@<>&#%$])", r"\\\1", text))


def _documentation(lines: list[str], opening: str) -> Iterator[str]:
    """Lines of a comment as one of Doxygen's; what is set off by two spaces is an example."""
    yield opening
    inside, before = False, ""
    for line in lines:
        example = line.startswith("  ") and (inside or not before.strip() or before.rstrip().endswith(":"))
        if example != inside:
            yield "@verbatim" if example else "@endverbatim"
        inside = example
        before = line
        yield line if example else _words(line.strip())
    if inside:
        yield "@endverbatim"
    yield "*/"


class _Scopes:
    """Whether the next line of code stands in a file, a namespace, a class or an enumeration."""

    def __init__(self) -> None:
        self._containers: list[bool] = []
        self._head = ""

    def outside_of_functions(self) -> bool:
        return all(self._containers)

    def read(self, code: str) -> None:
        """One line without its comments."""
        for character in re.sub(r'"(?:\\.|[^"\\])*"', '""', code) + "\n":
            if character == "{":
                self._containers.append(bool(_CONTAINER.search(self._head)) and "(" not in self._head)
            elif character == "}" and self._containers:
                self._containers.pop()
            self._head = "" if character in "{};" else self._head + character


def _without_comments(code: str) -> str:
    return re.sub(r"/\*.*?\*/|//.*", "", code)


def _comment_at(lines: list[str], place: int) -> tuple[list[str], int]:
    """The comment that begins at a line, without its marks, and the place behind it; an empty one where none begins."""
    end = place
    if lines[place].lstrip().startswith("/*"):
        while "*/" not in lines[end]:
            end += 1
        if not lines[end].rstrip().endswith("*/"):
            return [], place
        text = "\n".join(lines[place : end + 1]).strip()[2:-2]
        return [re.sub(r"^ (\* ?| {0,2})", "", line).rstrip() for line in text.split("\n")], end + 1
    while end < len(lines) and lines[end].lstrip().startswith("//"):
        end += 1
    return [line.lstrip()[2:].removeprefix(" ") for line in lines[place:end]], end


def converted(text: str) -> str:
    """The whole header."""
    lines, scopes, out = text.splitlines(), _Scopes(), []
    place = 0
    first, behind = _comment_at(lines, 0)
    if first:
        out += _documentation(first, "/** @file")
        place = behind
    while place < len(lines):
        line = lines[place]
        if line.startswith("#"):
            continues = True
            while continues:
                out.append(lines[place])
                continues = lines[place].endswith("\\")
                place += 1
            continue
        comment, behind = _comment_at(lines, place)
        if comment and scopes.outside_of_functions():
            followed = behind < len(lines) and lines[behind].strip() not in ("", "}", "};")
            out += _documentation(comment, "/**") if followed else []
            place = behind
            continue
        trailing = _TRAILING.match(line)
        belongs = trailing is not None and not re.match(r"\s*\}|(class|struct) \w+;", line)
        if trailing is not None and belongs and scopes.outside_of_functions():
            code, said = trailing["code"], _words((trailing["line"] or trailing["block"]).strip())
            out += [f"/** {said} */", code] if code.endswith("{") else [f"{code} /**< {said} */"]
        else:
            out.append(line)
        scopes.read(_without_comments(line))
        place += 1
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.stdout.write(converted(Path(sys.argv[1]).read_text(encoding="utf-8")))
