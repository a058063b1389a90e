"""S0's hotspot as a whole process (C1, C5): what reads, writes and starts takes beside what the replays of hotspot say.

S0 uses Rodinia's "standard inputs", which are texts, and tells total time apart from the time of the iterations. In the total are the
start of process and OpenMP runtime, two lines of text read for each cell and one written (kernel hotspot_text), all by one thread.
None of these depends on the placement in the model, so they stand in both times of a gain.
"""

from collections.abc import Iterator, Sequence

from validation.published.s0.cases import AWARE, INTERLEAVE, PINNED, UNPINNED, A, Case
from validation.published.s0.replays import Replays
from validation.rows import Row, Verdict, not_compared

# Seconds a line, measured on hotspot_text natively (1024 x 1024 cells, one thread of a virtual machine of 2026: 138 ns a line read,
# 306 written). A's cores are fifteen years older: from as measured to three times that.
READ_LINE, WRITE_LINE = 138e-9, 306e-9
TEXT_FACTORS = (1.0, 3.0)
# exec, dynamic linking, the runtime's start with its threads. Assumed; a process that only starts takes a millisecond at least.
START_SECONDS = (1e-3, 10e-3)
NOISE = 0.01  # gains nearer to 1 are told by no study of some ten samples, and slices' order in the model moves as much (C12)
LARGEST_LOSER = 256  # S0, 6.1: hotspot 64 to 256 lose in total time
LARGEST_GAIN = 12.0  # S0, 6.1
PLACED = (UNPINNED, PINNED, INTERLEAVE, AWARE)


def process_seconds(size: int) -> tuple[float, float]:
    """Least and largest of what the process takes beside the program that was replayed."""
    lines = size * size * (2 * READ_LINE + WRITE_LINE)
    least, most = (START_SECONDS[i] + TEXT_FACTORS[i] * lines for i in (0, 1))
    return least, most


def verdict(gains: Sequence[float]) -> Verdict:
    """Of a loss over a range of what the paper leaves open: told only where the whole range says the same, beyond the noise."""
    if all(gain < 1 - NOISE for gain in gains):
        return "agrees"
    return "deviates" if all(gain > 1 + NOISE for gain in gains) else "not compared"


def rows(replays: Replays, cases: Sequence[Case]) -> Iterator[Row]:
    """Gains of stencil-aware pages with and without the rest of the process."""
    for case in cases:
        found = {setting: replays.timing(case, A, setting) for setting in PLACED}
        command = found[AWARE].command
        rest = (0.0, *process_seconds(int(case.size)))
        over_unpinned, over_best = [], []
        for beside in rest:
            totals = [{setting: one.total(steps) + beside for setting, one in found.items()} for steps in case.steps]
            over_unpinned.append([total[UNPINNED] / total[AWARE] for total in totals])
            over_best.append([min(total[PINNED], total[INTERLEAVE]) / total[AWARE] for total in totals])
        runs = "/".join(map(str, case.steps))
        said = "; ".join(
            f"{named} {', '.join(f'{gain:.3f}' for gain in gains)}"
            for named, gains in zip(("without", "least", "most"), over_unpinned, strict=True)
        )
        what = f"{case.name}: gain over unpinned first touch in {runs} iterations, rest of the process without, least and most"
        yield not_compared("C1", A, what, f"up to {LARGEST_GAIN:g}", said, command)
        if int(case.size) > LARGEST_LOSER:
            continue
        whole = [gain for gains in over_best[1:] for gain in gains]
        alone = over_best[0]
        said = f"{min(whole):.4f} to {max(whole):.4f}; without the rest {min(alone):.3f} to {max(alone):.3f}"
        what = f"{case.name}: the better standard placement beats stencil-aware in total time ({runs} iterations)"
        holds = verdict(whole)
        yield Row("C5", A, what, "predicted", "gain below 1", said, "1", holds, command)
