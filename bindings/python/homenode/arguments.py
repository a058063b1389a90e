"""Arguments of the public functions, refused by one UsageError that names the argument, what was found and what is allowed."""

from __future__ import annotations

import operator
from os import PathLike
from typing import Any

from homenode.errors import UsageError


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """The number; True and False are none."""
    allowed = f"a whole number, at least {least}" + ("" if most is None else f", at most {most}")
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = None
    if found is None or found < least or (most is not None and found > most):
        raise UsageError(f"argument '{name}' is {value!r}; allowed: {allowed}")
    return found


def text(name: str, value: Any, allowed: str) -> str:
    """The text."""
    if not isinstance(value, str):
        raise UsageError(f"argument '{name}' is {type(value).__name__}; allowed: {allowed}")
    return value


def is_path(value: Any) -> bool:
    """Whether it can name a file."""
    return isinstance(value, str | PathLike)
