"""Capturing: compile for tracing, run, and put what the program says into a trace."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from homenode import _core, capture_processes
from homenode.arguments import is_path, text, whole_number
from homenode.capture_processes import Assembler, Ending, File, how_it_ended, pipe, run
from homenode.compiler.link_marks import link_mark
from homenode.errors import CaptureError, UncountedProgram, UsageError
from homenode.kernel_sources import Kernel, kernel
from homenode.outputs import check_trace_output, reserved_part
from homenode.program_files import Input, LastLine
from homenode.program_hints import meant_instead_of
from homenode.resources import KERNELS, cache_directory, capture_runtime
from homenode.trace import Trace

_log = logging.getLogger(__name__)

Progress = Callable[[str], None]


def capture(
    kernel_name: str | None = None,
    /,
    *,
    command: Sequence[str | Path] | None = None,
    output: str | Path | None = None,
    threads: int = 1,
    alias_over: int | None = None,
    label: str | None = None,
    timeout: float | None = None,
    progress: Progress = lambda step: None,
    **parameters: Any,
) -> Trace:
    """Trace a built-in kernel with its `parameters`, or a program that `homenode cc` compiled (`command`).

    Without `output` the trace lives in a temporary file as long as the returned object. `threads` is the team of code that is
    bound to ranks; loops whose iterations are free are recorded the same whatever it is. With `alias_over`, blocks of at
    least so many bytes share one small window of memory: problems larger than this machine can be captured, if their
    addresses do not depend on their values; that is checked by capturing twice with different contents. Self-checks of
    such a program must be off. `label` is kept in the trace as the program's name. The program runs four times and more: traced,
    counted, and twice to eight times timed, for `Trace.measured`; not timed where it ends with another exit code than 0.

    A command's output goes where this process's goes, that of a kernel to stderr; neither gets any input.

    After `timeout` seconds, or at Ctrl-C, the program and the processes it started are ended; what they did until then is the
    trace, marked truncated (`Trace.complete` is false). After Ctrl-C with an `output`, KeyboardInterrupt goes on when that is written.
    Until it is whole, the trace is called OUTPUT.part: where this process is killed, the program ends too, and what was recorded
    until then is left under that name (`homenode recover`). CaptureError for a program of which no code was compiled for tracing.
    """
    if (kernel_name is None) == (command is None):
        raise UsageError("capture wants either a kernel or a command")
    if command is not None and parameters:
        raise UsageError(f"parameters {', '.join(parameters)} without a kernel; a command has its arguments")
    asked = Asked(threads=threads, alias_over=alias_over, label=label, timeout=timeout)
    if command is not None:
        return captured(asked, words_of_command(command), output, progress)[0]
    assert kernel_name is not None
    return captured(asked, words_of_kernel(kernel_name, parameters, progress), output, progress)[0]


_LEAST_TIMED, _MOST_TIMED = 2, 8  # the first one also warms the program's files
# Seconds, and multiples of the traced run, after which twin and timed program are taken to wait for ever. A twin was seen to take 34
# times as long, where next to no access is recorded and a block has few instructions.
_LONGEST_AGAIN, _TIMES_AGAIN, _TIMES_TIMED = 60, 60, 5
_SHARE_TIMED = 0.1  # of the traced run's seconds: how long the third and later runs may make it


_NOT_LOADED = 127  # exit code of the dynamic linker


def is_timed_again(runs: int, seconds: float, traced_seconds: float) -> bool:
    """Whether a program that was timed in so many `runs`, which took `seconds`, is timed once more.

    On a machine with other work the least of two runs is 2 to 7 % above the least of eight, and a quarter at worst.
    """
    return runs < _LEAST_TIMED or (runs < _MOST_TIMED and seconds * (runs + 1) / runs < _SHARE_TIMED * traced_seconds)


@dataclass(frozen=True)
class Asked:
    """How a program is to be captured: `capture` says what each means."""

    threads: int = 1
    alias_over: int | None = None
    label: str | None = None
    timeout: float | None = None
    stdin: BinaryIO | None = (
        None  # what the program reads; None is empty. Its twin, which runs after it and is not heard, reads the same
    )
    stdout: File = None  # as subprocess takes it; None is this process's own
    times: bool = True  # run it twice more to time it
    success: tuple[int, ...] = (0,)  # exit codes of a program that is timed

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        whole_number("threads", self.threads, 1, 1024)
        if self.label is not None:
            text("label", self.label, "a text")
        if self.alias_over is None and os.environ.get("HOMENODE_ALIAS_OVER"):
            object.__setattr__(self, "alias_over", _alias_of_environment(os.environ["HOMENODE_ALIAS_OVER"]))
        if self.alias_over is not None:
            whole_number("alias_over", self.alias_over, 1)
        if self.timeout is not None and not isinstance(self.timeout, int | float):
            raise UsageError(f"argument 'timeout' is {type(self.timeout).__name__}; allowed: a number of seconds")
        if self.timeout is not None and not 0 < self.timeout < threading.TIMEOUT_MAX:
            raise UsageError(
                f"a timeout of {self.timeout} seconds; allowed: more than 0, at most {threading.TIMEOUT_MAX:.0f}"
            )


@dataclass(frozen=True)
class Words:
    """A command line, by the path of its program."""

    words: list[str]
    kernel: str | None = None  # whose end must be a good one, and what it says is no output of the user's

    @property
    def name(self) -> str:
        """Of the program's file."""
        return Path(self.words[0]).name


