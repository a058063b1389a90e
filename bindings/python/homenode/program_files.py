"""Input and errors of a traced program. It is run more than once: each time it reads the same."""

from __future__ import annotations

import os
import select
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

_CHUNK = 1 << 16


class Input:
    """What a program reads from its standard input: a file from the same place each time; what comes through a pipe is kept."""

    def __init__(self, stack: ExitStack, source: BinaryIO | None) -> None:
        """`source`: None is empty."""
        self._source = source if source is not None else stack.enter_context(open(os.devnull, "rb"))  # noqa: PTH123, SIM115
        self._kept: BinaryIO | None = None
        try:
            self._begin: int | None = os.lseek(self._source.fileno(), 0, os.SEEK_CUR)
        except OSError:
            self._begin = None
            self._kept = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._runs = 0

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor for one run of the program."""
        self._runs += 1
        if self._begin is not None:
            os.lseek(self._source.fileno(), self._begin, os.SEEK_SET)
            yield self._source.fileno()
            return
        assert self._kept is not None
        if self._runs > 1:
            os.lseek(self._kept.fileno(), 0, os.SEEK_SET)
            yield self._kept.fileno()
            return
        reader, writer = os.pipe()
        awake, wake = os.pipe()
        thread = threading.Thread(target=_pass_on, args=(self._source.fileno(), writer, self._kept.fileno(), awake))
        thread.start()
        try:
            yield reader
        finally:
            os.close(reader)
            os.close(wake)
            thread.join()
            os.close(awake)


def _pass_on(source: int, writer: int, kept: int, awake: int) -> None:
    """Bytes as they come and as they are taken, until either end is closed or `awake` is."""
    os.set_blocking(writer, False)
    waiting = b""
    with suppress(BrokenPipeError):
        while True:
            ready, _, _ = select.select([awake] if waiting else [awake, source], [writer] if waiting else [], [])
            if awake in ready:
                break
            if waiting:
                waiting = waiting[os.write(writer, waiting) :]
            elif waiting := os.read(source, _CHUNK):
                os.write(kept, waiting)
            else:
                break
    os.close(writer)


class LastLine:
    """The errors of a program, passed on as they come; the last line is remembered."""

    def __init__(self) -> None:
        """To where this process has its own."""
        self.text = ""
        self._rest = b""

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor for the program to write to."""
        reader, writer = os.pipe()
        thread = threading.Thread(target=self._listen, args=(reader,))
        thread.start()
        try:
            yield writer
        finally:
            os.close(writer)
            thread.join()
            os.close(reader)

    def _listen(self, reader: int) -> None:
        while data := os.read(reader, _CHUNK):
            with suppress(OSError):
                os.write(2, data)
            self._rest = (self._rest + data)[-_CHUNK:]
        lines = [line.strip() for line in self._rest.decode(errors="replace").splitlines()]
        self.text = next((line for line in reversed(lines) if line), "")
