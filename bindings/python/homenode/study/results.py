"""What the runs of a study yielded: tables, files, and the questions that need no further run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import UsageError
from homenode.outputs import check_output, written_whole
from homenode.result import Result
from homenode.study import tables
from homenode.study.axes import MACHINE, SAMPLE, TRACE, column
from homenode.study.pareto import Pareto
from homenode.study.runs import Plan
from homenode.study.store import Store

if TYPE_CHECKING:
    import pandas as pd
    import xarray


_LONGEST = 200  # letters of an error in a line about all runs


def provenance_file(table: Path) -> Path:
    """Where the provenance of a table in CSV stands, which has no room for it."""
    return table.with_name(f"{table.name}.meta.json")


class StudyResults:
    """The results of a study's runs. The table of runs is in memory; what else is known of a run is read from the store when asked for."""

    def __init__(
        self,
        identities: Sequence[Mapping[str, Any]],
        measured: Sequence[Mapping[str, Any]],
        sources: Sequence[tuple[Store, str] | None],
        plan: Plan,
        provenance: Mapping[str, Any],
    ) -> None:
        """By run, in the order of the study: what was asked for, its numbers (or ``error``), and where it is kept."""
        self._identities, self._measured, self._sources = identities, measured, sources
        self._plan = plan
        self.axes = [column(name) for name in plan.varying()]
        """The columns of the axes that vary."""
        self.provenance = dict(provenance)
        self._frame: pd.DataFrame | None = None

    def __len__(self) -> int:
        """Number of runs, failed ones included."""
        return len(self._identities)

    def __getitem__(self, index: int) -> Result:
        """One run whole, by its number in the table; UsageError for one that failed, or that the closed form answered."""
        if not 0 <= index < len(self):
            raise IndexError(f"run {index} of {len(self)}")
        entry = self._entry(index)
        if "traffic_bytes" not in entry:
            raise UsageError(f"run {index} is an estimate of the closed form; allowed: runs that were replayed")
        run = self._plan.run(index, self._plan.points()[index])
        assert run.spec is not None
        # Kept under what decides the result, which names do not: the first to ask may have called it otherwise.
        asked = {name: value for name, value in run.spec.keys().items() if name != "heap"}
        return Result(run.trace, {**entry, **asked}, 0.0)

    def _entry(self, index: int) -> dict[str, Any]:
        source = self._sources[index]
        if source is None:
            raise UsageError(f"run {index} failed: {self._measured[index]['error']}")
        kept = source[0].get(source[1])
        if kept is None:
            raise UsageError(f"run {index} is no longer in the store {source[0].path}")
        return kept.entry_values()

    def entries(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and report entry of every run that did not fail, one at a time."""
        for index, source in enumerate(self._sources):
            if source is not None:
                yield index, self._entry(index)

    @property
    def failed(self) -> int:
        """How many runs failed; the column ``error`` says why."""
        return sum("error" in numbers for numbers in self._measured)

    @property
    def frame(self) -> pd.DataFrame:
        """A row a run: what was asked for, ``seconds``, ``joules``, ``bound_by`` and other numbers, and ``error``.

        A change's column holds its text, ``NAME_si`` its number in SI units (of ``x1.2`` the factor). Bytes and lines are of the
        whole run; ``remote_share`` is of the bytes at memory controllers, ``idle_share`` of the threads' time.
        """
        if self._frame is None:
            self._frame = tables.runs(self._identities, self._measured)
        return self._frame.copy()

    @property
    def regions(self) -> pd.DataFrame:
        """A row for each run and region: ``run``, ``label``, ``seconds``, ``executions``, ``binding_resource``, ``exclusive_seconds``."""
        return tables.regions(self.entries())

    @property
    def threads(self) -> pd.DataFrame:
        """A row for each run and thread: ``run``, ``thread``, ``core``, ``node``, seconds busy and idle, bytes local and remote."""
        return tables.threads(self.entries())

    @property
    def traffic(self) -> pd.DataFrame:
        """A row for each run and pair of nodes: ``run``, ``node`` that asked, ``home``, ``bytes`` at the home's controllers."""
        return tables.traffic(self.entries())

    def to_xarray(self) -> xarray.Dataset:
        """The numbers as a Dataset, a dimension an axis that varies; NaN where no run is. The provenance is in ``attrs["homenode"]``."""
        if not len(self):
            raise UsageError("a Dataset of no runs; allowed: one run at least")
        return tables.dataset(self.frame, self.axes, self.provenance)

    def to_parquet(self, path: str | Path) -> None:
        """Write `frame` with its provenance (the schema's metadata, key ``homenode``); the same results give the same bytes."""
        with written_whole(Path(path)) as part:
            tables.write_parquet(self.frame, part, self.provenance)

    def to_csv(self, path: str | Path) -> None:
        """Write `frame` as ``pandas.read_csv(path)`` has it again, and its provenance into PATH.meta.json beside it."""
        path = Path(path)
        beside = provenance_file(path)
        check_output(beside, "report")
        with written_whole(path) as part:
            self.frame.to_csv(part, index=False, lineterminator="\n")
            with written_whole(beside) as told:
                told.write_text(json.dumps(self.provenance, indent=1) + "\n", encoding="utf-8")

    def to_json(self) -> str:
        """The table of runs as a document: ``{"schema", "provenance", "runs": [...]}``."""
        rows = [{**identity, **numbers} for identity, numbers in zip(self._identities, self._measured, strict=True)]
        document = {"schema": "homenode.study/1", "provenance": self.provenance, "runs": rows}
        return json.dumps(document, indent=1, allow_nan=False)

    def best(self, by: str = "seconds", each: str | Sequence[str] = (TRACE, MACHINE)) -> pd.DataFrame:
        """The row with the least of a column, for each trace and machine, or for each value of other columns.

        ``by`` may be the label of a region, too: then the rows have its seconds as a column of that name.
        """
        frame = self.frame
        if by not in frame and not (of_region := self._seconds_of(by)).empty:
            frame = frame.assign(**{by: frame["run"].map(of_region)})
        for name in (by, *([each] if isinstance(each, str) else each)):
            if name not in frame:
                raise UsageError(_core.unknown_name("column", name, [str(one) for one in frame.columns]))
        frame = frame.dropna(subset=[by])
        if frame.empty:
            return frame
        names = [each] if isinstance(each, str) else list(each)
        return frame.loc[frame.groupby(names, sort=False)[by].idxmin()] if names else frame.loc[[frame[by].idxmin()]]

    def _seconds_of(self, label: str) -> pd.Series[float]:
        """Of the runs that have a region of this label, how long threads were in it."""
        regions = self.regions
        return regions[regions["label"] == label].groupby("run")["seconds"].sum()

    def pareto(self, objectives: Sequence[str] = ("seconds", "joules")) -> Pareto:
        """The runs that no other one beats in all objectives (columns, the less the better)."""
        return Pareto.of(self.frame, list(objectives), self.axes)

    def __repr__(self) -> str:
        """How many runs of what."""
        failed = f", {self.failed} failed: {self._first_error()}" if self.failed else ""
        return f"StudyResults({len(self)} runs over {', '.join(self.axes) or 'no axis'}{failed})"

    def _first_error(self) -> str:
        error = next(str(numbers["error"]) for numbers in self._measured if numbers.get("error"))
        return error if len(error) <= _LONGEST else f"{error[: _LONGEST - 1]}…"

    def _repr_html_(self) -> str:
        """For notebooks: what it is, and the first rows."""
        frame = self.frame
        shown = [name for name in self.axes if name != SAMPLE] + ["seconds", "joules", "bound_by", "error"]
        return f"<p>{escape(repr(self))}</p>" + frame[[name for name in shown if name in frame]].head(20).to_html(
            index=False
        )
