"""Rows of the study `native-programs`, and what is shown of them: lines, the page, the document."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from homenode.null_models import HEADS, cells, figures, in_words
from validation.native.program_table import Program
from validation.page_with_notes import markdown_table
from validation.rows import AnyRow

COMMAND = "homenode validate native --sources FOLDER --machine host.toml --write"


@dataclass(frozen=True)
class ProgramRow(AnyRow):
    """A program with one of its inputs on a number of threads. Seconds that could not be told are None."""

    program: str
    kind: str
    language: str
    origin: str
    arguments: str
    threads: int
    by: str  # what is compared: "cpu" (user and system) or "elapsed"
    native_seconds: float  # least of the repeats
    spread: float  # of the median above it
    repeats: int
    start_seconds: float  # of a process that does nothing (program_start.py); a part of every predicted figure below
    predicted_seconds: float
    low_seconds: float | None  # of the 90 % interval
    high_seconds: float | None
    bound_by: str
    by_accesses_seconds: float | None
    roofline_seconds: float
    without: dict[str, float]  # seconds with a mechanism switched off
    accesses: int
    instructions: float
    unseen_share: float  # of the instructions
    memory_bytes: int
    page_faults: int
    capture_seconds: float
    trace_bytes: int
    replay_seconds: float

    @property
    def ratio(self) -> float:
        """Predicted over native."""
        return self.predicted_seconds / self.native_seconds

    @property
    def within_interval(self) -> bool | None:
        """Whether the native time lies in the interval."""
        if self.low_seconds is None or self.high_seconds is None:
            return None
        return self.low_seconds <= self.native_seconds <= self.high_seconds

    def as_json(self) -> dict[str, Any]:
        """Return what follows from the values, too."""
        return {**super().as_json(), "ratio": self.ratio, "within_interval": self.within_interval}


@dataclass(frozen=True)
class SkippedRow(AnyRow):
    """A program that was not compared."""

    program: str
    kind: str
    origin: str
    arguments: str
    threads: int
    skipped: str  # why


Row = ProgramRow | SkippedRow


def line(row: Row) -> str:
    """A row of the output."""
    if isinstance(row, SkippedRow):
        return f"{row.program:<14}{row.threads}  skipped: {row.skipped}"
    return (
        f"{row.program:<14}{row.threads}  native {row.native_seconds:.4g} s (+{row.spread:.0%})  predicted {row.predicted_seconds:.4g} s  "
        f"ratio {row.ratio:.2f}  {_within(row)}  {row.bound_by}  {row.arguments}"
    )


def _within(row: ProgramRow) -> str:
    return {None: "no interval", True: "in interval", False: "outside"}[row.within_interval]


def models(rows: Sequence[ProgramRow]) -> dict[str, list[float]]:
    """Ratios to the native time, by model; of all rows that a model says something of."""
    found = {
        "homenode": [row.ratio for row in rows],
        "null: time by accesses": [
            row.by_accesses_seconds / row.native_seconds for row in rows if row.by_accesses_seconds is not None
        ],
        "null: peak roofline": [row.roofline_seconds / row.native_seconds for row in rows],
    }
    for name in dict.fromkeys(name for row in rows for name in row.without):
        found[f"homenode, {name}"] = [row.without[name] / row.native_seconds for row in rows if name in row.without]
    return {name: ratios for name, ratios in found.items() if ratios}


def _by(rows: Sequence[ProgramRow], key: Callable[[ProgramRow], str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row.ratio)
    return dict(sorted(found.items()))


def _coverage(rows: Iterable[ProgramRow]) -> str:
    told = [row.within_interval for row in rows if row.within_interval is not None]
    return f"the native time lies in the 90 % interval in {sum(told)} of {len(told)} rows that have one"


def summary_lines(rows: Sequence[ProgramRow]) -> list[str]:
    """Figures of each model by number of threads, then how the intervals hold."""
    lines = []
    for threads in sorted({row.threads for row in rows}):
        of_these = [row for row in rows if row.threads == threads]
        for name, ratios in models(of_these).items():
            lines.append(f"{threads} thread{'s' * (threads > 1)}, {name}: {in_words(figures(ratios))}")
        lines.append(f"{threads} thread{'s' * (threads > 1)}: {_coverage(of_these)}")
    return lines


def document(found: Sequence[Row]) -> dict[str, Any]:
    """Schema homenode.validation/1, with a summary by number of threads."""
    rows = [row for row in found if isinstance(row, ProgramRow)]
    summary = {
        str(threads): {
            name: figures(ratios)._asdict()
            for name, ratios in models([row for row in rows if row.threads == threads]).items()
        }
        for threads in sorted({row.threads for row in rows})
    }
    return {"schema": "homenode.validation/1", "rows": [row.as_json() for row in found], "summary": summary}


def _measured_cells(row: ProgramRow) -> list[object]:
    interval = (
        "–"
        if row.low_seconds is None or row.high_seconds is None
        else f"{row.low_seconds:.3g} … {row.high_seconds:.3g}"
    )
    return [
        row.program,
        f"`{row.arguments}`" if row.arguments else "",
        f"{row.native_seconds:.4g}",
        f"{row.spread:.0%}",
        f"{row.start_seconds:.2g}",
        f"{row.predicted_seconds:.4g}",
        f"{row.ratio:.2f}",
        interval,
        {None: "–", True: "yes", False: "no"}[row.within_interval],
        row.bound_by.replace("|", "\\|"),
        f"{row.unseen_share:.0%}",
        "–" if row.by_accesses_seconds is None else f"{row.by_accesses_seconds / row.native_seconds:.2f}",
        f"{row.roofline_seconds / row.native_seconds:.2f}",
    ]


_MEASURED = (
    *(
        "program",
        "arguments",
        "native s",
        "spread",
        "start s",
        "predicted s",
        "ratio",
        "90 % interval, s",
        "holds",
        "bound by",
    ),
    *("unseen", "by accesses", "roofline"),
)


def _of_threads(threads: int, rows: Sequence[ProgramRow]) -> list[str]:
    kinds = _by(rows, lambda row: row.kind)
    return [
        f"{'One thread' if threads == 1 else f'{threads} threads'}: {_coverage(rows)}. *start*: of an empty program with the same",
        "libraries, a part of every prediction; *ratio*: predicted over native; *unseen*: share of the instructions in code that was not",
        "instrumented; the last two columns: the null models' ratios.",
        "",
        *markdown_table(_MEASURED, [_measured_cells(row) for row in rows]),
        "",
        *markdown_table(("model", *HEADS), [(name, *cells(figures(of))) for name, of in models(rows).items()]),
        "",
        *markdown_table(("kind", *HEADS), [(kind, *cells(figures(of))) for kind, of in kinds.items()]),
        "",
    ]


def _table_of_programs(found: Sequence[Row], listed: Sequence[Program]) -> list[str]:
    known = {
        row.program: (row.program, row.kind, row.language, row.origin) for row in found if isinstance(row, ProgramRow)
    }
    for program in listed:
        known.setdefault(program.name, (program.name, program.kind, program.language, program.origin))
    return list(markdown_table(("program", "kind", "language", "from"), list(known.values())))


def page(found: Sequence[Row], listed: Sequence[Program]) -> str:
    """The page down to its notes; without rows it says what would be run."""
    rows = [row for row in found if isinstance(row, ProgramRow)]
    skipped = [row for row in found if isinstance(row, SkippedRow)]
    lines = [
        "# Whole programs, native against the calibrated host",
        "",
        f"Made by `{COMMAND}`; [README.md](README.md) says how to",
        "get the programs. Native: their own flags, gcc, the least of the repeats, in turns over all programs; processor time (user and",
        "system) where there is one thread, else the time that passes. Predicted: first touch, threads side by side, the source's",
        "schedules, heap `auto`; and the start of a process, which is no part of a trace and is measured by an empty program. Null",
        "models: a constant time an access, fitted to the other programs (geometric mean); the longer of instructions at peak issue and",
        "bytes beyond the last cache at peak bandwidth; the start of a process is in both. The programs were chosen by kind before any of",
        "them was predicted.",
        "Mechanisms are switched off one at a time, where a replay takes less than 3 s.",
        "",
        *_table_of_programs(found, listed),
        "",
    ]
    if not rows:
        lines += ["Not measured yet: a run wants a quiet machine.", ""]
    for threads in sorted({row.threads for row in rows}):
        lines += _of_threads(threads, [row for row in rows if row.threads == threads])
    if skipped:
        cells = [(row.program, f"`{row.arguments}`", row.threads, row.skipped.replace("|", "\\|")) for row in skipped]
        lines += ["Not compared:", "", *markdown_table(("program", "arguments", "threads", "why"), cells), ""]
    return "\n".join(lines).rstrip("\n") + "\n"
