"""Tables of a study's results: data frames, a Dataset, Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    import xarray

Entries = Iterable[tuple[int, dict[str, Any]]]

METADATA = b"homenode"
"""The key of the provenance in a Parquet file's schema."""
_TEXTS = ("bound_by", "bound_region", "error")
_NUMBERS = ("seconds", "joules", "remote_share", "idle_share")
_COUNTS = (
    "memory_bytes", "accesses", "memory_lines", "transfer_lines", "tlb_misses", "page_faults", "remote_pages", "migrated_pages",
    "replicated_pages", "collapsed_pages", "unreplicated_pages",
)  # fmt: skip


def runs(identities: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table of runs; its columns and their types do not depend on which runs failed."""
    import pandas

    names = list(dict.fromkeys(name for identity in identities for name in identity))
    frame = pandas.DataFrame({"run": pandas.Series(range(len(identities)), dtype="int64")})
    for name in names:
        values = [identity.get(name) for identity in identities]
        if any(isinstance(value, str) for value in values):
            frame[name] = pandas.Series(values, dtype="str")
        elif name.endswith("_si"):
            frame[name] = pandas.Series(values, dtype="float64")
        elif name == "threads":
            frame[name] = pandas.Series(values, dtype="Int64")
        elif name == "seed":
            frame[name] = pandas.Series([value or 0 for value in values], dtype="uint64")
        else:
            frame[name] = pandas.Series(values, dtype="Int64" if None in values else None)
    for name in (*_NUMBERS, *_COUNTS, *_TEXTS):
        values = [numbers.get(name) for numbers in measured]
        kind = "str" if name in _TEXTS else "Int64" if name in _COUNTS else "float64"
        frame[name] = pandas.Series(values, dtype=kind)
    return frame


def regions(entries: Entries) -> pd.DataFrame:
    """By run and region."""
    names = ("label", "seconds", "executions", "binding_resource", "exclusive_seconds")
    return _table(
        ("run", *names),
        ((run, *(region.get(name) for name in names)) for run, entry in entries for region in entry["regions"]),
    )


def threads(entries: Entries) -> pd.DataFrame:
    """By run and thread; estimates have none."""
    names = ("thread", "core", "node", "busy_seconds", "idle_seconds", "local_bytes", "remote_bytes")
    return _table(
        ("run", *names),
        (
            (run, *(thread[name] for name in names))
            for run, entry in entries
            for thread in entry.get("threads_detail", ())
        ),
    )


def traffic(entries: Entries) -> pd.DataFrame:
    """By run, node and home; estimates have none."""
    return _table(
        ("run", "node", "home", "bytes"),
        (
            (run, node, home, moved)
            for run, entry in entries
            for node, row in enumerate(entry.get("traffic_bytes", ()))
            for home, moved in enumerate(row)
        ),
    )


def _table(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas

    return pandas.DataFrame.from_records(list(rows), columns=list(names))


def dataset(frame: pd.DataFrame, axes: Sequence[str], provenance: Mapping[str, Any]) -> xarray.Dataset:
    """The numbers by axis. Axes whose values are changes with a number have it as their coordinate."""
    needs("xarray", "to_xarray")
    import xarray

    numeric = [f"{name}_si" if f"{name}_si" in frame and frame[f"{name}_si"].notna().all() else name for name in axes]
    wanted = [name for name in (*_NUMBERS, *_COUNTS, *_TEXTS) if name not in ("error",)]
    indexed = frame[[*numeric, *wanted]].astype(dict.fromkeys(_COUNTS, "float64"))
    for name in ("bound_by", "bound_region"):
        indexed[name] = indexed[name].astype("object")
    if not numeric:
        found = xarray.Dataset({name: indexed[name].iloc[0] for name in wanted})
    else:
        indexed = indexed.set_index(numeric)
        if indexed.index.has_duplicates:
            raise UsageError("several runs have the same place on all axes that vary; allowed: one each")
        found = indexed.to_xarray()
        found = found.rename({one: name for one, name in zip(numeric, axes, strict=True) if one != name})
    found.attrs["homenode"] = json.dumps(provenance)
    for name, unit in (("seconds", "s"), ("joules", "J"), ("memory_bytes", "B")):
        found[name].attrs["units"] = unit
    return found


def write_parquet(frame: pd.DataFrame, path: Path, provenance: Mapping[str, Any]) -> None:
    """The table with its provenance; the same table gives the same bytes."""
    needs("pyarrow", "to_parquet")
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    metadata = {**(table.schema.metadata or {}), METADATA: json.dumps(provenance).encode()}
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def needs(module: str, what: str) -> None:
    """UsageError with what to install, where a library is missing that only some questions need."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise UsageError(f"{what} needs {module}, which is not installed; allowed: pip install 'homenode[study]'")
