"""What `homenode replay` prints: the ranking, how sure it is, what holds up each region, who waits."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from homenode import report, unseen
from homenode.cli import console
from homenode.cli.fitted_table import Narrowing
from homenode.confidence import LEVEL, Ranking
from homenode.machine import Machine
from homenode.ranking_words import (
    bound_and_found,
    certainty,
    guessed,
    measure_first,
    placed_by_a_pass,
    ranked_by,
    settled,
)
from homenode.result import Result
from homenode.run_spec import AXES
from homenode.visible import visible

_VARYING = tuple(name for name in AXES if name != "heap")


def _axes(run: dict[str, Any]) -> list[str]:
    """What a run is told apart by; the heap where it is none that is taken unasked."""
    return [*_VARYING, "heap"] if run["heap"] not in ("plain", "glibc") else [*_VARYING]


def _caches(run: dict[str, Any]) -> str:
    model, _, sample = run["caches"].partition(":sample=")
    if not sample:
        return f"caches by {model}"
    error = run["caches_reason"]["sampling_error"]
    return f"caches by one line in {sample} (lines read ±{100 * error:.{2 if error < 0.01 else 0}f} %)"


def _names(run: dict[str, Any]) -> str:
    return visible(" · ".join([run["machine"], *(str(run[key]) for key in _axes(run))]))


_HARDLY = 1e-3


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _bound_by(run: dict[str, Any], not_seen: dict[str, Any]) -> str:
    """What held up the region that most of the time goes to, or what else it goes to; `?` where too much was not seen.

    Of a ranking by regions: of these.
    """
    bound = run.get("ranked_bound_by", run["bound_by"])
    if bound["resource"] is None:
        return "–"
    doubt = "?" if bound["region"] in unseen.open_of(not_seen, run) else ""
    where = console.plain(bound["region"]) if bound["region"] else _share(bound["seconds"], run["seconds"])
    return f"{bound['resource']}{doubt} ({where})"


def _remote_traffic(run: dict[str, Any]) -> tuple[int, int]:
    traffic = run["traffic_bytes"]
    every = sum(sum(row) for row in traffic)
    return every - sum(traffic[node][node] for node in range(len(traffic))), every


def _hardly_from_memory(run: dict[str, Any]) -> bool:
    """Whether the caches have all but a thousandth of the lines: shares of the rest say nothing."""
    every = sum(run["hit_lines"]) + run["transfer_lines"] + run["memory_lines"]
    return bool(run["memory_lines"] < _HARDLY * every)


def _of_traffic(runs: Sequence[dict[str, Any]]) -> str | None:
    """What the column 'remote traffic' leaves out, where that may mislead."""
    if any(_hardly_from_memory(run) and _remote_traffic(run)[1] > 0 for run in runs):
        return "remote traffic –: less than a thousandth of the lines come from memory."
    by_link = [run for run in runs if str(run["bound_by"]["resource"]).startswith("link ")]
    if any(
        run["transfer_lines"] * every > run["memory_lines"] * remote
        for run in by_link
        for remote, every in [_remote_traffic(run)]
    ):
        return "remote traffic is that of memory: links also carry lines that other sockets' caches hand over."
    return None


def _interval(run: dict[str, Any]) -> str:
    """Of the time that the run is ranked by."""
    bounds = run.get("ranked_seconds_interval", run["seconds_interval"])
    low, high = (console.seconds(bound) for bound in bounds)
    return f"{low} … {high}"


def _rankings(results: Sequence[Result]) -> list[tuple[list[int], list[int]]]:
    """By set of comparable runs: those with a rank, fastest first, and bounds; as places in `results`."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, result in enumerate(results):
        groups.setdefault(report.comparable(result.run), []).append(place)
    found = []
    for places in groups.values():
        ranked, bounds = report.by_rank([results[place].run for place in places])
        found.append(([places[place] for place in ranked], [places[place] for place in bounds]))
    return found


