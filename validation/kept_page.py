"""What the pages of tables share: what stands below the tables is written by hand and stays, rows are shown as they come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar


class AsJson(Protocol):
    """A row that can be written as JSON."""

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        ...


Row = TypeVar("Row", bound=AsJson)


def kept_reading(page: Path) -> str:
    """Return what the page says from its first heading on."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return "\n## " + text.partition("\n## ")[2] if "\n## " in text else ""


def shown(rows: Iterable[Row], line: Callable[[Row], str], as_json: bool) -> list[Row]:
    """Print each row when it is there, or all as one JSON document."""
    found = []
    for row in rows:
        found.append(row)
        if not as_json:
            print(line(row), flush=True)
    if as_json:
        print(json.dumps({"schema": "homenode.validation/1", "rows": [row.as_json() for row in found]}, indent=1))
    return found
