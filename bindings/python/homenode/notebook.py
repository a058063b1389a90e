"""How values look in a notebook: a heading and a table, with nothing in them that a page could run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from homenode.visible import visible


def facts(heading: str, values: Mapping[str, Any]) -> str:
    """A heading, and a row for each fact."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{_text(name)}</th><td>{_text(value)}</td></tr>"
        for name, value in values.items()
    )
    return f"<p><b>{_text(heading)}</b></p><table>{rows}</table>"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns and rows."""
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _text(value: Any) -> str:
    return escape(visible(f"{value:.4g}" if isinstance(value, float) else str(value)))