def print_ranking(
    screen: Console, results: list[Result], machines: Sequence[Machine], first_places: Sequence[dict[str, Any]] = ()
) -> None:
    """One table for each set of comparable runs, best first; equal times keep the order in which they were asked for.

    Below it: how much of its machine is guessed, and what `first_places` say of it.
    """
    not_seen = results[0].trace.unseen
    described = {machine.hash: machine for machine in machines}
    cores = {result.run["core"] for result in results}
    for order, bounds in _rankings(results):
        runs = [results[place].run for place in (*order, *bounds)]
        first = runs[0]
        rank_by = first.get("rank_by", ())
        changed = "".join(f", {key}={value}" for key, value in first["machine_changes"].items())
        threads = console.number_of(first["threads"], "thread")
        title = (
            f"{visible(first['machine'])}{visible(changed)} · {threads} · {first['engine']} engine, {_caches(first)}"
        )
        if first["system"] != "default":
            title += f" · {visible(first['system'])}"
        if len(cores) > 1:  # what is compared across machines is modelled in two ways
            title += f" · core time by {first['core']}"
        sampled = [f"{100 * LEVEL:.0f} % interval"] if "seconds_interval" in first else []
        times = ("time", *sampled) if not rank_by else ("ranked time", *sampled, "time")
        numbers = (*times, "regret", "remote pages", "remote traffic")
        axes = max((_axes(run) for run in runs), key=len)[1:]
        if "heap" not in axes and len({run["heap"] for run in runs}) > 1:
            axes.append("heap")
        narrowing = Narrowing(same=axes, optional=["remote pages", "remote traffic"])
        table = console.table(
            "rank", *axes, *numbers, "bound by", title=title, right=("rank", *numbers), narrowing=narrowing
        )
        for rank, run in enumerate(runs, start=1):
            table.add_row(
                str(rank) if rank <= len(order) else "bound",
                *(console.plain(run[axis]) for axis in axes),
                console.seconds(report.ranked_seconds(run)),
                *([_interval(run)] if sampled else []),
                *([console.seconds(run["seconds"])] if rank_by else []),
                f"{100 * run['regret']:+.1f} %",
                _share(run["remote_pages"], sum(run["pages_by_node"])),
                "–" if _hardly_from_memory(run) else _share(*_remote_traffic(run)),
                _bound_by(run, not_seen),
                style="bold" if rank == 1 and order else None,
            )
        screen.print(table)
        _print_ranks(screen, runs)
        for run in runs[len(order) :]:
            name = "optimal" if len(bounds) == 1 else " · ".join(str(run[axis]) for axis in axes)
            console.say(screen, console.plain(bound_and_found(run, name, console.seconds)))
        said = [settled(found, order) for found in first_places if found["first"] in order]
        if rank_by and not said:  # which a first place says itself
            said.append(ranked_by(rank_by))
        machine = described[first["machine_hash"]]
        console.say(screen, console.plain(" ".join([guessed(machine.name, *machine.assumed), *said])))
        for told in (placed_by_a_pass(runs), _of_traffic(runs)):
            if told is not None:
                console.say(screen, console.plain(told))
    judged = {result.run["bound_by"]["region"] for result in results if result.run["bound_by"]["region"]}
    if (told := unseen.sentences(not_seen, (result.run for result in results), judged)) is not None:
        console.say(screen, console.plain(told))


def _print_ranks(screen: Console, runs: list[dict[str, Any]]) -> None:
    """Which parts do not scale with the team, as their code is bound to the ranks of a smaller one."""
    threads = runs[0]["threads"]
    shares: dict[tuple[str, int], float] = {}  # the largest of the runs
    for run in runs:
        for region in run["regions"]:
            if 0 < region["ranks"] < threads:
                part, share = (region["label"], region["ranks"]), region["exclusive_seconds"] / (run["seconds"] or 1)
                shares[part] = max(share, shares.get(part, 0.0))
    for (label, ranks), share in shares.items():
        console.say(
            screen,
            f"{console.plain(label)} runs on {ranks} of the {threads} threads, as captured, for its code depends on the thread number: "
            f"{_share(share, 1)} of the time",
        )


# Choices; beyond that only neighbours in rank are compared on the screen, all pairs are in the report.
WIDEST_MATRIX = 12
_PAIR_WIDTH = 9  # columns of the terminal for a probability


