"""`homenode cc`: in place of the compiler."""

from __future__ import annotations

import click


@click.command(
    "cc",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Compile a program for tracing: use it in place of gcc, with the same arguments."""
    from homenode.compiler import main

    return int(main(list(arguments)) or 0)
