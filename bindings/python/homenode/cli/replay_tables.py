"""What `homenode replay` prints: the ranking, how sure it is, what holds up each region, who waits."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from homenode import report
from homenode.cli import console
from homenode.confidence import LEVEL, Ranking
from homenode.machine import Machine
from homenode.ranking_words import guessed, settled
from homenode.result import Result
from homenode.run_spec import AXES

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


def print_ranking(
    screen: Console, results: list[Result], machines: Sequence[Machine], first_places: Sequence[dict[str, Any]] = ()
) -> None:
    """One table for each set of comparable runs, best first; equal times keep the order in which they were asked for.

    Below it: how much of its machine is guessed, and what `first_places` say of it.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, result in enumerate(results):
        groups.setdefault(report.comparable(result.run), []).append(place)
    described = {machine.hash: machine for machine in machines}
    for places in groups.values():
        order = sorted(places, key=lambda place: float(results[place].seconds))
        runs = [results[place].run for place in order]
        first = runs[0]
        changed = "".join(f", {key}={value}" for key, value in first["machine_changes"].items())
        threads = console.number_of(first["threads"], "thread")
        title = f"{first['machine']}{changed} · {threads} · {first['engine']} engine, caches by {first['caches']}"
        if first["system"] != "default":
            title += f" · {first['system']}"
        sampled = [f"{100 * LEVEL:.0f} % interval"] if "seconds_interval" in first else []
        numbers = ("time", *sampled, "regret", "remote pages", "remote traffic")
        axes = max((_axes(run) for run in runs), key=len)[1:]
        table = console.table("rank", *axes, *numbers, "bound by", title=title, right=("rank", *numbers))
        for rank, run in enumerate(runs, start=1):
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
        said = [settled(found, order) for found in first_places if found["first"] in order]
        machine = described[first["machine_hash"]]
        screen.print(console.plain(" ".join([guessed(machine.name, *machine.assumed), *said])), soft_wrap=True)


def _bound_and_found(best: dict[str, Any]) -> str:
    """What `optimal` says: the bound, the best placement that was found, and how far apart they are."""
    bound, found = console.seconds(best["bound_seconds"]), console.seconds(best["found_seconds"])
    text = f"optimal: no placement takes less than {bound}; the best one found takes {found} (gap {100 * best['gap']:.1f} %)"
    if not best["searched"]:
        return f"{text}; too many pages to search"
    pages = console.number_of(best["pages"], "page")
    return f"{text}; {'searched exactly' if best['exact'] else 'not searched exactly'}, {pages}"


# Choices; beyond that only neighbours in rank are compared on the screen, all pairs are in the report.
WIDEST_MATRIX = 12


def print_confidence(screen: Console, ranking: Ranking) -> None:
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


def print_explanation(screen: Console, results: list[Result]) -> None:
    """A table for each run: what held up each region, and why caches were modelled as they were."""
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


def print_idle(screen: Console, results: list[Result]) -> None:
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
