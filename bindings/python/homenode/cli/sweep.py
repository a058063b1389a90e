"""`homenode sweep`: the runs of a study, and what is asked of them."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from homenode.cli import console
from homenode.cli.fitted_table import Narrowing
from homenode.cli.run_options import extension_option
from homenode.errors import UsageError
from homenode.outputs import check_output

if TYPE_CHECKING:
    import pandas as pd

    from homenode.study import Study, StudyResults

_FORMATS = (".parquet", ".csv", ".json")
_DIGITS = 4


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the table of runs: .parquet, .csv or .json."
)
@click.option("--store", type=click.Path(path_type=Path), help="File that keeps the runs. [default: the user's cache]")
@click.option("--no-store", is_flag=True, help="Keep nothing, use nothing that was kept.")
@click.option("--workers", type=int, metavar="N", help="Runs at a time. [default: one for each processor]")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the workers of this Dask scheduler, such as tcp://host:8786."
)
@click.option("--best", type=click.IntRange(1), default=5, metavar="N", help="Rows to show of each trace and machine.")
@click.option("--pareto", metavar="COLUMNS", help="Show the runs that no other one beats, such as seconds,joules.")
@click.option("--break-even", metavar="AXIS", help="Show where along this axis the values of --compare change places.")
@click.option("--compare", metavar="AXIS", help="The axis whose two values --break-even compares; NAME=A,B of more.")
@click.option(
    "--refine", type=click.IntRange(0), default=0, metavar="N", help="Halvings of the stretch of --break-even."
)
@click.option(
    "--sensitivity",
    type=click.IntRange(2),
    metavar="N",
    help="Show Sobol indices of the machine's numbers; N (D + 2) runs.",
)
@extension_option()
@console.json_option
def command(
    study: Path,
    output: Path | None,
    store: Path | None,
    no_store: bool,
    workers: int | None,
    scheduler: str | None,
    best: int,
    as_json: bool,
    **questions: Any,
) -> None:
    """Run a study: every combination of the axes in STUDY, a TOML file.

    What was run before is not run again; a study that was killed goes on where it was. A run that fails is a row with its error.
    """
    from homenode.study import Store, Study
    from homenode.study.results import provenance_file

    if output is not None:
        _check(output)
    if no_store and store is not None:
        raise UsageError("--store and --no-store; allowed: one or the other")
    asked = Study.from_toml(study)
    kept = Store() if no_store else Store(store) if store is not None else Store.default()
    how: dict[str, Any] = {"store": kept, "workers": workers, "scheduler": scheduler}
    how |= {"progress": True, "command": shlex.join(["homenode", "sweep", str(study)])}
    tables = _Questions(asked, how, **questions)
    results = asked.run(**how)
    if output is not None:
        _write(results, output)
    answers = tables.answers(results)
    if output is not None and output.suffix == ".csv":
        console.note(f"what '{output}' was made from is in '{provenance_file(output)}'")
    if as_json:
        document = json.loads(results.to_json())
        found = {title: json.loads(table.to_json(orient="records")) for title, table in answers}
        console.print_json({**document, **({"answers": found} if found else {})})
        return
    if results.failed == len(results):
        raise UsageError(f"all {console.number_of(len(results), 'run')} failed; the first: {results.frame['error'][0]}")
    screen = console.output()
    screen.print(console.plain(_heading(asked, results)), soft_wrap=True)
    for title, frame in [("Fastest, by trace and machine", _fastest(results, best)), *answers]:
        screen.print(_table(title, frame, ["trace", "machine", *results.axes]))
    for line in _failures(results):
        console.note(line)
    sys.stdout.flush()


class _Questions:
    """What is asked beyond the fastest runs."""

    def __init__(
        self,
        study: Study,
        how: dict[str, Any],
        *,
        pareto: str | None,
        break_even: str | None,
        compare: str | None,
        refine: int,
        sensitivity: int | None,
    ) -> None:
        if (break_even is None) != (compare is None):
            raise UsageError("--break-even without --compare, or the other way round; allowed: both")
        for axis in (break_even, compare.partition("=")[0] if compare else None):  # before anything runs
            if axis is not None:
                study.plan.named(axis)
        self._study, self._how = study, how
        self._pareto, self._break_even, self._compare = pareto, break_even, compare
        self._refine, self._sensitivity = refine, sensitivity

    def answers(self, results: StudyResults) -> list[tuple[str, pd.DataFrame]]:
        """Titles and tables."""
        found = []
        if self._pareto is not None:
            names = [name.strip() for name in self._pareto.split(",")]
            front = results.pareto(names)
            shown = [*dict.fromkeys(["trace", "machine", *results.axes, *names])]
            found.append((f"Runs that no other one beats in {' and '.join(names)}", front.table[shown]))
        if self._break_even is not None:
            assert self._compare is not None
            axis, _, values = self._compare.partition("=")
            two = self._study.plan.read(axis, values.split(",")) if values else None
            ends = self._study.break_even(self._break_even, compare=axis, values=two, refine=self._refine, **self._how)
            title = f"Where along {ends.axis} the values of {ends.compare} change places"
            found.append((title, ends.table))
        if self._sensitivity is not None:
            table = self._study.sensitivity(self._sensitivity, **self._how).table
            title = (
                "What the time depends on: shares of the variance of its logarithm, with half widths of 95 % intervals"
            )
            found.append((title, table[table["total"] > 0.01]))
        return found


def _check(output: Path) -> None:
    if output.suffix not in _FORMATS:
        raise UsageError(f"output '{output}'; allowed: a name that ends in {', '.join(_FORMATS)}")
    check_output(output)


def _write(results: StudyResults, output: Path) -> None:
    if output.suffix == ".parquet":
        results.to_parquet(output)
    elif output.suffix == ".csv":
        results.to_csv(output)
    else:
        from homenode.outputs import written_whole

        with written_whole(output) as part:
            part.write_text(results.to_json() + "\n", encoding="utf-8")


def _heading(study: Study, results: StudyResults) -> str:
    axes = ", ".join(f"{name} ({len(results.frame[name].unique())})" for name in results.axes) or "one point"
    failed = f", {console.number_of(results.failed, 'run')} failed" if results.failed else ""
    return f"{console.number_of(len(results), 'run')} over {axes}{failed}."


def _fastest(results: StudyResults, rows: int) -> pd.DataFrame:
    """Regret is of what can be chosen: the least of the same machine with the same changes."""
    frame = results.frame.dropna(subset=["seconds"]).sort_values("seconds", kind="stable")
    changed = [name for name in results.axes if f"{name}_si" in frame]
    least = frame.groupby(["trace", "machine", *changed], sort=False, dropna=False)["seconds"].transform("min")
    frame["regret"] = frame["seconds"] / least - 1
    shown = [*dict.fromkeys(["trace", "machine", *results.axes, "seconds", "regret", "joules", "bound_by"])]
    frame = frame.groupby(["trace", "machine"], sort=False).head(rows)[shown]
    order = results.frame[["trace", "machine"]].drop_duplicates().reset_index(drop=True)
    return order.merge(frame, how="inner", on=["trace", "machine"])


def _table(title: str, frame: pd.DataFrame, apart: Sequence[str]) -> Any:
    """`apart`: the columns that tell its rows apart."""
    import pandas

    numeric = tuple(str(name) for name in frame.columns if pandas.api.types.is_numeric_dtype(frame[name]))
    names = [str(name) for name in frame.columns]
    narrowing = Narrowing(same=apart, keys=apart)
    rows = console.table(*names, title=title, right=numeric, narrowing=narrowing)
    for row in frame.itertuples(index=False):
        rows.add_row(*(_cell(str(name), value) for name, value in zip(frame.columns, row, strict=True)))
    return rows


def _cell(name: str, value: Any) -> str:
    if value is None or value != value:
        return "-"
    if name == "seconds":
        return console.seconds(value)
    if name == "joules":
        return console.quantity(value, "J")
    if name == "regret":
        return f"{100 * value:.1f} %"
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else console.plain(value)


def _failures(results: StudyResults) -> list[str]:
    """A line for each kind of failure."""
    frame = results.frame
    if not results.failed:
        return []
    return [f"{console.number_of(count, 'run')}: {error}" for error, count in frame["error"].value_counts().items()]
