"""Every public name of the package has an example in docs/python_examples.md, which `test_documentation` runs."""

from __future__ import annotations

import re

import pytest

import homenode as hn
from support import ROOT


def sections() -> list[tuple[list[str], str]]:
    """The names in each heading, and the Python below it."""
    page = (ROOT / "docs/python_examples.md").read_text(encoding="utf-8")
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL))
        found.append((re.findall(r"`(\w+)`", heading), code))
    return found


def without_example(public: list[str]) -> list[str]:
    """Names that no section has in its heading and uses in its code."""
    shown = {name for names, code in sections() for name in names if re.search(rf"\bhn\.{name}\b", code)}
    return sorted(set(public) - shown)


def test_every_public_name_has_an_example() -> None:
    assert without_example(hn.__all__) == []


def test_a_name_without_example_is_found() -> None:
    assert without_example(["replay", "no_such_name", "Threads"]) == ["Threads", "no_such_name"]


def test_headings_name_what_is_public_once() -> None:
    named = [name for names, _ in sections() for name in names]
    assert sorted(named) == sorted(set(named))
    assert set(named) <= set(hn.__all__)


@pytest.mark.parametrize("name", sorted(set(hn.__all__) - {"__version__", "errors"}))
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert (getattr(hn, name).__doc__ or "").strip()
