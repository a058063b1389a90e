"""How policies in Python enter the extension's registries, and from where: a file or package that others can load, or this process."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from homenode import _core
from homenode.arguments import text
from homenode.errors import UsageError
from homenode.policy_settings import settings_of

Policy = TypeVar("Policy", bound=Callable[..., Any])
Add = Callable[[_core.PolicyDescription, Callable[..., Any]], None]

_from_here: set[tuple[str, str]] = set()
_loading = threading.local()
_sources: list[Callable[[], object]] = []


class Registration:
    """A decorator that registers a policy of a kind under a name."""

    def __init__(
        self, kind: str, name: str, examples: Sequence[str], deviations: Mapping[str, str] | None, add: Add
    ) -> None:
        """Refuses a name that is built in."""
        _core.check_policy_name(kind, text("name", name, "a text"))
        self._kind, self._name, self._add = kind, name, add
        self._examples, self._deviations = list(examples), dict(deviations or {})

    def __call__(self, policy: Policy) -> Policy:
        """Register the function or class, which stays what it is."""
        what = f"{self._kind} '{self._name}'"
        if not callable(policy):
            raise UsageError(f"{what} is {type(policy).__name__}; allowed: a function or a class")
        summary = (inspect.getdoc(policy) or "written in Python").strip().partition("\n")[0]
        settings = settings_of(what, policy)
        described = _core.PolicyDescription(self._name, summary, settings, self._examples, self._deviations)
        self._add(described, policy)
        (_from_here.discard if getattr(_loading, "depth", 0) else _from_here.add)((self._kind, self._name))
        return policy


def forget(kind: str, name: str) -> None:
    """Take a policy of an extension back."""
    _core.remove_policy(kind, name)
    _from_here.discard((kind, name))


def is_from_here(spec: _core.RunSpec) -> bool:
    """Whether a run needs a policy that no other process can load."""
    return any((kind, name) in _from_here for kind, name, built_in in _core.used_policies(spec) if not built_in)


@contextmanager
def reproducible() -> Iterator[None]:
    """While a file or a package registers its policies: another process can load it, too."""
    _loading.depth = getattr(_loading, "depth", 0) + 1
    try:
        yield
    finally:
        _loading.depth -= 1


def look_further() -> None:
    """Load what may have more policies."""
    for load in _sources:
        load()


def add_source(load: Callable[[], object]) -> None:
    """`load` is called for a name that is not known, and before policies are listed."""
    _sources.append(load)


_core.when_unknown(look_further)
