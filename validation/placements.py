"""Regret of every placement, kernel by kernel, on three machines: `python -m validation placements`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.run_spec import command
from validation.rows import AnyRow
from validation.study import Study
from validation.traces import captured, trace_path

# Each with its system: the SGI UV runs the kernel that it was validated with (Yang et al., S1).
MACHINES = {"xeon-e5-2697v2-2s": "default", "xeon-x7560-4s": "default", "sgi-uv-32s": "linux-2.6.32"}
BALANCING = "+autonuma"  # which a system may not have
PLACEMENTS = (
    "first-touch",
    "interleave",
    "weighted-interleave",
    "bind:0",
    "preferred:1",
    "stencil-aware",
    "first-touch+autonuma:scan_delay=1ms",
    "first-touch+carrefour:period=1ms",
)
BOUND = "optimal"
PAGE = Path(__file__).with_name("placements.md")
COMMAND = "python -m validation placements --write"
# From here on a cell of the table names the bottleneck of the region that takes longest.
NAMED_FROM = 0.5


@dataclass(frozen=True)
class Case:
    """A kernel, its size, and the team of a program whose code is bound to it."""

    kernel: str
    parameters: dict[str, int | str]
    team: int = 0  # 0: any; the machine's cores
    distribution: str = "static"
    own_threads: bool = False  # POSIX threads: exactly those of the trace


CASES = (
    Case("stream", {"n": 2_000_000, "repeats": 2}),
    Case("jacobi2d", {"n": 1024, "sweeps": 4}),
    Case("jacobi3d", {"ni": 64, "nj": 96, "nk": 96, "bk": 96, "sweeps": 3}),
    Case("hotspot", {"size": 256}),
    Case("srad_v1", {"rows": 128, "cols": 96}),
    Case("srad_v2", {"rows": 256, "cols": 256, "roi": 128}),
    Case("gather", {"n": 100_000, "reads": 100_000}),
    Case("chase", {"nodes": 65_536, "steps": 65_536}),
    Case("heap_list1", {"blocks": 4, "passes": 3}, 16),
    Case("advection2d", {"patch": 32, "patches": 4}, 16),
    Case("advection3d", {"patch": 12, "patches": 4}, 16),
    Case("fdtd3d", {"patch": 12, "patches": 4, "steps": 2}, 16),
    Case("sliding_tile", {"moves": 20}, 16),
    Case("mg", {"class": "S"}),
    Case("ft", {"class": "S", "iterations": 1}),
    Case(
        "jacobi3d_tasks", {"ni": 64, "nj": 96, "nk": 96, "bk": 96, "sweeps": 3}, distribution="init@static sweep@tasks"
    ),
    Case("jacobi3d_tbb", {"ni": 64, "nj": 96, "nk": 96, "bk": 96, "sweeps": 3}, distribution="tbb-affinity"),
    Case("threads_autonomous", {"integer": 8, "floating": 7, "elements": 100_000, "rounds": 4}, own_threads=True),
    Case("threads_side_by_side", {"logarithm": 20, "rounds": 4}, own_threads=True),
    Case("threads_postponed", {"workers": 7, "rounds": 2, "elements": 100_000}, own_threads=True),
    Case("threads_pingpong", {"turns": 1000}, own_threads=True),
    Case("threads_mix", {"leaders": 3, "workers": 4, "logarithm": 16}, own_threads=True),
)
SMALL = (Case("jacobi2d", {"n": 3072, "sweeps": 2}), Case("heap_list1", {"blocks": 1, "passes": 2}, 16))


@dataclass(frozen=True)
class Placed:
    """One placement's time over the bound, less one, and the bottleneck of its longest region."""

    regret: float
    held_up_by: str


@dataclass(frozen=True)
class Row(AnyRow):
    """One kernel on one machine."""

    kernel: str
    parameters: dict[str, int | str]
    machine: str
    threads: int
    bound_seconds: float
    gap: float  # of the best placement that `optimal` found
    exact: bool
    placements: dict[str, Placed]
    command: str


def longest_region(run: dict[str, Any]) -> str:
    """The bottleneck of the region that took longest."""
    region = max(run["regions"], key=lambda region: float(region["seconds"]))
    return f"{region['binding_resource']}, {region['label']}"


def team_of(case: Case, machine: hn.Machine, trace: hn.Trace) -> tuple[int, str]:
    """How many threads, and their mapping."""
    threads = case.team or (len(trace.inspect()["threads"]) if case.own_threads else machine.cores)
    return threads, "scatter" if case.team or case.own_threads else "compact"


