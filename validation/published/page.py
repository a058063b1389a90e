"""A paper's rows as results.md in its folder."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from validation.page_with_notes import markdown_table

COLUMNS = ("claim", "class", "machine", "what", "published", "model", "unit", "verdict")


def text_of(value: Any) -> str:
    """A cell of a table."""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


def page(paper: str, name: str, rows: Sequence[Mapping[str, Any]], small: bool, note: str = "") -> str:
    """Return the Markdown of rows as Row.as_json gives them; `note`: what a reader has to know of the runs."""
    predicted = [row for row in rows if row["class"] == "predicted"]
    compared = [row for row in predicted if row["verdict"] in ("agrees", "deviates")]
    agreeing = sum(row["verdict"] == "agrees" for row in compared)
    command = f"python -m validation published --paper {paper} --write" + (" --small" if small else "")
    lines = [
        f"# {name} ({paper})",
        "",
        f"Run on {datetime.date.today().isoformat()}:",
        "",
        f"    {command}",
        "",
        *([note.strip(), ""] if note else []),
        f"What deviates stands in [DEVIATIONS.md](../../DEVIATIONS.md). Of {len(predicted)} predicted rows {len(compared)} were compared;"
        f" of these {agreeing} agree. Rows are not claims: [claims.md](../claims.md) has a verdict for each claim, beside a null model.",
        "",
        *markdown_table(COLUMNS, [[text_of(row[column]) for column in COLUMNS] for row in rows]),
    ]
    return "\n".join(lines) + "\n"
