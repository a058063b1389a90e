"""`homenode replay`: a grid of choices, ranked."""

from __future__ import annotations

import json
import resource
import runpy
import sys
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from homenode import report
from homenode.cli import console
from homenode.cli.run_options import machine_with, run_options
from homenode.confidence import LEVEL, SAMPLES, Ranking
from homenode.confidence import rank as rank_with_confidence
from homenode.grids import replay_grid
from homenode.replaying import replay_with_timeline
from homenode.result import Result
from homenode.run_spec import AXES, grid
from homenode.trace import Trace

_VARYING = tuple(name for name in AXES if name != "heap")


def _axes(run: dict[str, Any]) -> list[str]:
    """What a run is told apart by; the heap where one was chosen."""
    return [*_VARYING, "heap"] if run["heap"] != "plain" else [*_VARYING]


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _bound_by(run: dict[str, Any]) -> str:
    """The resource that held up the region which took longest."""
    longest = max(run["regions"], key=lambda region: region["seconds"], default=None)
    return f"{longest['binding_resource']} ({longest['label']})" if longest and longest["binding_resource"] else "–"


def _remote_traffic(run: dict[str, Any]) -> tuple[int, int]:
    traffic = run["traffic_bytes"]
    every = sum(sum(row) for row in traffic)
    return every - sum(traffic[node][node] for node in range(len(traffic))), every


def _interval(run: dict[str, Any]) -> str:
    low, high = (console.seconds(bound) for bound in run["seconds_interval"])
    return f"{low} … {high}"


