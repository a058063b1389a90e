"""Native seconds against replayed seconds, case by case."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.confidence import interval
from homenode.native_times import Measurement, seconds_of
from homenode.null_models import HEADS, Figures, cells, figures, in_words
from homenode.sampling import changed, sampled_factors
from validation.native.cases import CASES, SMALLEST, Case
from validation.native.measure import build, descriptions, measure, timed_regions
from validation.native.neighbours import Shared, machine_beside, shared_now
from validation.page_with_notes import markdown_table
from validation.replay import replayed
from validation.result_cache import ResultCache
from validation.rows import NativeRow
from validation.study import Options, Study
from validation.traces import captured

PAGE = Path(__file__).with_name("results.md")
COMMAND = "homenode validate native --machine host.toml --write"


SAMPLES = 10  # machines, for the interval of a row
SAMPLED_SECONDS = 0.5  # of a replay on one thread: longer ones, and those of more threads, get no interval
ANCHORED_SECONDS = 0.4  # of a prediction: larger ones take long to replay so often
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


def sampled_interval(
    machine: hn.Machine, predict: Callable[[hn.Machine], float], stated: float, samples: int = SAMPLES
) -> tuple[float, float]:
    """Seconds between which nine in ten machines within what is known of this one lie."""
    uncertainties = machine.uncertainties
    factors = sampled_factors(uncertainties, samples, seed=1)
    return interval([predict(changed(machine, uncertainties, row)) for row in factors.tolist()], stated)


def native_runs(
    cases: Sequence[Case], machine: hn.Machine, folder: Path, threads: Sequence[int], repeats: int
) -> dict[tuple[int, int, str], tuple[Measurement, Shared]]:
    """By number of the case, threads and distribution: what was measured, and what the neighbours left meanwhile.

    `native_runs.jsonl` in the folder keeps them for this description of the host: a study that was stopped goes on there.
    """
    kernels = descriptions()
    kept = ResultCache(folder / "native_runs.jsonl", machine.hash)
    found = {}
    for number, case in enumerate(cases):
        labels = timed_regions(kernels[case.kernel])
        for team in threads:
            for distribution in case.distributions(team):
                program = build(case.kernel, folder / "native", any_schedule=distribution != "static")
                run = partial(measure, program, case.parameters, team, labels, repeats, distribution)
                question = {
                    "kernel": case.kernel,
                    "parameters": case.parameters,
                    "threads": team,
                    "distribution": distribution,
                    "repeats": repeats,
                }
                one = kept.get(question, partial(_measured, run, machine))
                found[number, team, distribution] = Measurement(**one["native"]), Shared(**one["shared"])
    return found


def _measured(run: Callable[[], Measurement], machine: hn.Machine) -> dict[str, Any]:
    native, shared = beside_neighbours(run, machine)
    return {"native": asdict(native), "shared": shared._asdict()}


def compare(
    cases: Sequence[Case], machine_file: Path, folder: Path, threads: Sequence[int], repeats: int
) -> Iterator[NativeRow]:
    """Yield a row for each case, number of threads and distribution; everything runs with first touch.

    Native runs come first: what follows needs no quiet machine.
    """
    machine = hn.Machine.load(machine_file)
    measured = native_runs(cases, machine, folder, threads, repeats)
    print("native runs are done; captures and replays need no quiet machine", file=sys.stderr, flush=True)
    kernels = descriptions()
    for number, case in enumerate(cases):
        labels = timed_regions(kernels[case.kernel])
        factors = ""
        for team in threads:
            recorded = captured(
                folder / "by-thread" / str(team) if case.by_thread else folder,
                case.kernel,
                case.parameters,
                threads=team if case.by_thread else 1,
            )
            for distribution in case.distributions(team):
                native, shared = measured[number, team, distribution]
                # gcc emits no non-temporal stores for these kernels: the native program stores through the caches.
                beside = machine_beside(machine, shared)
                options = {"threads": team, "stores": "regular", "distribution": distribution}
                predict = partial(_predicted, recorded, labels, options)
                begin = time.process_time()
                predicted = predict(beside)
                is_quick = team == 1 and time.process_time() - begin < SAMPLED_SECONDS
                low, high = sampled_interval(beside, predict, predicted) if is_quick else (None, None)
                if team == 1 and predicted < ANCHORED_SECONDS and distribution == "static" and recorded.measured:
                    factors = hn.anchor(recorded, machine, stores="regular").core_factors
                anchored = None
                if factors and team > 1 and not case.by_thread:
                    anchored = _predicted(recorded, labels, {**options, "core_factors": factors}, beside)
                yield NativeRow(
                    case.kernel,
                    case.parameters,
                    team,
                    distribution,
                    native.seconds,
                    predicted,
                    low,
                    high,
                    native.spread,
                    native.repeats,
                    max(shared.last_level_dependent, shared.last_level_independent),
                    shared.core_to_core,
                    shared.read_bandwidth,
                    anchored,
                )


def _predicted(trace: hn.Trace, labels: Sequence[str], options: dict[str, Any], machine: hn.Machine) -> float:
    regions = {name: one.seconds for name, one in replayed(trace, hn.RunSpec(machine, **options)).regions.items()}
    return sum(seconds_of(label, regions) for label in labels)


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


def anchored_figures(rows: Sequence[NativeRow]) -> dict[str, Figures]:
    """Of predicted / measured, over the rows that were predicted both ways."""
    both = [row for row in rows if row.anchored_seconds is not None]
    if not both:
        return {}
    return {
        "by the core model": figures([1 + row.error for row in both]),
        "anchored on one thread": figures([(row.anchored_seconds or 0) / row.measured_seconds for row in both]),
    }


def within(found: Sequence[NativeRow]) -> str:
    """How many of the rows with an interval were measured within it."""
    inside = [row.within_interval for row in found if row.within_interval is not None]
    return f"{sum(inside)} of {len(inside)} measured within the interval of the prediction (90 % of sampled machines)"


def _closing(found: Sequence[NativeRow], options: Options) -> str:
    lines = [f"{name}: {in_words(of)}" for name, of in figures_by_group(found).items()]
    return "\n".join([*lines, within(found)])


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
            f"{row.low_seconds:.4g} … {row.high_seconds:.4g}" if row.low_seconds is not None else "",
            f"{row.error:+.0%}",
            f"{row.spread:.0%}",
            row.repeats,
            f"{row.last_level_bytes / (1 << 20):.1f}",
            f"{row.core_to_core_ns:.0f}",
            f"{row.read_bandwidth / 1e9:.0f}",
            f"{row.anchored_seconds:.4g}" if row.anchored_seconds is not None else "",
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
        "90 % of machines",
        "error",
        "spread",
        "repeats",
        "last level MiB",
        "core to core ns",
        "read GB/s",
        "anchored s",
    )
    summary = [(name, *cells(of)) for name, of in figures_by_group(found).items()]
    lines = [
        "# Native runs against the calibrated host",
        "",
        f"Made by `{COMMAND}`, the description by `homenode machine calibrate -o host.toml`.",
        "Seconds in the timed regions: the median of the repeats natively, its interquartile range over it is the spread. Chunks are a",
        "64th of a loop. Nothing is fitted to these rows. The host is a virtual machine: what its neighbours leave of the last level, and",
        "of the memory's latency and bandwidth, changes within seconds, and so does where the hypervisor puts its cores. All of it is",
        "measured before and after each native run (`neighbours.py`), and the run is predicted for the machine as it was then.",
        "",
        *markdown_table(("predicted / measured", *HEADS), summary),
        "",
        f"{within(found)}.",
        "",
        *_anchored_lines(found),
        *markdown_table(head, rows),
    ]
    return "\n".join(lines) + "\n"


def _anchored_lines(found: Sequence[NativeRow]) -> list[str]:
    summary = [(name, *cells(of)) for name, of in anchored_figures(found).items()]
    if not summary:
        return []
    return [
        "Two threads, with core factors from the time that the program took on one thread when it was captured (`homenode anchor`,",
        "decision 0023). The same rows both ways; rows on one thread are those that were timed, and no prediction.",
        "",
        *markdown_table(("predicted / measured", *HEADS), summary),
        "",
    ]


STUDY = Study(
    "native",
    "kernels run on this machine against its calibrated description; `--sources FOLDER`: native-programs",
    "an hour",
    (
        *("kernel", "parameters", "threads", "distribution", "measured_seconds", "predicted_seconds"),
        *(
            "low_seconds",
            "high_seconds",
            "within_interval",
            "spread",
            "repeats",
            "last_level_bytes",
            "core_to_core_ns",
            "read_bandwidth",
            "anchored_seconds",
            "error",
        ),
    ),
    _rows,
    (PAGE,),
    tables=page,
    closing=_closing,
)
