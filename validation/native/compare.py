"""Native seconds against replayed seconds, case by case."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import homenode as hn
from validation.native.cases import CASES, SMALLEST, Case
from validation.native.measure import build, descriptions, measure, timed_regions
from validation.native.null_models import HEADS, Figures, cells, figures, in_words
from validation.page_with_notes import markdown_table
from validation.replay import RegionFigures, replayed
from validation.rows import NativeRow
from validation.study import Options, Study
from validation.traces import captured

PAGE = Path(__file__).with_name("results.md")
COMMAND = "homenode validate native --machine host.toml --write"


def seconds_of(label: str, regions: Mapping[str, RegionFigures]) -> float:
    """A labelled region's; what each thread of it runs for itself is LABEL:code, in pieces between its barriers LABEL:code1 …"""
    found = [one.seconds for name, one in regions.items() if name == label or name.startswith(f"{label}:code")]
    if not found:
        raise KeyError(f"no region '{label}'; there are: {', '.join(regions)}")
    return sum(found)


def compare(
    cases: Sequence[Case], machine_file: Path, folder: Path, threads: Sequence[int], repeats: int
) -> Iterator[NativeRow]:
    """Yield a row for each case, number of threads and distribution; everything runs with first touch."""
    machine = hn.Machine.load(machine_file)
    kernels = descriptions()
    for case in cases:
        labels = timed_regions(kernels[case.kernel])
        for team in threads:
            recorded = captured(
                folder / "by-thread" / str(team) if case.by_thread else folder,
                case.kernel,
                case.parameters,
                threads=team if case.by_thread else 1,
            )
            for distribution in case.distributions(team):
                program = build(case.kernel, folder / "native", any_schedule=distribution != "static")
                native = measure(program, case.parameters, team, labels, repeats, distribution)
                # gcc emits no non-temporal stores for these kernels: the native program stores through the caches.
                spec = hn.RunSpec(machine, threads=team, stores="regular", distribution=distribution)
                model = replayed(recorded, spec)
                predicted = sum(seconds_of(label, model.regions) for label in labels)
                yield NativeRow(
                    case.kernel,
                    case.parameters,
                    team,
                    distribution,
                    native.seconds,
                    predicted,
                    native.spread,
                    native.repeats,
                )


def _rows(options: Options) -> Iterator[NativeRow]:
    """The host is calibrated first if no description of it is given."""
    machine = options.machine
    if machine is None:
        machine = options.folder / "host.toml"
        if not machine.exists():
            options.folder.mkdir(parents=True, exist_ok=True)
            command = [str(Path(sys.executable).with_name("homenode")), "machine", "calibrate", "-o", str(machine)]
            subprocess.run(command, check=True)
    return compare(SMALLEST if options.small else CASES, machine, options.folder, (1, 2), options.repeats)


def figures_by_group(rows: Sequence[NativeRow]) -> dict[str, Figures]:
    """Of predicted / measured: all rows, by number of threads and distribution, by kernel."""
    groups: dict[str, list[float]] = {}
    for row in rows:
        kind = row.distribution.partition(":")[0]
        for name in ("all", f"{row.threads} threads, {kind}", row.kernel):
            groups.setdefault(name, []).append(1 + row.error)
    return {name: figures(ratios) for name, ratios in groups.items()}


def _closing(found: Sequence[NativeRow], options: Options) -> str:
    return "\n".join(f"{name}: {in_words(of)}" for name, of in figures_by_group(found).items())


def page(found: Sequence[NativeRow]) -> str:
    """The page down to its notes."""
    rows = [
        (
            row.kernel,
            " ".join(f"{name}={value}" for name, value in row.parameters.items() if name != "check"),
            row.threads,
            row.distribution,
            f"{row.measured_seconds:.4g}",
            f"{row.predicted_seconds:.4g}",
            f"{row.error:+.0%}",
            f"{row.spread:.0%}",
            row.repeats,
        )
        for row in found
    ]
    head = (
        "kernel",
        "parameters",
        "threads",
        "distribution",
        "measured s",
        "predicted s",
        "error",
        "spread",
        "repeats",
    )
    summary = [(name, *cells(of)) for name, of in figures_by_group(found).items()]
    lines = [
        "# Native runs against the calibrated host",
        "",
        f"Made by `{COMMAND}`, the description by `homenode machine calibrate -o host.toml`.",
        "Seconds in the timed regions: the median of the repeats natively, its interquartile range over it is the spread. Chunks are a",
        "64th of a loop. Nothing is fitted to these rows.",
        "",
        *markdown_table(("predicted / measured", *HEADS), summary),
        "",
        *markdown_table(head, rows),
    ]
    return "\n".join(lines) + "\n"


STUDY = Study(
    "native",
    "kernels run on this machine against its calibrated description; `--sources FOLDER`: native-programs",
    "an hour",
    (
        *("kernel", "parameters", "threads", "distribution", "measured_seconds", "predicted_seconds"),
        *("spread", "repeats", "error"),
    ),
    _rows,
    (PAGE,),
    tables=page,
    closing=_closing,
)
