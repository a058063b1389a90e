"""`homenode inspect`."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from homenode import unseen
from homenode.cli import console
from homenode.cli.fitted_table import Narrowing
from homenode.cli.inspect_code import print_code
from homenode.trace import Trace


@click.command("inspect")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--all", "every", is_flag=True, help="List all objects, not only the twenty largest, all regions, and each loss."
)
@click.option(
    "--threads",
    is_flag=True,
    help="Show who creates and joins each thread, its type, and the bytes that threads exchange.",
)
@click.option(
    "--team",
    type=click.IntRange(min=1),
    help="With --threads: number of threads that share each loop; default: as captured.",
)
@click.option("--code", is_flag=True, help="Show the blocks of machine code that ran, the hottest first.")
@click.option(
    "--cpu", metavar="NAME", help="With --code: LLVM's name of a core, such as znver3, for which LLVM-MCA tells cycles."
)
@console.json_option
def command(
    file: Path, every: bool, threads: bool, team: int | None, code: bool, cpu: str | None, as_json: bool
) -> None:
    """Show what a trace holds: regions, instructions by class, objects, footprint, and what could not be recorded.

    `in flight`: outstanding misses of a core with ten miss buffers and sixteen prefetched lines, as far as the dependences and
    strides of the region allow. A pointer chase has 1, a gather 10, streams 16. `hottest line`: where most of its instructions ran;
    where a construct has several loops, where most of their accesses are.
    """
    trace = Trace.open(file)
    if team is not None and not threads:
        raise click.UsageError("--team goes with --threads")
    if cpu is not None and not code:
        raise click.UsageError("--cpu goes with --code")
    found = trace.inspect()
    if code:
        found = {**found, "code": trace.executed_code(cpu or "")}
    if threads:
        found = {**found, "thread_graph": trace.thread_graph(team)}
    if as_json:
        console.print_json(found)
        return
    screen = console.output()
    screen.print(f"[bold]{console.plain(trace.program)}[/bold] {console.plain(trace.arguments)}".rstrip())
    whole = "complete" if trace.complete else f"[red]truncated[/red]: {console.plain(trace.truncated_by)}"
    screen.print(f"hash {found['hash']}, {whole}")
    screen.print(
        f"{console.count(found['accesses'])} accesses ({console.count(found['reads'])} reads, {console.count(found['writes'])} writes), "
        f"footprint {console.quantity(found['footprint_bytes'], 'B')}, {console.quantity(file.stat().st_size, 'B')} on disk"
    )
    if not trace.accesses:
        console.say(screen, f"[red]{console.plain(trace.remarks[-1])}[/red]")
    _print_regions(screen, found["regions"], every)
    for region in found["regions"]:
        if region["ranks"]:
            ranks = console.number_of(region["ranks"], "thread")
            screen.print(f"{console.plain(region['label'])} depends on the thread number: bound to a team of {ranks}")
    if trace.own_threads:
        own, at_once = trace.own_threads
        screen.print(f"The program creates its threads: {own} with its first one, at most {at_once} at once")
    if found["work"]["instructions"]:
        _print_work(screen, found)
    if code:
        print_code(screen, found["code"], cpu or "", every)
    if threads:
        _print_threads(screen, found["thread_graph"])
    largest = sorted(found["objects"], key=lambda entry: -entry["bytes"])
    shown = largest if every else largest[:20]
    objects = console.table(
        "object", "kind", "bytes", "symbol", title="Objects, largest first", right=("object", "bytes")
    )
    for entry in shown:
        objects.add_row(
            str(entry["id"]),
            _KINDS.get(entry["kind"], entry["kind"]),
            console.count(entry["bytes"]),
            console.plain(entry["symbol"] if every else _shortened(entry["symbol"])),
        )
    screen.print(objects)
    if len(shown) < len(largest):
        screen.print(f"… and {len(largest) - len(shown)} smaller objects; --all shows them.")
    if found["losses_by_reason"]:
        _print_losses(screen, found, every)
    if found["unseen"]["functions"]:
        _print_calls(screen, found["unseen"], every)


_TINY = 1e-5  # of all accesses
_MANY_TINY = 8


def _print_regions(screen: Console, regions: list[dict[str, Any]], every: bool) -> None:
    least = _TINY * sum(region["accesses"] for region in regions)
    tiny = [region for region in regions if region["accesses"] < least]
    left_out = tiny if len(tiny) >= _MANY_TINY and not every else []
    numbers = ("executions", "items", "accesses", "reads", "writes")
    narrowing = Narrowing(optional=["reads", "writes"])
    table = console.table(
        "region",
        "kind",
        *numbers,
        "in flight",
        "hottest line",
        title="Regions",
        right=(*numbers, "in flight"),
        narrowing=narrowing,
    )
    for region in regions:
        if left_out and region["accesses"] < least:
            continue
        parallelism = region["miss_parallelism"]
        in_flight = f"{parallelism:.1f}" if parallelism else "–"
        counts = (console.count(region[name]) for name in numbers)
        line = console.plain(region["hottest_line"]) or "–"
        table.add_row(console.plain(region["label"]), region["kind"], *counts, in_flight, line)
    screen.print(table)
    if left_out:
        few = console.count(sum(region["accesses"] for region in left_out))
        screen.print(f"… and {len(left_out)} regions with {few} accesses in all; --all shows them.")


_KINDS = {"tls": "thread-local"}  # of objects, where the trace's word is short


def _print_losses(screen: Console, found: dict[str, Any], every: bool) -> None:
    if every:
        table = console.table("site", "reason", "count", title="Not recorded", right=("count",))
        for loss in found["losses"]:
            table.add_row(console.plain(loss["site"]), console.plain(loss["reason"]), console.count(loss["count"]))
        screen.print(table)
    else:
        numbers = ("count", "functions")
        table = console.table("reason", *numbers, "which", title="Not recorded", right=numbers)
        for group in found["losses_by_reason"]:
            functions = console.count(group["functions"]) if group["functions"] else "–"
            which = ", ".join(group["what"][:4]) + (", …" if len(group["what"]) > 4 else "")
            table.add_row(
                console.plain(group["reason"]), console.count(group["count"]), functions, console.plain(which)
            )
        screen.print(table)
        screen.print("count: places in the code, or how often it happened. --all lists each loss.")
    share = found["unrecorded_share"]
    if share is None:
        why = "copies and fills prevail" if found["work"]["instructions"] else "the program has no work counts"
        screen.print(f"What share of the work that is, is not known: {why}.")
        return
    ran = round(found["work"]["load"] + found["work"]["store"])
    console.say(
        screen,
        f"At most {100 * share:.3g} % of the loads and stores in compiled code are not recorded: {console.count(ran)} ran, spills of "
        f"registers among them, {console.count(found['accesses'])} accesses are recorded. The share of each reason is not known.",
    )


_LONGEST_NAME = 60


def _shortened(name: str) -> str:
    """A name with its middle left out where it is long, as those of C++ templates are."""
    half = (_LONGEST_NAME - 1) // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


def _print_threads(screen: Console, graph: dict[str, Any]) -> None:
    numbers = ("thread", "created by", "joined by", "reads", "writes")
    words = ("type", "son of", "routine")
    table = console.table(*numbers, *words, title="Threads (distinct bytes read and written)", right=numbers)
    for entry in graph["threads"]:
        creator, joiner = ("–" if entry[key] is None else str(entry[key]) for key in ("parent", "joined_by"))
        sizes = (console.quantity(entry[key], "B") for key in ("read_bytes", "written_bytes"))
        with_whom = _few(entry["side_by_side_with"])
        kind = f"{entry['type']} with {with_whom}" if with_whom else entry["type"]
        sons = _few(entry["communication_parents"]) or "–"
        table.add_row(str(entry["thread"]), creator, joiner, *sizes, kind, sons, console.plain(entry["routine"]))
    screen.print(table)
    console.say(
        screen,
        f"{console.THREAD_TYPES} son of: whose data it needs. Data written before a creation or read after a join make no dependence.",
    )
    shared = graph["shared_bytes"]
    pairs = [(bytes_, w, r) for w, row in enumerate(shared) for r, bytes_ in enumerate(row) if bytes_]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    shown = pairs[:20]
    columns = ("writer", "reader", "bytes")
    table = console.table(*columns, title="Bytes that one thread writes and another reads", right=columns)
    for bytes_, writer, reader in shown:
        table.add_row(str(writer), str(reader), console.count(bytes_))
    screen.print(table)
    if len(shown) < len(pairs):
        screen.print(f"… and {len(pairs) - len(shown)} pairs with fewer bytes; --json lists all.")


_RECORDED = {"nothing": "nothing", "accesses": "its accesses", "heap": "its heap events"}
_BASIS = {"stepped": "{} calls stepped", "timed": "{} calls timed", "at_least": "at least", "none": "not known"}


def _print_calls(screen: Console, found: dict[str, Any], every: bool) -> None:
    """What ran outside of the instrumented code, by library and function."""
    numbers = ("calls", "instructions a call", "share")
    narrowing = Narrowing(keys=["function"])
    title = "Not recorded: calls"
    table = console.table(
        "library", "function", *numbers, "estimated from", "recorded", title=title, right=numbers, narrowing=narrowing
    )
    shown = found["functions"] if every else found["functions"][:20]
    for one in shown:
        each = one["instructions"] / one["calls"] if one["calls"] else 0.0
        table.add_row(
            console.plain(unseen.library_of(one)),
            console.plain(one["function"]),
            console.count(one["calls"]),
            "–" if one["basis"] == "none" else console.count(round(each)),
            f"{100 * one['share']:.1f} %" if one["recorded"] == "nothing" else "–",
            _BASIS[one["basis"]].format(one["samples"]),
            _RECORDED["accesses" if unseen.is_traced(one) else one["recorded"]],
        )
    screen.print(table)
    if len(shown) < len(found["functions"]):
        screen.print(
            f"… and {len(found['functions']) - len(shown)} functions with fewer instructions; --all shows them."
        )
    console.say(
        screen,
        f"{'At least ' if found['at_least'] else ''}{100 * found['share']:.1f} % of the instructions run outside of instrumented code, "
        f"in {console.count(found['calls'])} calls of which nothing is recorded"
        + (
            ", but for accesses of libraries that were traced."
            if any(map(unseen.is_traced, found["functions"]))
            else "."
        ),
    )


def _few(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers[:4]) + (
        f" and {len(numbers) - 4} more" if len(numbers) > 4 else ""
    )


def _print_work(screen: Console, found: dict[str, Any]) -> None:
    classes = [name for name, counted in found["work"].items() if counted]
    titles = tuple(name.replace("_", " ") for name in classes)
    work = console.table("region", *titles, title="Instructions by class", right=titles)
    for region in found["regions"]:
        counts = (console.count(round(region["work"][name])) for name in classes)
        work.add_row(console.plain(region["label"]), *counts)
    screen.print(work)
