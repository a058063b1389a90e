"""The mark of one link, in a traced program, its twin and its timed program: a copy of the program finds the others by it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

SECTION = ".homenode.link"
_MARK = re.compile(rb'\{"homenode_link": "[^"]*", "place": "[^"]*"\}')


def mark_of(target: Path, twin: Path) -> str:
    """The mark of a program that is linked here: its place, and the content of its twin."""
    return json.dumps({"homenode_link": hashlib.sha256(twin.read_bytes()).hexdigest(), "place": str(target.absolute())})


def link_mark(program: Path) -> dict[str, str] | None:
    """The mark that a program has; None if it has none. Found as text: no tool is needed to read it."""
    try:
        found = _MARK.search(program.read_bytes())
    except OSError:
        return None
    if found is None:
        return None
    mark: dict[str, str] = json.loads(found[0])
    return mark