def print_confidence(screen: Console, ranking: Ranking) -> None:
    """P(A beats B) for each pair, what depends on core time, and what to measure."""
    samples = ranking.confidence["samples"]
    for group in ranking.confidence["rankings"]:
        count = len(group["runs"])
        threads = console.number_of(group["threads"], "thread")
        title = f"{visible(group['machine'])} · {threads} · {samples} sampled machines"
        if count > 1:
            widest = min(WIDEST_MATRIX, screen.width // _PAIR_WIDTH - 1)
            screen.print(_beats(group, title) if count <= widest else _neighbours(group, title))
            if any(pair["flips_with_core_time"] for pair in group["pairs"]):
                screen.print("! the order flips if instructions take half or twice as long as modelled")
        if count > 1:
            console.say(screen, console.plain(measure_first(group)))


def _certainty(pair: dict[str, Any]) -> str:
    return f"{certainty(pair)}{' !' if pair['flips_with_core_time'] else ''}"


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


_LEAST_SHARE = 0.0005  # less is printed as 0.0 %


def _held_up(region: dict[str, Any]) -> list[tuple[str, float]]:
    """What held up a region, with its share, largest first: four at most, none of 0.0 %.

    Forks and barriers are moments in which nobody works; the rest is told by the threads' busy time.
    """
    busy = sum(entry["seconds"] for entry in region["binding"])
    team, work = region["fork_and_barrier_seconds"], region["exclusive_seconds"]
    of_work = work / (team + work) if team + work > 0 else 0.0
    shares = [(entry["resource"], of_work * entry["seconds"] / busy) for entry in region["binding"] if busy > 0]
    if team > 0:
        shares.append(("fork and barrier", 1 - of_work))
    return [held for held in sorted(shares, key=lambda held: -held[1])[:4] if held[1] >= _LEAST_SHARE]


_OUTSIDE = {
    "fork": "(fork)",
    "barrier": "(barrier)",
    "runtime": "(runtime)",
    "page_work": "(page work)",
    "waiting": "(waiting)",
}


EXPLAINED = 3  # of each ranking the first ones, unless all are asked for


def print_explanation(screen: Console, results: list[Result], everything: bool = False) -> None:
    """A table for each run, by rank: where its time went, what held up each region, and why caches were modelled as they were.

    `everything`: of all runs, not of the first ones of each ranking alone.
    """
    not_seen = results[0].trace.unseen
    doubtful = any(unseen.open_of(not_seen, result.run) for result in results)
    left_out = 0
    for order, bounds in _rankings(results):
        shown = [(f"rank {rank}: ", place) for rank, place in enumerate(order, start=1)]
        shown += [("bound: ", place) for place in bounds]
        last = len(shown) if everything else EXPLAINED
        left_out += max(0, len(shown) - last)
        for rank, place in shown[:last]:
            screen.print(_explained(results[place].run, rank if len(results) > 1 else "", not_seen))
    _print_cache_models(screen, results)
    more = f"{console.number_of(left_out, 'choice')} more: --explain-all. " if left_out else ""
    doubt = " ?: too much of the region was not seen to know." if doubtful else ""
    console.say(
        screen,
        f"\n{more}time: the region's own. Rows in parentheses belong to no region; all rows add up to the run. "
        f"bound by: share of the busy time in which this was the bottleneck.{doubt}",
    )


def _print_cache_models(screen: Console, results: list[Result]) -> None:
    """Why caches were modelled by runs of lines or by lines; machines of which the same is true together."""
    said: dict[str, list[str]] = {}
    for machine, run in {result.run["machine"]: result.run for result in results}.items():
        reason = run["caches_reason"]
        if reason["region"]:
            why = (
                f"caches by {run['caches']}, because region '{console.plain(reason['region'])}' "
                f"accesses {reason['lines_per_touch']:.1f} consecutive lines at a time."
            )
            said.setdefault(why, []).append(console.plain(machine))
    for why, machines in said.items():
        console.say(screen, f"\n{', '.join(machines)}: {why}")


def _explained(run: dict[str, Any], rank: str, not_seen: dict[str, Any]) -> Table:
    numbers = ("time", "share", "executions")
    narrowing = Narrowing(listed="bound by", optional=["executions"])
    title, open_regions = f"{rank}{_names(run)}", unseen.open_of(not_seen, run)
    table = console.table("region", *numbers, "bound by", title=title, right=numbers, narrowing=narrowing)
    for region in run["regions"]:
        shares = ", ".join(f"{resource} {_share(share, 1)}" for resource, share in _held_up(region))
        label, seconds = console.plain(region["label"]), region["exclusive_seconds"]
        share = _share(seconds, run["seconds"])
        doubt = " ?" if shares and region["label"] in open_regions else ""
        told = f"{shares or '–'}{doubt}"
        table.add_row(label, console.seconds(seconds), share, str(region["executions"]), told)
    for key, name in _OUTSIDE.items():
        seconds = run["time_detail"][key]
        if seconds > 0:
            table.add_row(name, console.seconds(seconds), _share(seconds, run["seconds"]), "", "")
    table.add_row("in all", console.seconds(run["seconds"]), _share(1, 1) if run["seconds"] else "–", "", "")
    return table


IDLE_REGIONS = 4  # the longest ones have columns of their own; all are in the report


def print_idle(screen: Console, results: list[Result]) -> None:
    """A table for each run: busy and idle time of each thread (Metzger et al. 2018, figure 8)."""
    for result in results:
        run = result.run
        names = _names(run)
        regions = list(report.idle_shares(run).items())[:IDLE_REGIONS]
        columns = [
            "thread",
            "core",
            "node",
            "busy",
            "idle",
            "share",
            *(f"in {console.plain(label)}" for label, _ in regions),
        ]
        narrowing = Narrowing(optional=[f"in {console.plain(label)}" for label, _ in reversed(regions)])
        table = console.table(*columns, title=names, right=tuple(columns), narrowing=narrowing)
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
    console.say(
        screen,
        "\nshare: idle time over the time of the run. in REGION: idle time over the time in which a thread is in the region, "
        "its barrier included.",
    )
