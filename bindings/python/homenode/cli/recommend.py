"""`homenode recommend`: how to run a program faster, as commands to paste and lines of the source to change."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import click

from homenode import _core
from homenode.capture_processes import how_it_ended
from homenode.capturing import Asked, captured, words_of_command, words_of_kernel
from homenode.cli import completion, console
from homenode.cli.capture import ended_like_by_keyboard, input_of_program, settings_of
from homenode.cli.dashes import DashedCommand
from homenode.cli.recommend_tables import print_measured, print_recommendation
from homenode.cli.run_options import change_option, machine_option, machine_with
from homenode.kernel_sources import kernel, kernels
from homenode.outputs import check_json_output, check_trace_output, written_whole
from homenode.program_hints import compile_first, is_source, meant_instead_of, program_here
from homenode.run_spec import FIELDS
from homenode.trace import Trace

# As in recommending.py and recommend_verifying.py, which load NumPy and are imported only when the command runs.
_CHOICES, _SAMPLES, _REPLAYS, _RUNS = 5, 20, 200, 5
_PRESENT = ("threads", "placement", "mapping", "distribution", "heap", "system", "pages", "seed", "oversubscribe")
"""Options that tell the present way; those that are not given are what the system does by itself."""
_BY_ITSELF = {
    "threads": "as captured, or one a core",
    "placement": "first-touch; with +autonuma where this host balances",
    "mapping": "unpinned",
    "distribution": "the schedules of the source",
    "heap": "glibc's",
    "pages": "4KiB; thp where this host is set so",
}
_LARGEST_TEAM = 1024  # of a capture
_TRACE = b"\x89HNT"


def _present_options(command: Any) -> Any:
    """Declare the options of the present way; what is not given is None."""
    for field in reversed([field for field in FIELDS if field.name in _PRESENT]):
        if isinstance(field.default, bool):
            command = click.option(f"--{field.name}", is_flag=True, help=f"{field.meaning}.")(command)
            continue
        told = _BY_ITSELF.get(field.name, str(field.default))
        more: dict[str, Any] = {}
        if field.names:
            more["shell_complete"] = completion.of(partial(tuple, field.names))
        elif field.name in completion.BY_OPTION:
            more["shell_complete"] = completion.BY_OPTION[field.name]
        command = click.option(
            f"--{field.name}",
            type=int if isinstance(field.default, int) else str,
            metavar=field.sign or "|".join(field.names),
            help=f"At present: {field.meaning[0].lower()}{field.meaning[1:]}; default: {told}.",
            **more,
        )(command)
    return command


def _is_trace(word: str) -> bool:
    path = Path(word)
    if word.endswith(".hnt"):
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_TRACE)) == _TRACE
    except OSError:
        return False


def _refuse(word: str) -> None:
    """A word that is neither a kernel nor a trace."""
    if is_source(word):
        raise click.UsageError(f"'{word}' is a source, no trace and no kernel. {compile_first(word)}")
    if Path(word).exists():
        meant = shlex.join(["homenode", "recommend", "--", program_here(word)])
        raise click.UsageError(f"'{word}' is no trace and no kernel; a program comes after '--'. Did you mean: {meant}")
    raise click.UsageError(
        f"{_core.unknown_name('kernel', word, list(kernels()))}; or the path of a trace (F.hnt), or '-- ./program arguments'"
    )


def _check(name: str | None, words: list[str] | None, pairs: Sequence[str], kept: Path | None) -> None:
    """Refuse what asks for nothing, or for two things."""
    if name is None and not words:
        raise click.UsageError(
            "nothing to recommend for; allowed: a trace (F.hnt), a kernel ('homenode kernels') or '-- ./program arguments'"
        )
    is_kernel = name in kernels()
    if name is not None and not is_kernel and not _is_trace(name):
        _refuse(name)
    if is_kernel and words:
        raise click.UsageError(f"both a kernel ('{name}') and a program after '--'; allowed: one of them")
    if pairs and not is_kernel:
        raise click.UsageError("--set without a kernel; a program has its own arguments")
    if kept is not None:
        if name is not None and not is_kernel:
            raise click.UsageError(
                f"--trace {kept} for '{name}', which is a trace; allowed: --trace where a program is captured"
            )
        check_trace_output(kept)


@click.command("recommend", cls=DashedCommand)
@click.argument(
    "name",
    metavar="[F.hnt | KERNEL] [-- PROGRAM ARGUMENTS…]",
    required=False,
    shell_complete=completion.of(lambda: kernels(), or_file=True),
)
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter of the kernel; repeat for more.")
@machine_option(
    required=False, help="Name or TOML file; default: this host, as 'homenode machine detect' describes it."
)
@change_option
@_present_options
@click.option("--choices", default=_CHOICES, type=click.IntRange(min=1), help="Choices to tell, at the most.")
@click.option("--samples", default=_SAMPLES, type=click.IntRange(min=2), help="Machines that give the intervals.")
@click.option("--replays", default=_REPLAYS, type=click.IntRange(min=1), help="Replays of the search, at the most.")
@click.option("--workers", type=click.IntRange(min=1), help="Replays at the same time; results do not depend on it.")
@click.option(
    "--trace", "kept", type=click.Path(path_type=Path), metavar="F.hnt", help="Keep the captured trace there."
)
@click.option("--verify", "verified", is_flag=True, help="Run the choices on this host, in turns with the present way.")
@click.option(
    "--native", metavar="PROGRAM", help="The program as the usual compiler makes it, for the commands and --verify."
)
@click.option("--runs", default=_RUNS, type=click.IntRange(min=1), help="Runs of each choice with --verify.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the recommendation there, as JSON.")
@console.json_option
def command(
    name: str | None, pairs: tuple[str, ...], machine: str | None, changes: tuple[str, ...], choices: int,
    samples: int, replays: int, workers: int | None, kept: Path | None, verified: bool, native: str | None, runs: int,
    output: Path | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Recommend how to run a program faster: commands to paste, and lines of the source to change, with the gain of each.

    The program stands behind `--` and was compiled by `homenode cc`; it is captured first. With a trace, the words after `--` are the
    command that is printed. Threads, pinning, pages, schedules, heap and page size are searched step by step from the present way on, which
    the options tell. What gains is replayed on sampled machines, and recommended if its whole interval is a gain.
    """
    from homenode.host import detected_host
    from homenode.recommend_verifying import native_kernel, verify
    from homenode.recommending import recommend, words_of
    from homenode.ways import check_options

    words: list[str] | None = click.get_current_context().meta["after_dashes"]
    _check(name, words, pairs, kept)
    if output is not None:
        check_json_output(output)
    described = machine_with(machine if machine is not None else detected_host(), changes)
    present = {key: value for key, value in options.items() if value is not None}
    check_options(described, present)
    if native is not None and shutil.which(native) is None:
        raise click.UsageError(f"--native '{native}': no program that can be run{meant_instead_of(native)}")
    settings = kernel(name).settings(settings_of(pairs)) if name is not None and name in kernels() else {}
    with ExitStack() as stack:
        stdin = _input(stack, verified) if words else None
        if name is None or name in kernels():
            team = options["threads"] or min(described.cores, _LARGEST_TEAM)
            trace = _captured(name, settings, words, Asked(threads=team, stdin=stdin, stdout=2, times=False), kept)
        else:
            trace = Trace.open(name)
        started, folder = words, "."
        if native is not None:
            started = [native, *(words or words_of(trace))[1:]]
        elif verified and name in kernels():
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="homenode-"))
            native_kernel(kernel(str(name)), Path(folder))
            started = _native_words(str(name), settings)
        found = recommend(
            trace if kept is None and (name is None or name in kernels()) else trace.path,
            described,
            words=started,
            choices=choices,
            samples=samples,
            replays=replays,
            workers=workers,
            stage=console.progress,
            **present,
        )
        measured = None
        if verified:
            if stdin is not None:
                os.lseek(stdin.fileno(), 0, os.SEEK_SET)
            with console.progress("running", runs * (1 + len(found.choices))) as advance:
                measured = verify(
                    found, (started or words_of(trace))[0], runs=runs, stdin=stdin, folder=folder, advance=advance
                )
    document = found.to_dict() | ({"verification": measured.to_dict()} if measured is not None else {})
    if output is not None:
        with written_whole(output, "report") as temporary:
            temporary.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    if as_json:
        console.print_json(document)
        return
    screen = console.output()
    print_recommendation(screen, found, described)
    if measured is not None:
        print_measured(screen, measured)