def _balances(system: str) -> bool:
    """Whether it knows automatic balancing."""
    return any(
        one["path"] == "balancing.available" and one["value"] != "0" for one in hn.System.load(system).parameters
    )


def row(case: Case, machine: hn.Machine, trace: hn.Trace, path: Path) -> Row:
    """Replay under every placement."""
    threads, mapping = team_of(case, machine, trace)
    system = MACHINES[machine.name]
    placements = [name for name in (*PLACEMENTS, BOUND) if BALANCING not in name or _balances(system)]
    choices = hn.grid(
        [machine], [threads], placement=placements, mapping=mapping, distribution=case.distribution, system=system
    )
    runs = {result.run["placement"]: result.run for result in hn.replay_grid(trace, choices)}
    bound = runs.pop(BOUND)
    best, least = bound["best_placement"], float(bound["seconds"])
    return Row(
        case.kernel,
        case.parameters,
        machine.name,
        threads,
        least,
        best["gap"],
        best["exact"],
        {name: Placed(run["seconds"] / least - 1, longest_region(run)) for name, run in runs.items()},
        command(path.name, choices),
    )


def rows(folder: Path, small: bool = False) -> Iterator[Row]:
    """Each kernel is captured once and replayed on each machine, static schedule."""
    for case in SMALL if small else CASES:
        parameters = {**case.parameters, "check": 0}
        trace = captured(folder, case.kernel, parameters, threads=case.team or 1)
        path = trace_path(folder, case.kernel, parameters)
        for name in list(MACHINES)[:1] if small else MACHINES:
            yield row(case, hn.Machine.load(name), trace, path)


def _cell(placed: Placed | None) -> str:
    if placed is None:
        return "–"
    percent = f"{100 * placed.regret:.3g} %" if placed.regret < 10 else f"{100 * placed.regret:.0f} %"
    return percent if placed.regret < NAMED_FROM else f"{percent} ({placed.held_up_by})"


def table(found: Sequence[Row]) -> Iterator[str]:
    """Markdown."""
    short = [name.replace("first-touch+", "+").partition(":scan")[0].partition(":period")[0] for name in PLACEMENTS]
    yield f"| kernel | machine | threads | bound | gap | {' | '.join(short)} |"
    yield "|---|---|---|---|---|" + "---|" * len(PLACEMENTS)
    for one in found:
        gap = f"{100 * one.gap:.3g} %" + (", exact" if one.exact else "")
        cells = " | ".join(_cell(one.placements.get(name)) for name in PLACEMENTS)
        yield f"| {one.kernel} | {one.machine} | {one.threads} | {1e3 * one.bound_seconds:.3g} ms | {gap} | {cells} |"


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    sizes = "; ".join(
        f"{case.kernel} {' '.join(f'{name}={value}' for name, value in case.parameters.items()) or 'as it is'}"
        for case in CASES
    )
    head = [
        "# Regret of page placements",
        "",
        f"Written by `{COMMAND}`, up to the table. Flow engine, static schedule, pages of 4 KiB, system `default`, on sgi-uv-32s the",
        "kernel that it was validated with, `linux-2.6.32` (which has no balancing). All cores",
        "with compact mapping, but for programs bound to a team of 16 and programs with threads of their own, which are scattered.",
        "jacobi3d_tasks runs its tasks by `tasks`, jacobi3d_tbb its blocks by `tbb-affinity`. Balancing first scans after 1 ms,",
        "Carrefour looks every 1 ms, as these runs are short.",
        "",
        f"Sizes: {sizes}.",
        "",
        f"Regret is time over the bound of `{BOUND}`, less one: no placement can beat the bound for the items that each thread",
        "ran. *Gap* is the same of the best placement that `optimal` found; *exact*: none has a smaller objective, which leaves",
        f"out page faults and latency under load. From {NAMED_FROM:.0%} on a cell names the bottleneck of the region that took longest.",
        "",
    ]
    return "\n".join([*head, *table(found)]) + "\n"


STUDY = Study(
    "placements",
    "every placement of every kernel against the bound of `optimal`, on three machines",
    "minutes",
    ("kernel", "parameters", "machine", "threads", "bound_seconds", "gap", "exact", "placements", "command"),
    lambda options: rows(options.folder / "placements", options.small),
    (PAGE,),
    line=lambda one: list(table([one]))[2],
    tables=page,
)
