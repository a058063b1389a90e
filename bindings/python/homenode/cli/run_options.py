"""The options of a run on the command line, from the table that says what they mean."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from homenode import _core
from homenode.machine import Machine
from homenode.run_spec import FIELDS, NAMES

Command = Callable[..., Any]


def run_options(
    names: Sequence[str] = NAMES, *, grid: bool = False, ask_trace: bool = False
) -> Callable[[Command], Command]:
    """Declare these options; for a `grid` those that it may vary can be repeated. `ask_trace`: what is required may stand there."""

    def declare(command: Command) -> Command:
        for field in reversed(FIELDS):
            if field.name in names:
                command = _option(field, several=grid and field.is_axis, ask_trace=ask_trace)(command)
        return command

    return declare


def _option(field: _core.RunField, several: bool, ask_trace: bool) -> Callable[[Command], Command]:
    name, meaning = f"--{field.name}", f"{field.meaning}{'; repeat for a grid' if several else ''}."
    if isinstance(field.default, bool):
        return click.option(name, is_flag=True, help=meaning)
    # What no default suits is asked for: click takes a default of None for a value.
    value: dict[str, Any] = {"required": not ask_trace} if field.required else {}
    if not field.required:
        value["default"] = (field.default,) if several else field.default
    elif ask_trace:
        meaning += " A program that creates its threads has its own."
    metavar = field.sign or "|".join(field.names)
    return click.option(name, multiple=several, type=type(field.default), metavar=metavar, help=meaning, **value)


def machine_with(name: str, changes: tuple[str, ...]) -> Machine:
    """A machine with the changes that --change asks for."""
    machine = Machine.load(name)
    replaced = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"--change '{change}'; allowed: NAME=VALUE, such as link_bandwidth=25 GB/s")
        replaced[key.strip()] = value.strip()
    return machine.with_changes(replaced) if replaced else machine
