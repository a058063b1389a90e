"""Native seconds against replayed seconds, case by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import homenode as hn
from validation.native.cases import Case
from validation.native.measure import build, descriptions, measure, timed_regions
from validation.replay import replayed
from validation.rows import NativeRow
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
