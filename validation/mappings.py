"""Every mapping of threads, program by program, on 2, 4 and 32 sockets: `python -m validation mappings`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from homenode.run_spec import command
from validation.placements import MACHINES, Case
from validation.published.s3.replays import figures
from validation.rows import AnyRow
from validation.study import Study
from validation.traces import captured, trace_path

MAPPINGS = ("compact", "scatter", "unpinned", "btdm", "treematch", "scotch", "greedy")
PAGE = Path(__file__).with_name("mappings.md")
COMMAND = "python -m validation mappings --write"
# A team of 0: exactly the threads of the trace.
CASES = (
    Case("threads_side_by_side", {"workers": 11, "logarithm": 14, "rounds": 8}),
    Case("threads_autonomous", {"integer": 8, "floating": 7, "elements": 20_000, "rounds": 4}),
    Case("threads_postponed", {"workers": 7, "rounds": 2, "elements": 20_000}),
    Case("threads_pingpong", {"turns": 500}),
    Case("threads_mix", {"leaders": 3, "workers": 4, "logarithm": 14}),
    Case("advection2d", {"patch": 32, "patches": 4}, 16),
    Case("mg", {"class": "S"}, 16),
    Case("sliding_tile", {"moves": 20}, 16),
)
# Few enough threads for every way to put them on cores.
SEARCHED = (
    Case("threads_side_by_side", {"workers": 4, "logarithm": 12, "rounds": 8}),
    Case("threads_autonomous", {"integer": 2, "floating": 2, "elements": 4_000, "rounds": 4}),
    Case("threads_postponed", {"workers": 3, "rounds": 1, "elements": 4_000}),
    Case("threads_pingpong", {"turns": 100}),
    Case("threads_mix", {"leaders": 1, "workers": 2, "logarithm": 12}),
)
SEARCH_MACHINE = "xeon-x5550-2s"
SMALL = (Case("threads_pingpong", {"turns": 20}),)


@dataclass(frozen=True)
class Cell:
    """One mapping of one program."""

    seconds: float
    joules: float
    local_share: float
    private_hit_rate: float
    regret: float  # time over the best of the table's (or of every) mapping, less one


@dataclass(frozen=True)
class Row(AnyRow):
    """One program on one machine; `searched`: how many mappings the regret is against."""

    kernel: str
    parameters: dict[str, int | str]
    machine: str
    threads: int
    searched: int
    best: str  # of all that were searched
    mappings: dict[str, Cell]
    command: str


def placements_of(threads: int, sockets: int, per_socket: int) -> Iterator[tuple[int, ...]]:
    """Every way to put threads on cores that differs by more than the names of sockets and of a socket's cores.

    Thread by thread: a core that is used already, a new one of a socket that is used, or the first of a new socket.
    """

    def extend(chosen: tuple[int, ...], used: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == threads:
            yield chosen
            return
        for core in sorted(set(chosen)):
            yield from extend((*chosen, core), used)
        for socket, count in enumerate(used):
            if count < per_socket:
                more = (*used[:socket], count + 1, *used[socket + 1 :])
                yield from extend((*chosen, socket * per_socket + count), more)
        if len(used) < sockets:
            yield from extend((*chosen, len(used) * per_socket), (*used, 1))

    return extend((), ())


def row(case: Case, machine: hn.Machine, trace: hn.Trace, path: Path, search: bool = False) -> Row:
    """Replay under every mapping, and for small cases under every way to put threads on cores."""
    threads = case.team or len(trace.inspect()["threads"])
    every: list[str] = []
    system = MACHINES.get(machine.name, "default")
    if search:
        ways = placements_of(threads, machine.sockets, machine.cores // machine.sockets)
        every = ["cores:" + ":".join(map(str, way)) for way in ways]
    choices = hn.grid([machine], [threads], mapping=[*MAPPINGS, *every], oversubscribe=True, system=system)
    runs = [result.run for result in hn.replay_grid(trace, choices)]
    best = min(runs, key=lambda run: float(run["seconds"]))
    cells = {}
    for run in runs[: len(MAPPINGS)]:
        found = figures(run, "")
        cells[run["mapping"]] = Cell(
            found.seconds,
            found.joules,
            found.local_share,
            found.private_hit_rate,
            found.seconds / float(best["seconds"]) - 1,
        )
    return Row(
        case.kernel,
        case.parameters,
        machine.name,
        threads,
        len(runs),
        str(best["mapping"]),
        cells,
        command(path.name, choices[: len(MAPPINGS)]),
    )


def _row(folder: Path, case: Case, machine: str, search: bool = False) -> Row:
    parameters = {**case.parameters, "check": 0}
    trace = captured(folder, case.kernel, parameters, threads=case.team or 1)
    return row(case, hn.Machine.load(machine), trace, trace_path(folder, case.kernel, parameters), search)


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Yield every program on each machine; then the small ones, searched."""
    for case in () if small else CASES:
        for name in MACHINES:
            yield _row(folder, case, name)
    for case in SMALL if small else SEARCHED:
        yield _row(folder, case, SEARCH_MACHINE, search=True)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def table(found: Sequence[Row]) -> Iterator[str]:
    """Markdown; a row for each mapping."""
    yield "| program | machine | threads | mapping | time | energy | local | L1 and L2 hits | regret |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in found:
        for mapping, cell in one.mappings.items():
            yield (
                f"| {one.kernel} | {one.machine} | {one.threads} | {mapping} | {1e3 * cell.seconds:.4g} ms | "
                f"{1e3 * cell.joules:.4g} mJ | {_percent(cell.local_share)} | {_percent(cell.private_hit_rate)} | "
                f"{_percent(cell.regret)} |"
            )


def _sizes(cases: Sequence[Case]) -> str:
    return "; ".join(
        f"{case.kernel} {' '.join(f'{name}={value}' for name, value in case.parameters.items())}" for case in cases
    )


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    programs = [one for one in found if one.machine in MACHINES]
    searched = [one for one in found if one.machine not in MACHINES]
    head = [
        "# Mappings of threads",
        "",
        f"Written by `{COMMAND}`, up to the second table. Flow engine, first touch, static schedule, system `default`, on sgi-uv-32s",
        "`linux-2.6.32`, the kernel that it was validated with; energy `default` (every",
        "parameter assumed). *local*: bytes that controllers move for cores of their own node; *L1 and L2 hits*: of the",
        "lines that arrive at the first level. *regret*: time over the best mapping of the row's program and machine, less one.",
        "",
        f"Sizes: {_sizes(CASES)}. advection2d, mg and sliding_tile run teams of 16.",
        "",
        *table(programs),
        "",
        f"Small programs, against every way to put their threads on the cores of {SEARCH_MACHINE} (up to the names of sockets and",
        "cores), and the mappings themselves:",
        "",
        "| program | ways | best |",
        "|---|---|---|",
        *(f"| {one.kernel} | {one.searched - len(MAPPINGS)} | `{one.best}` |" for one in searched),
        "",
        f"Sizes: {_sizes(SEARCHED)}.",
        "",
        *table(searched),
    ]
    return "\n".join(head) + "\n"


STUDY = Study(
    "mappings",
    "every mapping of eight programs against the best of them, on 2, 4 and 32 sockets; of five small ones against every way",
    "minutes",
    ("kernel", "parameters", "machine", "threads", "searched", "best", "mappings", "command"),
    lambda options: rows(options.folder / "mappings", options.small),
    (PAGE,),
    line=lambda one: "\n".join(list(table([one]))[2:]),
    tables=page,
)
