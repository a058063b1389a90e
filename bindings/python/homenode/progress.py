"""How far a long work is: a bar with rate and remaining time in a terminal or a notebook, a line now and then in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal; work that is soon done says nothing


class Progress:
    """Counts steps that are done, from several threads; used as a context."""

    def __init__(
        self,
        description: str,
        total: int | None,
        shown: bool | Callable[[int, int], None] | None = True,
        console: Callable[[], Any] | None = None,
    ) -> None:
        """`shown`: whether it is; None where somebody is likely to look; or a function of steps done and steps in all.

        `console`: what rich draws on, by default stderr.
        """
        self._description, self._total, self._done = description, total, 0
        self._tell = shown if callable(shown) else None
        self._wanted = shown is True or (shown is None and _is_watched())
        self._console = console
        self._lock = threading.Lock()
        self._bar: Any = None
        self._begin = self._said = time.monotonic()

    def __enter__(self) -> Progress:
        """Begin."""
        if self._wanted and _is_watched():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )
            from rich.progress import Progress as Bar

            columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
            columns += [TextColumn("{task.fields[rate]}"), TimeElapsedColumn()]
            columns += [TimeRemainingColumn()] if self._total else []
            on = self._console() if self._console else Console(stderr=True)
            self._bar = Bar(*columns, console=on, transient=True)
            self._bar.start()
            self._bar.add_task(self._description, total=self._total, rate="")
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        if self._bar is not None:
            self._bar.stop()

    def advance(self, steps: int = 1) -> None:
        """So many more steps are done."""
        with self._lock:
            self._done += steps
            if self._tell is not None:
                self._tell(self._done, self._total or 0)
            if not self._wanted:
                return
            now = time.monotonic()
            rate = self._done / max(now - self._begin, 1e-9)
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], advance=steps, rate=f"{rate:.3g}/s")
            elif now - self._said >= SECONDS_BETWEEN_LINES:
                self._said = now
                known = (
                    self._total if self._total and self._done <= self._total else 0
                )  # more may be asked for than was foreseen
                of = f" of {known}" if known else ""
                left = f", {(known - self._done) / rate:.0f} s left" if known and rate > 0 else ""
                print(f"{self._description}: {self._done}{of} after {now - self._begin:.0f} s{left}", file=sys.stderr)


def _is_watched() -> bool:
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Whether a notebook shows what is printed."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
