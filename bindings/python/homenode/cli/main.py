"""Entry of `homenode`. click, not typer: pass-through of `cc`, `--` of `capture` and repeated grid options are plain in it."""

from __future__ import annotations

import importlib
import os
import sys

import click

from homenode._core import unknown_name, version
from homenode.errors import Error

# Each command is a module of its name, imported only when it runs: `homenode --help` must not load NumPy.
_COMMANDS = {
    "kernels": "list the built-in programs and their parameters",
    "capture": "trace a built-in kernel, or a program that `cc` compiled",
    "cc": "compile a C program for tracing, in place of gcc",
    "c++": "compile a C++ program for tracing, in place of g++",
    "fortran": "compile a Fortran program for tracing, in place of gfortran",
    "classify": "tell from the sources which threads belong together, and bind them",
    "import": "make a trace of what valgrind lackey or another tool recorded",
    "extrapolate": "write the trace of a size or team that cannot be captured here",
    "inspect": "show what a trace holds",
    "check": "hold a trace against every invariant of the format",
    "recover": "make a trace of what a killed capture left",
    "machines": "list the described machines, or draw one",
    "systems": "list the described operating systems, or show one",
    "machine": "describe this host: detect, calibrate",
    "policies": "list every policy with its parameters",
    "replay": "rank combinations of policies on machines",
    "map": "tell on which cores each thread should run, ready to be used",
    "advise": "tell whether chunks by latency pay off, and what else to change",
    "report": "make an HTML page of what replay wrote",
    "validate": "hold predictions against published results, native runs and a Linux guest",
    "doctor": "tell what is installed and what is missing",
}
# Commands that no module can be called by.
_MODULES = {"c++": "cxx", "import": "import_", "map": "map_"}


class _LazyGroup(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command = importlib.import_module(f"homenode.cli.{_MODULES.get(name, name)}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            raise click.UsageError(unknown_name("command", name, list(_COMMANDS)))
        return super().resolve_command(context, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version, message="homenode %(version)s")
def command() -> None:
    """Where pages, threads and chunks of work should live on a NUMA machine, told from a trace, before the program is edited."""


def _one_line(message: str) -> str:
    return " ".join(message.split())


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 0 (done), 1 (internal error) or 2 (bad usage or bad input, said in one line on stderr)."""
    try:
        result = command.main(args=arguments, prog_name="homenode", standalone_mode=False)
        status = result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        status = 2
    except click.ClickException as error:
        click.echo(f"homenode: {_one_line(error.format_message())}", err=True)
        status = 2
    except Error as error:
        click.echo(f"homenode: {error}", err=True)
        if error.__cause__ is not None and error.__cause__.__traceback__ is not None:
            _print_cause(error.__cause__)
        status = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("homenode: interrupted", err=True)
        status = 130
    except BrokenPipeError:  # `homenode … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    if arguments is None:
        sys.stdout.flush()
        sys.exit(status)
    return status


def _print_cause(cause: BaseException) -> None:
    import traceback

    click.echo("".join(traceback.format_exception(cause)), err=True, nl=False)
