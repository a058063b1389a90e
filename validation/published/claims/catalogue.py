"""The claims as data: one TOML file a paper, read and checked here.

A claim is one or more series of printed numbers, each held against figures of the same name: `figure@column`, or `figure` alone if the
series has no columns. A claim without a series says why (`reason`), or which test holds it (`held_by`).
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from homenode.errors import InputError
from validation.published.claims.nulls import NULL_MODELS, Columns
from validation.published.claims.rule import Expected, Kind, Side

# anchored: judged against other printed numbers of the same table, one of which set the scale or was in view when a choice was made.
Class = Literal["predicted", "anchored", "fitted", "identity"]
BLIND = "[blind]"
FOLDER = Path(__file__).parent
ROOT = Path(__file__).parents[3]
_CLAIM = {"id", "title", "where", "series", "reason", "held_by", "class"}
_SERIES = {
    *("what", "figure", "at", "class", "kind", "printed", "neutral", "side", "tolerance", "effect", "noise", "unit"),
    *("null", "null_name", "why"),
}


@dataclass(frozen=True)
class Series:
    """Printed numbers of one kind: as many as `at` has columns. `noise` is relative, see Expected."""

    what: str
    figure: str
    at: tuple[str, ...]  # empty: one number without a column
    cls: Class
    kind: Kind
    printed: tuple[float | None, ...]  # none: kept apart
    neutral: float | None
    side: Side | None
    tolerance: float
    effect: float | None
    noise: float
    unit: str
    null: str | tuple[float, ...]  # the name of a null model, or what it says
    null_name: str
    why: str  # of the null model, the tolerance or the class, where they do not speak for themselves

    def names(self) -> list[str]:
        """The figures' names, by column."""
        return [f"{self.figure}@{column}" for column in self.at] if self.at else [self.figure]

    def null_values(self) -> list[float]:
        """What the null model says of each column."""
        if isinstance(self.null, tuple):
            return list(self.null)
        return NULL_MODELS[self.null](Columns(self.at or ("",), self.printed, self.neutral))

    def expected(self, column: int) -> Expected | None:
        """What the rule holds the column against; none if it is kept apart."""
        printed = self.printed[column]
        if printed is None:
            return None
        return Expected(self.kind, printed, self.noise, self.neutral, self.side, self.tolerance, self.effect)


@dataclass(frozen=True)
class Claim:
    """One claim, C1 to C81."""

    name: str
    paper: str
    title: str
    where: str
    series: tuple[Series, ...]
    reason: str = ""  # why nothing is compared
    held_by: str = ""  # the test that holds an invariant
    cls: Class = "predicted"  # of a claim without series


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


def _series(entry: Mapping[str, Any], noise: float, where: str) -> Series:
    unknown = sorted(set(entry) - _SERIES)
    if unknown:
        raise InputError(f"{where}: unknown key '{unknown[0]}'; allowed: {', '.join(sorted(_SERIES))}")
    for key in ("what", "figure", "class", "kind", "printed", "null"):
        if key not in entry:
            raise InputError(f"{where}: no '{key}'; a series needs what, figure, class, kind, printed and null")
    for key, allowed in (("class", get_args(Class)), ("kind", get_args(Kind)), ("side", (*get_args(Side), None))):
        if entry.get(key) not in allowed:
            raise InputError(f"{where}: {key} '{entry.get(key)}'; allowed: {', '.join(map(str, allowed))}")
    at = tuple(str(one) for one in entry.get("at", ()))
    printed = tuple(None if one == BLIND else float(one) for one in _as_tuple(entry["printed"]))
    if len(printed) == 1 and len(at) > 1:
        printed *= len(at)
    null = entry["null"]
    if isinstance(null, str) and null not in NULL_MODELS:
        raise InputError(f"{where}: null model '{null}'; allowed: {', '.join(NULL_MODELS)}, or numbers")
    if not isinstance(null, str):
        null = tuple(float(one) for one in _as_tuple(null))
        null = null * len(printed) if len(null) == 1 else null
    if len(printed) != max(1, len(at)) or (isinstance(null, tuple) and len(null) != len(printed)):
        raise InputError(f"{where}: {len(printed)} printed and {len(at)} columns; allowed: as many of each as columns")
    if entry["kind"] in ("bound", "order") and "side" not in entry:
        raise InputError(f"{where}: kind '{entry['kind']}' without a side; allowed: {', '.join(get_args(Side))}")
    return Series(
        entry["what"], entry["figure"], at, entry["class"], entry["kind"], printed, entry.get("neutral"),
        entry.get("side"), float(entry.get("tolerance", 0)), entry.get("effect"), float(entry.get("noise", noise)),
        entry.get("unit", "1"), null, entry.get("null_name", null if isinstance(null, str) else "a number"),
        entry.get("why", ""),
    )  # fmt: skip


def _claim(entry: Mapping[str, Any], paper: str, noise: float, path: Path) -> Claim:
    where = f"{path.name}, {entry.get('id', 'a claim without id')}"
    unknown = sorted(set(entry) - _CLAIM)
    if unknown:
        raise InputError(f"{where}: unknown key '{unknown[0]}'; allowed: {', '.join(sorted(_CLAIM))}")
    series = tuple(
        _series(one, noise, f"{where}, series {number}") for number, one in enumerate(entry.get("series", ()), start=1)
    )
    ways = [bool(series), "reason" in entry, "held_by" in entry]
    if sum(ways) != 1:
        raise InputError(f"{where}: {sum(ways)} of series, reason and held_by; allowed: one")
    held_by = entry.get("held_by", "")
    if held_by and not (ROOT / held_by).is_file():
        raise InputError(f"{where}: held_by '{held_by}' is no file; allowed: a test of this tree")
    return Claim(
        entry["id"], paper, entry["title"], entry["where"], series, entry.get("reason", ""), held_by,
        entry.get("class", "predicted"),
    )  # fmt: skip


def read_claims(path: Path) -> list[Claim]:
    """Read one file: `paper`, `noise` (relative, unless a series says otherwise) and the claims."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return [_claim(entry, document["paper"], float(document["noise"]), path) for entry in document["claim"]]


def catalogue(folder: Path = FOLDER) -> list[Claim]:
    """All claims in order of their numbers; one that stands there twice is refused."""
    claims = [claim for path in sorted(folder.glob("*.toml")) for claim in read_claims(path)]
    names = [claim.name for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{folder.name}: claim {twice[0]} stands there twice; allowed: once")
    return sorted(claims, key=lambda claim: int(claim.name.removeprefix("C")))


def figures_needed(claims: Sequence[Claim]) -> dict[str, set[str]]:
    """By paper the names of the figures that its claims refer to."""
    needed: dict[str, set[str]] = {}
    for claim in claims:
        for series in claim.series:
            needed.setdefault(claim.paper, set()).update(series.names())
    return needed