def words_of_kernel(name: str, parameters: Mapping[str, Any], progress: Progress) -> Words:
    """A kernel, compiled."""
    chosen = kernel(name)
    settings = chosen.settings(dict(parameters))
    progress(f"compiling {chosen.name}")
    return Words([str(compiled_kernel(chosen)), *(f"{key}={value}" for key, value in settings.items())], chosen.name)


def words_of_command(command: Sequence[str | Path]) -> Words:
    """A command whose program is there."""
    if isinstance(command, str | bytes) or not isinstance(command, Sequence):
        found = repr(command) if isinstance(command, str) else type(command).__name__
        raise UsageError(f"argument 'command' is {found}; allowed: a list of words, such as ['./program', 'argument']")
    words = [os.fsdecode(word) if isinstance(word, bytes | os.PathLike) else str(word) for word in command]
    if not words:
        raise UsageError("no program to run; allowed: homenode capture -o F.hnt -- ./program arguments")
    if not words[0] or "\0" in "".join(words):
        raise UsageError("a program or an argument that no program can have: an empty name, or a byte 0")
    program = shutil.which(words[0])
    if program is None:
        raise UsageError(f"no program '{words[0]}' that can be run{meant_instead_of(words[0])}")
    return Words([program, *words[1:]])


def _alias_of_environment(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"HOMENODE_ALIAS_OVER is '{text}'; allowed: a number of bytes") from None


def compiled_kernel(chosen: Kernel) -> Path:
    """The kernel compiled for tracing, with its twin beside it; kept in the user's cache under the hash of all it is made of."""
    digest = hashlib.sha256()
    inputs = [
        chosen.source,
        *sorted(KERNELS.glob("*.h")),
        *sorted(path for path in capture_runtime().rglob("*") if path.is_file()),
    ]
    inputs += sorted((Path(__file__).parent / "compiler").rglob("*.py"))
    for path in inputs:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    from homenode.compiler import main as compile_for_tracing
    from homenode.compiler.languages import compiler_of

    compiler = compiler_of(chosen.driver)
    version = subprocess.run([*compiler, "--version"], capture_output=True, check=True).stdout
    words = [*chosen.flags, "-g", str(chosen.source), *(f"-l{library}" for library in chosen.libraries), "-lm"]
    digest.update(" ".join(words).encode() + version)
    folder = cache_directory() / "programs" / f"{chosen.name}-{digest.hexdigest()[:16]}"
    program = folder / chosen.name
    if program.is_file():
        _log.info("kernel %s was compiled before: %s", chosen.name, program)
        return program
    _log.info("compiling kernel %s", chosen.name)
    chosen.refuse_without_needs(compiler)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{chosen.name}-") as temporary:
        target = Path(temporary) / chosen.name
        status = compile_for_tracing([*words, "-o", str(target)], chosen.driver)
        if status:
            raise CaptureError(f"kernel '{chosen.name}' did not compile for tracing; what the compiler said is above")
        if not folder.exists():
            try:
                Path(temporary).rename(folder)
            except OSError:  # another process was faster
                if not program.is_file():
                    raise
            else:
                Path(temporary).mkdir()  # for TemporaryDirectory to remove
    return program


