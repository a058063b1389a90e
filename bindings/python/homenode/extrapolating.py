"""Traces of sizes and teams that cannot be captured here, from captures of the same program at smaller ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.errors import InputError, UsageError
from homenode.trace import Trace


def extrapolated(
    captures: Sequence[str | Path], *, check: str | Path | None, settings: Mapping[str, int], output: str | Path
) -> dict[str, Any]:
    """Write a trace at `settings` and tell how: what `homenode extrapolate --json` prints, but for its schema."""
    if len(captures) < 3:
        raise UsageError(
            f"captures given: {len(captures)}; allowed: at least three, of one program at different parameters, "
            "and a further one with --check"
        )
    if check is None:
        raise UsageError(
            "no capture to hold the fit against; allowed: --check FILE, a capture of the program at other parameters"
        )
    if not settings:
        raise UsageError("no parameter to extrapolate to; allowed: --set NAME=NUMBER, for those that vary")
    for path in (*captures, check):
        if not Path(path).is_file():
            raise InputError(f"no trace '{path}'")
    paths = [Path(path) for path in captures]
    return _core.extrapolate(paths, check=Path(check), settings=dict(settings), output=Path(output))


def extrapolate(*captures: str | Path, check: str | Path, output: str | Path, **settings: int) -> Trace:
    """A trace at the parameters `settings`, fitted to at least three captures and held against a further one, `check`.

    Throws UsageError that names region and field if the program's structure follows no law or `check` is not predicted exactly.
    """
    extrapolated(captures, check=check, settings=settings, output=output)
    return Trace.open(output)
