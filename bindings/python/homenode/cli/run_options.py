"""The options of a run on the command line, from the table that says what they mean."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from homenode import _core
from homenode.cli import completion
from homenode.extensions import load_extension
from homenode.machine import Machine
from homenode.run_spec import FIELDS, NAMES, option_of

Command = Callable[..., Any]


class Number(click.ParamType[int]):
    """A whole number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Refuse what is none, or what is several."""
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r}; allowed: one whole number (only 'homenode replay' takes several)", param, ctx)


class _Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Refuse what is no number."""
        try:
            return tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r}; allowed: a whole number, or several as in 8,16 (or repeat the option)", param, ctx)


def _flat(context: click.Context, parameter: click.Parameter, lists: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(itertools.chain.from_iterable(lists))


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
    name = option_of(field)
    if isinstance(field.default, bool):
        flag: dict[str, Any] = {"default": field.default, "flag_value": not field.default}
        return click.option(name, field.name, is_flag=True, help=f"{field.meaning}.", **flag)
    numbers = several and isinstance(field.default, int)
    repeat = ("; several as 8,16" if numbers else "; repeat for a grid") if several else ""
    # What no default suits is asked for: click takes a default of None for a value.
    value: dict[str, Any] = {"required": not ask_trace}
    own = " A program that creates its threads has its own, a serial one 1." if field.required and ask_trace else ""
    if not field.required:
        value = {"default": (field.default,) if several else field.default}
    if field.names:
        value["shell_complete"] = completion.of(lambda: field.names)
    elif field.name in completion.BY_OPTION:
        value["shell_complete"] = completion.BY_OPTION[field.name]
    if numbers:
        value["callback"] = _flat
    return click.option(
        name,
        multiple=several,
        type=_Numbers() if numbers else Number() if isinstance(field.default, int) else type(field.default),
        metavar=field.sign or "|".join(field.names),
        help=f"{field.meaning}{repeat}.{own}",
        **value,
    )


def _load(context: click.Context, parameter: click.Parameter, files: tuple[Path, ...]) -> None:
    if not context.resilient_parsing:
        for file in files:
            load_extension(file)


def extension_option(name: str = "--extension", **more: Any) -> Callable[[Command], Command]:
    """`--extension`: the file is loaded before anything else is looked at."""
    return click.option(
        name,
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="F",
        is_eager=True,
        expose_value=False,
        callback=_load,
        help="Load policies of your own: a Python file, or a library (.so). Repeat for several.",
        **more,
    )


def machine_option(**more: Any) -> Callable[[Command], Command]:
    """`--machine`, whose names the shell completes."""
    words = {"required": True, "metavar": "M", "help": "Name or TOML file.", **more}
    return click.option("--machine", shell_complete=completion.machines, **words)


def change_option(command: Command) -> Command:
    """`--change` of a command that looks at one machine."""
    return click.option(
        "--change",
        "changes",
        multiple=True,
        metavar="NAME=VALUE",
        help="What-if: replace a number of the machine; NAME=xFACTOR multiplies it.",
    )(command)


def machines_with(name: str | Machine, changes: Iterable[str]) -> list[Machine]:
    """A machine with the changes that --change asks for: with several values for a name, one machine for each."""
    replaced: dict[str, list[str]] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"--change '{change}'; allowed: NAME=VALUE, such as link_bandwidth=25 GB/s")
        values = replaced.setdefault(key.strip(), [])
        if value.strip() not in values:
            values.append(value.strip())
    machine = Machine.of(name)
    if not replaced:
        return [machine]
    return [
        machine.with_changes(dict(zip(replaced, values, strict=True)))
        for values in itertools.product(*replaced.values())
    ]


def machine_with(name: str | Machine, changes: Iterable[str]) -> Machine:
    """The same for a command that looks at one machine."""
    machines = machines_with(name, changes)
    if len(machines) > 1:
        twice = next(key for key in machines[0].changes if len({machine.changes[key] for machine in machines}) > 1)
        raise click.UsageError(f"--change {twice} with several values; allowed: one here, several in 'homenode replay'")
    return machines[0]
