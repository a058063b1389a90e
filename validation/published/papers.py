"""The papers' cases as one study: `python -m validation published --paper S4`, and the table of their claims."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from validation.published.claims import table
from validation.published.claims.figures import Figure, write_figures
from validation.published.page import page
from validation.published.s0 import study as s0
from validation.published.s0.cases import NOTE as S0_NOTE
from validation.published.s1 import study as s1
from validation.published.s1.cases import NOTE as S1_NOTE
from validation.published.s2 import study as s2
from validation.published.s2.cases import NOTE as S2_NOTE
from validation.published.s3 import study as s3
from validation.published.s3.cases import NOTE as S3_NOTE
from validation.published.s4 import study as s4
from validation.published.s4.cases import NOTE as S4_NOTE
from validation.rows import Row
from validation.study import Options, Study


@dataclass(frozen=True)
class Paper:
    """One paper (docs/papers.md): its rows by folder and size, and what a reader of its page has to know of the runs."""

    name: str
    rows: Callable[[Path, bool], Iterator[Row | Figure]]
    note: str = ""


PAPERS = {
    "S0": Paper("Metzger et al. 2018", s0.rows, S0_NOTE),
    "S1": Paper("Yang et al. 2019", s1.rows, S1_NOTE),
    "S2": Paper("Gerofi et al. 2014", s2.rows, S2_NOTE),
    "S3": Paper("Știrb 2020", s3.rows, S3_NOTE),
    "S4": Paper("Wittmann and Hager 2010", s4.rows, S4_NOTE),
}


@dataclass(frozen=True)
class PaperRow(Row):
    """A row that knows its page."""

    paper: str

    def as_json(self) -> dict[str, Any]:
        """As the row itself."""
        return {key: value for key, value in super().as_json().items() if key != "paper"}


def page_of(paper: str) -> Path:
    """Where its results stand."""
    return Path(__file__).with_name(paper.lower()) / "results.md"


def papers_of(options: Options) -> tuple[str, ...]:
    """All papers, or the one that is named."""
    return tuple(PAPERS) if options.paper is None else (options.paper,)


def rows(options: Options) -> Iterator[PaperRow]:
    """Rows of the papers' cases, each with its paper; figures for the table of claims are kept in the study's folder.

    Several papers run beside each other, one a CPU: most of a paper's replays have one thread of the host. Rows come in the papers' order.
    """
    papers = papers_of(options)
    processes = min(len(papers), len(os.sched_getaffinity(0)))
    if processes == 1:
        for paper in papers:
            yield from _rows_of(paper, options)
        return
    with _side_by_side(processes) as pool:
        running = {paper: pool.submit(_all_rows_of, paper, options) for paper in _LONGEST_FIRST}
        for paper in papers:
            yield from running[paper].result()


def _side_by_side(processes: int) -> Executor:
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


_LONGEST_FIRST = ("S1", "S0", "S2", "S4", "S3")


def _all_rows_of(paper: str, options: Options) -> list[PaperRow]:
    return list(_rows_of(paper, options))


def _rows_of(paper: str, options: Options) -> Iterator[PaperRow]:
    figures: list[Figure] = []
    began = time.monotonic()
    for found in PAPERS[paper].rows(options.folder, options.small):
        if isinstance(found, Row):
            yield PaperRow(**vars(found), paper=paper)
            continue
        if not figures or figures[-1].runs != found.runs:  # what ran since the figures before was run for these
            seconds, began = time.monotonic() - began, time.monotonic()
        else:
            seconds = figures[-1].seconds
        figures.append(replace(found, seconds=seconds))
    write_figures(_figures_of(options, paper), figures)


def _figures_of(options: Options, paper: str) -> Path:
    return options.folder / "claims" / f"{paper.lower()}{'-small' if options.small else ''}.csv"


def _write(found: Sequence[PaperRow], options: Options) -> None:
    """Renew the pages of the papers that ran; and, but for reduced problems, the table of claims."""
    for name in papers_of(options):
        paper, own = PAPERS[name], [row.as_json() for row in found if row.paper == name]
        page_of(name).write_text(page(name, paper.name, own, options.small, paper.note), encoding="utf-8")
        if not options.small:
            figures = _figures_of(options, name).read_text(encoding="utf-8")
            table.figures_of(name).write_text(figures, encoding="utf-8")
    if not options.small:
        table.write()


def _closing(found: Sequence[PaperRow], options: Options) -> str:
    """The table as text. Papers that did not run now are shown as they were run last for the page."""
    if options.small:
        return ""
    return table.text({name: _figures_of(options, name) for name in papers_of(options)})


STUDY = Study(
    "published",
    "what the five papers print against the model (`--paper S4`: that of Wittmann and Hager), and the table of all claims",
    "a quarter of an hour; S3 ten seconds",
    ("claim", "machine", "what", "published", "model", "unit", "verdict", "command", "class"),
    rows,
    (*(page_of(paper) for paper in PAPERS), table.PAGE),
    write=_write,
    closing=_closing,
)
