"""The processes of a capture: a program under its supervisor, and the assembler (traces/capture/programs)."""

from __future__ import annotations

import json
import logging
import os
import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from enum import Enum, auto
from pathlib import Path
from typing import IO, Any, BinaryIO

from homenode import errors
from homenode.errors import CaptureError, UsageError
from homenode.resources import PROGRAMS

_log = logging.getLogger(__name__)

# Seconds that a program has between being asked to end and being killed.
_GRACE = 5.0
# Which load produced an address is told from values, which include addresses: they must not differ between captures.
ADDRESSES = "fixed"

File = int | IO[Any] | None


class Ending(Enum):
    """Who ended a traced program."""

    own = auto()
    timed_out = auto()
    interrupted = auto()


class Supervised:
    """A program that ends, with its process group, when this process does, whatever ends that."""

    def __init__(
        self, words: Sequence[str], *, addresses: str = "random", pass_fds: Sequence[int] = (), **options: Any
    ) -> None:
        """Start it. `options`: of Popen."""
        self._words = words
        self._control, theirs = socket.socketpair()
        with theirs:
            _log.debug("starting %s", shlex.join(map(str, words)))
            call = [str(PROGRAMS / "supervise"), str(theirs.fileno()), addresses, *words]
            try:
                self._process = subprocess.Popen(
                    call, pass_fds=[theirs.fileno(), *pass_fds], process_group=0, **options
                )
            except OSError:
                self._control.close()
                raise

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, or minus its signal."""
        status = self._process.wait(timeout)
        _log.debug("%s: ended with status %d", self._words[0], status)
        with suppress(BlockingIOError, ConnectionError):
            number = self._control.recv(16, socket.MSG_DONTWAIT)
            if number:
                raise UsageError(f"cannot run '{self._words[0]}': {os.strerror(int(number))}")
        return status

    def end(self) -> int:
        """Ask it to end, with all that it started; then kill what is left."""
        for word in (b"T", b"K"):
            with suppress(BrokenPipeError):
                self._control.sendall(word)
            with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                self._process.wait(_GRACE)
        return self._process.wait()

    def close(self) -> None:
        """What still runs is ended."""
        self._control.close()


def run(
    words: Sequence[str], environment: dict[str, str], pipe: BinaryIO, timeout: float | None = None, **options: Any
) -> tuple[int, Ending]:
    """Run a program to its end, or end it with all that it started; returns its status. The pipe's end becomes the program's alone."""
    started: list[Supervised | BaseException] = []
    known = threading.Event()

    def start() -> None:
        try:
            started.append(Supervised(words, env=environment, pass_fds=[pipe.fileno()], **options))
        except BaseException as error:
            started.append(error)
        finally:
            pipe.close()
            known.set()

    ending = Ending.own
    status = 0
    try:
        # In a thread, where no KeyboardInterrupt comes between the program's start and our knowing of it.
        threading.Thread(target=start).start()
        known.wait()
        if isinstance(started[0], Supervised):
            status = started[0].wait(timeout)
    except subprocess.TimeoutExpired:
        ending = Ending.timed_out
    except KeyboardInterrupt:
        ending = Ending.interrupted
        if not known.wait(_GRACE):
            raise
    program = started[0]
    if isinstance(program, BaseException):
        raise program
    try:
        return (status if ending is Ending.own else program.end()), ending
    finally:
        program.close()


def how_it_ended(status: int) -> str:
    """In words."""
    if status >= 0:
        return f"exit code {status}"
    with suppress(ValueError):
        return f"signal {-status} ({signal.Signals(-status).name})"
    return f"signal {-status}"


class Assembler:
    """The assembler, which goes on to the stream's end when this process is killed."""

    def __init__(self, pipes: Sequence[BinaryIO], partial: Path, lock: int, words: Sequence[str], label: str) -> None:
        """Start it. `pipes`: the ends to read of the stream and of the twin's counts, which become its alone; `lock` it keeps open."""
        self._control, theirs = socket.socketpair()
        with theirs:
            descriptors = [*(pipe.fileno() for pipe in pipes), theirs.fileno()]
            call = [str(PROGRAMS / "assemble"), *map(str, descriptors), str(partial), words[0], label, *words[1:]]
            self._process = subprocess.Popen(
                call,
                pass_fds=[*descriptors, lock],
                process_group=0,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        for pipe in pipes:
            pipe.close()

    def __enter__(self) -> Assembler:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Its input has ended by now."""
        self._control.close()
        self._process.wait()

    def _told(self) -> bytes:
        """What it says next; nothing at the end, also where it ended without reading what it was told."""
        try:
            return self._control.recv(4096)
        except ConnectionResetError:
            return b""

    def finish(self, asked: bool, why: str) -> dict[str, Any]:
        """Say how the program ended; wait for the trace. What it holds, as `assemble.cpp` says."""
        with suppress(ConnectionError):  # it ended before, of an error that it has told
            self._control.sendall((b"A" if asked else b"O") + os.fsencode(why))
            self._control.shutdown(socket.SHUT_WR)
        said = b"".join(iter(self._told, b""))
        status = self._process.wait()
        if not said:
            raise CaptureError(f"the assembler ended with {how_it_ended(status)}; nothing was written")
        answer: dict[str, Any] = json.loads(said)
        if "error" in answer:
            raise getattr(errors, answer["error"])(answer["message"])
        return answer


def pipe(stack: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """Its ends to read and to write."""
    reader, writer = os.pipe()
    return stack.enter_context(os.fdopen(reader, "rb")), stack.enter_context(os.fdopen(writer, "wb"))
