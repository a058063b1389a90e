"""Tables that fit the terminal: no word is broken, nothing is cut off, and what is left out is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAP = 2  # between columns
_LEAST_PROSE = 20  # columns of the terminal: narrower sentences are no help
_PROSE = 30  # letters from which a text with spaces is a sentence


@dataclass(frozen=True)
class _Part:
    """A column as it is to be drawn: its cells with their markup, and whether they may be wrapped between words."""

    name: str
    cells: tuple[Text, ...]
    is_right: bool
    wraps: bool = False

    def width(self) -> int:
        """Of the widest line, the heading among them."""
        return max(_widest(self.name), *(_widest(cell.plain) for cell in self.cells), 0)

    def least(self) -> int:
        """The narrowest that breaks no word."""
        if not self.wraps:
            return self.width()
        words = max((len(word) for cell in self.cells for word in cell.plain.split()), default=0)
        return max(words, min(self.width(), _LEAST_PROSE), _widest(self.name))

    def is_prose(self) -> bool:
        """Whether it is made of sentences."""
        return not self.is_right and any(len(cell.plain) > _PROSE and " " in cell.plain for cell in self.cells)


def _widest(text: str) -> int:
    return max((len(line) for line in text.splitlines()), default=0)


@dataclass(frozen=True)
class _Layout:
    """One way to draw a table, with lines above and below it."""

    parts: tuple[_Part, ...]
    above: str = ""
    below: str = ""

    def fits(self, width: int) -> bool:
        return sum(part.least() for part in self.parts) + _GAP * (len(self.parts) - 1) <= width


@dataclass
class Narrowing:
    """What a table may do where the terminal is too narrow for it, in this order."""

    same: Sequence[str] = field(default_factory=list)
    """Columns that go into a line above the table if all rows have one value there."""
    listed: str = ""
    """A column whose items, divided by commas, may stand one below the other."""
    optional: Sequence[str] = field(default_factory=list)
    """Columns that may be left out, the first one first."""
    keys: Sequence[str] = field(default_factory=list)
    """Columns that tell the rows apart: each of several tables has them in front. Without any it is the first column."""


class HeadedTable(Table):
    """A table under a heading that may be wider than it: rich would wrap the heading to the table's width."""

    heading: str | None = None
    narrowing = Narrowing()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Heading and table, in the first layout that fits; else in several tables; else each row as lines of its own."""
        if self.heading is not None:
            yield Text(f"\n{self.heading}", style="italic")
        width = options.max_width
        if Measurement.get(console, options.update(width=10_000), self).maximum <= width or not self.columns:
            yield from super().__rich_console__(console, options)
            return
        parts = tuple(self._parts(console))
        layouts = list(self._layouts(parts))
        fitting = next((layout for layout in layouts if layout.fits(width)), None)
        if fitting is None:
            whole = next(layout for layout in reversed(layouts) if not layout.below)
            yield from self._without_layout(whole, parts, width)
            return
        if fitting.above:
            yield Text(fitting.above)
        yield self._table(fitting.parts, width)
        if fitting.below:
            yield Text(fitting.below)

    def _without_layout(self, whole: _Layout, parts: tuple[_Part, ...], width: int) -> RenderResult:
        """In several tables with all columns of `whole`, else each row as lines of its own."""
        groups = _split(whole.parts, width, self.narrowing.keys)
        if groups is None:
            yield from self._records(parts, width)
            return
        if whole.above:
            yield Text(whole.above)
        for number, group in enumerate(groups):
            if number:
                yield Text("")
            yield self._table(group, width)

    def _parts(self, console: Console) -> Iterator[_Part]:
        for column in self.columns:
            cells = tuple(
                console.render_str(cell) if isinstance(cell, str) else Text.assemble(cell)
                for cell in _texts(column._cells)
            )
            yield _Part(str(column.header), cells, column.justify == "right")

    def _layouts(self, parts: tuple[_Part, ...]) -> Iterator[_Layout]:
        """From the one that is most like the table to the one that says least."""
        wrapping = tuple(replace(part, wraps=part.is_prose() and part.name != self.narrowing.listed) for part in parts)
        yield _Layout(wrapping)
        same = [
            part for part in wrapping if part.name in self.narrowing.same and len({c.plain for c in part.cells}) == 1
        ]
        above = ", ".join(f"{part.name} {part.cells[0].plain}" for part in same)
        rest = tuple(part for part in wrapping if part not in same)
        yield _Layout(rest, above)
        stacked = tuple(_stacked(part) for part in rest)
        yield _Layout(stacked, above)
        listed = tuple(_listed(part) if part.name == self.narrowing.listed else part for part in rest)
        narrow = tuple(_stacked(part) for part in listed)
        yield _Layout(narrow, above)
        left_out: list[str] = []
        for name in self.narrowing.optional:
            left_out.append(name)
            shown = tuple(part for part in narrow if part.name.replace("\n", " ") not in left_out)
            yield _Layout(shown, above, f"Not shown in so few columns: {', '.join(left_out)}.")

    def _table(self, parts: Sequence[_Part], width: int) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for part, columns in zip(parts, _widths(parts, width), strict=True):
            justify = "right" if part.is_right else "left"
            table.add_column(part.name, justify=justify, no_wrap=not part.wraps, width=columns)  # type: ignore[arg-type]
        for number, row in enumerate(self.rows):
            table.add_row(*(part.cells[number] for part in parts), style=row.style)
        return table

    def _records(self, parts: Sequence[_Part], width: int) -> Iterator[Text | Padding]:
        """Each row as lines of name and value; values that are too long go on below their name."""
        name_width = max(len(part.name) for part in parts)
        for number, row in enumerate(self.rows):
            if number:
                yield Text("")
            for part in parts:
                value = part.cells[number]
                if not value.plain:
                    continue
                name = Text(f"{part.name:<{name_width}}  ", style=row.style or "")
                if name_width + _GAP + len(value.plain) > width:
                    yield name
                    yield Padding(value, (0, 0, 0, _GAP))
                else:
                    yield name + value


def _widths(parts: Sequence[_Part], width: int) -> list[int]:
    """Columns of the terminal for each part: what it needs, and of what is left an equal share for those that want more.

    Left to itself rich takes from columns that may not wrap, and cuts their words off.
    """
    widths = [part.least() for part in parts]
    left = width - sum(widths) - _GAP * (len(parts) - 1)
    wanting = sorted((place for place, part in enumerate(parts) if part.wraps), key=lambda place: parts[place].width())
    for number, place in enumerate(wanting):
        more = max(0, min(parts[place].width() - widths[place], left // (len(wanting) - number)))
        widths[place] += more
        left -= more
    return widths


def _texts(cells: Sequence[object]) -> Iterator[str | Text]:
    for cell in cells:
        yield cell if isinstance(cell, str | Text) else str(cell)


def _stacked(part: _Part) -> _Part:
    """Its heading in several lines, where it is wider than what stands below it."""
    widest = max((_widest(cell.plain) for cell in part.cells), default=0)
    return replace(part, name=part.name.replace(" ", "\n")) if _widest(part.name) > widest else part


def _split(parts: tuple[_Part, ...], width: int, keys: Sequence[str]) -> list[list[_Part]] | None:
    """Columns as several tables, each with its `keys` in front; None where not even one more has room beside them."""
    front = [part for part in parts if part.name.replace("\n", " ") in keys] or [parts[0]]
    groups: list[list[_Part]] = []
    for part in parts:
        if part in front:
            continue
        if groups and _Layout((*groups[-1], part)).fits(width):
            groups[-1].append(part)
        elif _Layout((*front, part)).fits(width):
            groups.append([*front, part])
        else:
            return None
    return groups or None


def _listed(part: _Part) -> _Part:
    """Its items one below the other."""
    cells = []
    for cell in part.cells:
        items = cell.split(", ")
        cells.append(Text(",\n").join(items))
    return replace(part, cells=tuple(cells))
