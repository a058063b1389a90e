"""`homenode replay`: a grid of choices, ranked."""

import json
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from homenode import report
from homenode.cli import console
from homenode.cli.replay_tables import EXPLAINED, print_confidence, print_explanation, print_idle, print_ranking
from homenode.cli.run_options import extension_option, machine_option, machines_with, run_options
from homenode.confidence import SAMPLES, settle
from homenode.confidence import rank as rank_with_confidence
from homenode.grids import replay_grid
from homenode.outputs import check_json_output, written_whole
from homenode.rank_by import rank_by_regions, regions_to_rank_by
from homenode.ranking_words import guesses
from homenode.replaying import replay_with_timeline
from homenode.result import Result
from homenode.run_spec import grid, schedules_of, threads_of
from homenode.source_schedules import remarks
from homenode.trace import Trace


def _replays(choices: int, first_places: list[dict[str, Any]]) -> list[int]:
    """How often each choice was replayed: once, and on sampled machines."""
    replays = [1] * choices
    for found in first_places:
        for run in (found["first"], *(rival["run"] for rival in found["rivals"])):
            replays[run] += found["samples"]
    return replays


def _cost(results: list[Result], wall: float, replays: list[int]) -> dict[str, Any]:
    accesses = sum(times * result.run["accesses"] for times, result in zip(replays, results, strict=True))
    memory = 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "schema": "homenode.cost/1",
        "seconds": wall,
        "accesses_per_second": accesses / wall if wall > 0 else 0.0,
        "peak_rss_bytes": memory,
        "runs": [{"seconds": result.cost_seconds} for result in results],
    }


def _tell_cost(cost: dict[str, Any], replays: list[int]) -> None:
    rate = console.quantity(cost["accesses_per_second"], " accesses/s")
    memory = console.quantity(cost["peak_rss_bytes"], "B")
    more = sum(replays) - len(replays)
    sampled = f" and {console.number_of(more, 'replay')} more on sampled machines" if more else ""
    console.say(
        console.diagnostics(),
        f"{console.number_of(len(replays), 'choice')} replayed{sampled} in {console.seconds(cost['seconds'])}, {rate}, "
        f"{memory} of memory at most",
    )


def _told_by_trace(trace: Trace, options: Mapping[str, Any]) -> dict[str, Any]:
    """What was not asked for: the program's own threads, and its loops' own schedules."""
    own: dict[str, Any] = {"threads": options["threads"] or _own_threads(trace)}
    if click.get_current_context().get_parameter_source("distribution") == ParameterSource.DEFAULT:
        own |= {name: (value,) for name, value in schedules_of(trace).items()}
    return own


def _own_threads(trace: Trace) -> tuple[int]:
    """As many as the program creates; of a serial one, one."""
    own = threads_of(trace)
    if not own:
        raise click.UsageError(
            "Missing option '--threads'; allowed: how many threads share the program's parallel regions, as in --threads 8, "
            "or several as in --threads 4,8"
        )
    return (own["threads"],)


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@machine_option(multiple=True, help="Name or TOML file; repeat for a grid.")
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="What-if: replace a number of every machine; NAME=xFACTOR multiplies it. Several values for a NAME: a machine for each.",
)
@run_options(grid=True, ask_trace=True)
@extension_option()
@extension_option("--python", hidden=True)  # as it was called when it took placements alone
@click.option(
    "--rank-by",
    multiple=True,
    metavar="LABEL",
    help="Rank by the time of this region alone, such as a loop without its serial initialisation; several with commas.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Number of parallel replays; results do not depend on it.")
@click.option("--explain", is_flag=True, help=f"Show the bottlenecks of each region, for the first {EXPLAINED} ranks.")
@click.option("--explain-all", is_flag=True, help="The same for all choices.")
@click.option(
    "--confidence",
    type=click.IntRange(min=2),
    is_flag=False,
    flag_value=SAMPLES,
    metavar="[N]",
    help=f"Replay on N sampled machines ({SAMPLES}): a 90 % interval for each time, a probability for each pair.",
)
@click.option(
    "--no-confidence",
    "unsampled",
    is_flag=True,
    help="Do not sample machines. By default the first places are, by at most as many replays more as the grid has.",
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
    machine: tuple[str, ...],
    changes: tuple[str, ...],
    rank_by: tuple[str, ...],
    workers: int | None,
    explain: bool,
    explain_all: bool,
    confidence: int | None,
    unsampled: bool,
    idle: bool,
    timeline: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Replay a trace under every combination of the given choices and rank them."""
    if output is not None:
        check_json_output(output)
    begin = time.perf_counter()
    trace = Trace.open(file)
    own = _told_by_trace(trace, options)
    choices = grid([one for name in machine for one in machines_with(name, changes)], **{**options, **own})
    if timeline is not None and (len(choices) != 1 or confidence is not None):
        found = "--confidence" if confidence is not None else f"{len(choices)} combinations"
        raise click.UsageError(f"--timeline with {found}; allowed: one combination, without --confidence")
    if unsampled and confidence is not None:
        raise click.UsageError("--no-confidence with --confidence; allowed: one of them")
    # Each sample, and core time at half and twice; otherwise no more samples than cost as much as the grid.
    runs = (confidence + 3 if confidence is not None else 1 if unsampled else 2) * len(choices)
    labels = regions_to_rank_by(trace, rank_by, choices)
    ranking, first_places, replays = None, [], [1] * len(choices)
    with console.progress("replaying", runs) as advance:
        if timeline is not None:
            results = [replay_with_timeline(trace, choices[0], timeline)]
            if labels:
                rank_by_regions((result.run for result in results), labels)
            advance(1)
        elif confidence is None:
            results = replay_grid(trace, choices, workers=workers, advance=advance, rank_by=labels)
            if not unsampled:
                first_places = settle(trace, choices, results, workers=workers, advance=advance, rank_by=labels)
            replays = _replays(len(choices), first_places)
        else:
            ranking = rank_with_confidence(
                trace, choices, samples=confidence, workers=workers, advance=advance, rank_by=labels
            )
            results, replays = ranking.results, [confidence + 3] * len(choices)
            groups = ranking.confidence["rankings"]
            first_places = [group["first_place"] for group in groups if "first_place" in group]
    cost = _cost(results, time.perf_counter() - begin, replays)
    described = [choice.machine for choice in choices]
    document = report.document(
        trace,
        [result.run for result in results],
        ranking.confidence if ranking else None,
        machines=guesses(described),
        first_places=first_places,
    )
    if output is not None:
        with written_whole(output) as temporary:
            temporary.write_text(report.to_text(document), encoding="utf-8")
        cost_file = output.with_name(output.name + ".cost")
        with written_whole(cost_file) as temporary:
            temporary.write_text(json.dumps(cost, indent=2) + "\n", encoding="utf-8")
    if as_json:
        sys.stdout.write(report.to_text(document))
    else:
        screen = console.output()
        print_ranking(screen, results, described, first_places)
        for remark in remarks(trace, choices):
            console.say(screen, console.plain(remark))
        if ranking is not None:
            print_confidence(screen, ranking)
        if explain or explain_all:
            print_explanation(screen, results, explain_all)
        if idle:
            print_idle(screen, results)
    _tell_cost(cost, replays)
