"""`homenode capture`."""

import os
import shlex
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import click
from click.core import ParameterSource

from homenode.capture_processes import how_it_ended
from homenode.capturing import Asked, captured, words_of_command, words_of_kernel
from homenode.cli import completion, console
from homenode.cli.dashes import DashedCommand
from homenode.kernel_sources import kernel, kernels
from homenode.outputs import check_trace_output
from homenode.program_hints import compile_first, is_source, program_here
from homenode.trace import Trace


def settings_of(pairs: tuple[str, ...]) -> dict[str, str]:
    """What --set asks for."""
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set '{pair}'; allowed: NAME=VALUE")
        settings[name] = value
    return settings


@contextmanager
def ended_like_by_keyboard() -> Iterator[None]:
    """A capture that is asked to end, or whose terminal goes, keeps what it has as at Ctrl-C."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM, signal.SIGHUP] if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Capture(DashedCommand):
    """KERNEL without `--`, a command behind it."""

    def without_dashes(self, args: list[str]) -> None:
        _hint_at_dashes(args)


def _hint_at_dashes(args: list[str]) -> None:
    """A program without `--` before it: its own options would be taken for ours."""
    for place, word in enumerate(args):
        if word in kernels() or word.startswith("-") or (place and args[place - 1] in _WITH_VALUE):
            continue
        if is_source(word):
            raise click.UsageError(f"'{word}' is a source, no kernel and no program. {compile_first(word)}")
        if "/" in word or shutil.which(word) is not None or Path(word).is_file():
            before, behind = args[:place], args[place + 1 :]
            if "-o" not in before and "--output" not in before:
                output, behind = _taken_output(behind)
                before = ["-o", output or f"{Path(word).name}.hnt", *before]
            meant = shlex.join(["homenode", "capture", *before, "--", program_here(word), *behind])
            raise click.UsageError(f"'{word}' is no kernel; a program comes after '--'. Did you mean: {meant}")
        return


def _taken_output(words: list[str]) -> tuple[str | None, list[str]]:
    """A trace that is named at the end of a program's words was meant for us: its name, and the other words."""
    is_ours = len(words) >= 2 and words[-2] in ("-o", "--output") and words[-1].endswith(".hnt")
    return (words[-1], words[:-2]) if is_ours else (None, words)


_WITH_VALUE = ("--set", "-o", "--output", "--threads", "--label", "--alias-over", "--timeout", "--success")


def _note_own_options(context: click.Context, words: list[str]) -> None:
    """Options of ours behind the program are its own: `--` says so, but who wrote them may have meant us, if they gave us none."""
    given = ParameterSource.COMMANDLINE
    options = [o for o in context.command.params if not (o.name and context.get_parameter_source(o.name) is given)]
    ours = {name for option in options for name in option.opts if name.startswith("-")}
    ours -= {"-v", "--verbose"}  # many programs have them
    found = [word for word in dict.fromkeys(word.partition("=")[0] for word in words[1:]) if word in ours]
    if found:
        listed = ", ".join(f"'{word}'" for word in found)
        console.note(f"{listed} after the program goes to the program; options of capture stand before '--'")


def _output_of(kernel_name: str | None, words: list[str] | None) -> Path:
    """Where a trace goes that was given no name: a file that is not there yet."""
    output = Path(f"{kernel_name or Path((words or [''])[0]).name}.hnt")
    if output.exists() or output.is_symlink():
        raise click.UsageError(f"'{output}' exists; allowed: another name, by -o, or -o {output} to replace it")
    return output


def input_of_program() -> BinaryIO | None:
    """What the program may read: not from a terminal, of which a program in the background gets nothing."""
    try:
        return None if os.isatty(0) else open(0, "rb", closefd=False)
    except OSError:  # closed
        return None


