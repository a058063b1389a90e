"""`homenode advise`: does it pay to give threads chunks by the latency of their memory, and what else would."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from homenode import unseen
from homenode.cli import completion, console
from homenode.cli.run_options import change_option, extension_option, machine_option, machine_with, run_options
from homenode.machine import Machine
from homenode.outputs import check_output, written_whole
from homenode.ranking_words import guessed
from homenode.run_spec import CLOSED_FORM
from homenode.trace import Trace

if TYPE_CHECKING:
    from homenode.advice_without_chunks import AdviceWithoutChunks
    from homenode.advising import Advice
    from homenode.program_changes import Change

# As in advising.py and program_changes.py, which load NumPy and are imported only when the command runs.
_SAMPLES = 20


def _percent(gain: float) -> str:
    return f"{100 * (gain - 1):+.1f} %"


def _coordinate(key: str, value: float | None) -> str:
    if value is None:
        return "not reached"
    if key == "halo_share":
        return f"{100 * value:.2f} %" if value > 0 else "always"
    if key == "remote_ratio":
        return f"{value:.2f}" if value > 1 else "always"
    return console.quantity(value, "B")


def _bound(advice: Advice) -> str:
    """What table and map below stand for, beside what was said above them."""
    most = _percent(advice.gain_bound)
    bound = f"By the closed form (an estimate without replays) no weights gain more than {most} over equal chunks here"
    if advice.engine != "flow":
        return f"{bound}."
    return f"{bound}: an upper bound. The gain is that of the replays: {_percent(advice.gain)}."


def _print(screen: Console, advice: Advice, machine: Machine, by_blocks: bool) -> None:
    choice = advice.choice
    verdict = "Latency-weighted chunks pay off" if advice.pays_off else "Latency-weighted chunks do not pay off"
    console.say(
        screen,
        f"{verdict} on {console.plain(choice['machine'])} with {console.number_of(choice['threads'], 'thread')}: {_percent(advice.gain)} "
        f"({_percent(advice.gain_low)} … {_percent(advice.gain_high)} on {advice.samples} sampled machines) "
        f"over '{advice.best_plain}', by {'replays' if advice.engine == 'flow' else 'the closed form, an estimate without replays'}.",
    )
    console.say(screen, f"Why: {console.plain(advice.reason)}.")
    if (told := unseen.sentence(advice.unseen, [advice.region] if advice.region else [], by_blocks)) is not None:
        console.say(screen, console.plain(told))
    table = console.table("schedule", "time", right=("time",))
    times = {**advice.plain, "latency-weighted": advice.weighted_seconds}
    for schedule, seconds in sorted(times.items(), key=lambda entry: entry[1]):
        table.add_row(schedule, console.seconds(seconds))
    screen.print(table)
    screen.print(console.plain(guessed(machine.name, *machine.assumed)))
    console.say(screen, f"\n{_bound(advice)}")
    title = "Break-even: where this bound reaches 2 %, all else equal"
    ends = console.table("", "here", "break-even", title=title, right=("here", "break-even"))
    here, there = advice.here, advice.break_even
    for key, name in (
        ("remote_ratio", "remote / local latency"),
        ("halo_share", "halo share"),
        ("working_set_bytes", "working set"),
    ):
        end = "always" if there["halo_share"] == 0 else _coordinate(key, there[key])
        ends.add_row(name, _coordinate(key, here[key]) if here[key] > 0 else "none", end)
    screen.print(ends)
    screen.print("halo share: of the bytes that a thread reads, the share that another thread writes.")
    if advice.region and advice.pays_off:
        lines = (console.plain(line) for line in advice.snippet.splitlines())
        screen.print("\n" + "\n".join(lines), soft_wrap=True)


def _print_map(screen: Console, advice: Advice) -> None:
    ratios = advice.map["remote_ratio"].unique()
    columns = [f"{ratio:.2f}" for ratio in ratios]
    title = "Upper bound of the gain over equal chunks (closed form, no replays); columns: remote / local latency"
    table = console.table("halo share", *columns, title=title, right=tuple(columns))
    for share in advice.map["halo_share"].unique():
        gains = advice.map.loc[advice.map["halo_share"] == share, "gain"]
        table.add_row(f"{100 * share:.3g} %", *(_percent(gain) for gain in gains))
    screen.print(table)


def _print_changes(screen: Console, changes: list[Change], samples: int) -> None:
    if not changes:
        screen.print("\nNo single change of an allocation, of a loop or of the mapping gains half a percent.")
        return
    columns = ("gain", f"90 % interval, {samples} samples", "source line", "what", "change")
    table = console.table(*columns, title="Changes that gain, each tried alone", right=("gain",))
    for change in changes:
        table.add_row(
            _percent(change.gain),
            f"{_percent(change.gain_low)} … {_percent(change.gain_high)}",
            console.plain(change.site or "–"),
            console.plain(change.what),
            console.plain(change.change),
        )
    screen.print(table)


def _print_without_chunks(
    screen: Console, advice: AdviceWithoutChunks, machine: Machine, own_threads: bool, by_blocks: bool
) -> None:
    threads = console.number_of(advice.choice["threads"], "thread")
    console.say(
        screen,
        f"No chunks can be weighed on {console.plain(advice.choice['machine'])} with {threads}: {console.plain(advice.reason)}.",
    )
    if (told := unseen.sentence(advice.unseen, by_blocks=by_blocks)) is not None:
        console.say(screen, console.plain(told))
    screen.print(
        f"As it is the program takes {console.seconds(advice.seconds)}. {console.plain(guessed(machine.name, *machine.assumed))}"
    )
    _print_changes(screen, advice.changes, advice.samples)
    if own_threads:
        console.say(screen, "'homenode map' compares all mappings of its threads and writes the fastest.")
    else:
        console.say(screen, "'homenode recommend' tries placements, mappings and teams together.")


@click.command("advise")
@click.argument("file", type=click.Path(path_type=Path))
@machine_option()
@change_option
@run_options(tuple(name for name in CLOSED_FORM if name != "distribution"), ask_trace=True)
@extension_option()
@click.option(
    "--engine",
    default="flow",
    metavar="flow|closed-form",
    shell_complete=completion.of(lambda: ("flow", "closed-form")),
    help="Compare by replays, or estimate without any.",
)
@click.option("--samples", default=_SAMPLES, type=click.IntRange(min=2), help="Machines that give the interval.")
@click.option("--workers", type=click.IntRange(min=1), help="Replays at the same time; results do not depend on it.")
@click.option("--all", "everything", is_flag=True, help="Also try changes of single allocations, loops and of pinning.")
@click.option(
    "--map", "map_file", type=click.Path(path_type=Path), metavar="F.html", help="Map of gains, as table and page."
)
@console.json_option
def command(
    file: Path,
    machine: str,
    changes: tuple[str, ...],
    engine: Any,
    samples: int,
    workers: int | None,
    everything: bool,
    map_file: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Tell whether chunks sized by memory latency gain over equal chunks, by how much, and why. --all: what else to change."""
    from homenode import advice_without_chunks
    from homenode.advising import advise, no_chunks
    from homenode.gain_map_page import map_page
    from homenode.program_changes import program_changes

    if map_file is not None:
        check_output(map_file, "page")
    trace = Trace.open(file)
    described = machine_with(machine, changes)
    if options["threads"] is None:
        if not trace.own_threads:
            raise click.UsageError("Missing option '--threads'.")
        options["threads"] = trace.own_threads[0]
    if (reason := no_chunks(trace)) is not None:
        if engine != "flow" or map_file is not None:
            asked = "--map" if map_file is not None else f"--engine {engine}"
            raise click.UsageError(f"{asked} where {reason}; allowed: --engine flow, no --map")
        with console.progress("weighing", None) as advance:
            told = advice_without_chunks.advise(
                trace, described, reason=reason, samples=samples, workers=workers, advance=advance, **options
            )
        if as_json:
            console.print_json(told.to_dict())
        else:
            by_blocks = trace.is_timed_by_blocks(described)
            _print_without_chunks(console.output(), told, described, bool(trace.own_threads), by_blocks)
        return
    # Two estimates; then three plain schedules and the weighted one, on the stated machine and on each sampled one.
    with console.progress("weighing", None if everything else 2 + 4 * (1 + samples)) as advance:
        advice = advise(
            trace,
            described,
            engine=engine,
            samples=samples,
            workers=workers,
            advance=advance,
            **options,
        )
        found = []
        if everything:
            found = program_changes(trace, described, samples=samples, workers=workers, advance=advance, **options)
    document = advice.to_dict()
    if everything:
        document["changes"] = [change.to_dict() for change in found]
    if map_file is not None:
        document["map"] = advice.map.to_dict("records")
        with written_whole(map_file) as temporary:
            made_by = shlex.join(["homenode", *sys.argv[1:]])
            temporary.write_text(map_page(advice, made_by).to_html(), encoding="utf-8")
    if as_json:
        console.print_json(document)
        return
    screen = console.output()
    _print(screen, advice, described, trace.is_timed_by_blocks(described))
    if map_file is not None:
        _print_map(screen, advice)
    if everything:
        _print_changes(screen, found, samples)
    sys.stdout.flush()
