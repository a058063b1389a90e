"""Compiling and linking as gcc would be asked to, for tracing.

Each source is preprocessed once. One object is made of the rewritten text with -fsanitize=thread; the twin of the original
text, with counters, travels inside it in the section .homenode.twin. Linking puts the recording runtime in libtsan's place
(-B) and links the twins into PROGRAM.twin beside PROGRAM. traces/capture/README.md lists sections and variables.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from homenode.compiler.command_line import CommandLine, expanded
from homenode.compiler.losses import losses_of
from homenode.compiler.pragmas import rewrite
from homenode.compiler.twin import with_counters
from homenode.resources import capture_runtime

_WRAPPED = ("memcpy", "memmove", "memset", "strdup", "strndup", "mmap", "munmap", "_exit", "_Exit")
# gcc's own choice among equals would differ between a program and its twin.
_TRACED = ("-g", "-fsanitize=thread", "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset")


class _Failed(Exception):
    """A tool ended with this status; what it said is on stderr."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def _run(*words: str | Path) -> None:
    status = subprocess.run([str(word) for word in words], check=False).returncode
    if status:
        raise _Failed(status)


def _gcc() -> str:
    return os.environ.get("HOMENODE_GCC", "gcc")


def _compile(source: Path, line: CommandLine, target: Path) -> None:
    """One source into one object that holds both."""
    with tempfile.TemporaryDirectory(prefix="homenode-cc-") as name:
        folder = Path(name)
        text = folder / "source.i"
        # The program's own question for its rank is told from the compiler's by its name.
        asked = ["-Domp_get_thread_num=homenode_user_thread_num"] if "-fopenmp" in line.compile else []
        dependencies = [word for word in line.preprocess if word in ("-MD", "-MMD")]
        names: list[str | Path] = (
            ["-MF", target.with_suffix(".d")] if dependencies and "-MF" not in line.preprocess else []
        )
        named: list[str | Path] = (
            ["-MT", target] if dependencies and "-MT" not in line.preprocess and "-MQ" not in line.preprocess else []
        )
        _run(
            _gcc(),
            "-E",
            *line.compile,
            *line.preprocess,
            *names,
            *named,
            f"-I{capture_runtime()}",
            *asked,
            source,
            "-o",
            text,
        )
        rewritten = rewrite(text.read_text(), str(Path.cwd()))
        traced_text = folder / "traced.i"
        traced_text.write_text(rewritten.text)
        traced = folder / "traced.o"
        _run(_gcc(), "-x", "cpp-output", "-c", *line.compile, *_TRACED, traced_text, "-o", traced)
        # The twin: original schedule, original optimisation, counters in the final assembly.
        assembly, counted, twin = folder / "twin.s", folder / "counted.s", folder / "twin.o"
        _run(_gcc(), "-x", "cpp-output", "-S", *line.compile, "-g0", "-fno-lto", text, "-o", assembly)
        counted.write_text(with_counters(assembly.read_text()))
        _run(_gcc(), "-c", counted, "-o", twin)
        notes = folder / "notes"
        notes.write_text("".join(json.dumps(note) + "\n" for note in rewritten.notes))
        losses = folder / "losses"
        losses.write_text("".join(json.dumps(loss) + "\n" for loss in losses_of(traced, source.name)))
        sections: list[str | Path] = []
        for section, content in ((".homenode.twin", twin), (".homenode.clauses", notes), (".homenode.loss", losses)):
            if content.stat().st_size:
                sections += [
                    "--add-section",
                    f"{section}={content}",
                    "--set-section-flags",
                    f"{section}=readonly,exclude" if content is twin else f"{section}=readonly",
                ]
        if sections:
            _run("objcopy", *sections, traced)
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        temporary.write_bytes(traced.read_bytes())
        temporary.replace(target)


def _twin_of(object_file: Path, folder: Path, number: int) -> Path | None:
    twin = folder / f"twin{number}.o"
    ended = subprocess.run(
        ["objcopy", "-O", "binary", "--only-section=.homenode.twin", "--set-section-flags", ".homenode.twin=alloc",
         str(object_file), str(twin)], capture_output=True, check=False,
    )  # fmt: skip
    return twin if ended.returncode == 0 and twin.exists() and twin.stat().st_size else None


