"""One line of what came back: values of JSON, each refused with the line, what was found and what is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from homenode.errors import InputError
from homenode.visible import visible

_SHOWN = 60
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Line:
    """A line's object, or a part of it; `place`: file and line, `path`: of the part."""

    place: str
    value: dict[str, Any]
    path: str = ""

    def refuse(self, key: str, found: object, allowed: str) -> NoReturn:
        """Raise InputError."""
        shown = json.dumps(found) if isinstance(found, str | int | float | bool | None) else type(found).__name__
        shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
        raise InputError(f"{self.place}: '{self.path}{key}' is {visible(shown)}; allowed: {allowed}")

    def _of(self, key: str, fits: Callable[[Any], bool], allowed: str) -> Any:
        if key not in self.value:
            raise InputError(f"{self.place}: no '{self.path}{key}'; allowed: {allowed}")
        found = self.value[key]
        if not fits(found):
            self.refuse(key, found, allowed)
        return found

    def text(self, key: str, most: int = 400) -> str:
        """A text without control characters."""
        return str(
            self._of(
                key,
                lambda found: isinstance(found, str) and len(found) <= most and found.isprintable(),
                f"a text of at most {most} characters that can be shown",
            )
        )

    def lines(self, key: str, most: int) -> str:
        """A text of lines."""
        return str(
            self._of(
                key,
                lambda found: isinstance(found, str) and len(found) <= most and "\0" not in found,
                f"lines of at most {most} characters in all",
            )
        )

    def name(self, key: str) -> str:
        """A plain name."""
        return str(
            self._of(
                key,
                lambda found: isinstance(found, str) and NAME.fullmatch(found) is not None,
                "letters, digits, '.', '-' and '_', at most 64",
            )
        )

    def choice(self, key: str, pattern: str, allowed: str) -> str:
        """A text that a pattern matches whole."""
        return str(
            self._of(key, lambda found: isinstance(found, str) and re.fullmatch(pattern, found) is not None, allowed)
        )

    def whole(self, key: str, least: int, most: int) -> int:
        """A whole number."""
        return int(
            self._of(
                key,
                lambda found: isinstance(found, int) and not isinstance(found, bool) and least <= found <= most,
                f"a whole number from {least} to {most}",
            )
        )

    def number(self, key: str, least: float, most: float) -> float:
        """A number between finite bounds, which neither NaN nor an infinity is."""
        return float(
            self._of(
                key,
                lambda found: isinstance(found, int | float) and not isinstance(found, bool) and least <= found <= most,
                f"a number from {least:g} to {most:g}",
            )
        )

    def flag(self, key: str) -> bool:
        """True or false."""
        return bool(self._of(key, lambda found: isinstance(found, bool), "true or false"))

    def part(self, key: str) -> Line:
        """An object within."""
        found = self._of(key, lambda found: isinstance(found, dict), "an object")
        return Line(self.place, found, f"{self.path}{key}.")

    def items(self, key: str, most: int) -> list[Any]:
        """A list."""
        return list(
            self._of(
                key, lambda found: isinstance(found, list) and len(found) <= most, f"a list of at most {most} entries"
            )
        )

    def numbers(self, key: str, least: float, most: float, entries: int = 1000) -> dict[str, float]:
        """An object of numbers by plain names."""
        part = self.part(key)
        if len(part.value) > entries:
            self.refuse(key, f"{len(part.value)} entries", f"at most {entries}")
        for name in part.value:
            if NAME.fullmatch(name) is None:
                self.refuse(key, name, "plain names as keys")
        return {name: part.number(name, least, most) for name in part.value}


def parsed_line(place: str, text: str) -> Line:
    """A line as an object of JSON; NaN and infinities are none."""

    def no_number(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        value = json.loads(text, parse_constant=no_number)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        shown = visible(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
        raise InputError(f"{place}: '{shown}' is no object of JSON; allowed: what run.sh of a kit wrote, unchanged")
    return Line(place, value)
