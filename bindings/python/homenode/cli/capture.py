"""`homenode capture`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from homenode.capturing import capture
from homenode.cli import console
from homenode.kernel_sources import kernel, kernels


def _settings(pairs: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set '{pair}'; allowed: NAME=VALUE")
        settings[name] = value
    return settings


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
@click.argument("kernel_name", metavar="[KERNEL | -- PROGRAM ARGUMENTS…]", required=False)
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter of the kernel; repeat for more.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The trace to write.")
@click.option("--threads", default=1, type=int, help="Team of code bound to ranks by omp_get_thread_num().")
@click.option("--label", help="Name to keep in the trace in place of the program's.")
@click.option(
    "--alias-over",
    type=int,
    metavar="BYTES",
    help="Map larger blocks onto a small window; captured twice, refused if that changes the trace.",
)
@console.json_option
@click.pass_context
def command(
    context: click.Context, kernel_name: str | None, pairs: tuple[str, ...], output: Path, threads: int, label: str | None,
    alias_over: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Trace a built-in kernel, or after `--` a program that `homenode cc` compiled.

    The program's own output goes to stderr.
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
    trace = capture(
        kernel_name,
        command=words,
        output=output,
        threads=threads,
        label=label,
        alias_over=alias_over,
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
    per_access = size / trace.accesses if trace.accesses else 0.0
    click.echo(
        f"{output}: {console.count(trace.accesses)} accesses in {console.quantity(size, 'B')} "
        f"({per_access:.3g} B an access), hash {trace.hash}"
    )
