"""Pages of results: tables are written by a study; the notes below them, from the first heading on, are written by hand and stay."""

from collections.abc import Iterator, Sequence
from pathlib import Path


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """The lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def notes_of(page: Path) -> str:
    """Return what the page says from its first heading on."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return "\n## " + text.partition("\n## ")[2] if "\n## " in text else ""


def write_with_notes(page: Path, tables: str) -> None:
    """Renew the page's tables."""
    page.write_text(tables + notes_of(page), encoding="utf-8")
