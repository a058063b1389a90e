"""docs/performance.md: the rows of a bench, and how they stand to those of the page before."""

import datetime
import platform
import re
import textwrap
from pathlib import Path
from typing import Any

PAGE = Path("docs/performance.md")
SLOWER = 0.8  # of the page's ratio to native: a row below it is told of
_OTHERS = 0.1  # of the probes after a row
_HEAD = ("row", "M accesses/s", "x native", "x cachegrind", "x the page before", "bytes/access", "peak MB")
_LINE = re.compile(r"\| (?P<row>[^|]+?) \| [^|]* \| (?P<ratio>\d[\d.e+-]*) \|")


def ratios_of(text: str) -> dict[str, float]:
    """By row: the ratio to native that a page has."""
    return {found["row"]: float(found["ratio"]) for found in map(_LINE.match, text.splitlines()) if found}


def slower(rows: list[dict[str, Any]], before: dict[str, float]) -> list[str]:
    """Rows whose ratio to native is below 0.8 of the page's."""
    return [
        row["name"]
        for row in rows
        if row["name"] in before and row["ratio_to_native"] is not None
        and row["ratio_to_native"] < SLOWER * before[row["name"]]
    ]  # fmt: skip


def beside_others(rows: list[dict[str, Any]]) -> str:
    """Whether these cores were the bench's alone, as their front ends tell (models/machines/native/other_thread.hpp)."""
    busy = [row["name"] for row in rows if row["others"] > _OTHERS]
    said = f"After {len(busy)} of {len(rows)} rows others had work on these cores"
    return f"{said}: {', '.join(busy)}." if busy else f"{said}."


def _cells(row: dict[str, Any], before: dict[str, float]) -> tuple[str, ...]:
    native, cachegrind = row["ratio_to_native"], row["ratio_to_cachegrind"]
    old = before.get(row["name"])
    return (
        row["name"],
        f"{row['accesses_per_second'] / 1e6:.4g}",
        f"{native:.4g}" if native is not None else "–",
        f"{cachegrind:.4g}" if cachegrind is not None else "–",
        f"{native / old:.2f}" if native is not None and old else "–",
        f"{row['bytes_per_access']:.4g}" if "bytes_per_access" in row else "",
        f"{row['peak_rss_bytes'] / 1e6:.0f}" if row["peak_rss_bytes"] else "",
    )


def table(rows: list[dict[str, Any]], before: dict[str, float]) -> list[str]:
    """The page's table."""
    lines = [_HEAD, ("---",) * len(_HEAD), *(_cells(row, before) for row in rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def renew(rows: list[dict[str, Any]], page: Path = PAGE) -> str:
    """Write the rows into the page, whose own text stays; returns what to say: the table, and which rows became slower."""
    text = page.read_text(encoding="utf-8")
    before = ratios_of(text)
    own, _, notes = text.partition("<!-- rows -->")
    _, _, notes = notes.partition("<!-- end of rows -->")
    when = f"{datetime.date.today().isoformat()}, {platform.machine()}, {_processor()}."
    notes_of_rows = [
        textwrap.fill(note, 100) for note in (beside_others(rows), *(row["note"] for row in rows if "note" in row))
    ]
    body = "\n".join(["", when, "", *table(rows, before), "", *(f"{one}\n" for one in notes_of_rows)])
    page.write_text(f"{own}<!-- rows -->\n{body}\n<!-- end of rows -->{notes}", encoding="utf-8")
    lost = slower(rows, before)
    said = f"slower than {SLOWER} of the page's ratio to native: {', '.join(lost)}" if lost else "no row became slower"
    return "\n".join([*table(rows, before), said])


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else "a processor of no name"
