"""What `homenode kit import` found, as one document (schema homenode.kit-import/1)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from homenode.kits.page_homes import PagesRow
from homenode.kits.returned import Choice, Returned
from homenode.kits.table import KitRow, Summary, Table
from homenode.null_models import Figures

SCHEMA = "homenode.kit-import/1"


def kit_document(returned: Returned, found: Table, summary: Summary) -> dict[str, Any]:
    """Everything but the machine."""
    host = returned.host
    return {
        "schema": SCHEMA,
        "host": {
            "name": host.name,
            "system": host.system,
            "architecture": host.architecture,
            "cpu": host.cpu,
            "huge_pages": host.huge_pages,
            "balancing": host.balancing,
            "counters": list(host.counters),
            "refused": host.refused,
        },
        "kit": {
            "homenode_version": returned.homenode_version,
            "planned": returned.planned,
            "runs": len(returned.runs) + len(returned.pages),
        },
        "rows": [_row(row, returned) for row in found.rows],
        "pages": [_pages(row) for row in found.pages],
        "left_out": found.left_out,
        "summary": {
            name: value._asdict() if isinstance(value, Figures) else value for name, value in vars(summary).items()
        },
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return asdict(choice)


def _row(row: KitRow, returned: Returned) -> dict[str, Any]:
    return {
        **_choice(row.choice),
        "kernel": row.kernel,
        "parameters": returned.cases[row.choice.case].parameters,
        "measured_seconds": row.measured.seconds,
        "spread": row.measured.spread,
        "repeats": row.measured.repeats,
        "predicted_seconds": row.predicted_seconds,
        "error": row.ratio - 1,
        "null_seconds": row.null_seconds,
        "failed": row.failed,
        "disturbed": row.disturbed,
        "all_disturbed": row.all_disturbed,
        "counters": row.counters,
    }


def _pages(row: PagesRow) -> dict[str, Any]:
    return {
        **_choice(row.choice),
        "pages": row.pages,
        "same": row.same,
        "measured": list(row.measured),
        "predicted": list(row.predicted),
    }
