"""Studies whose prediction is committed before the printed figures are: what S5 and S6 share.

A folder has `prediction.csv` (quantity, value, null: written once by `--write` while it is missing, never renewed) and `printed.csv`
(quantity, value, source). The verdict is on the committed prediction, by a rule that was committed with it; beside it stands what the
model says today.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from validation.page_with_notes import markdown_table
from validation.rows import AnyRow

REPRODUCED = 1.1  # factors between prediction and printed figure
WITHIN_BOUND = 1.25
RULE = (
    f"A prediction is *reproduced* within a factor of {REPRODUCED:g} of the printed figure, *within bound* within {WITHIN_BOUND:g},",
    "and *deviates* beyond. It beats the null model where its factor is nearer to 1 than the null model's.",
)
COMMITTED = (
    "The commit that has `prediction.csv` came before the one that has",
    "`printed.csv`: *S5 and S6: predictions, before their printed figures were read*, then *S5 and S6: the printed figures*.",
)
COLUMNS = ("claim", "what", "unit", "prediction", "null", "printed", "model", "verdict", "beats_null", "command")
Outcome = Literal["reproduced", "within bound", "deviates", "not compared"]
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Quantity:
    """What is predicted: its claim, key in the files and words, and what the null model says of it."""

    claim: str
    key: str
    what: str
    unit: str
    null: float


@dataclass(frozen=True)
class Predicted(AnyRow):
    """One quantity. `printed` is None where the study prints none; `model` is today's."""

    claim: str
    what: str
    unit: str
    prediction: float
    null: float
    printed: float | None
    model: float
    verdict: Outcome
    beats_null: bool | None
    command: str


def factor(one: float, other: float) -> float:
    """How far two positive figures are apart, 1 or more."""
    return math.exp(abs(math.log(one / other)))


def verdict(prediction: float, printed: float | None) -> Outcome:
    """By the rule."""
    if printed is None:
        return "not compared"
    apart = factor(prediction, printed)
    return "reproduced" if apart <= REPRODUCED else "within bound" if apart <= WITHIN_BOUND else "deviates"


def read_figures(path: Path) -> dict[str, float] | None:
    """The values of a file by quantity, None if there is no file; ValueError for a quantity twice or a value that is not positive."""
    if not path.exists():
        return None
    figures: dict[str, float] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            value = float(row["value"])
            if row["quantity"] in figures:
                raise ValueError(f"{path}:{line}: '{row['quantity']}' stands there twice")
            if not value > 0 or math.isinf(value):
                raise ValueError(f"{path}:{line}: '{row['value']}'; allowed: a positive number")
            figures[row["quantity"]] = value
    return figures


def write_prediction(path: Path, quantities: Sequence[Quantity], model: Figures) -> None:
    """Write it once: ValueError where it stands already."""
    if path.exists():
        raise ValueError(f"{path} stands already; a prediction is made once")
    lines = [f"{one.key},{model[one.key]:.5g},{one.null:.5g}\n" for one in quantities]
    path.write_text("quantity,value,null\n" + "".join(lines), encoding="utf-8")


def write_missing_prediction(path: Path, quantities: Sequence[Quantity], found: Sequence[Predicted]) -> None:
    """Write what the model says as the prediction, if there is none yet. `found`: a row for each quantity."""
    if not path.exists():
        model = {one.key: row.model for one, row in zip(quantities, found, strict=True)}
        write_prediction(path, quantities, model)


def compared(
    quantities: Sequence[Quantity],
    prediction: Figures,
    printed: Figures | None,
    model: Figures,
    commands: Mapping[str, str],
) -> list[Predicted]:
    """A row for each quantity, in order; ValueError where something is printed that was not predicted."""
    printed = printed or {}
    if unknown := set(printed) - {one.key for one in quantities}:
        raise ValueError(f"printed, but not predicted: {', '.join(sorted(unknown))}")
    rows = []
    for one in quantities:
        said, stands = prediction[one.key], printed.get(one.key)
        beats = None if stands is None else factor(said, stands) < factor(one.null, stands)
        rows.append(
            Predicted(
                *(one.claim, one.what, one.unit, said, one.null, stands, model[one.key], verdict(said, stands)),
                *(beats, commands.get(one.key, "")),
            )
        )
    return rows


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def score(rows: Sequence[Predicted]) -> str:
    """The headline in a sentence."""
    held = [row for row in rows if row.printed is not None]
    if not held:
        return f"{len(rows)} quantities are predicted; nothing is compared yet."
    counts = {name: sum(row.verdict == name for row in held) for name in ("reproduced", "within bound", "deviates")}
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"Of {len(held)} predictions {sum(bool(row.beats_null) for row in held)} beat the null model: {said}."


def table(rows: Sequence[Predicted]) -> list[str]:
    """All rows as Markdown."""
    columns = ("claim", "what", "unit", "prediction", "null", "printed", "model", "verdict", "beats_null")
    cells = [[_text(getattr(row, column)) for column in columns] for row in rows]
    heads = ("claim", "what", "unit", "prediction", "null model", "printed", "today's model", "verdict", "beats null")
    return list(markdown_table(heads, cells))
