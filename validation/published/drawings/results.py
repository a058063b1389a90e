"""Reads what a run left in its page: rows of claims, and further tables by their columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import InputError

PUBLISHED = Path(__file__).parents[1]
_COLUMNS = ["claim", "class", "machine", "what", "published", "model", "unit", "verdict"]
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Line:
    """A row of a page: what was compared, what the paper prints, what the model says."""

    claim: str
    machine: str
    what: str
    published: str
    model: str


@dataclass(frozen=True)
class Results:
    """A page of results; what it lacks is bad input, for a page can be of another version."""

    page: Path

    def lines(self, claim: str, pattern: str) -> list[tuple[Line, re.Match[str]]]:
        """The rows of a claim whose text the pattern matches from its beginning, in the page's order; InputError if there is none."""
        found = []
        for cells in self._rows_of(_COLUMNS):
            name, _, machine, what, published, model, *_ = cells
            matched = re.match(pattern, what)
            if claim in name.split(", ") and matched:
                found.append((Line(name, machine, what, published, model), matched))
        if not found:
            raise InputError(
                f"{self.page} has no row of {claim} that begins as '{pattern}'; allowed: a page of a whole run "
                "(python -m validation published --write)"
            )
        return found

    def tables(self, first_columns: Sequence[str]) -> list[tuple[str, list[dict[str, str]]]]:
        """The tables whose columns begin so: the line of text above each, and its rows by column; InputError if there is none."""
        found = []
        above, head = "", list[str]()
        for line in [*self._text().splitlines(), ""]:
            if not line.startswith("|"):
                above, head = (line or above), []
                continue
            cells = _cells(line)
            if not head:
                head = cells
                if cells[: len(first_columns)] == list(first_columns):
                    found.append((above, list[dict[str, str]]()))
            elif head[: len(first_columns)] == list(first_columns) and not set(line) <= set("|-: "):
                found[-1][1].append(dict(zip(head, cells, strict=True)))
        if not found:
            raise InputError(f"{self.page} has no table of {', '.join(first_columns)}; allowed: a page of a whole run")
        return found

    def _rows_of(self, columns: Sequence[str]) -> Iterator[list[str]]:
        for _, rows in self.tables(columns):
            for row in rows:
                yield list(row.values())

    def _text(self) -> str:
        try:
            return self.page.read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"no page {self.page}: {error.strerror}; allowed: inside homenode's source tree") from None


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(text: str) -> float:
    """The first number of a text; InputError if it has none."""
    found = _NUMBER.search(text.replace(",", ""))
    if found is None:
        raise InputError(f"'{text}' has no number; allowed: a page of a whole run")
    return float(found[0])


def interval(text: str) -> tuple[float, float]:
    """`1.01 to 1.05` or a single number as both ends."""
    ends = [float(end) for end in _NUMBER.findall(text)]
    if not ends:
        raise InputError(f"'{text}' has no number; allowed: a number, or LOW to HIGH")
    return ends[0], ends[-1]


def named_numbers(text: str) -> dict[str, float]:
    """`s/ijk 540, s/kji 1036; round robin 2130` by name; what has no number behind its name is left out."""
    parts = (part.strip().rpartition(" ") for part in re.split(r"[,;<]", text))
    return {name: float(value) for name, _, value in parts if name and _NUMBER.fullmatch(value)}
