"""A page in one HTML file that needs no network: text, tables, pictures, and plots drawn by the plotly.js that it carries.

`html_page.css` is its look, light and dark; `html_page.js` draws the plots, sorts the tables and keeps a choice the same in all of them.
"""

import html
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.packed_text import packed, packed_library
from homenode.page_words import WORDS, anchor, word_of_column

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A", "#A0522D"]
"""Told apart by people who see no red or no green (Okabe and Ito), and on light and dark paper."""
# The page asks for nothing, from nowhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:"

MOST_BYTES = 2_000_000
"""Of a report's page: what mail and issue trackers take."""

LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
"""Below a figure, as wide as it is."""


@dataclass(frozen=True)
class Menu:
    """A list to choose from, above a figure: of what is seen in it (`choice_of`), or of the choice of a whole `group`."""

    label: str
    names: Sequence[str]
    choice_of: Sequence[int] = ()
    """For each trace of the figure, the entry under which it is seen; of a list without a group."""
    group: str = ""


@dataclass(frozen=True)
class Choices:
    """How a figure follows the choice of its group: by a click on a bar, a row of a table or a list, the choice is one for all."""

    group: str
    of_trace: Sequence[int] | None = None
    """For each trace the choice under which it is seen; None: every trace is seen always."""
    marked: str = ""
    """`rows`: row n of the figure is choice n; `both`: so is column n. A click on a row chooses it."""


