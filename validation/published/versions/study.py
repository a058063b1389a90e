"""`python -m validation versions`: the papers' programs in the versions that their texts leave open, beside each other."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from validation.page_with_notes import markdown_table
from validation.published.page import COLUMNS, text_of
from validation.published.s0 import cases as s0
from validation.published.s0.replays import Replays
from validation.published.s1 import cases as s1
from validation.published.s1.fitted import PATCHES
from validation.published.s2 import cases as s2
from validation.published.versions import blocks, exchanges, footprints, lists, processes, transforms
from validation.result_cache import ResultCache, package_hash
from validation.rows import Row
from validation.study import Options, Study

PAGE = Path(__file__).with_name("results.md")
COMMAND = "python -m validation versions --write"
PAPERS = ("S0", "S1", "S2", "S4")
PROCESSES = tuple(
    replace(case, placed=processes.PLACED) for case in s0.CASES if case.program == "hotspot" and int(case.size) <= 512
)


def _rows_of(paper: str, options: Options) -> Iterator[Row]:
    folder, small = options.folder, options.small
    if paper == "S0":
        yield from footprints.rows(s0.references())
        replays = Replays(folder, ResultCache(folder / "versions.jsonl", package_hash()))
        yield from transforms.rows(replays, ("S",) if small else ("S", "W", "A"))
        yield from processes.rows(replays, PROCESSES[:1] if small else PROCESSES)
    elif paper == "S1":
        yield from exchanges.rows(
            folder, s1.references(), (8,) if small else (8, 32, 64, 128, 256), 256 if small else int(PATCHES.value)
        )
    elif paper == "S2":
        yield from lists.rows(folder, s2.references(), (2,) if small else (4, 12))
    else:
        yield from blocks.rows(folder, small)


def rows(options: Options) -> Iterator[Row]:
    """Rows of each paper, or of one if named (`--paper`)."""
    for paper in PAPERS if options.paper is None else (options.paper,):
        if paper not in PAPERS:
            raise SystemExit(f"no versions of the programs of {paper}; allowed: --paper {'|'.join(PAPERS)}")
        print(f"versions of the programs of {paper}", file=sys.stderr, flush=True)
        yield from _rows_of(paper, options)


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    lines = [
        "# The papers' programs, by version",
        "",
        f"Made by `{COMMAND}`. Where a paper's text leaves open which version of a program was run, or its text",
        "contradicts itself, both are replayed and both stand here, each marked by its version. What moved, and what separates the",
        "causes, stands in [DEVIATIONS.md](../../DEVIATIONS.md), section *The papers' programs, by version*.",
        "",
        *markdown_table(COLUMNS, [[text_of(row.as_json()[column]) for column in COLUMNS] for row in found]),
    ]
    return "\n".join(lines) + "\n"


STUDY = Study(
    "versions",
    "the papers' programs in the versions that their texts leave open, beside each other (`--paper S0`, S1, S2 or S4)",
    "an hour",
    ("claim", "machine", "what", "published", "model", "unit", "verdict", "command", "class"),
    rows,
    (PAGE,),
    tables=page,
)
