"""The study `figures`: the papers' figures as PNG and SVG, from the pages of the last full runs; nothing is replayed."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from validation.published.drawings import s0, s1, s2, s4
from validation.published.drawings.canvas import write
from validation.rows import AnyRow
from validation.study import BadOptions, Options, Study

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
PAGE = PICTURES.parent / "paper_figures.md"
DRAWINGS = {"S0": s0.DRAWINGS, "S1": s1.DRAWINGS, "S2": s2.DRAWINGS, "S4": s4.DRAWINGS}


@dataclass(frozen=True)
class Drawn(AnyRow):
    """A figure that was written."""

    figure: str
    what: str
    source: str
    printed_values: int  # drawn beside the model's; the papers' figures have no values in their text
    png: str
    svg: str


def rows(options: Options) -> Iterator[Drawn]:
    """Draw the figures of all papers, or of one, into the study's folder."""
    if options.paper is not None and options.paper not in DRAWINGS:
        raise BadOptions(f"--paper {options.paper} has no figure to draw; allowed: {', '.join(DRAWINGS)}")
    for paper, drawings in DRAWINGS.items():
        if options.paper in (None, paper):
            for drawing in drawings:
                printed, (png, svg) = write(drawing, options.folder / "figures")
                yield Drawn(drawing.name, drawing.what, drawing.source, printed, str(png), str(svg))


def _renew(found: Sequence[Drawn], options: Options) -> None:
    """The page shows the PNG files."""
    for row in found:
        shutil.copyfile(row.png, PICTURES / Path(row.png).name)


STUDY = Study(
    "figures",
    "the papers' figures, drawn from the pages of the last full runs as PNG and SVG; nothing is replayed",
    "seconds",
    ("figure", "what", "source", "printed_values", "png", "svg"),
    rows,
    (PAGE,),
    write=_renew,
)
