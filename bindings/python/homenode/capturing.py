"""Capturing: compile for tracing, run, and put what the program says into a trace."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum, auto
from pathlib import Path
from typing import Any, BinaryIO

from homenode import _core
from homenode.errors import CaptureError, UsageError
from homenode.kernel_sources import Kernel, kernel
from homenode.resources import KERNELS, cache_directory, capture_runtime
from homenode.trace import Trace

Progress = Callable[[str], None]

# Seconds that a program has between being asked to end and being killed.
_GRACE = 5.0


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
    such a program must be off. `label` is kept in the trace as the program's name.

    After `timeout` seconds, or at Ctrl-C, the program and the processes it started are ended; what they did until then is the
    trace, marked truncated (`Trace.complete` is false). After Ctrl-C with an `output`, KeyboardInterrupt goes on when that is written.
    Until it is whole, the trace is called OUTPUT.part: a capture that is itself killed leaves its whole frames under that name.
    """
    if (kernel_name is None) == (command is None):
        raise UsageError("capture wants either a kernel or a command")
    if command is not None and parameters:
        raise UsageError(f"parameters {', '.join(parameters)} without a kernel; a command has its arguments")
    if not 1 <= threads <= 1024:
        raise UsageError(f"{threads} threads; allowed: 1 to 1024")
    if alias_over is None and os.environ.get("HOMENODE_ALIAS_OVER"):
        alias_over = _alias_of_environment(os.environ["HOMENODE_ALIAS_OVER"])
    if alias_over is not None and alias_over < 1:
        raise UsageError(f"alias over {alias_over} bytes; allowed: at least 1")
    if timeout is not None and not 0 < timeout < threading.TIMEOUT_MAX:
        raise UsageError(f"a timeout of {timeout} seconds; allowed: more than 0, at most {threading.TIMEOUT_MAX:.0f}")
    if output is not None and not Path(output).absolute().parent.is_dir():
        raise UsageError(f"no folder '{Path(output).parent}' to write '{output}' into")
    if kernel_name is not None:
        chosen = kernel(kernel_name)
        settings = chosen.settings(parameters)
        progress(f"compiling {chosen.name}")
        program = compiled_kernel(chosen)
        words = [str(program), *(f"{name}={value}" for name, value in settings.items())]
        label = label or chosen.name
    else:
        assert command is not None
        words = [str(word) for word in command]
        words[0] = _program(words)
    return _capture(words, output, threads, alias_over, label, timeout, progress, must_succeed=kernel_name is not None)


def _alias_of_environment(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"HOMENODE_ALIAS_OVER is '{text}'; allowed: a number of bytes") from None


def _program(words: list[str]) -> str:
    if not words:
        raise UsageError("no program to run; allowed: homenode capture -o F.hnt -- ./program arguments")
    found = shutil.which(words[0])
    if found is None:
        raise UsageError(f"no program '{words[0]}' that can be run")
    return found


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
        return program
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


def _capture(
    words: list[str],
    output: str | Path | None,
    threads: int,
    alias_over: int | None,
    label: str | None,
    timeout: float | None,
    progress: Progress,
    must_succeed: bool,
) -> Trace:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOMENODE_")}
    environment["HOMENODE_TEAM"] = str(threads)
    target = Path(output) if output is not None else None
    with ExitStack() as stack:
        if target is None:
            descriptor, name = tempfile.mkstemp(suffix=".hnt", prefix="homenode-")
            os.close(descriptor)
            final = Path(name)
            stack.callback(lambda: final.unlink(missing_ok=True) if final.stat().st_size == 0 else None)
        else:
            final = target
        partial = stack.enter_context(_reserved(final.with_name(f"{final.name}.part")))
        fills = ("0", "1") if alias_over is not None else (None,)
        hashes = []
        for fill in fills:
            if fill is not None:
                environment |= {"HOMENODE_ALIAS_OVER": str(alias_over), "HOMENODE_ALIAS_FILL": fill}
            ending = _trace(words, environment, partial, label, timeout, must_succeed, progress)
            if ending is not Ending.own and fill is not None:
                raise CaptureError(
                    f"{Path(words[0]).name} was ended before its own end, so it cannot be told whether aliased memory is sound "
                    "for it; nothing was written"
                )
            if fill is not None:
                hashes.append(_core.Trace.open(partial).hash)
        if len(set(hashes)) > 1:
            raise CaptureError(
                "aliased memory is unsound for this program: its accesses depend on the values of its data "
                f"(content hash {hashes[0]} with one content, {hashes[1]} with another); capture it without alias_over"
            )
        partial.replace(final)
        trace = Trace(final, temporary=target is None)
        if ending is Ending.interrupted:
            raise KeyboardInterrupt
        return trace


@contextmanager
def _reserved(partial: Path) -> Iterator[Path]:
    """The name under which a trace is written; gone in the end unless it was renamed. One capture at a time has it."""
    try:
        file = partial.open("ab")
    except OSError as error:
        raise UsageError(f"cannot write '{partial}': {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another capture is writing '{partial}'") from None
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)


