"""`-v` and `-vv`: what the package tells Python's standard logging, on stderr. Without them nothing is told but warnings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from homenode.visible import visible

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
_LOGGER = logging.getLogger("homenode")


class _OnStderr(logging.Handler):
    """One line a message, as the command line says everything else."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it; a level above info has its name, and debugging where it comes from."""
        place = f"{record.name}: " if record.levelno < logging.INFO else ""
        click.echo(f"homenode: {record.levelname.lower()}: {place}{visible(record.getMessage())}", err=True)


@contextmanager
def told() -> Iterator[None]:
    """While it lasts the package's messages go to stderr, those of `-v` and `-vv` once they are given; then all is as before."""
    handler = _OnStderr()
    before = _LOGGER.level, _LOGGER.propagate
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(_LEVELS[0])
    _LOGGER.propagate = False
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before[0])
        _LOGGER.propagate = before[1]


def _raise_to(context: click.Context, option: click.Parameter, times: int) -> None:
    """Given before the command and behind it, the higher one holds."""
    if times:
        _LOGGER.setLevel(min(_LOGGER.level, _LEVELS[min(times, len(_LEVELS) - 1)]))


def add_to(command: click.Command) -> None:
    """Give a command `-v`, and the commands of a group; once, however often it is asked for."""
    if any("-v" in known.opts for known in command.params):
        return
    settings: dict[str, Any] = {"count": True, "expose_value": False, "is_eager": True, "show_default": False}
    option = click.Option(
        ["-v", "--verbose"],
        callback=_raise_to,
        help="Tell on stderr what is done: traces, runs, programs that are compiled; -vv tells each run and each process.",
        **settings,
    )
    command.params.append(option)
    for below in getattr(command, "commands", {}).values():
        add_to(below)
