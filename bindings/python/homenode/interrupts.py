"""Ctrl-C while the command line is still loading: no traceback."""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def _end(number: int, frame: object) -> NoReturn:
    os.write(2, b"homenode: interrupted\n")
    os._exit(130)


def end_the_command_quietly_while_it_loads() -> None:
    """Of the command `homenode` alone, whose entry cannot catch what comes before it; a user's own program keeps its handler."""
    is_command = bool(sys.argv) and Path(sys.argv[0]).name == "homenode"
    if is_command and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """From here on the command catches KeyboardInterrupt itself."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