@click.command("capture", cls=_Capture)
@click.argument(
    "kernel_name", metavar="[KERNEL | -- PROGRAM ARGUMENTS…]", required=False, shell_complete=completion.kernels
)
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter of the kernel; repeat for more.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The trace to write; default: NAME.hnt, if there is none."
)
@click.option(
    "--threads",
    default=1,
    type=int,
    help="Team size, for code that divides its work by omp_get_thread_num().",
)
@click.option("--label", help="Name of the program in the trace; default: that of its file.")
@click.option(
    "--alias-over",
    type=int,
    metavar="BYTES",
    help="Let blocks above this size share a small window of memory; refused if that changes the trace.",
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="Stop the program after this time; the trace up to then is kept, marked truncated.",
)
@click.option("--no-times", is_flag=True, help="Do not run the program twice more to time it ('homenode anchor').")
@click.option(
    "--success",
    type=click.IntRange(0, 255),
    multiple=True,
    metavar="CODE",
    help="An exit code that means success, beside 0: the program is timed. Repeat for more.",
)
@console.json_option
@click.pass_context
def command(
    context: click.Context, kernel_name: str | None, pairs: tuple[str, ...], output: Path | None, threads: int, label: str | None,
    alias_over: int | None, timeout: float | None, no_times: bool, success: tuple[int, ...], as_json: bool,
) -> None:  # fmt: skip
    """Record the memory accesses of a built-in kernel, or after `--` of a program compiled by `homenode cc`.

    The program reads and writes what it would without homenode, which itself writes to stderr; with --json the program's output
    goes there too. It runs three times more with its output discarded: once to count instructions, twice to be timed. Ctrl-C stops
    the program; the trace up to then is kept, marked truncated. Where the capture itself is killed the program ends, and OUTPUT.part
    is left: `homenode recover` makes a trace of it.

    The exit code is that of homenode: 0 if the trace is written, also where the program's own is another one, which is then said
    on stderr and with --json in "program_status" (minus the number of a signal); 2 if there is no trace; 130 after Ctrl-C.
    """
    words: list[str] | None = context.meta["after_dashes"]
    if kernel_name is not None and words is not None:
        raise click.UsageError(f"both a kernel ('{kernel_name}') and a program after '--'; allowed: one of them")
    if kernel_name is None and not words:
        raise click.UsageError(
            f"nothing to capture; allowed: a kernel ({', '.join(kernels())}) or '-- ./program arguments'"
        )
    settings: dict[str, Any] = settings_of(pairs)
    if kernel_name is not None:
        settings = kernel(kernel_name).settings(settings)
    elif pairs:
        raise click.UsageError("--set without a kernel; a program has its own arguments")
    output = output if output is not None else _output_of(kernel_name, words)
    check_trace_output(output)
    if words:
        _note_own_options(context, words)
    asked = Asked(
        threads=threads,
        alias_over=alias_over,
        label=label,
        timeout=timeout,
        stdin=input_of_program() if words else None,
        stdout=2 if as_json else None,
        times=not no_times,
        success=(0, *success),
    )
    screen = console.diagnostics()

    def progress(step: str) -> None:
        screen.print(f"[dim]{console.plain(step)} …[/dim]")

    with ended_like_by_keyboard():
        found = words_of_kernel(kernel_name, settings, progress) if kernel_name else words_of_command(words or [])
        before = _written_at(output)
        try:
            trace, status = captured(asked, found, output, progress)
        except KeyboardInterrupt:
            if _written_at(output) != before:
                console.note(f"{output} holds what was recorded until then; it is marked truncated")
            raise
    if as_json:
        console.print_json(
            {
                "schema": "homenode.capture/1",
                "output": str(output),
                "hash": trace.hash,
                "complete": trace.complete,
                "accesses": trace.accesses,
                "bytes": output.stat().st_size,
                "program_status": status,
            }
        )
    else:
        _print(output, trace)
    for remark in trace.remarks:
        console.warn(f"{output}: {remark}")
    if status and status not in success and trace.complete:
        console.note(f"{found.name} ended with {how_it_ended(status)}; its trace is kept, and it was not timed")


def _written_at(output: Path) -> int | None:
    return output.stat().st_mtime_ns if output.exists() else None


def _print(output: Path, trace: Trace) -> None:
    """To stderr: stdout is the program's."""
    size = output.stat().st_size
    truncated = "" if trace.complete else ", truncated"
    console.say(
        console.diagnostics(),
        f"{console.plain(output)}: {console.count(trace.accesses)} accesses in {console.quantity(size, 'B')}, "
        f"hash {trace.hash}{truncated}",
    )
