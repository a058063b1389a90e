"""Native seconds against replayed seconds, case by case."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import homenode as hn
from validation.native.cases import CASES, SMALLEST, Case
from validation.native.measure import build, descriptions, measure, timed_regions
from validation.replay import replayed
from validation.rows import NativeRow
from validation.study import Options, Study
from validation.traces import captured


def compare(
    cases: Sequence[Case], machine_file: Path, folder: Path, threads: Sequence[int], repeats: int
) -> Iterator[NativeRow]:
    """Yield a row for each case and number of threads; everything runs with first touch and schedule(static)."""
    machine = hn.Machine.load(machine_file)
    kernels = descriptions()
    programs = {name: build(name, folder / "native") for name in dict.fromkeys(case.kernel for case in cases)}
    for case in cases:
        labels = timed_regions(kernels[case.kernel])
        trace = captured(folder, case.kernel, case.parameters)
        for team in threads:
            native = measure(programs[case.kernel], case.parameters, team, labels, repeats)
            # gcc emits no non-temporal stores for these kernels: the native program stores through the caches.
            model = replayed(trace, hn.RunSpec(machine, threads=team, stores="regular"))
            predicted = sum(model.regions[label].seconds for label in labels)
            yield NativeRow(
                case.kernel, case.parameters, team, "static", native.seconds, predicted, native.spread, native.repeats
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


STUDY = Study(
    "native",
    "native runs on this machine against its calibrated description; the page is written by hand",
    "minutes",
    (
        *("kernel", "parameters", "threads", "distribution", "measured_seconds", "predicted_seconds"),
        *("spread", "repeats", "error"),
    ),
    _rows,
    (Path(__file__).with_name("results.md"),),
)
