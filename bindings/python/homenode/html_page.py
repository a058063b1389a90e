"""A page in one HTML file that needs no network: text, tables, pictures, and plots drawn by the plotly.js that it carries.

`html_page.css` is its look, light and dark; `html_page.js` draws the plots, sorts the tables and keeps lists of choices together.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.packed_text import packed, packed_library

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A", "#A0522D"]
"""Told apart by people who see no red or no green (Okabe and Ito), and on light and dark paper."""
# The page asks for nothing, from nowhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:"


LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
"""Below a figure, as wide as it is."""


@dataclass(frozen=True)
class Menu:
    """A list to choose from, above a figure; what is chosen in one list is chosen in all lists of its `group`."""

    label: str
    names: Sequence[str]
    choice_of: Sequence[int]
    """For each trace of the figure, the choice under which it is seen."""
    group: str = ""


class Page:
    """Collects its parts in order; equal parts give equal bytes."""

    def __init__(self, title: str) -> None:
        """`title` is the window's and the heading."""
        self._title = title
        self._parts: list[str] = []
        self._sections: list[str] = []
        self._tables = 0
        self.figures: list[dict[str, Any]] = []
        self._figure_texts: list[str] = []  # as they were when they were added

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f'<h2 id="section-{len(self._sections)}">{html.escape(text)}</h2>')
        self._sections.append(text)

    def subheading(self, text: str) -> None:
        """Begin a part of a section."""
        self._parts.append(f"<h3>{html.escape(text)}</h3>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def meaning(self, text: str) -> None:
        """Add a sentence on what stands above or below it."""
        self._parts.append(f'<p class="meaning">{html.escape(text)}</p>')

    def code(self, text: str) -> None:
        """Add lines as they are."""
        self._parts.append(f"<pre>{html.escape(text)}</pre>")

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        right: Sequence[str] = (),
        meanings: Mapping[str, str] | None = None,
    ) -> None:
        """Add a table that its headings sort; columns named in `right` are right-aligned numbers.

        `meanings`: a sentence for each column, listed below the table.
        """
        side = [' class="right"' if column in right else "" for column in columns]

        def cell(text: object, place: str) -> str:
            return f"<td{place}>{html.escape(str(text))}</td>"

        head = "".join(
            f'<th scope="col" aria-sort="none"{place}><button type="button">{html.escape(column)}</button></th>'
            for column, place in zip(columns, side, strict=True)
        )
        body = "\n".join(
            f"<tr>{''.join(cell(text, place) for text, place in zip(cells, side, strict=True))}</tr>" for cells in rows
        )
        self._tables += 1
        self._parts.append(
            f'<div class="scroll" role="region" aria-label="Table {self._tables}" tabindex="0"><table>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
        )
        told = [(column, meanings[column]) for column in columns if meanings and column in meanings]
        if told:
            listed = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in told)
            self._parts.append(f"<details open><summary>What the columns mean</summary><dl>{listed}</dl></details>")

    def picture(self, svg: str, meaning: str) -> None:
        """Add a drawing (one SVG element whose styles apply to itself alone) with a sentence on it."""
        self.meaning(meaning)
        self._parts.append(f'<div class="picture" role="region" aria-label="Picture" tabindex="0">\n{svg}</div>')

    def plot(
        self,
        data: list[dict[str, Any]],
        layout: dict[str, Any],
        height: int = 420,
        *,
        meaning: str = "",
        menu: Menu | None = None,
    ) -> None:
        """Add a Plotly figure: `data` and `layout` are those of plotly.js; its title stands above it, with a sentence on what it shows."""
        look = {
            "height": height,
            "margin": {"t": 20, "l": 60, "r": 20, "b": 50},
            "colorway": COLOURS,
            "legend": LEGEND,
        }
        rest = {key: value for key, value in layout.items() if key != "title"}
        for axis in ("xaxis", "yaxis"):
            rest[axis] = {"automargin": True, **rest.get(axis, {})}
        figure = {"data": data, "layout": {**look, **rest}}
        title = str(layout.get("title", {}).get("text", ""))
        name = f"plot-{len(self.figures)}"
        self.figures.append(figure)
        self._figure_texts.append(json.dumps(figure, allow_nan=False))
        if title:
            self.subheading(title)
        if meaning:
            self.meaning(meaning)
        if menu is not None:
            self._parts.append(_list(menu, name))
        label = html.escape(title or f"Figure {len(self.figures)}", quote=True)
        self._parts.append(
            f'<figure aria-label="{label}"><div class="plot" id="{name}" style="min-height:{height}px"></div></figure>'
        )

    def to_html(self) -> str:
        """The whole file."""
        folder = Path(__file__).parent
        style = (folder / "html_page.css").read_text(encoding="utf-8")
        script = (folder / "html_page.js").read_text(encoding="utf-8")
        data = packed(f"[{','.join(self._figure_texts)}]", "plot-figures") + packed_library() if self.figures else ""
        title = html.escape(self._title)
        body = "\n".join(self._parts)
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>{title}</title>\n'
            f"<style>\n{style}</style>\n{data}</head>\n<body>\n<main>\n<h1>{title}</h1>\n{self._contents()}{body}\n</main>\n"
            f"<script>\n{script}</script>\n</body>\n</html>\n"
        )

    def _contents(self) -> str:
        """Links to the sections, where there are several."""
        if len(self._sections) < 2:
            return ""
        items = "".join(
            f'<li><a href="#section-{place}">{html.escape(text)}</a></li>' for place, text in enumerate(self._sections)
        )
        return f'<nav aria-label="Sections"><ul>{items}</ul></nav>\n'


def _list(menu: Menu, plot: str) -> str:
    options = "".join(f"<option>{html.escape(name)}</option>" for name in menu.names)
    group = html.escape(menu.group or plot, quote=True)
    return (
        f'<label class="choose">{html.escape(menu.label)} '
        f'<select data-plot="{plot}" data-group="{group}" data-choice-of="{json.dumps(list(menu.choice_of))}" autocomplete="off">'
        f"{options}</select></label>"
    )
