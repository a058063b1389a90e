"""How far a sample of the lines is from all of them, on irregular programs: `python -m validation sampling`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation.placements import Case
from validation.rows import AnyRow
from validation.study import Study
from validation.traces import captured, trace_path

MACHINES = ("xeon-e5-2697v2-2s", "opteron-8431-4s", "xeon-x7560-4s")
SAMPLES = (8, 16)
THREADS = 16
PAGE = Path(__file__).with_name("sampling.md")
COMMAND = "python -m validation sampling --write"

CASES = (
    Case("spmv", {"rows": 1_000_000}),
    Case("spmv", {"rows": 300_000, "matrix": "skewed"}),
    Case("gather", {"n": 1_000_000, "reads": 1_000_000}),
    Case("bfs", {"vertices": 200_000}),
    Case("histogram", {"keys": 2_000_000}),
    Case("hotspot", {"size": 1024}),
)
SMALL = (Case("spmv", {"rows": 20_000}),)


@dataclass(frozen=True)
class Row(AnyRow):
    """One program on one machine, by one line in `one_in` and by all lines."""

    kernel: str
    parameters: dict[str, int | str]
    machine: str
    one_in: int
    lines: int  # exchanged with memory, by all lines
    lines_sampled: int
    reported_error: float
    seconds: float
    seconds_sampled: float
    cost: float  # seconds of the host over those of the replay by all lines
    command: str

    @property
    def lines_error(self) -> float:
        """Of the sample."""
        return self.lines_sampled / self.lines - 1

    @property
    def seconds_error(self) -> float:
        """Of the sample."""
        return self.seconds_sampled / self.seconds - 1

    def as_json(self) -> dict[str, Any]:
        """Return the errors, too."""
        return {**super().as_json(), "lines_error": self.lines_error, "seconds_error": self.seconds_error}


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Every program x machine x sample; each replay runs alone."""
    for case in SMALL if small else CASES:
        parameters = {**case.parameters, "check": 0}
        trace = captured(folder, case.kernel, parameters)
        path = trace_path(folder, case.kernel, parameters)
        for name in MACHINES[:1] if small else MACHINES:
            specs = [
                hn.RunSpec(name, threads=THREADS, caches=caches)
                for caches in ("lines", *(f"lines:sample={one_in}" for one_in in SAMPLES))
            ]
            # One after the other: in one grid they would share the host.
            whole, *sampled = (hn.replay_grid(trace, [spec], workers=1)[0] for spec in specs)
            for one_in, spec, of in zip(SAMPLES, specs[1:], sampled, strict=True):
                yield Row(
                    case.kernel,
                    case.parameters,
                    name,
                    one_in,
                    whole.run["memory_lines"],
                    of.run["memory_lines"],
                    of.run["caches_reason"]["sampling_error"],
                    whole.seconds,
                    of.seconds,
                    of.cost_seconds / whole.cost_seconds,
                    spec.command(path.name),
                )


def _name(one: Row) -> str:
    return f"{one.kernel} {' '.join(f'{name}={value}' for name, value in one.parameters.items())}"


def page(found: Sequence[Row]) -> str:
    """The page down to its notes: the worst of the machines for each program and sample."""
    head = [
        "# A sample of the lines against all of them",
        "",
        f"Written by `{COMMAND}`: irregular programs on {THREADS} threads of",
        f"{', '.join(MACHINES)}, by `--caches lines:sample=N` and by `--caches lines`. Errors are the largest of the three",
        "machines. Reported error: what the report of the sampled run says of its lines (`caches_reason.sampling_error`).",
        "Of bfs on the Opteron, and of histogram, a few hundred lines come from memory: shares of them say little.",
        "",
        "| program | one line in | lines from memory off by | reported error | time off by |",
        "|---|---|---|---|---|",
    ]
    body = []
    for name in dict.fromkeys(_name(one) for one in found):
        for one_in in SAMPLES:
            of = [one for one in found if _name(one) == name and one.one_in == one_in]
            lines = max(abs(one.lines_error) for one in of)
            reported = max(one.reported_error for one in of)
            seconds = max(abs(one.seconds_error) for one in of)
            body.append(f"| {name} | {one_in} | {lines:.2%} | {reported:.2%} | {seconds:.2%} |")
    return "\n".join([*head, *body]) + "\n"


def _line(one: Row) -> str:
    return (
        f"{_name(one)}  {one.machine}  1 in {one.one_in}  lines {one.lines_error:+.2%} (reported {one.reported_error:.2%})  "
        f"time {one.seconds_error:+.2%}  replay {one.cost:.2f}"
    )


STUDY = Study(
    "sampling",
    "caches by one line in 8 and 16 against caches by all lines, on irregular programs",
    "a minute",
    (
        *("kernel", "parameters", "machine", "one_in", "lines", "lines_sampled", "reported_error", "seconds"),
        *("seconds_sampled", "cost", "command", "lines_error", "seconds_error"),
    ),
    lambda options: rows(options.folder, options.small),
    (PAGE,),
    line=_line,
    tables=page,
)
