"""Studies in TOML: what `homenode sweep` reads. docs/studies.md lists the keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.errors import UsageError
from homenode.study.axes import MACHINE, TRACE

_KEYS = ("trace", "machine", "grid", "zip", "points", "sample", "where")
_OF_SAMPLES = ("count", "seed", "method", "parameters")


def study_of(make: Callable[..., Any], described: Mapping[str, Any], folder: Path) -> Any:
    """The hn.Study (`make`) that a file describes; files that it names lie in `folder`. UsageError says which key is wrong."""
    for key in described:
        if key not in _KEYS:
            raise UsageError(_core.unknown_name("key", key, list(_KEYS)))
    for key in (TRACE, MACHINE):
        if key not in described:
            raise UsageError(f"key '{key}' is missing; allowed: {key} = \"...\", a list, or a table of labels")
    for key in (TRACE, MACHINE):
        if key in _table("grid", described.get("grid", {})):
            raise UsageError(f"key 'grid.{key}' is none; allowed: '{key}' at the top, or in 'zip' and 'points'")
    grid = _axes("grid", described.get("grid", {}), folder)
    labels = {key: set(described[key]) for key in (TRACE, MACHINE) if isinstance(described[key], Mapping)}
    study = make(_files(TRACE, described[TRACE], folder), _files(MACHINE, described[MACHINE], folder), **grid)
    for axes in _tables("zip", described.get("zip", [])):
        study = study.zip(**_axes("zip", axes, folder, labels))
    if "points" in described:
        study = study.points(
            [_axes("points", point, folder, labels) for point in _tables("points", described["points"])]
        )
    if "sample" in described:
        study = _sampled(study, _table("sample", described["sample"]))
    conditions = described.get("where", [])
    if not isinstance(conditions, str | list):
        raise UsageError(f"key 'where' is {_kind(conditions)}; allowed: a condition, or a list of them")
    for condition in [conditions] if isinstance(conditions, str) else conditions:
        study = study.where(condition)
    return study


def _sampled(study: Any, sample: Mapping[str, Any]) -> Any:
    for key in sample:
        if key not in _OF_SAMPLES:
            raise UsageError(_core.unknown_name("key", f"sample.{key}", [f"sample.{one}" for one in _OF_SAMPLES]))
    if "count" not in sample:
        raise UsageError("key 'sample.count' is missing; allowed: count = 64")
    return study.sample(sample["count"], **{key: value for key, value in sample.items() if key != "count"})


def _table(key: str, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise UsageError(f"key '{key}' is {_kind(found)}; allowed: a table [{key}]")
    return found


def _tables(key: str, found: Any) -> list[Mapping[str, Any]]:
    """One table or several."""
    if isinstance(found, Mapping):
        return [found]
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise UsageError(f"key '{key}' is {_kind(found)}; allowed: tables [[{key}]]")
    return found


def _kind(found: Any) -> str:
    return {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}.get(
        type(found), "none"
    )


def _axes(key: str, found: Any, folder: Path, labels: Mapping[str, set[str]] | None = None) -> dict[str, Any]:
    """Axes, with what they name by path as the file means it; `labels` of traces and machines are no paths."""
    axes = dict(_table(key, found))
    for name in (TRACE, MACHINE, "system", "energy"):
        if name in axes:
            axes[name] = _files(name, axes[name], folder, (labels or {}).get(name, set()))
    return axes


def _files(name: str, found: Any, folder: Path, labels: Collection[str] = ()) -> Any:
    if isinstance(found, Mapping):
        return {label: _files(name, one, folder, labels) for label, one in found.items()}
    if isinstance(found, list):
        return [_files(name, one, folder, labels) for one in found]
    if not isinstance(found, str):
        raise UsageError(f"key '{name}' is {_kind(found)}; allowed: names and paths")
    if found in labels:
        return found
    is_path = name == TRACE or found.endswith(".toml") or "/" in found
    return str(folder / found) if is_path else found
