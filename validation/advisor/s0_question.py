"""The question of S0: when do latency-weighted chunks gain its 1.1? `python -m validation advisor-s0`.

S0's program (Rodinia's srad_v2, 2048 x 2048) on S0's machines, with what could make threads uneven switched on one at a time and
together: pages of 2 MiB, which lie across chunks; vector code, so that memory decides; Rodinia's own first touch by one thread; and few
lines in flight, so that latency decides and not bandwidth. Gains are over the best of static, dynamic and guided, of a whole run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import homenode as hn
from homenode.advising import WEIGHTED, plain_distributions
from homenode.gain_map import WORTH
from validation.page_with_notes import markdown_table
from validation.rows import AnyRow
from validation.study import Options, Study
from validation.traces import captured

PAGE = Path(__file__).with_name("s0_question.md")
COMMAND = "python -m validation advisor-s0 --write"
MACHINES = {"xeon-l7555-4s": 32, "xeon-e5-2697v2-2s": 24}
PROBLEM: dict[str, int | str] = {"rows": 2048, "cols": 2048, "roi": 128, "steps": 12, "check": 0}
SMALL: dict[str, int | str] = {"rows": 128, "cols": 128, "roi": 32, "steps": 6, "check": 0}
CLAIMED = 1.1
INITS = ("parallel", "serial")
PAGES: tuple[Literal["4KiB", "2MiB"], ...] = ("4KiB", "2MiB")
# Vector code: four floats an instruction, as gcc -O2 -ftree-vectorize makes of SSE; cores that much faster stand for it.
CODE: dict[str, dict[str, str]] = {"as compiled": {}, "vector": {"core_time": "x0.25"}}
IN_FLIGHT: dict[str, dict[str, str]] = {"as described": {}, "2 lines": {"prefetched_lines": "2"}}


@dataclass(frozen=True)
class Answer(AnyRow):
    """One combination."""

    machine: str
    init: str
    pages: str
    code: str
    in_flight: str
    best_plain: str
    gain_flow: float
    gain_closed_form: float


def answer(
    trace: hn.Trace, machine: str, init: str, pages: Literal["4KiB", "2MiB"], code: str, in_flight: str
) -> Answer:
    """Ask `flow` and the closed form."""
    threads = MACHINES[machine]
    changed = hn.Machine.load(machine).with_changes(CODE[code] | IN_FLIGHT[in_flight])
    schedules = plain_distributions(trace, threads)
    found = []
    for asked in (hn.replay, hn.estimate):
        seconds = {
            name: float(asked(trace, changed, threads=threads, pages=pages, distribution=text).seconds)
            for name, text in {**schedules, WEIGHTED: WEIGHTED}.items()
        }
        best = min(schedules, key=seconds.__getitem__)
        found.append((best, seconds[best] / seconds[WEIGHTED]))
    (best, gain), (_, estimated) = found
    return Answer(machine, init, pages, code, in_flight, best, gain, estimated)


def rows(options: Options) -> Iterator[Answer]:
    """Every combination; `small`: two of a small problem."""
    problem = SMALL if options.small else PROBLEM
    for init in INITS[:1] if options.small else INITS:
        trace = captured(options.folder, "srad_v2", {**problem, "init": init})
        for machine, pages, code, lines in product(MACHINES, PAGES, CODE, IN_FLIGHT):
            if options.small and (machine, code, lines) != ("xeon-l7555-4s", "vector", "2 lines"):
                continue
            yield answer(trace, machine, init, pages, code, lines)


def tables(found: Sequence[Answer]) -> str:
    """The page down to its notes."""
    most = max(found, key=lambda row: row.gain_flow)
    paying = [row for row in found if row.gain_flow >= WORTH]
    same = sum((row.gain_flow >= WORTH) == (row.gain_closed_form >= WORTH) for row in found)
    heads = (
        "machine",
        "initialised",
        "pages",
        "code",
        "lines in flight",
        "best of OpenMP",
        "gain by flow",
        "closed form",
    )
    cells = [
        [row.machine, row.init, row.pages, row.code, row.in_flight, row.best_plain]
        + [f"{100 * (gain - 1):+.1f} %" for gain in (row.gain_flow, row.gain_closed_form)]
        for row in found
    ]
    return "\n".join(
        [
            "# When do weights gain S0's 1.1?",
            "",
            f"Written by `{COMMAND}`, down to the table. srad_v2, 2048 x 2048, twelve steps, on S0's machines with all",
            f"cores. Of {len(found)} combinations weights gain {100 * (WORTH - 1):.0f} % in {len(paying)}, and {CLAIMED:g} in",
            f"{sum(row.gain_flow >= CLAIMED for row in found)}; the most is {100 * (most.gain_flow - 1):+.1f} %. The closed form gives the"
            f" same answer in {same}.",
            "",
            *markdown_table(heads, cells),
            "",
        ]
    )


STUDY = Study(
    "advisor-s0",
    "when latency-weighted chunks gain S0's 1.1 on srad_v2: huge pages, vector code, first touch, few lines in flight",
    "minutes",
    ("machine", "init", "pages", "code", "in_flight", "best_plain", "gain_flow", "gain_closed_form"),
    rows,
    (PAGE,),
    tables=tables,
)
