"""The papers' cases as one study: `python -m validation published --paper S4`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from validation.published.page import page
from validation.published.s0 import study as s0
from validation.published.s0.cases import NOTE as S0_NOTE
from validation.published.s1 import study as s1
from validation.published.s2 import study as s2
from validation.published.s2.cases import NOTE as S2_NOTE
from validation.published.s3 import study as s3
from validation.published.s3.cases import NOTE as S3_NOTE
from validation.published.s4 import study as s4
from validation.rows import Row
from validation.study import BadOptions, Options, Study


@dataclass(frozen=True)
class Paper:
    """One paper (docs/papers.md): its rows by folder and size, and what a reader of its page has to know of the runs."""

    name: str
    rows: Callable[[Path, bool], Iterator[Row]]
    note: str = ""


PAPERS = {
    "S0": Paper("Metzger et al. 2018", s0.rows, S0_NOTE),
    "S1": Paper("Yang et al. 2019", s1.rows),
    "S2": Paper("Gerofi et al. 2014", s2.rows, S2_NOTE),
    "S3": Paper("Știrb 2020", s3.rows, S3_NOTE),
    "S4": Paper("Wittmann and Hager 2010", s4.rows),
}


def page_of(paper: str) -> Path:
    """Where its results stand."""
    return Path(__file__).with_name(paper.lower()) / "results.md"


def rows(options: Options) -> Iterator[Row]:
    """Rows of the papers' cases; of one paper if named."""
    if options.write and options.paper is None:
        raise BadOptions(f"--write without --paper; allowed: --paper {'|'.join(PAPERS)}")
    for paper in PAPERS if options.paper is None else (options.paper,):
        yield from PAPERS[paper].rows(options.folder, options.small)


def _write(found: Sequence[Row], options: Options) -> None:
    assert options.paper is not None  # rows has refused
    paper = PAPERS[options.paper]
    text = page(options.paper, paper.name, [row.as_json() for row in found], options.small, paper.note)
    page_of(options.paper).write_text(text, encoding="utf-8")


STUDY = Study(
    "published",
    "what the five papers print against the model (`--paper S4`: that of Wittmann and Hager)",
    "minutes (S3) to hours (S0)",
    ("claim", "machine", "what", "published", "model", "unit", "verdict", "command", "class"),
    rows,
    tuple(page_of(paper) for paper in PAPERS),
    write=_write,
)
