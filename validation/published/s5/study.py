"""S5 as a study: `python -m validation s5-diffusion`. Each run of its benchmark, replayed; then against the printed figures."""

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
from validation.published.s5.cases import (
    BYTES_A_POINT,
    CAPTURED,
    FOLDER,
    INITS,
    MACHINE,
    ONE_SOCKET,
    PINNINGS,
    SIZES,
    SMALL_SIZES,
    STEPS,
    THREADS,
    UNTIMED,
    quantities,
    rate_key,
    with_ratios,
)
from validation.replay import replayed
from validation.study import Options, Study
from validation.traces import enlarged

PAGE = FOLDER / "results.md"
PREDICTION, PRINTED = FOLDER / "prediction.csv", FOLDER / "printed.csv"
COMMAND = "python -m validation s5-diffusion --write"
# Numbers of the machine that no text at hand gives for this node, and what they could be otherwise.
OTHERWISE = {
    "three UPI links": {"link_bandwidth": "62.4 GB/s"},
    "cores half as fast": {"core_time": "x2"},
    "memory latency 10 % more": {"memory_latency": "x1.1"},
}


def step_traces(folder: Path, size: int, init: str) -> list[hn.Trace]:
    """Traces of `UNTIMED` and of `STEPS` steps: they differ in the timed ones alone."""
    return [
        enlarged(folder, "diffusion2d", {"init": init, "check": 0, "steps": steps}, "n", CAPTURED, size)
        for steps in (UNTIMED, STEPS)
    ]


def rates(folder: Path, machine: hn.Machine, sizes: tuple[int, ...]) -> tuple[dict[str, float], dict[str, str]]:
    """T_eff in GB/s by key, and the command that repeats each."""
    found: dict[str, float] = {}
    commands: dict[str, str] = {}
    for size in sizes:
        for init in INITS:
            traces = step_traces(folder, size, init)
            for pinning, mapping in PINNINGS.items():
                spec = hn.RunSpec(machine, threads=THREADS, mapping=mapping)
                few, many = (replayed(trace, spec) for trace in traces)
                seconds = (many.regions["step"].seconds - few.regions["step"].seconds) / (STEPS - UNTIMED)
                key = rate_key(size, init, pinning)
                found[key] = BYTES_A_POINT * size**2 / seconds / 1e9
                commands[key] = many.command
    return found, commands


def rows(options: Options) -> list[Predicted]:
    """All quantities; while no prediction stands, today's model is the prediction."""
    sizes = SMALL_SIZES if options.small else SIZES
    found, commands = rates(options.folder, hn.Machine.load(MACHINE), sizes)
    model = with_ratios(found, sizes)
    asked = quantities(sizes)
    printed = read_figures(PRINTED)
    if printed is not None:
        keys = {one.key for one in asked}
        printed = {key: value for key, value in with_ratios(printed).items() if key in keys}
    return compared(asked, read_figures(PREDICTION) or model, printed, model, commands)


def sensitivity(folder: Path) -> list[str]:
    """The rates of the largest problem on machines that differ in one number."""
    size = SIZES[-1]
    lines = [f"| machine | {' | '.join(f'{init}, {pin}' for init in INITS for pin in ('cores', 'sockets'))} |"]
    lines.append("|---|" + "---|" * 4)
    machine = hn.Machine.load(MACHINE)
    for name, changes in {"as described": {}, **OTHERWISE}.items():
        found, _ = rates(folder, machine.with_changes(changes), (size,))
        cells = (f"{found[rate_key(size, init, pin)]:.1f}" for init in INITS for pin in ("cores", "sockets"))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def page(found: Sequence[Predicted], lines: Sequence[str]) -> str:
    """The page."""
    return "\n".join(
        [
            "# C. Bauer's 2D diffusion (S5)",
            "",
            f"Written by `{COMMAND}`. What is run, and where each figure stands: `cases.py`. Machine:",
            "`xeon-g6148-2s`; what its file assumes stands there.",
            *COMMITTED,
            "",
            *RULE,
            f"Null model: {ONE_SOCKET} GB/s whatever is done (one socket's copy as measured by kerncraft), and ratios of 1.",
            score(found),
            "",
            *table(found),
            "",
            f"T_eff in GB/s, n = {SIZES[-1]}, where an assumed number is otherwise:",
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
    "s5-diffusion",
    "2D diffusion on two sockets by initialisation and pinning: the prediction against what C. Bauer's course prints",
    "a minute",
    COLUMNS,
    rows,
    (PAGE,),
    write=_write,
    closing=lambda found, options: score(found),
)
