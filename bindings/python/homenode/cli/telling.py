"""What goes to stderr as a sentence: errors, warnings, notes."""

from __future__ import annotations

import shutil
import sys
import textwrap

import click


def tell(text: str) -> None:
    """One line. On a terminal it is wrapped between words: the terminal itself would cut them."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(
            text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False, drop_whitespace=True
        )
    click.echo(text, err=True)
