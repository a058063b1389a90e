"""`homenode validate`: the cases of validation/, which stand in the source tree beside the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from homenode._core import unknown_name
from homenode.cli import console

KINDS = ("published", "differential", "native", "linux-guest", "fuzz")


def _source_tree() -> Path:
    """The folder that has validation/__main__.py: the current one or one above it."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "validation" / "__main__.py").is_file() and (folder / "models" / "machines").is_dir():
            return folder
    raise click.UsageError(
        "no validation/ here; run it inside homenode's source tree, where the cases and their references are"
    )


@click.command("validate", context_settings={"ignore_unknown_options": True})
@click.argument("kind", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@console.json_option
def command(kind: str | None, arguments: tuple[str, ...], as_json: bool) -> int:
    """Hold predictions against published results, native runs on this host, or a Linux of several nodes in QEMU; fuzz the readers.

    KIND: published, differential (the engines against each other), native, linux-guest or fuzz (a minute for each target of
    tests/fuzz; wants clang).

    Further arguments are those of `python -m validation` (--paper S4, --small, --folder, --machine, --repeats).
    """
    if kind is not None and kind not in KINDS:
        raise click.UsageError(unknown_name("kind of validation", kind, list(KINDS)))
    tree = _source_tree()
    status = 0
    for one in KINDS if kind is None else (kind,):
        call = [sys.executable, "-m", "validation", one, *arguments, *(["--json"] if as_json else [])]
        status = max(status, subprocess.run(call, cwd=tree, check=False).returncode)
    return status
