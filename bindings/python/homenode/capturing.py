"""Capturing: compile for tracing, run, and put what the program says into a trace."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.errors import CaptureError, UsageError
from homenode.kernel_sources import Kernel, kernel
from homenode.resources import KERNELS, cache_directory, capture_runtime
from homenode.trace import Trace

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
    progress: Progress = lambda step: None,
    **parameters: Any,
) -> Trace:
    """Trace a built-in kernel with its `parameters`, or a program that `homenode cc` compiled (`command`).

    Without `output` the trace lives in a temporary file as long as the returned object. `threads` is the team of code that is
    bound to ranks; loops whose iterations are free are recorded the same whatever it is. With `alias_over`, blocks of at
    least so many bytes share one small window of memory: problems larger than this machine can be captured, if their
    addresses do not depend on their values; that is checked by capturing twice with different contents. Self-checks of
    such a program must be off. `label` is kept in the trace as the program's name.
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
    return _capture(words, output, threads, alias_over, label, progress, must_succeed=kernel_name is not None)


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
    version = subprocess.run(["gcc", "--version"], capture_output=True, check=True).stdout
    digest.update(" ".join(chosen.flags).encode() + version)
    folder = cache_directory() / "programs" / f"{chosen.name}-{digest.hexdigest()[:16]}"
    program = folder / chosen.name
    if program.is_file():
        return program
    from homenode.compiler import main as compile_for_tracing

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{chosen.name}-") as temporary:
        target = Path(temporary) / chosen.name
        status = compile_for_tracing([*chosen.flags, "-g", str(chosen.source), "-o", str(target), "-lm"])
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
    progress: Progress,
    must_succeed: bool,
) -> Trace:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOMENODE_")}
    environment["HOMENODE_TEAM"] = str(threads)
    target = Path(output) if output is not None else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="homenode-")))
        if target is None:
            descriptor, name = tempfile.mkstemp(suffix=".hnt", prefix="homenode-")
            os.close(descriptor)
            final = Path(name)
            stack.callback(lambda: final.unlink(missing_ok=True) if final.stat().st_size == 0 else None)
        else:
            final = target
        partial = final.with_name(f".{final.name}.{os.getpid()}.part")
        stack.callback(lambda: partial.unlink(missing_ok=True))
        fills = ("0", "1") if alias_over is not None else (None,)
        hashes = []
        for fill in fills:
            if fill is not None:
                environment |= {"HOMENODE_ALIAS_OVER": str(alias_over), "HOMENODE_ALIAS_FILL": fill}
            work = _work_counts(words, environment, folder, must_succeed, progress)
            progress(f"tracing {Path(words[0]).name}")
            _trace(words, environment, partial, work, label, must_succeed)
            hashes.append(_core.Trace.open(partial).hash)
        if len(set(hashes)) > 1:
            raise CaptureError(
                "aliased memory is unsound for this program: its accesses depend on the values of its data "
                f"(content hash {hashes[0]} with one content, {hashes[1]} with another); capture it without alias_over"
            )
        partial.replace(final)
        return Trace(final, temporary=target is None)


def _work_counts(
    words: list[str], environment: dict[str, str], folder: Path, must_succeed: bool, progress: Progress
) -> Path | None:
    """Instructions by class, counted by the uninstrumented twin; None when the program has none."""
    twin = Path(words[0] + ".twin").absolute()
    if not twin.is_file():
        return None
    progress(f"counting instructions of {Path(words[0]).name}")
    work = folder / "work"
    work.unlink(missing_ok=True)
    ended = subprocess.run(
        [str(twin), *words[1:]], env={**environment, "HOMENODE_WORK": str(work)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if ended.returncode and must_succeed:
        sys.stderr.write(ended.stderr.decode(errors="replace"))
        raise CaptureError(f"{Path(words[0]).name} ended with {_how(ended.returncode)}; nothing was written")
    return work if work.is_file() else None


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit code {status}"


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
    work: Path | None,
    label: str | None,
    must_succeed: bool,
) -> None:
    """Run the program and assemble its stream into `partial`, on another core."""
    reader, writer = os.pipe()
    problem: list[BaseException] = []

    def assemble() -> None:
        try:
            _core.assemble(
                reader, partial, program=words[0], label=label or Path(words[0]).name, arguments=words[1:], work=work
            )
        except BaseException as error:
            problem.append(error)
        finally:
            os.close(reader)

    try:
        process = subprocess.Popen(
            [*_without_randomisation(), *words],
            env={**environment, "HOMENODE_STREAM_FD": str(writer)},
            pass_fds=[writer],
            stdin=subprocess.DEVNULL,
            stdout=2,
        )
    except OSError as error:
        os.close(reader)
        raise UsageError(f"cannot run '{words[0]}': {error.strerror}") from None
    finally:
        os.close(writer)
    thread = threading.Thread(target=assemble)
    thread.start()
    status = process.wait()
    thread.join()
    if status and must_succeed:
        raise CaptureError(f"{Path(words[0]).name} ended with {_how(status)}; nothing was written")
    if problem:
        raise problem[0]
