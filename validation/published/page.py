"""A paper's rows as the page beside this module: results_s0.md, results_s1.md, results_s2.md, results_s3.md, results_s4.md."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

COLUMNS = ("claim", "class", "machine", "what", "published", "model", "unit", "verdict")


def _text(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


def page(paper: str, rows: Sequence[Mapping[str, Any]], small: bool, day: datetime.date, note: str = "") -> str:
    """Return the Markdown of rows as Row.as_json gives them; `note`: what a reader has to know of the runs."""
    predicted = [row for row in rows if row["class"] == "predicted"]
    compared = [row for row in predicted if row["verdict"] in ("agrees", "deviates")]
    agreeing = sum(row["verdict"] == "agrees" for row in compared)
    command = f"python -m validation published --paper {paper} --write" + (" --small" if small else "")
    lines = [
        f"# {paper}",
        "",
        f"Run on {day.isoformat()}:",
        "",
        f"    {command}",
        "",
        *([note.strip(), ""] if note else []),
        f"What deviates stands in [DEVIATIONS.md](../DEVIATIONS.md). Of {len(predicted)} predicted rows {len(compared)} were compared;"
        f" of these {agreeing} agree.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(f"| {' | '.join(_text(row[column]) for column in COLUMNS)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def write_page(paper: str, rows: Sequence[Mapping[str, Any]], small: bool) -> Path:
    """Renew the paper's page."""
    path = Path(__file__).with_name(f"results_{paper.lower()}.md")
    note = getattr(import_module(f"validation.published.{paper.lower()}"), "NOTE", "")
    path.write_text(page(paper, rows, small, datetime.date.today(), note), encoding="utf-8")
    return path
