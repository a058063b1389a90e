"""Native seconds against replayed seconds, case by case."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import homenode as hn
from validation.native.cases import CASES, SMALLEST, Case
from validation.native.measure import Measurement, build, descriptions, measure, timed_regions
from validation.native.neighbours import Shared, machine_beside, shared_now
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


TRIES = 3  # of a measurement, until what the neighbours leave was steady


def beside_neighbours(run: Callable[[], Measurement], machine: hn.Machine) -> tuple[Measurement, Shared]:
    """Measure, and what the neighbours leave before and after it; again where that changed."""
    before = shared_now(machine)
    for _ in range(TRIES):
        native = run()
        after = shared_now(machine)
        if after.near(before):
            break
        before = after
    return native, before.between(after)


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
                run = partial(measure, program, case.parameters, team, labels, repeats, distribution)
                native, shared = beside_neighbours(run, machine)
                # gcc emits no non-temporal stores for these kernels: the native program stores through the caches.
                spec = hn.RunSpec(
                    machine_beside(machine, shared), threads=team, stores="regular", distribution=distribution
                )
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
                    shared.last_level,
                    shared.read_bandwidth,
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
            f"{row.last_level_bytes / (1 << 20):.1f}",
            f"{row.read_bandwidth / 1e9:.0f}",
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
        "last level MiB",
        "read GB/s",
    )
    summary = [(name, *cells(of)) for name, of in figures_by_group(found).items()]
    lines = [
        "# Native runs against the calibrated host",
        "",
        f"Made by `{COMMAND}`, the description by `homenode machine calibrate -o host.toml`.",
        "Seconds in the timed regions: the median of the repeats natively, its interquartile range over it is the spread. Chunks are a",
        "64th of a loop. Nothing is fitted to these rows. The host is a virtual machine: what its neighbours leave of the last level and",
        "of the memory's bandwidth changes within seconds, so both are measured before and after each native run (`neighbours.py`), and",
        "the run is predicted for the machine with that much of them.",
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
        *("spread", "repeats", "last_level_bytes", "read_bandwidth", "error"),
    ),
    _rows,
    (PAGE,),
    tables=page,
    closing=_closing,
)
