"""OpenMP loops of Fortran rewritten to schedule(runtime), in free and in fixed form.

gfortran's debug information counts the lines of the file that it reads, whatever markers say, so that a line keeps its number here.
"""

import re
from pathlib import Path
from typing import Any

from homenode.compiler.pragmas import Rewritten, without_schedule

_FREE = re.compile(r"^\s*!\$omp(?P<text>(?=[\s&]).*)$", re.IGNORECASE)
# Sentinel in columns 1 to 5; column 6 is neither blank nor zero in a continuation.
_FIXED = re.compile(r"^[!c*]\$omp(?P<column6>.)(?P<text>.*)$", re.IGNORECASE)
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\]|\\.)*)"')
_TEAMS = r"(?:target\s*)?(?:teams\s*)?(?:distribute\s*)?"  # before what each team does
_LOOP = re.compile(rf"^{_TEAMS}(?P<parallel>parallel\s*)?do\b", re.IGNORECASE)
_LEFT = re.compile(rf"^{_TEAMS}(?:parallel\s*)?(?P<word>workshare|loop)\b", re.IGNORECASE)
_END = re.compile(rf"^end\s*{_TEAMS}(?:parallel\s*)?do\b", re.IGNORECASE)
_DO = re.compile(r"^(?:\s*\d+)?\s*(?:\w+\s*:)?\s*do\b", re.IGNORECASE)
_INCLUDE = re.compile(r"""^\s*include\s*(?P<quote>['"])(?P<file>[^'"]+)(?P=quote)\s*(?:!.*)?$""", re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(?:!(?!\$omp).*)?$", re.IGNORECASE)
_FIXED_COMMENT = re.compile(r"^(?:[c*](?!\$omp).*|\s*(?:!(?!\$omp).*)?)$", re.IGNORECASE)
_SENTINEL = re.compile(r"^\s*[!c*]\$omp", re.IGNORECASE | re.MULTILINE)
_CLAUSE = " schedule(runtime)"
_LAST_COLUMN = 72  # of fixed form


def without_markers(text: str, source: str) -> str:
    """What the preprocessor made, each line of the source under its own number, as far as included text lets it."""
    out: list[str] = []
    here = True
    for one in text.split("\n"):
        if (marker := _MARKER.match(one)) is None:
            out.append(one)
            continue
        here = marker["file"] == source
        if here:
            out += [""] * (int(marker["line"]) - 1 - len(out))
            while len(out) >= int(marker["line"]) and not out[-1].strip():
                out.pop()
    return "\n".join(out)


def included(text: str, folders: list[Path]) -> dict[str, str]:
    """Included files that hold OpenMP directives, also through others: name in the include line, and content."""
    found: dict[str, str] = {}
    for one in text.split("\n"):
        if (include := _INCLUDE.match(one)) is None or include["file"] in found:
            continue
        path = next((folder / include["file"] for folder in folders if (folder / include["file"]).is_file()), None)
        if path is None:
            continue
        content = path.read_text("latin-1")
        inner = included(content, folders)
        if inner or _SENTINEL.search(content):
            found |= {include["file"]: content, **inner}
    return found


def _directive(line: str, fixed: bool, continues: bool) -> str | None:
    """What a line adds to a directive, without its comment, or None."""
    found = (_FIXED if fixed else _FREE).match(line)
    if found is None or (fixed and (found["column6"] not in " 0\t") != continues):
        return None
    return re.sub(r"""^((?:[^'"!]|'[^']*'|"[^"]*")*)!.*$""", r"\1", found["text"])


def _comments(lines: list[str], position: int, fixed: bool) -> int:
    """How many lines from here on are blank or comments, and no directives."""
    end = position
    while end < len(lines) and (_FIXED_COMMENT if fixed else _COMMENT).match(lines[end]) is not None:
        end += 1
    return end - position


def _without_stray_commas(directive: str) -> str:
    """Clauses with one comma at most between them, as a clause that went may have left two, and none at the ends."""
    directive = re.sub(r"(?:,\s*)+,", ",", directive).strip().rstrip(", ")
    return re.sub(r"^([\w\s]*\w)\s*,", r"\1 ", directive) if "(" not in directive.partition(",")[0] else directive


def _with_runtime(lines: list[str], fixed: bool) -> list[str]:
    """The lines of a loop's directive, with no clause but schedule(runtime); one more if no line has room."""
    sentinel = "!$omp"
    pieces = [_directive(line, fixed, continues=k > 0) or "" for k, line in enumerate(lines)]
    if not fixed:
        pieces = [re.sub(r"&\s*$", "", re.sub(r"^\s*&", "", piece.strip())) for piece in pieces]
    # A clause that is spread over lines goes with the lines' breaks.
    whole, _ = without_schedule("\x00".join(pieces))
    pieces = whole.split("\x00") + [""] * (len(lines) - 1 - whole.count("\x00"))
    if not fixed:
        # In one line, of any length (-ffree-line-length-none): none may be empty and go on.
        joined = _without_stray_commas(" ".join(piece.strip() for piece in pieces if piece.strip()))
        return [f"{sentinel} {joined}{_CLAUSE}", *["!"] * (len(lines) - 1)]
    if pieces[-1].strip() == "":
        pieces = [re.sub(r",\s*$", "", piece) for piece in pieces]
    made = [f"{sentinel}{'&' if k else ' '}{piece.strip()}" for k, piece in enumerate(pieces)]
    made = ["!" if _FIXED_COMMENT.match(line) else piece for line, piece in zip(lines, made, strict=True)]
    for k, line in enumerate(made):
        if line != "!" and len(line) + len(_CLAUSE) <= _LAST_COLUMN:
            made[k] += _CLAUSE
            return made
    return [*made, f"{sentinel}&{_CLAUSE}"]


def rewrite_fortran(text: str, file: str, directory: str, fixed: bool) -> Rewritten:
    """Give every worksharing loop schedule(runtime); note its own clause by file and line (of the directive and of the loop)."""
    notes: list[dict[str, Any]] = []
    left: list[tuple[str, int, str]] = []
    open_loops: list[dict[str, Any]] = []
    out: list[str] = []
    waiting: dict[str, Any] | None = None
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        one = lines[position]
        position += 1
        whole = _directive(one, fixed, continues=False)
        if whole is None:
            out.append(one)
            if waiting is not None and _DO.match(one):
                waiting["for_line"] = len(out)
                waiting = None
            continue
        taken = [one]
        # A free directive goes on after `&`; a fixed one on the next line with a mark in column 6.
        while position < len(lines) and (fixed or whole.rstrip().endswith("&")):
            between = _comments(lines, position, fixed)
            if position + between == len(lines):
                break
            more = _directive(lines[position + between], fixed, continues=True)
            if more is None:
                break
            taken += lines[position : position + between]
            position += between
            if not fixed:
                whole, more = whole.rstrip()[:-1], re.sub(r"^\s*&", "", more)
            whole += " " + more
            taken.append(lines[position])
            position += 1
        clauses = whole.strip()
        if _END.match(clauses) and open_loops:
            open_loops.pop()["nowait"] |= re.search(r"\bnowait\b", clauses, re.IGNORECASE) is not None
        loop = _LOOP.match(clauses)
        if loop is None:
            if (word := _LEFT.match(clauses)) is not None:
                left.append((file, len(out) + 1, word["word"].lower()))
            out += taken
            continue
        collapse = re.search(r"\bcollapse\s*\(\s*(\d+)\s*\)", clauses, re.IGNORECASE)
        waiting = {
            "file": file,
            "directory": directory,
            "line": len(out) + 1,
            "for_line": len(out) + len(taken) + 1,
            "directive": "parallel do" if loop["parallel"] else "do",
            "schedule": without_schedule(clauses)[1],
            "nowait": False,
            "ordered": re.search(r"\bordered\b", clauses, re.IGNORECASE) is not None,
            "reduction": re.search(r"\breduction\s*\(", clauses, re.IGNORECASE) is not None,
            "collapse": int(collapse[1]) if collapse else 1,
        }
        notes.append(waiting)
        open_loops.append(waiting)
        out += _with_runtime(taken, fixed)
    return Rewritten("\n".join(out), notes, left=left)
