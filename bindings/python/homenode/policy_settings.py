"""The settings of a policy in Python: the keywords of its class or function, whole numbers, as in ``name:key=value``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from homenode.errors import UsageError

Settings = list[tuple[str, int | None]]


def settings_of(what: str, policy: Callable[..., Any]) -> Settings:
    """Name and default (None: required) of each: arguments of a class, keyword-only arguments of a function.

    `what` says in errors whose they are. UsageError for what is no whole number: a setting is written on the command line.
    """
    is_class = inspect.isclass(policy)
    try:
        parameters = inspect.signature(policy).parameters.values()
    except (TypeError, ValueError):  # no signature is known: of something that is compiled
        return []
    found: Settings = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if not is_class and parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        found.append((parameter.name, _default(what, parameter)))
    return found


def _default(what: str, parameter: inspect.Parameter) -> int | None:
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise UsageError(f"{what}: setting '{parameter.name}' is positional only; allowed: keywords")
    if parameter.default is parameter.empty:
        return None
    if isinstance(parameter.default, bool) or not isinstance(parameter.default, int):
        raise UsageError(
            f"{what}: setting '{parameter.name}' has the default {parameter.default!r}; allowed: whole numbers"
        )
    return parameter.default