def _twin_inputs(words: list[str], folder: Path) -> tuple[list[str], bool]:
    """The link line with each traced object, also those in archives, replaced by its twin; whether any had one."""
    result: list[str] = []
    number, found = 0, False
    folders = [Path(word[2:]) for word in _joined(words, "-L") if word.startswith("-L")]
    for word in _joined(_joined(words, "-L"), "-l"):
        path = Path(word)
        if word.startswith("-l"):
            # as the linker looks: a shared library in an earlier folder, or beside the archive, comes first
            kinds = (f"lib{word[2:]}.so", f"lib{word[2:]}.a")
            path = next((place / kind for place in folders for kind in kinds if (place / kind).is_file()), path)
        if not path.is_file() or path.suffix not in (".o", ".a"):
            result.append(word)
            continue
        number += 1
        if path.suffix == ".o":
            twin = _twin_of(path, folder, number)
            found |= twin is not None
            result.append(str(twin or path))
            continue
        # an archive stays an archive: only the members that are needed are linked
        unpacked = folder / f"archive{number}"
        unpacked.mkdir()
        _run("ar", "x", "--output", unpacked, path)
        twins = []
        for member in sorted(unpacked.iterdir()):
            number += 1
            if (twin := _twin_of(member, folder, number)) is not None:
                member.write_bytes(twin.read_bytes())
                twins.append(member)
        if not twins:
            result.append(word)
            continue
        found = True
        changed = folder / f"{number}-{path.name}"
        changed.write_bytes(path.read_bytes())
        _run("ar", "r", changed, *twins)
        result.append(str(changed))
    return result, found


def _joined(words: list[str], option: str) -> list[str]:
    """The words with `-L FOLDER` written as `-LFOLDER`."""
    result: list[str] = []
    for word in words:
        if result and result[-1] == option:
            result[-1] += word
        else:
            result.append(word)
    return result


def _link(objects: list[Path], line: CommandLine, target: Path) -> None:
    runtime = capture_runtime()
    if "-shared" in line.link:
        # the program that loads it brings the runtime; a library has no twin of its own
        _run(_gcc(), *line.compile, "-fsanitize=thread", f"-B{runtime}", *map(str, objects), *line.link, "-o", target)
        return
    inputs = [*map(str, objects), *line.link]
    wraps = [f"-Wl,--wrap={name}" for name in _WRAPPED]
    flags = [word for word in line.compile if word not in ("-MD", "-MMD")]
    _run(_gcc(), *flags, "-fsanitize=thread", f"-B{runtime}", *wraps, *inputs, "-o", target)
    with tempfile.TemporaryDirectory(prefix="homenode-ld-") as name:
        folder = Path(name)
        twins, found = _twin_inputs(inputs, folder)
        if not found:
            return
        # libgomp stays out: the empty archive of the runtime's folder stands for it, the shims come from twin.o.
        words = [
            _gcc(),
            *[word for word in flags if word != "-flto"],
            f"-L{runtime}",
            *twins,
            runtime / "twin.o",
            "-o",
            f"{target}.twin",
        ]
        ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        if ended.returncode:
            # the program itself is linked; a shared library that was traced, for one, has no twin
            Path(f"{target}.twin").unlink(missing_ok=True)
            print(
                f"homenode cc: {target} has no work counts, for its twin does not link:\n{ended.stderr}",
                file=sys.stderr,
                end="",
            )


def main(words: list[str]) -> int:
    """Do what gcc was asked to do, for tracing; returns gcc's exit status."""
    line = CommandLine.parse(expanded(words))
    if line.passes_through:
        for other in line.untraced:
            print(f"homenode cc: {other} is not C: compiled without tracing", file=sys.stderr)
        return subprocess.run([_gcc(), *words], check=False).returncode
    try:
        if line.compile_only:
            for source in line.sources:
                _compile(source, line, line.output or Path(source.name).with_suffix(".o"))
            return 0
        with tempfile.TemporaryDirectory(prefix="homenode-cc-") as name:
            objects = []
            for number, source in enumerate(line.sources):
                objects.append(Path(name) / f"{number}-{source.stem}.o")
                _compile(source, line, objects[-1])
            _link(objects, line, line.output or Path("a.out"))
        return 0
    except _Failed as failed:
        return failed.status
    except FileNotFoundError as missing:
        print(f"homenode cc: {missing.filename}: not found", file=sys.stderr)
        return 2