def _count_work(
    words: list[str],
    environment: dict[str, str],
    counts: BinaryIO,
    timeout: float | None,
    must_succeed: bool,
    progress: Progress,
) -> Ending:
    """Instructions by class, counted by the uninstrumented twin, into a pipe; nothing when the program has none."""
    twin = Path(words[0] + ".twin").absolute()
    if not twin.is_file():
        return Ending.own
    progress(f"counting instructions of {Path(words[0]).name}")
    with tempfile.TemporaryFile() as said:
        status, ending = _run(
            [str(twin), *words[1:]], {**environment, "HOMENODE_WORK": f"/dev/fd/{counts.fileno()}"}, counts, timeout,
            threading.Event(), stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip
        if status and must_succeed and ending is Ending.own:
            said.seek(0)
            sys.stderr.write(said.read().decode(errors="replace"))
            raise CaptureError(f"{Path(words[0]).name} ended with {_how(status)}; nothing was written")
        return ending


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit code {status}"


class Ending(Enum):
    """Who ended a traced program."""

    own = auto()
    timed_out = auto()
    interrupted = auto()


def _run(
    words: list[str],
    environment: dict[str, str],
    pipe: BinaryIO,
    timeout: float | None,
    asked: threading.Event,
    **outputs: Any,
) -> tuple[int, Ending]:
    """Run a program to its end, or set `asked` and end it with all that it started; returns its status.

    The pipe's end becomes the program's alone.
    """
    started: list[subprocess.Popen[bytes] | OSError] = []
    known = threading.Event()

    def start() -> None:
        try:
            started.append(
                subprocess.Popen(
                    words,
                    env=environment,
                    pass_fds=[pipe.fileno()],
                    stdin=subprocess.DEVNULL,
                    process_group=0,
                    **outputs,
                )
            )
        except OSError as error:
            started.append(error)
        finally:
            pipe.close()
            known.set()

    ending = Ending.own
    try:
        # In a thread, where no KeyboardInterrupt comes between the program's start and our knowing of it.
        threading.Thread(target=start).start()
        known.wait()
        if isinstance(started[0], subprocess.Popen):
            started[0].wait(timeout)
    except subprocess.TimeoutExpired:
        ending = Ending.timed_out
    except KeyboardInterrupt:
        ending = Ending.interrupted
        if not known.wait(_GRACE):
            raise
    process = started[0]
    if isinstance(process, OSError):
        raise UsageError(f"cannot run '{words[-1]}': {process.strerror}")
    if ending is not Ending.own:
        asked.set()
    # Asked first: then it sends what it has recorded.
    for number in (signal.SIGTERM, signal.SIGKILL) if ending is not Ending.own else ():
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(_GRACE)
    return process.wait(), ending


@functools.cache
def _without_randomisation() -> tuple[str, ...]:
    """Which load produced an address is told from values, which include addresses: they must not differ between captures."""
    prefix = ("setarch", "-R")
    try:
        allowed = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        allowed = False
    return prefix if allowed else ()


def _trace(
    words: list[str],
    environment: dict[str, str],
    partial: Path,
    label: str | None,
    timeout: float | None,
    must_succeed: bool,
    progress: Progress,
) -> Ending:
    """Run the program and assemble its stream into `partial`, on another core; then its twin, whose counts the assembler waits for."""
    name = Path(words[0]).name
    progress(f"tracing {name}")
    problem: list[BaseException] = []
    asked = threading.Event()
    with ExitStack() as stack:
        stream_from, stream_to = _pipe(stack)
        counts_from, counts_to = _pipe(stack)

        def assemble() -> None:
            work = Path(f"/dev/fd/{counts_from.fileno()}")
            try:
                _core.assemble(
                    stream_from.fileno(), partial, program=words[0], label=label or name, arguments=words[1:], work=work,
                    was_asked_to_end=asked.is_set,
                )  # fmt: skip
            except BaseException as error:
                problem.append(error)
            finally:
                stream_from.close()  # a program that still runs goes on untraced
                counts_from.close()

        thread = threading.Thread(target=assemble)
        thread.start()
        try:
            status, ending = _run(
                [*_without_randomisation(), *words], {**environment, "HOMENODE_STREAM_FD": str(stream_to.fileno())}, stream_to,
                timeout, asked, stdout=2,
            )  # fmt: skip
            if status and must_succeed and ending is Ending.own:
                raise CaptureError(f"{name} ended with {_how(status)}; nothing was written")
            if ending is not Ending.interrupted and not problem:
                counting = _count_work(words, environment, counts_to, timeout, must_succeed, progress)
                ending = Ending.interrupted if counting is Ending.interrupted else ending
        finally:
            stream_to.close()
            counts_to.close()
            thread.join()
    if problem:
        raise problem[0]
    return ending


def _pipe(stack: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    reader, writer = os.pipe()
    return stack.enter_context(os.fdopen(reader, "rb")), stack.enter_context(os.fdopen(writer, "wb"))
