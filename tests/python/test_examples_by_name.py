"""Every public name of the package, its members and its errors are used in docs/python_examples.md, which `test_documentation` runs."""

from __future__ import annotations

import inspect
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


NOT_FOR_USERS = {
    "Kernel": {"driver", "refuse_without_needs", "settings"},
    "RunSpec": {"check_values", "has_extensions", "needs_this_process", "what_caches_see"},
    "Store": {"default", "get", "measured", "put"},
    "Study": {"at", "drawn_as", "plan", "without_conditions_on"},
}
"""Members that homenode's own modules call on each other."""


def all_code() -> str:
    return "\n".join(code for _, code in sections())


def public_members(name: str) -> set[str]:
    """Methods, properties and fields of a class; none of what is no class."""
    one = getattr(hn, name)
    if not inspect.isclass(one):
        return set()
    members = {member for member in {*vars(one), *vars(one).get("__annotations__", {})} if not member.startswith("_")}
    return members - NOT_FOR_USERS.get(name, set())


def unused(members: set[str], code: str) -> list[str]:
    """Members that no code has behind a dot or as a keyword."""
    return sorted(member for member in members if not re.search(rf"\.{member}\b|\b{member}=", code))


def without_example(public: list[str]) -> list[str]:
    """Names that no section has in its heading and uses in its code."""
    shown = {name for names, code in sections() for name in names if re.search(rf"\bhn\.{name}\b", code)}
    return sorted(set(public) - shown)


def test_every_public_name_has_an_example() -> None:
    assert without_example(hn.__all__) == []


@pytest.mark.parametrize("name", sorted(set(hn.__all__) - {"__version__", "errors"}))
def test_every_member_is_used(name: str) -> None:
    assert unused(public_members(name), all_code()) == []


def test_members_that_are_not_for_users_exist() -> None:
    for name, members in NOT_FOR_USERS.items():
        assert members <= set(vars(getattr(hn, name))), name


def test_a_member_without_use_is_found() -> None:
    assert unused({"seconds", "no_such_member"}, all_code()) == ["no_such_member"]


def test_every_error_has_an_example() -> None:
    errors = {name for name, one in vars(hn.errors).items() if inspect.isclass(one) and not name.startswith("_")}
    assert "DeadlockError" in errors
    assert unused(errors, all_code()) == []


def test_a_name_without_example_is_found() -> None:
    assert without_example(["replay", "no_such_name", "Threads"]) == ["Threads", "no_such_name"]


def test_headings_name_what_is_public_once() -> None:
    named = [name for names, _ in sections() for name in names]
    assert sorted(named) == sorted(set(named))
    assert set(named) <= set(hn.__all__)


@pytest.mark.parametrize("name", sorted(set(hn.__all__) - {"__version__", "errors"}))
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert (getattr(hn, name).__doc__ or "").strip()