def _input(stack: ExitStack, again: bool) -> BinaryIO | None:
    """What the program may read; where it is to be read `again` after the capture, a copy from its begin."""
    stdin = input_of_program()
    if stdin is None or not again:
        return stdin
    kept: BinaryIO = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    shutil.copyfileobj(stdin, kept)
    kept.flush()
    os.lseek(kept.fileno(), 0, os.SEEK_SET)
    return kept


def _captured(
    name: str | None, settings: dict[str, Any], words: list[str] | None, asked: Asked, kept: Path | None
) -> Trace:
    """The trace of a kernel or of a program, whose output goes to stderr: stdout has the recommendation."""
    screen = console.diagnostics()

    def progress(step: str) -> None:
        screen.print(f"[dim]{console.plain(step)} …[/dim]")

    with ended_like_by_keyboard():
        found = words_of_kernel(name, settings, progress) if name is not None else words_of_command(words or [])
        trace, status = captured(asked, found, kept, progress)
    for remark in trace.remarks:
        console.warn(f"{found.name}: {remark}")
    if status and trace.complete:
        console.note(f"{found.name} ended with {how_it_ended(status)}; what it did until then is recommended for")
    return trace


def _native_words(name: str, settings: dict[str, Any]) -> list[str]:
    """How a kernel is started without its self-check, which traces do not hold."""
    chosen = {**settings, **({"check": 0} if "check" in settings else {})}
    return [f"./{name}", *(f"{key}={value}" for key, value in chosen.items())]
