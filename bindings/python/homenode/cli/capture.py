"""`homenode capture`."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from homenode.capturing import capture
from homenode.cli import completion, console
from homenode.kernel_sources import kernel, kernels


def _settings(pairs: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set '{pair}'; allowed: NAME=VALUE")
        settings[name] = value
    return settings


@contextmanager
def _ended_like_by_keyboard() -> Iterator[None]:
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


class _Capture(click.Command):
    """Knows whether `--` stood before the program: KERNEL without it, a command after it."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.meta["after_dashes"] = None
        if "--" in args:
            where = args.index("--")
            context.meta["after_dashes"] = args[where + 1 :]
            args = args[:where]
        return super().parse_args(context, args)


@click.command("capture", cls=_Capture)
@click.argument(
    "kernel_name", metavar="[KERNEL | -- PROGRAM ARGUMENTS…]", required=False, shell_complete=completion.kernels
)
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter of the kernel; repeat for more.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The trace to write.")
@click.option(
    "--threads",
    default=1,
    type=int,
    help="Team size, for code that divides its work by omp_get_thread_num(); default: 1.",
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
@console.json_option
@click.pass_context
def command(
    context: click.Context, kernel_name: str | None, pairs: tuple[str, ...], output: Path, threads: int, label: str | None,
    alias_over: int | None, timeout: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Record the memory accesses of a built-in kernel, or after `--` of a program compiled by `homenode cc`.

    The output of the program goes to stderr. Ctrl-C stops the program; the trace up to then is kept, marked truncated. A
    capture that is killed leaves OUTPUT.part: `homenode recover` makes a trace of it.
    """
    words: list[str] | None = context.meta["after_dashes"]
    if kernel_name is not None and words is not None:
        raise click.UsageError(f"both a kernel ('{kernel_name}') and a program after '--'; allowed: one of them")
    if kernel_name is None and not words:
        raise click.UsageError(
            f"nothing to capture; allowed: a kernel ({', '.join(kernels())}) or '-- ./program arguments'"
        )
    settings: dict[str, Any] = _settings(pairs)
    if kernel_name is not None:
        settings = kernel(kernel_name).settings(settings)
    screen = console.diagnostics()
    with _ended_like_by_keyboard():
        trace = capture(
            kernel_name,
            command=words,
            output=output,
            threads=threads,
            label=label,
            alias_over=alias_over,
            timeout=timeout,
            progress=lambda step: screen.print(f"[dim]{step} …[/dim]"),
            **settings,
        )
    if as_json:
        console.print_json(
            {
                "schema": "homenode.capture/1",
                "output": str(output),
                "hash": trace.hash,
                "complete": trace.complete,
                "accesses": trace.accesses,
                "bytes": output.stat().st_size,
            }
        )
        return
    size = output.stat().st_size
    truncated = "" if trace.complete else ", truncated: the program did not reach its end"
    click.echo(
        f"{output}: {console.count(trace.accesses)} accesses in {console.quantity(size, 'B')} "
        f"({console.bytes_an_access(size, trace.accesses)}), hash {trace.hash}{truncated}"
    )
