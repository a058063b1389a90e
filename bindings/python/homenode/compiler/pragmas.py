"""OpenMP worksharing loops rewritten to schedule(runtime), so that every iteration passes through the runtime's own shims."""

import re
from dataclasses import dataclass, field
from typing import Any

_PRAGMA = re.compile(r"^\s*#\s*pragma\s+omp\s+(?P<text>.*)$")
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\]|\\.)*)"')
# Those that need no team: -fopenmp-simd, and markers.
_ALONE = re.compile(r"^(?:simd|declare\s+(?:simd|reduction)|end\s|ordered\s+simd)\b")
_LOOP = re.compile(
    r"^(?P<device>target\s+)?(?P<teams>teams\s+)?(?:distribute\s+)?(?P<parallel>parallel\s+)?(?P<word>for|loop)\b"
)
_BIND = re.compile(r",?\s*\bbind\s*\(\s*(?P<to>\w+)\s*\)")
_SCAN = re.compile(r"\breduction\s*\(\s*inscan\b")  # such a loop takes no schedule
_ATTRIBUTE = re.compile(
    r"\[\[\s*(?:using\s+omp\s*:\s*|omp\s*::\s*)(?:directive|sequence)\s*\([^]]*?\b(?P<word>for|loop|sections|single)\b"
)
_SCHEDULE = re.compile(r",?\s*\bschedule[\s\0]*\(", re.IGNORECASE)


@dataclass
class Rewritten:
    """The source with its loops rewritten, and a note on each for the trace."""

    text: str
    notes: list[dict[str, Any]]
    unheard: int = 0  # the line of the source's first pragma that needs -fopenmp; 0: none
    left: list[tuple[str, int, str]] = field(
        default_factory=list
    )  # file, line and words of worksharing that stays as it is


def _closed(text: str, begin: int) -> int:
    """The place behind the parenthesis that closes the one before `begin`; the text's end if none does."""
    depth = 1
    for place in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def without_schedule(clauses: str) -> tuple[str, str | None]:
    """A directive without its schedule clause, and that clause in small letters without spaces."""
    schedule = _SCHEDULE.search(clauses)
    if schedule is None:
        return clauses, None
    end = _closed(clauses, schedule.end())
    breaks = "\0" * clauses.count("\0", schedule.start(), end)
    inner = re.sub(r"[\s\0]+", "", clauses[schedule.end() : end - 1]).lower()
    return clauses[: schedule.start()] + breaks + clauses[end:], inner


_RAW_STRING = re.compile(r'R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"', re.DOTALL)
_NEST = 200  # lines behind a directive that may hold the loops of its nest
_HEADER = re.compile(r"\bfor\s*\(")
_VARIABLE = re.compile(r"(\w+)\s*=(?!=)")


def _triangular(text: str, loops: int) -> bool:
    """Whether the bounds of one of the loops that begin here depend on one further out: such a nest takes no schedule."""
    outer: list[str] = []
    place = 0
    for _ in range(loops):
        if (header := _HEADER.search(text, place)) is None:
            return False
        place = _closed(text, header.end())
        inside = text[header.end() : place]
        if (variable := _VARIABLE.search(inside)) is None:
            return False
        if any(
            re.search(rf"(?<![.\w])(?<!->){name}\b", inside[variable.end() :]) for name in outer if name != variable[1]
        ):
            return True
        outer.append(variable[1])
    return False


def _lines_of_raw_strings(text: str) -> set[int]:
    """Numbers, from 0, of the lines that begin inside of a raw string literal."""
    inside: set[int] = set()
    for literal in _RAW_STRING.finditer(text) if 'R"' in text else ():
        first = text.count("\n", 0, literal.start())
        inside.update(range(first + 1, first + 1 + literal[0].count("\n")))
    return inside


def rewrite(preprocessed: str, directory: str) -> Rewritten:
    """Give every worksharing loop schedule(runtime); note its own clause by file and line (of the pragma and of the loop)."""
    notes: list[dict[str, Any]] = []
    out: list[str] = []
    left: list[tuple[str, int, str]] = []
    file, line, unheard = "", 0, 0
    waiting: dict[str, Any] | None = None
    lines = preprocessed.split("\n")
    literal = _lines_of_raw_strings(preprocessed)
    position = 0
    while position < len(lines):
        text = lines[position]
        position += 1
        if position - 1 in literal:
            line += 1
            out.append(text)
            continue
        if (marker := _MARKER.match(text)) is not None:
            file, line = marker["file"], int(marker["line"]) - 1
            out.append(text)
            continue
        line += 1
        if waiting is not None and re.search(r"\bfor\b", text):
            waiting["for_line"] = line
            waiting = None
        pragma = _PRAGMA.match(text)
        if pragma is not None and not unheard and not _ALONE.match(pragma["text"]):
            unheard = line
        if (attribute := _ATTRIBUTE.search(text)) is not None:
            left.append((file, line, f"[[omp::… {attribute['word']}]]"))
        loop = _LOOP.match(pragma["text"]) if pragma is not None else None
        to = "teams" if loop is not None and loop["teams"] else "parallel"
        if loop is None or ((bound := _BIND.search(text)) is not None and bound["to"] != to):
            out.append(text)
            continue
        first, extra = line, 0
        while text.endswith("\\") and position < len(lines):  # gcc -E joins them, other preprocessors may not
            text = text[:-1] + lines[position]
            position += 1
            extra += 1
            line += 1
        if _SCAN.search(text):
            left.append((file, first, "reduction(inscan, …)"))
            out.append(text + "\n" * extra)
            continue
        clauses = _PRAGMA.match(text)["text"]  # type: ignore[index]
        collapse = re.search(r"\bcollapse\s*\(\s*(\d+)\s*\)", clauses)
        deep = int(collapse[1]) if collapse else 1
        if deep > 1 and _triangular("\n".join(lines[position : position + _NEST]), deep):
            left.append((file, first, f"collapse({deep}) of loops whose bounds depend on each other"))
            out.append(text + "\n" * extra)
            continue
        if loop["word"] == "loop":  # of a team it is a loop whose iterations may come in any order
            made = "distribute parallel for" if loop["teams"] else "for"
            text = _BIND.sub("", re.sub(r"\bloop\b", made, text, count=1))
        clauses = _PRAGMA.match(text)["text"]  # type: ignore[index]
        stripped, schedule = without_schedule(text)
        waiting = {
            "file": file,
            "directory": directory,
            "line": first,
            "for_line": first + 1,
            "directive": "parallel for" if loop["parallel"] or loop["teams"] else "for",
            "schedule": schedule,
            "nowait": loop["device"] is None and re.search(r"\bnowait\b", clauses) is not None,
            "ordered": re.search(r"\bordered\b", clauses) is not None,
            "reduction": re.search(r"\breduction\s*\(", clauses) is not None,
            "collapse": deep,
        }
        notes.append(waiting)
        out.append(stripped.rstrip() + " schedule(runtime)" + "\n" * extra)
    return Rewritten("\n".join(out), notes, unheard, left)
