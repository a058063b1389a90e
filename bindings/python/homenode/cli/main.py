"""Entry of `homenode`. click, not typer: pass-through of `cc`, `--` of `capture` and repeated grid options are plain in it."""

import difflib
import importlib
import importlib.metadata
import io
import os
import re
import sys
import warnings

import click

from homenode.cli import verbosity
from homenode.cli.examples import epilog
from homenode.cli.telling import tell
from homenode.errors import CaptureError, DisturbedMachine, Error, TruncatedTrace, UncountedProgram
from homenode.visible import visible

# Each command is a module of its name, imported only when it runs: `homenode --help` must not load NumPy, and `homenode doctor` must run
# where the extension cannot be loaded.
_GROUPS = {
    "Record a program": {
        "capture": "trace a built-in kernel, or a program that `cc` compiled",
        "cc": "compile a C program for tracing, in place of gcc",
        "c++": "compile a C++ program for tracing, in place of g++",
        "fortran": "compile a Fortran program for tracing, in place of gfortran",
        "import": "convert a recording of valgrind's lackey or of another tool (CSV)",
        "extrapolate": "predict the trace of a larger size or team from smaller captures",
        "inspect": "show what a trace holds",
        "check": "verify that a trace is valid",
        "recover": "turn what a killed capture left into a trace",
    },
    "Ask": {
        "recommend": "tell how to run a program faster, as commands and source lines",
        "replay": "simulate a trace on machines under policies, and rank them",
        "sweep": "run a study: machines, their parameters and policies, many runs by one file",
        "map": "suggest the cores of each thread, for use outside homenode",
        "advise": "tell whether unequal chunks pay off, and what else to change",
        "anchor": "correct core times by the program's own time where it was captured",
        "report": "make an HTML page of a report of replay",
        "classify": "find from the sources which threads share data, and bind them",
    },
    "What there is to choose from": {
        "kernels": "list the built-in programs and their parameters",
        "machines": "list the machines that can be simulated, or draw one",
        "machine": "describe this host or another machine (import), compare machines, measure a simulated one",
        "kit": "measure a machine that homenode is not installed on",
        "systems": "list the operating systems that can be simulated, or show one",
        "policies": "list placements, mappings, distributions and heaps with their parameters",
    },
    "Maintenance": {
        "doctor": "list what is installed and what is missing",
        "validate": "compare predictions with published results, native runs and a Linux guest",
    },
}
_COMMANDS = {name: summary for commands in _GROUPS.values() for name, summary in commands.items()}
# They hand on what they do not know, and -v is the compiler's own.
_COMPILERS = {"cc", "c++", "fortran"}
# Commands that no module can be called by.
_MODULES = {"c++": "cxx", "import": "import_", "map": "map_"}


# What other tools call it.
_SYNONYMS = dict.fromkeys(("rank", "simulate", "run", "predict"), "replay")


def _unknown(name: str) -> str:
    """What is said of a command that there is not; a suggestion only where the word means a command, or is nearly one."""
    from homenode._core import unknown_name

    text, question, meant = unknown_name("command", name, list(_COMMANDS)).partition("; did you mean ")
    if name in _SYNONYMS:
        return f"{text}{question or '; did you mean '}'{_SYNONYMS[name]}'?"
    near = difflib.get_close_matches(name, list(_COMMANDS), n=1)
    return text + (question + meant if near and near[0] in meant else "")


class _LazyGroup(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command = importlib.import_module(f"homenode.cli.{_MODULES.get(name, name)}").command
        assert isinstance(command, click.Command)
        command.epilog = epilog(name)
        if name not in _COMPILERS:
            verbosity.add_to(command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=14)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            raise click.UsageError(_unknown(name))
        return super().resolve_command(context, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(importlib.metadata.version("homenode"), message="homenode %(version)s")
def command() -> None:
    """Predict how page placement, thread mapping and work distribution change a program's time on a NUMA machine.

    Record a program once (capture), then simulate it under any choice on any described machine (replay).
    """


verbosity.add_to(command)

LONGEST_WORD, LONGEST_MESSAGE = 300, 8000


def _show_warning(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    """Of ours: one line, once. Of others: where it came from, too."""
    if category not in _OURS:
        click.echo(f"{place[0]}:{place[1]}: {category.__name__}: {message}", err=True)
    elif str(message) not in _warned:
        _warned.add(str(message))
        tell(f"homenode: warning: {_one_line(str(message))}")


_warned: set[str] = set()
_OURS = (TruncatedTrace, DisturbedMachine, UncountedProgram)


def _say(message: str) -> int:
    tell(f"homenode: {_one_line(message)}")
    return 2


def _one_line(message: str) -> str:
    """A message as it is printed: on one line, without control characters, and of what is enormous in it only the beginning."""
    lines = message.splitlines()
    if (
        len(lines) > 2 and lines[-1].strip() == "^"
    ):  # a description's line with a caret below: the place is in the first
        lines = [*lines[:-2], f"in: {lines[-2].strip()}"]
    words = " ".join(" ".join(lines).split(" ")).strip()
    short = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][: LONGEST_WORD - 100]}…", words)
    return visible(short, LONGEST_MESSAGE)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 0 (done), 1 (internal error) or 2 (bad usage or bad input, said in one line on stderr).

    KeyboardInterrupt goes on to `homenode_command`.
    """
    for stream in (sys.stdout, sys.stderr):  # names of files need not be text
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for ours in _OURS:
        warnings.simplefilter("always", ours)
    warnings.showwarning = _show_warning
    try:
        with verbosity.told():
            result = command.main(args=arguments, prog_name="homenode", standalone_mode=False)
        status = result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        status = 2
    except click.ClickException as error:
        status = _say(error.format_message())
    except CaptureError as error:  # with what a compiler or the program said
        click.echo("homenode: " + "\n".join(_one_line(line) for line in str(error).splitlines()), err=True)
        status = 2
    except Error as error:
        status = _say(str(error))
        if error.__cause__ is not None and error.__cause__.__traceback__ is not None:  # the user's own code
            _print_cause(error.__cause__)
        for note in getattr(error, "__notes__", ()):  # the same, of a worker's
            click.echo(note, err=True, nl=False)
    except MemoryError:
        status = _say("this takes more memory than there is")
    except click.Abort:  # what click makes of Ctrl-C; homenode_command says it
        raise KeyboardInterrupt from None
    except BrokenPipeError:  # `homenode … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except (TypeError, UnicodeError):
        # The extension takes names as text. Files may be called by any bytes.
        strange = [word for word in arguments or sys.argv[1:] if not word.isascii() and word != _as_text(word)]
        if not strange:
            raise
        click.echo(f"homenode: '{_one_line(strange[0])}' is no UTF-8; allowed here: text", err=True)
        status = 2
    except OSError as error:
        status = _say(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}")
    except ImportError as error:
        from homenode.cli.doctor import extension_error

        if extension_error() is None:
            raise
        status = _say(str(error))
    if arguments is None:
        sys.stdout.flush()
        sys.exit(status)
    return status


def _as_text(word: str) -> str:
    return word.encode(errors="surrogateescape").decode(errors="replace")


def _print_cause(cause: BaseException) -> None:
    import traceback

    click.echo("".join(traceback.format_exception(cause)), err=True, nl=False)