def print_ranking(screen: Console, results: list[Result]) -> None:
    """One table for each set of comparable runs, best first; equal times keep the order in which they were asked for."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault(report.comparable(result.run), []).append(result.run)
    for runs in groups.values():
        first = runs[0]
        changed = "".join(f", {key}={value}" for key, value in first["machine_changes"].items())
        threads = console.number_of(first["threads"], "thread")
        title = f"{first['machine']}{changed} · {threads} · {first['engine']} engine, caches by {first['caches']}"
        if first["system"] != "default":
            title += f" · {first['system']}"
        sampled = [f"{100 * LEVEL:.0f} % interval"] if "seconds_interval" in first else []
        numbers = ("rank", "time", *sampled, "regret", "remote pages", "remote traffic")
        axes = max((_axes(run) for run in runs), key=len)[1:]
        table = console.table(
            "rank",
            *axes,
            "time",
            *sampled,
            "regret",
            "remote pages",
            "remote traffic",
            "bound by",
            title=title,
            right=numbers,
        )
        for rank, run in enumerate(sorted(runs, key=lambda run: run["seconds"]), start=1):
            table.add_row(
                str(rank),
                *(run[axis] for axis in axes),
                console.seconds(run["seconds"]),
                *([_interval(run)] if sampled else []),
                f"+{100 * run['regret']:.1f} %",
                _share(run["remote_pages"], sum(run["pages_by_node"])),
                _share(*_remote_traffic(run)),
                _bound_by(run),
                style="bold" if rank == 1 else None,
            )
        screen.print(table)
        for best in (run["best_placement"] for run in runs if run["best_placement"]):
            screen.print(_bound_and_found(best))


def _bound_and_found(best: dict[str, Any]) -> str:
    """What `optimal` says: the bound, the best placement that was found, and how far apart they are."""
    bound, found = console.seconds(best["bound_seconds"]), console.seconds(best["found_seconds"])
    text = f"optimal: no placement takes less than {bound}; the best one found takes {found} (gap {100 * best['gap']:.1f} %)"
    if not best["searched"]:
        return f"{text}; too many pages to search"
    pages = console.number_of(best["pages"], "page")
    return f"{text}; {'searched exactly' if best['exact'] else 'not searched exactly'}, {pages}"


WIDEST_MATRIX = (
    12  # choices; beyond that only neighbours in rank are compared on the screen, all pairs are in the report
)


def _confidence(screen: Console, ranking: Ranking) -> None:
    """P(A beats B) for each pair, what depends on core time, and what to measure."""
    samples = ranking.confidence["samples"]
    for group in ranking.confidence["rankings"]:
        count = len(group["runs"])
        threads = console.number_of(group["threads"], "thread")
        title = f"{group['machine']} · {threads} · {samples} sampled machines"
        if count > 1:
            screen.print(_beats(group, title) if count <= WIDEST_MATRIX else _neighbours(group, title))
            if any(pair["flips_with_core_time"] for pair in group["pairs"]):
                screen.print("! the order flips if instructions take half or twice as long as modelled")
        first = group["measure_first"]
        contested = [pair for pair in group["pairs"] if 0 < pair["probability"] < 1]
        if count == 1:
            continue
        if first is None:
            reason = "no single number explains it" if contested else "all samples agree"
            screen.print(f"No measurement would settle the order: {reason}.")
            continue
        screen.print(
            f"Measuring {first['name']} would settle the order best ({first['value']}, between {first['low']} and {first['high']}; "
            f"{first['basis']}): it explains {100 * first['share']:.0f} % of the variance of the undecided pairs.",
            soft_wrap=True,
        )


def _certainty(pair: dict[str, Any]) -> str:
    return f"{100 * pair['probability']:.0f} %{' !' if pair['flips_with_core_time'] else ''}"


def _beats(group: dict[str, Any], title: str) -> Table:
    """A row for each choice by its rank, a column for each that is ranked after one."""
    rank_of = {run: place for place, run in enumerate(group["runs"], start=1)}
    columns = [str(rank) for rank in range(2, len(rank_of) + 1)]
    table = console.table("P(rank … beats …)", *columns, title=title, right=tuple(columns))
    cells: dict[int, list[str]] = {}
    for pair in group["pairs"]:
        cells.setdefault(rank_of[pair["faster"]], []).append(_certainty(pair))
    for rank, row in cells.items():
        table.add_row(str(rank), *[""] * (rank - 1), *row)
    return table


def _neighbours(group: dict[str, Any], title: str) -> Table:
    rank_of = {run: place for place, run in enumerate(group["runs"], start=1)}
    table = console.table("rank", "beats", "P", title=title, right=("P",))
    for pair in group["pairs"]:
        faster, slower = rank_of[pair["faster"]], rank_of[pair["slower"]]
        if slower == faster + 1 or faster == 1:
            table.add_row(str(faster), str(slower), _certainty(pair))
    return table


def _explain(screen: Console, results: list[Result]) -> None:
    for result in results:
        run = result.run
        names = " · ".join([run["machine"], *(str(run[key]) for key in _axes(run))])
        table = console.table(
            "region", "time", "executions", "bound by", title=f"{names}", right=("time", "executions")
        )
        for region in run["regions"]:
            total = sum(entry["seconds"] for entry in region["binding"])
            held = [entry for entry in region["binding"][:4] if entry["seconds"] > 0]
            shares = ", ".join(f"{entry['resource']} {_share(entry['seconds'], total)}" for entry in held)
            table.add_row(region["label"], console.seconds(region["seconds"]), str(region["executions"]), shares or "–")
        screen.print(table)
    for machine, run in {result.run["machine"]: result.run for result in results}.items():
        reason = run["caches_reason"]
        if reason["region"]:
            screen.print(
                f"\n{machine}: caches by {run['caches']}, because region '{reason['region']}' "
                f"accesses {reason['lines_per_touch']:.1f} consecutive lines at a time."
            )
    screen.print("\nbound by: share of the threads' busy time in which the resource was the bottleneck.")


IDLE_REGIONS = 4  # the longest ones have columns of their own; all are in the report


def _idle(screen: Console, results: list[Result]) -> None:
    """A table for each run: busy and idle time of each thread (Metzger et al. 2018, figure 8)."""
    for result in results:
        run = result.run
        names = " · ".join([run["machine"], *(str(run[key]) for key in _axes(run))])
        regions = list(report.idle_shares(run).items())[:IDLE_REGIONS]
        columns = ["thread", "core", "node", "busy", "idle", "share", *(f"in {label}" for label, _ in regions)]
        table = console.table(*columns, title=names, right=tuple(columns))
        for place, thread in enumerate(run["threads_detail"]):
            table.add_row(
                str(thread["thread"]),
                str(thread["core"]),
                str(thread["node"]),
                console.seconds(thread["busy_seconds"]),
                console.seconds(thread["idle_seconds"]),
                _share(thread["idle_seconds"], run["seconds"]),
                *(_share(shares[place], 1) for _, shares in regions),
            )
        screen.print(table)
    screen.print(
        "\nshare: idle time over the time of the run. in REGION: idle time in the region over the time of the region."
    )


def _cost(results: list[Result], wall: float, replays_each: int) -> dict[str, Any]:
    accesses = replays_each * sum(result.run["accesses"] for result in results)
    memory = 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "schema": "homenode.cost/1",
        "seconds": wall,
        "accesses_per_second": accesses / wall if wall > 0 else 0.0,
        "peak_rss_bytes": memory,
        "runs": [{"seconds": result.cost_seconds} for result in results],
    }


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--machine", "machines", multiple=True, required=True, metavar="M", help="Name or TOML file; repeat for a grid."
)
@click.option(
    "--change", "changes", multiple=True, metavar="NAME=VALUE", help="What-if: replace a value of every machine."
)
@run_options(grid=True)
@click.option(
    "--python",
    "python_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Python file that registers placements.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Runs at the same time; results do not depend on it.")
@click.option("--explain", is_flag=True, help="Name what holds up each region.")
@click.option(
    "--confidence",
    type=click.IntRange(min=2),
    is_flag=False,
    flag_value=SAMPLES,
    metavar="[N]",
    help=f"Sample N machines ({SAMPLES}) within what is known of their numbers: intervals, and how sure the order is.",
)
@click.option("--idle", is_flag=True, help="Show how long each thread works and waits.")
@click.option(
    "--timeline",
    type=click.Path(path_type=Path),
    metavar="F",
    help="Of one combination: what happened when, as a Chrome trace (.json, .json.gz) for ui.perfetto.dev.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the report there, and its cost to OUTPUT.cost."
)
@console.json_option
def command(
    file: Path,
    machines: tuple[str, ...],
    changes: tuple[str, ...],
    python_files: tuple[Path, ...],
    workers: int | None,
    explain: bool,
    confidence: int | None,
    idle: bool,
    timeline: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Replay a trace under every combination of the given choices and rank them."""
    for python_file in python_files:
        if not python_file.is_file():
            raise click.UsageError(f"no Python file '{python_file}'")
        runpy.run_path(str(python_file))
    begin = time.perf_counter()
    trace = Trace.open(file)
    choices = grid([machine_with(name, changes) for name in machines], **options)
    if timeline is not None and (len(choices) != 1 or confidence is not None):
        found = "--confidence" if confidence is not None else f"{len(choices)} combinations"
        raise click.UsageError(f"--timeline with {found}; allowed: one combination, without --confidence")
    replays_each = 1 if confidence is None else confidence + 3  # each sample, and core time at half and twice
    runs = replays_each * len(choices)
    ranking = None
    with console.progress("replaying", runs) as advance:
        if timeline is not None:
            results = [replay_with_timeline(trace, choices[0], timeline)]
            advance(1)
        elif confidence is None:
            results = replay_grid(trace, choices, workers=workers, advance=advance)
        else:
            ranking = rank_with_confidence(trace, choices, samples=confidence, workers=workers, advance=advance)
            results = ranking.results
    cost = _cost(results, time.perf_counter() - begin, replays_each)
    document = report.document(trace, [result.run for result in results], ranking.confidence if ranking else None)
    if output is not None:
        with console.written_whole(output) as temporary:
            temporary.write_text(report.to_text(document), encoding="utf-8")
        cost_file = output.with_name(output.name + ".cost")
        with console.written_whole(cost_file) as temporary:
            temporary.write_text(json.dumps(cost, indent=2) + "\n", encoding="utf-8")
    if as_json:
        sys.stdout.write(report.to_text(document))
    else:
        screen = console.output()
        print_ranking(screen, results)
        if ranking is not None:
            _confidence(screen, ranking)
        if explain:
            _explain(screen, results)
        if idle:
            _idle(screen, results)
    rate = console.quantity(cost["accesses_per_second"], " accesses/s")
    memory = console.quantity(cost["peak_rss_bytes"], "B")
    console.diagnostics().print(
        f"{console.number_of(runs, 'run')} in {console.seconds(cost['seconds'])}, {rate}, {memory} of memory at most"
    )
