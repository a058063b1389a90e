"""`homenode map`."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from homenode import unseen
from homenode.cli import completion, console
from homenode.cli.run_options import Number, change_option, extension_option, machine_option, machine_with, run_options
from homenode.machine import Machine
from homenode.map_suggestion import OPTIONS, MapSuggestion, creates_its_threads, suggest_mapping
from homenode.ranking_words import guessed
from homenode.thread_map import FORMATS
from homenode.trace import Trace
from homenode.visible import visible


def _times(suggestion: MapSuggestion) -> list[tuple[str, str, str]]:
    """Mapping, predicted time, and what it takes longer than the fastest."""
    least = min(suggestion.seconds.values())
    return [
        (mapping, console.seconds(seconds), f"+{100 * (seconds / least - 1 if least > 0 else 0):.1f} %")
        for mapping, seconds in suggestion.seconds.items()
    ]


def _remarks(suggestion: MapSuggestion, trace: Trace, machine: Machine) -> list[str]:
    """What is to be known of the threads and of the program."""
    told = unseen.sentence(trace.unseen, by_blocks=trace.is_timed_by_blocks(machine))
    return [*suggestion.remarks, *([told] if told is not None else [])]


def _print(screen: Console, suggestion: MapSuggestion, machine: Machine, trace: Trace) -> None:
    where = f"{machine.name}, {console.number_of(len(suggestion.threads), 'thread')}"
    times = console.table("mapping", "time", "regret", title=visible(f"Replays on {where}"), right=("time", "regret"))
    for mapping, seconds, regret in _times(suggestion):
        times.add_row(mapping, seconds, regret, style="bold" if mapping == suggestion.mapping else None)
    screen.print(times)
    screen.print(console.plain(guessed(machine.name, *machine.assumed)))
    for remark in _remarks(suggestion, trace, machine):
        console.say(screen, console.plain(remark))
    for mapping, reason in suggestion.refused.items():
        console.say(screen, f"{mapping}: not tried, {console.plain(reason)}")
    title = visible(f"{suggestion.mapping} on {machine.name}")
    table = console.table("thread", "type", "cores", "routine", title=title, right=("thread",))
    for entry in suggestion.threads:
        table.add_row(
            str(entry.thread), entry.type, ", ".join(str(core) for core in entry.cores), console.plain(entry.routine)
        )
    screen.print(table)
    if len(suggestion.threads) > 1:
        console.say(screen, console.THREAD_TYPES)


def _document(suggestion: MapSuggestion, trace: Trace) -> dict[str, Any]:
    return {
        "threads": [entry.as_dict() for entry in suggestion.threads],
        "mapping": suggestion.mapping,
        "seconds": suggestion.seconds,
        "refused": suggestion.refused,
        "remarks": suggestion.remarks,
        "threads_at_once": suggestion.at_once,
        "unseen": trace.unseen,
    }


@click.command("map")
@click.argument("file", type=click.Path(path_type=Path))
@machine_option()
@change_option
@click.option(
    "--mapping",
    metavar="A",
    shell_complete=completion.BY_OPTION["mapping"],
    help="Thread mapping ('homenode policies mapping'); default: the fastest in replays.",
)
@click.option(
    "--threads",
    type=Number(),
    metavar="N",
    help="Threads of an OpenMP program; default: as captured, or one a core after a capture by one thread.",
)
@run_options(OPTIONS)
@extension_option()
@click.option("--workers", type=click.IntRange(min=1), help="Number of parallel replays; results do not depend on it.")
@click.option(
    "--as", "form", type=click.Choice(["text", *FORMATS]), default="text", help="Output format; text is a table."
)
@console.json_option
def command(
    file: Path,
    machine: str,
    changes: tuple[str, ...],
    mapping: str | None,
    threads: int | None,
    workers: int | None,
    form: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Suggest the cores of each thread: those of the mapping that is fastest in replays. As a table, a shell script, OMP_PLACES or C.

    Replays every mapping that pins threads and prints the predicted times (on stderr with --as). With --mapping, the map is of
    that one, and `compact` and `scatter` are replayed beside it.

    Threads are numbered in the order of their creation, cores socket by socket. hwloc numbers cores in the same way; taskset,
    omp-places and c use the numbers of the operating system, which `lscpu -e` shows.
    """
    trace = Trace.open(file)
    if form == "omp-places" and creates_its_threads(trace):
        raise click.UsageError(
            f"--as omp-places for '{trace.program}', which creates its threads itself and does not look at OMP_PLACES; "
            "allowed: --as c, taskset or hwloc"
        )
    described = machine_with(machine, changes)
    with console.progress("replaying", None) as advance:
        suggestion = suggest_mapping(
            trace, described, mapping=mapping, threads=threads, workers=workers, advance=advance, **options
        )
    if as_json:
        console.print_json(_document(suggestion, trace))
    elif form == "text":
        _print(console.output(), suggestion, described, trace)
    else:
        click.echo(FORMATS[form](suggestion.threads, suggestion.at_once), nl=False)
        for remark in _remarks(suggestion, trace, described):
            click.echo(f"homenode: {visible(remark)}", err=True)
        for mapped, seconds, regret in _times(suggestion):
            click.echo(f"homenode: predicted with {mapped}: {seconds} ({regret})", err=True)
