"""`homenode validate`: the studies of validation/, which stand in the source tree beside the package."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click

from homenode._core import unknown_name
from homenode.capture_processes import Supervised
from homenode.cli import console


def _source_tree() -> Path | None:
    """The folder that has validation/__main__.py: the current one or one above it."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "validation" / "__main__.py").is_file() and (folder / "models" / "machines").is_dir():
            return folder
    return None


def _validation(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "validation", *arguments]


def _studies(tree: Path) -> dict[str, str]:
    """What the tree's own table (validation/studies.py) lists: names, and what each holds against what."""
    listed = subprocess.run(_validation("--list"), cwd=tree, check=True, capture_output=True, text=True).stdout
    return {name: what.strip() for name, _, what in (line.partition(" ") for line in listed.splitlines())}


class _WithStudies(click.Command):
    """Its help ends with the table of studies."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them, inside the source tree."""
        super().format_epilog(ctx, formatter)
        tree = _source_tree()
        if tree is None:
            formatter.write_paragraph()
            formatter.write_text("Inside homenode's source tree this help lists the studies.")
            return
        with formatter.section("Studies"):
            formatter.write_dl(list(_studies(tree).items()))


@click.command("validate", cls=_WithStudies, context_settings={"ignore_unknown_options": True})
@click.argument("study", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@console.json_option
def command(study: str | None, arguments: tuple[str, ...], as_json: bool) -> int:
    """Hold predictions against published results, native runs on this host, or a Linux of several nodes in QEMU; fuzz the readers.

    Without STUDY: published, differential, native, linux-guest and fuzz.

    Further arguments are those of `python -m validation` (--small, --folder, --machine, --sources, --repeats; --paper S4: only
    that of Wittmann and Hager).
    """
    tree = _source_tree()
    if tree is None:
        raise click.UsageError(
            "no validation/ here; run it inside homenode's source tree, where the cases and their references are"
        )
    if study is not None and study not in (known := list(_studies(tree))):
        raise click.UsageError(unknown_name("kind of validation", study, known))
    chosen = [] if study is None else [study]
    call = _validation(*chosen, *arguments, *(["--json"] if as_json else []))
    return _supervised(call, tree)


def _supervised(call: list[str], folder: Path) -> int:
    """It ends when this process does, with all that it started; asked to end, it is asked too."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    child = Supervised(call, cwd=folder)
    try:
        return child.wait()
    except KeyboardInterrupt:
        child.end()
        raise
    finally:
        child.close()
