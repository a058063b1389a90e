"""S6 as a study: `python -m validation s6-buffers`. Copies by who initialised the source, replayed; then against the printed figures."""

from collections.abc import Sequence
from pathlib import Path

import homenode as hn
from validation.page_with_notes import notes_of
from validation.published.prediction import (
    COLUMNS,
    COMMITTED,
    RULE,
    Predicted,
    compared,
    read_figures,
    score,
    table,
    write_missing_prediction,
)
from validation.published.s6.cases import (
    ALL_LOCAL,
    BYTES_AN_ELEMENT,
    CAPTURED,
    ELEMENTS,
    FOLDER,
    MACHINES,
    OTHER_SETTING,
    REPEATS,
    SETTING,
    SMALL_ELEMENTS,
    THREADS,
    UNTIMED,
    WAYS,
    quantities,
)
from validation.replay import replayed
from validation.study import Options, Study
from validation.traces import enlarged

PAGE = FOLDER / "results.md"
PREDICTION, PRINTED = FOLDER / "prediction.csv", FOLDER / "printed.csv"
COMMAND = "python -m validation s6-buffers --write"
# Numbers of the machine that no text at hand gives, and what they could be otherwise.
OTHERWISE = {
    "two xGMI links": {"link_bandwidth": "72 GB/s"},
    "controllers at 85 % of the DRAM's peak": {"controllers.read_only": "x1.23", "controllers.one_to_one": "x1.23"},
}


def rates(folder: Path, machine: hn.Machine, elements: int) -> tuple[dict[str, float], dict[str, str]]:
    """GB/s by way and the ratio, and the command that repeats each."""
    by_init: dict[str, tuple[float, str]] = {}
    for init in dict.fromkeys(WAYS.values()):
        parameters: dict[str, int | str] = {"init": init, "check": 0}
        few, many = (
            replayed(
                enlarged(folder, "buffer_copy", {**parameters, "repeats": repeats}, "n", CAPTURED, elements),
                hn.RunSpec(machine, threads=THREADS),
            )
            for repeats in (UNTIMED, REPEATS)
        )
        seconds = (many.regions["copy"].seconds - few.regions["copy"].seconds) / (REPEATS - UNTIMED)
        by_init[init] = BYTES_AN_ELEMENT * elements / seconds / 1e9, many.command
    found = {way: by_init[init][0] for way, init in WAYS.items()}
    return found | {"gain": found["parallel init"] / found["sequential init"]}, {
        way: by_init[init][1] for way, init in WAYS.items()
    }


def rows(options: Options) -> list[Predicted]:
    """All quantities; while no prediction stands, today's model is the prediction."""
    elements = SMALL_ELEMENTS if options.small else ELEMENTS
    model, commands = rates(options.folder, hn.Machine.load(MACHINES / f"{SETTING}.toml"), elements)
    printed = read_figures(PRINTED)
    if printed is not None:
        printed = printed | {"gain": printed["parallel init"] / printed["sequential init"]}
    return compared(quantities(), read_figures(PREDICTION) or model, printed, model, commands)


def sensitivity(folder: Path) -> list[str]:
    """Both inits on machines that differ in one number, and with one node a socket."""
    lines = ["| machine | sequential init | parallel init |", "|---|---|---|"]
    machine = hn.Machine.load(MACHINES / f"{SETTING}.toml")
    tried = {"as described": machine, **{name: machine.with_changes(changes) for name, changes in OTHERWISE.items()}}
    tried["one node a socket (NPS1)"] = hn.Machine.load(MACHINES / f"{OTHER_SETTING}.toml")
    for name, one in tried.items():
        found, _ = rates(folder, one, ELEMENTS)
        lines.append(f"| {name} | {found['sequential init']:.1f} | {found['parallel init']:.1f} |")
    return lines


def page(found: Sequence[Predicted], lines: Sequence[str]) -> str:
    """The page."""
    return "\n".join(
        [
            "# M. Büttner's buffers (S6)",
            "",
            f"Written by `{COMMAND}`. What is run, and where each figure stands: `cases.py`. Machine:",
            f"`{SETTING}`; what its file assumes stands there.",
            *COMMITTED,
            "",
            *RULE,
            f"Null model: {ALL_LOCAL:.1f} GB/s whatever is done (all nodes' copy as measured by kerncraft), and a ratio of 1.",
            score(found),
            "",
            *table(found),
            "",
            "Rates in GB/s where an assumed number is otherwise:",
            "",
            *lines,
            "",
        ]
    )


def _write(found: Sequence[Predicted], options: Options) -> None:
    if options.small:
        return
    write_missing_prediction(PREDICTION, quantities(), found)
    PAGE.write_text(page(found, sensitivity(options.folder)) + notes_of(PAGE), encoding="utf-8")


STUDY = Study(
    "s6-buffers",
    "copies of a vector by who initialised it: the prediction against what M. Büttner's benchmark prints",
    "a minute",
    COLUMNS,
    rows,
    (PAGE,),
    write=_write,
    closing=lambda found, options: score(found),
)