class Page:
    """Collects its parts in order; equal parts give equal bytes."""

    def __init__(self, title: str) -> None:
        """`title` is the window's and the heading."""
        self._title = title
        self._parts: list[str] = []
        self._sections: list[str] = []
        self._begins: list[int] = []  # of each section, among the parts
        self.packs_sections = False
        """Whether sections but the first are compressed as well: of a page that would be too large, read by browsers of 2023 on alone."""
        self._tables = 0
        self._words: dict[str, None] = {}  # in the order of their first use
        self.pictures: list[str] = []
        self.views: list[dict[str, Any]] = []
        self.figures: list[dict[str, Any]] = []
        self.titles: list[str] = []
        """Of the figures."""
        self._figure_texts: list[str] = []  # as they were when they were added

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f'<h2 id="section-{len(self._sections)}">{html.escape(text)}</h2>')
        self._sections.append(text)
        self._begins.append(len(self._parts))

    def subheading(self, text: str) -> None:
        """Begin a part of a section."""
        self._parts.append(f"<h3>{html.escape(text)}</h3>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def lead(self, text: str) -> None:
        """Add what a hurried reader is to know, in large letters."""
        self._parts.append(f'<p class="lead">{html.escape(text)}</p>')

    def meaning(self, text: str, words: Sequence[str] = ()) -> None:
        """Add a sentence on what stands above or below it; `words`: those of it that the page's glossary explains."""
        links = "; ".join(self._link(word, word) for word in words)
        told = f' <span class="words">Words: {links}.</span>' if links else ""
        self._parts.append(f'<p class="meaning">{html.escape(text)}{told}</p>')

    def _link(self, word: str, text: str) -> str:
        self._words[word] = None
        return f'<a href="#{anchor(word)}">{html.escape(text)}</a>'

    def code(self, text: str) -> None:
        """Add lines as they are; a line that is too long does not break within an option's name."""
        told = re.sub(r"(?<=\s)--[\w-]+", lambda option: f'<span class="whole">{option[0]}</span>', html.escape(text))
        self._parts.append(f"<pre>{told}</pre>")

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        right: Sequence[str] = (),
        meanings: Mapping[str, str] | None = None,
        *,
        group: str = "",
        links: Sequence[str] = (),
    ) -> None:
        """Add a table that its headings sort; columns named in `right` are right-aligned numbers.

        `meanings`: a sentence for each column, folded below the table. `group`: row n is choice n of that group, and a click on it
        chooses it. `links`: for each row where its first cell leads.
        """
        side = [' class="right"' if column in right else "" for column in columns]

        def cell(text: object, place: str) -> str:
            return f"<td{place}>{html.escape(str(text))}</td>"

        head = "".join(
            f'<th scope="col" aria-sort="none"{place}><button type="button">{html.escape(column)}</button></th>'
            for column, place in zip(columns, side, strict=True)
        )

        def row(number: int, cells: Sequence[object]) -> str:
            first, chosen = html.escape(str(cells[0])), ""
            if group:
                chosen = f' data-group="{html.escape(group, quote=True)}" data-choice="{number}"'
                first = f'<button type="button" class="pick" aria-pressed="false">{first}</button>'
            elif links:
                first = f'<a href="{links[number]}">{first}</a>'
            rest = "".join(cell(text, place) for text, place in zip(cells[1:], side[1:], strict=True))
            return f"<tr{chosen}><td{side[0]}>{first}</td>{rest}</tr>"

        body = "\n".join(row(number, cells) for number, cells in enumerate(rows))
        self._tables += 1
        self._parts.append(
            f'<div class="scroll" role="region" aria-label="Table {self._tables}" tabindex="0"><table>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
        )
        told = [(column, meanings[column]) for column in columns if meanings and column in meanings]
        if told:
            listed = "".join(f"<dt>{self._column(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in told)
            self._parts.append(f"<details><summary>What the columns mean</summary><dl>{listed}</dl></details>")

    def _column(self, name: str) -> str:
        word = word_of_column(name)
        return html.escape(name) if word is None else self._link(word, name)

    def picture(self, svg: str, label: str, group: str, choices: Sequence[Mapping[str, Any]]) -> None:
        """Add a drawing of a machine (`machine_drawing`), coloured by what each choice of the group does there.

        A drawing is in the page once, however often it is shown. `choices`: for each the sentence `told`, and the work of
        `cores`, the traffic of `memories` and of `links`, as `machine_views` makes them.
        """
        if svg not in self.pictures:
            self.pictures.append(svg)
        self.views.append({"picture": self.pictures.index(svg), "choices": list(choices)})
        self._parts.append(
            f'<div class="picture" role="region" aria-label="{html.escape(label, quote=True)}" tabindex="0" '
            f'data-group="{html.escape(group, quote=True)}"></div>\n<p class="meaning told" aria-live="polite"></p>'
        )

    def choose(self, menu: Menu) -> None:
        """Add the list of a group's choices, where no figure has it."""
        self._parts.append(_list(menu, ""))

    def plot(
        self,
        data: list[dict[str, Any]],
        layout: dict[str, Any],
        height: int = 420,
        *,
        meaning: str = "",
        words: Sequence[str] = (),
        menu: Menu | None = None,
        choices: Choices | None = None,
    ) -> None:
        """Add a Plotly figure: `data` and `layout` are those of plotly.js; its title stands above it, with a sentence on what it shows."""
        look = {
            "height": height,
            "margin": {"t": 20, "l": 60, "r": 20, "b": 50},
            "colorway": COLOURS,
            "legend": LEGEND,
        }
        rest = {key: value for key, value in layout.items() if key != "title"}
        for axis in ("xaxis", "yaxis", *(name for name in rest if name[1:5] == "axis")):
            rest[axis] = {"automargin": True, **rest.get(axis, {})}
        figure = {"data": data, "layout": {**look, **rest}}
        title = str(layout.get("title", {}).get("text", ""))
        name = f"plot-{len(self.figures)}"
        self.figures.append(figure)
        self.titles.append(title)
        self._figure_texts.append(json.dumps(_rounded(figure), allow_nan=False, separators=(",", ":")))
        if title:
            self.subheading(title)
        if meaning:
            self.meaning(meaning, words)
        if menu is not None:
            self._parts.append(_list(menu, name))
        label = html.escape(title or f"Figure {len(self.figures)}", quote=True)
        self._parts.append(
            f'<figure aria-label="{label}"><div class="plot" id="{name}"{_follows(choices)} style="min-height:{height}px"></div></figure>'
        )

    def command(self, made_by: str | None) -> None:
        """Add the command that made this page, if it is known."""
        if made_by is not None:
            self.heading("How this page was made")
            self.code(made_by)

    def to_html(self) -> str:
        """The whole file."""
        folder = Path(__file__).parent
        style = (folder / "html_page.css").read_text(encoding="utf-8")
        script = (folder / "html_page.js").read_text(encoding="utf-8")
        data = packed(self._figures_by_kind(), "plot-figures") + packed_library() if self.figures else ""
        if self.views:
            data += packed(
                json.dumps({"pictures": self.pictures, "views": self.views}, allow_nan=False), "machine-pictures"
            )
        title = html.escape(self._title)
        ahead = (
            1 if self._parts and 'class="lead"' in self._parts[0] else 0
        )  # the first thing to be read, if there is one
        first = "".join(f"{part}\n" for part in self._parts[:ahead])
        parts, later = self._packed_sections() if self.packs_sections else (self._parts, [])
        if later:
            data += packed(json.dumps(later), "page-sections")
        body = "\n".join([*parts[ahead:], *self._glossary()])
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>{title}</title>\n'
            f"<style>\n{style}</style>\n{data}</head>\n<body>\n<main>\n<h1>{title}</h1>\n{first}{self._contents()}{body}\n</main>\n"
            f"<script>\n{script}</script>\n</body>\n</html>\n"
        )

    def _figures_by_kind(self) -> str:
        """Each figure with its place among all; those of one kind together, which packs to three quarters."""
        order = sorted(range(len(self.titles)), key=lambda place: (self.titles[place], place))
        return f"[{','.join(f'[{place},{self._figure_texts[place]}]' for place in order)}]"

    def _packed_sections(self) -> tuple[list[str], list[str]]:
        """The page's parts with an empty place below the heading of each section but the first, and what belongs there."""
        parts, later = self._parts[: self._begins[1]] if len(self._begins) > 1 else self._parts, []
        for begin, end in itertools.pairwise([*self._begins[1:], len(self._parts) + 1]):
            heading = [self._parts[end - 1]] if end <= len(self._parts) else []
            later.append("\n".join(self._parts[begin : end - 1]))
            parts = [*parts, '<div class="later"></div>', *heading]
        return parts, later

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.to_html().encode("utf-8"))

    def fits(self) -> bool:
        """Whether the file has at most `MOST_BYTES`; sections are packed if it needs that."""
        self.packs_sections = False
        if self.size <= MOST_BYTES:
            return True
        self.packs_sections = True
        return self.size <= MOST_BYTES

    @property
    def sections(self) -> int:
        """How many have begun."""
        return len(self._sections)

    def _glossary(self) -> list[str]:
        """The words that the page links to; nothing without one."""
        if not self._words:
            return []
        listed = "".join(
            f'<dt id="{anchor(word)}">{html.escape(word)}</dt><dd>{html.escape(text.replace("`", ""))}.</dd>'
            for word, text in WORDS.items()
            if word in self._words
        )
        return [f'<h2 id="words">Words</h2>\n<dl class="glossary">{listed}</dl>']

    def _contents(self) -> str:
        """Links to the sections, where there are many."""
        if len(self._sections) < 3:
            return ""
        items = "".join(
            f'<li><a href="#section-{place}">{html.escape(text)}</a></li>' for place, text in enumerate(self._sections)
        )
        return f'<nav aria-label="Sections"><ul>{items}</ul></nav>\n'


def _rounded(value: Any) -> Any:
    """Numbers to five digits; no figure shows more."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def _follows(choices: Choices | None) -> str:
    """Attributes of a figure, by which `html_page.js` knows its part in a choice."""
    if choices is None:
        return ""
    seen = "" if choices.of_trace is None else f' data-choice-of="{json.dumps(list(choices.of_trace))}"'
    marked = f' data-marked="{choices.marked}"' if choices.marked else ""
    return f' data-group="{html.escape(choices.group, quote=True)}"{seen}{marked}'


def _list(menu: Menu, plot: str) -> str:
    options = "".join(f"<option>{html.escape(name)}</option>" for name in menu.names)
    if menu.group:
        what = f'data-group="{html.escape(menu.group, quote=True)}"'
    else:
        what = f'data-plot="{plot}" data-choice-of="{json.dumps(list(menu.choice_of))}"'
    return (
        f'<label class="choose">{html.escape(menu.label)} <select {what} autocomplete="off">{options}</select></label>'
    )
