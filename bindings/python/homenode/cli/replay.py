"""`homenode replay`: a grid of choices, ranked."""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import click

from homenode import report
from homenode.cli import console
from homenode.cli.replay_tables import print_confidence, print_explanation, print_idle, print_ranking
from homenode.cli.run_options import machine_with, run_options
from homenode.confidence import SAMPLES
from homenode.confidence import rank as rank_with_confidence
from homenode.errors import PolicyError
from homenode.grids import replay_grid
from homenode.outputs import check_json_output, written_whole
from homenode.replaying import replay_with_timeline
from homenode.result import Result
from homenode.run_spec import grid, threads_of
from homenode.trace import Trace


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


def _register(python_file: Path) -> None:
    """Run a file that registers placements."""
    if not python_file.is_file():
        raise click.UsageError(f"no Python file '{python_file}'")
    try:
        code = compile(python_file.read_bytes(), str(python_file), "exec")
    except (SyntaxError, ValueError) as error:
        raise click.UsageError(f"'{python_file}' is no Python: {error}") from None
    try:
        exec(code, {"__name__": "<run_path>", "__file__": str(python_file)})
    except Exception as error:
        raise PolicyError(f"'{python_file}' ended with {type(error).__name__}: {error}") from error


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--machine", "machines", multiple=True, required=True, metavar="M", help="Name or TOML file; repeat for a grid."
)
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="What-if: replace a number of every machine; NAME=xFACTOR multiplies it.",
)
@run_options(grid=True, ask_trace=True)
@click.option(
    "--python",
    "python_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Python file that registers placements.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Number of parallel replays; results do not depend on it.")
@click.option("--explain", is_flag=True, help="Show the bottlenecks of each region.")
@click.option(
    "--confidence",
    type=click.IntRange(min=2),
    is_flag=False,
    flag_value=SAMPLES,
    metavar="[N]",
    help=f"Replay on N sampled machines ({SAMPLES}): a 90 % interval for each time, a probability for each pair.",
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
        _register(python_file)
    if output is not None:
        check_json_output(output)
    begin = time.perf_counter()
    trace = Trace.open(file)
    if not options["threads"]:
        own = threads_of(trace)
        if not own:
            raise click.UsageError("Missing option '--threads'.")
        options["threads"] = (own["threads"],)
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
        with written_whole(output) as temporary:
            temporary.write_text(report.to_text(document), encoding="utf-8")
        cost_file = output.with_name(output.name + ".cost")
        with written_whole(cost_file) as temporary:
            temporary.write_text(json.dumps(cost, indent=2) + "\n", encoding="utf-8")
    if as_json:
        sys.stdout.write(report.to_text(document))
    else:
        screen = console.output()
        print_ranking(screen, results)
        if ranking is not None:
            print_confidence(screen, ranking)
        if explain:
            print_explanation(screen, results)
        if idle:
            print_idle(screen, results)
    rate = console.quantity(cost["accesses_per_second"], " accesses/s")
    memory = console.quantity(cost["peak_rss_bytes"], "B")
    console.diagnostics().print(
        f"{console.number_of(runs, 'run')} in {console.seconds(cost['seconds'])}, {rate}, {memory} of memory at most"
    )