def captured(asked: Asked, words: Words, output: str | Path | None, progress: Progress) -> tuple[Trace, int | None]:
    """What `capture` does, of a command line that is known; beside the trace the program's exit code.

    Minus the number of the signal that ended it; None where it was ended by us.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOMENODE_")}
    environment["HOMENODE_TEAM"] = str(asked.threads)
    with ExitStack() as stack:
        final = _target(output, stack)
        partial, lock = stack.enter_context(reserved_part(final.with_name(f"{final.name}.part")))
        run = _Run(asked, words, Input(stack, asked.stdin), progress)
        hashes = []
        for fill in ("0", "1") if asked.alias_over is not None else (None,):
            if fill is not None:
                environment |= {"HOMENODE_ALIAS_OVER": str(asked.alias_over), "HOMENODE_ALIAS_FILL": fill}
            status, ending = run.trace(environment, partial, lock)
            if ending is not Ending.own and fill is not None:
                raise CaptureError(
                    f"{words.name} was ended before its own end, so it cannot be told whether aliased memory is sound "
                    "for it; nothing was written"
                )
            if fill is not None:
                hashes.append(_core.Trace.open(partial).hash)
        if len(set(hashes)) > 1:
            raise CaptureError(
                "aliased memory is unsound for this program: its accesses depend on the values of its data "
                f"(content hash {hashes[0]} with one content, {hashes[1]} with another); capture it without alias_over"
            )
        if output is not None:
            check_trace_output(final)
        partial.replace(final)
        trace = Trace(final, temporary=output is None)
        if ending is Ending.interrupted:
            raise KeyboardInterrupt
        return trace, status if ending is Ending.own else None


def _target(output: str | Path | None, stack: ExitStack) -> Path:
    """Where the trace goes; a temporary file is there from now on, and stays only if it becomes one."""
    if output is not None:
        if not is_path(output):
            raise UsageError(f"argument 'output' is {type(output).__name__}; allowed: the path of the trace to write")
        if not str(output):
            raise UsageError("output '' is no name of a file")
        check_trace_output(Path(output))
        return Path(output)
    descriptor, name = tempfile.mkstemp(suffix=".hnt", prefix="homenode-")
    os.close(descriptor)
    final = Path(name)
    stack.callback(lambda: final.unlink(missing_ok=True) if final.stat().st_size == 0 else None)
    return final


def is_traced(program: Path) -> bool:
    """Whether a file has the recording runtime in it, which names the variable by which it is given its pipe."""
    try:
        return b"HOMENODE_STREAM_FD" in program.read_bytes()
    except OSError:
        return False


def beside(program: Path, kind: str) -> Path | None:
    """The twin (``twin``) or the timed program (``timed``) of a traced one: beside it, or where it was linked, if that has its mark."""
    for place in (program.absolute(), program.resolve()):
        if (found := place.with_name(f"{place.name}.{kind}")).is_file():
            return found
    mark = link_mark(program)
    if mark is None:
        return None
    found = Path(f"{mark['place']}.{kind}")
    return found if found.is_file() and link_mark(found) == mark else None


class _Run:
    """One capture of a program, and of its twin."""

    def __init__(self, asked: Asked, words: Words, source: Input, progress: Progress) -> None:
        self._asked, self._words, self._source, self._progress = asked, words, source, progress

    def trace(self, environment: dict[str, str], partial: Path, lock: int) -> tuple[int, Ending]:
        """Run the program and assemble its stream into `partial`; then its twin, whose counts the assembler waits for.

        The program's status, and who ended the two.
        """
        words = self._words.words
        self._progress(f"tracing {self._words.name}")
        with ExitStack() as stack:
            stream_from, stream_to = pipe(stack)
            counts_from, counts_to = pipe(stack)
            label = self._asked.label or self._words.kernel or self._words.name
            with Assembler((stream_from, counts_from), partial, lock, words, label) as assembler:
                try:
                    begin = time.monotonic()
                    status, ending = self._heard(
                        {**environment, "HOMENODE_STREAM_FD": str(stream_to.fileno())}, stream_to
                    )
                    traced_seconds = time.monotonic() - begin
                    if ending is not Ending.interrupted:
                        counting = self._count_work(environment, counts_to, traced_seconds)
                        if counting is ending is Ending.own and status in self._asked.success and self._is_timed():
                            self._time(environment, counts_to, traced_seconds)
                        ending = Ending.interrupted if counting is Ending.interrupted else ending
                finally:
                    stream_to.close()
                    counts_to.close()
                found = assembler.finish(ending is not Ending.own, self._why(status, ending))
        if not found["has_begun"] and not (ending is not Ending.own and is_traced(Path(words[0]))):
            raise CaptureError(
                f"'{words[0]}' recorded nothing: neither it nor a program that it became was compiled for tracing; compile it by "
                "'homenode cc' ('homenode c++', 'homenode fortran') in place of the compiler; nothing was written"
            )
        return status, ending

    def _why(self, status: int, ending: Ending) -> str:
        if ending is Ending.timed_out:
            return f"its time of {self._asked.timeout:g} s was over"
        if ending is Ending.interrupted:
            return "the capture was interrupted"
        if status < 0:
            return f"the program was ended by {how_it_ended(status)}"
        return f"the program ended with exit code {status} unseen: it had closed the recording, or left by a system call of its own"

    def _heard(self, environment: dict[str, str], stream: BinaryIO) -> tuple[int, Ending]:
        """Run the program. A kernel says everything on stderr, and must end well."""
        options: dict[str, Any] = {"addresses": capture_processes.ADDRESSES}
        words, timeout = self._words.words, self._asked.timeout
        with self._source.opened() as stdin:
            if self._words.kernel is None:
                return run(words, environment, stream, timeout, stdin=stdin, stdout=self._asked.stdout, **options)
            last = LastLine()
            with last.opened() as said:
                status, ending = run(
                    words, environment, stream, timeout, stdin=stdin, stdout=said, stderr=said, **options
                )
        if status and ending is Ending.own:
            raise self._failed(status, last.text)
        return status, ending

    def _failed(self, status: int, said: str = "") -> CaptureError:
        words = f"{self._words.name} ended with {how_it_ended(status)}{': ' if said else ''}{said}"
        return CaptureError(f"{words}; nothing was written")

    def _count_work(self, environment: dict[str, str], counts: BinaryIO, traced_seconds: float) -> Ending:
        """Instructions by class, counted by the uninstrumented twin, into a pipe; nothing when the program has none."""
        program = Path(self._words.words[0])
        twin = beside(program, "twin")
        if twin is None:
            if is_traced(program):
                warnings.warn(
                    f"{program.name}.twin, which counts instructions, is not beside {program.name} nor where that was linked: "
                    "times of this trace are those of memory alone; allowed: the program where it was linked, or copies of "
                    f"{program.name}.twin and {program.name}.timed beside the copy",
                    UncountedProgram,
                    stacklevel=2,
                )
            return Ending.own
        self._progress(f"counting instructions of {self._words.name}")
        limit = _LONGEST_AGAIN + _TIMES_AGAIN * traced_seconds
        ending = self._again(twin, "HOMENODE_WORK", environment, counts, limit)
        self._warn_if_ended(
            ending, limit, f"{twin.name}, which counts instructions,", "times of this trace lack what was not counted"
        )
        return ending

    def _warn_if_ended(self, ending: Ending, limit: float, what: str, so: str) -> None:
        if ending is not Ending.timed_out or (self._asked.timeout is not None and self._asked.timeout <= limit):
            return
        warnings.warn(
            f"{what} was ended after {limit:.0f} s, much longer than the traced program took: a thread of it may wait for another in a "
            f"loop that is not seen; {so}",
            UncountedProgram,
            stacklevel=3,
        )

    def _is_timed(self) -> bool:
        return self._asked.times and self._asked.alias_over is None

    def _time(self, environment: dict[str, str], counts: BinaryIO, traced_seconds: float) -> None:
        """Processor time by stretch, of the program as it is; of several runs the assembler keeps the least.

        Teams have one thread, unless the program sets their number itself: a larger one runs one thread at a time, and its
        hand-overs are timed, too. A run that does not come to its end tells nothing, and spoils nothing.
        """
        timed = beside(Path(self._words.words[0]), "timed")
        if timed is None:
            return
        self._progress(f"timing {self._words.name}")
        runs, begin = 0, time.monotonic()
        while is_timed_again(runs, time.monotonic() - begin, traced_seconds):
            team_of_one = {**environment, "HOMENODE_TEAM": "1"}
            limit = _LONGEST_AGAIN + _TIMES_TIMED * traced_seconds
            ending = self._again(timed, "HOMENODE_TIMED", team_of_one, counts, limit)
            self._warn_if_ended(ending, limit, timed.name, "this trace lacks measured times")
            if ending is not Ending.own:
                return
            runs += 1

    def _again(
        self, program: Path, variable: str, environment: dict[str, str], counts: BinaryIO, limit: float
    ) -> Ending:
        """Run the twin or the timed program for so many seconds; it writes to the pipe, and is not heard."""
        pipe_end = os.fdopen(os.dup(counts.fileno()), "wb")  # becomes the program's alone
        words = [str(program), *self._words.words[1:]]
        environment = {**environment, variable: f"/dev/fd/{pipe_end.fileno()}"}
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with self._source.opened() as stdin:
            timeout = limit if self._asked.timeout is None else min(limit, self._asked.timeout)
            status, ending = run(words, environment, pipe_end, timeout, stdin=stdin, **silent)
        if status and self._words.kernel is not None and ending is Ending.own:
            raise self._failed(status)
        if status == _NOT_LOADED and ending is Ending.own and variable == "HOMENODE_WORK":
            warnings.warn(
                f"{program.name} does not start: a library that it needs is not found. Each library that homenode linked needs its "
                "LIBRARY.timed beside it. Times of this trace are those of memory alone",
                UncountedProgram,
                stacklevel=3,
            )
        return ending
