"""How far a study is: a bar with rate and remaining time in a terminal or a notebook, lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts runs that are done, from several threads; used as a context."""

    def __init__(self, total: int, shown: bool | Callable[[int, int], None] | None) -> None:
        """`shown`: as of `Study.run`; None shows it where somebody is likely to look."""
        self._total, self._done = total, 0
        self._tell = shown if callable(shown) and not isinstance(shown, bool) else None
        self._wanted = shown is True or (shown is None and (sys.stderr.isatty() or in_notebook()))
        self._lock = threading.Lock()
        self._bar: Any = None
        self._begin = self._said = time.monotonic()

    def __enter__(self) -> Progress:
        """Begin."""
        if self._wanted and (sys.stderr.isatty() or in_notebook()):
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar.add_task("runs", total=self._total, rate="")
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        if self._bar is not None:
            self._bar.stop()

    def advance(self) -> None:
        """One more run is done."""
        with self._lock:
            self._done += 1
            if self._tell is not None:
                self._tell(self._done, self._total)
            if not self._wanted:
                return
            now = time.monotonic()
            rate = self._done / max(now - self._begin, 1e-9)
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], advance=1, rate=f"{rate:.3g} runs/s")
            elif now - self._said >= _SECONDS_BETWEEN_LINES:
                self._said = now
                left = (self._total - self._done) / rate
                print(f"{self._done} of {self._total} runs, {rate:.3g} runs/s, {left:.0f} s left", file=sys.stderr)


def in_notebook() -> bool:
    """Whether a notebook shows what is printed."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
