"""Compiling and linking as gcc, g++ or gfortran would be asked to, for tracing.

Each source is preprocessed once. One object is made of the rewritten text with -fsanitize=thread; two more of the original text,
the twin with counters and a plain one, travel inside it in the sections .homenode.twin and .homenode.plain. Linking puts the
recording runtime in libtsan's place (-B) and links the others into PROGRAM.twin and PROGRAM.timed beside PROGRAM.
traces/capture/runtime/README.md lists sections and variables.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from homenode.compiler import spins, stand_ins
from homenode.compiler.command_line import CommandLine, Source, expanded
from homenode.compiler.copies import as_calls
from homenode.compiler.fortran_pragmas import included, rewrite_fortran, without_markers
from homenode.compiler.languages import compiler_of, language_of, refusal_of
from homenode.compiler.libraries import inputs_of, untraced
from homenode.compiler.link_inputs import files_of, inner_inputs, is_code
from homenode.compiler.link_marks import SECTION, mark_of
from homenode.compiler.losses import losses_of
from homenode.compiler.pragmas import Rewritten, rewrite
from homenode.compiler.shared_libraries import MAY_BE_UNDEFINED, plain_name, plain_soname
from homenode.compiler.twin import with_counters
from homenode.compiler.zero_fills import zeroed_lines
from homenode.resources import capture_runtime

# What traces/capture/runtime/bulk.c, heap.c and start.c define as __wrap_NAME.
_WRAPPED = (
    *("memcpy", "memmove", "mempcpy", "memset", "__memcpy_chk", "__memmove_chk", "__mempcpy_chk", "__memset_chk"),
    *("strdup", "strndup", "read", "__read_chk", "pread", "pread64", "readv", "fread", "fread_unlocked", "__fread_chk"),
    *("mmap", "mmap64", "munmap", "_exit", "_Exit", "quick_exit"),
    "__libc_start_main",
)
# Objects that travel in a traced one.
_TWIN, _PLAIN = ".homenode.twin", ".homenode.plain"
_TRACED = ("-g", "-fsanitize=thread", "-Wno-tsan")
# gfortran takes no such options; it is told to call what it would expand.
_CALLS_COPIES = tuple(f"-fno-builtin-{name}" for name in ("memcpy", "memmove", "mempcpy", "memset"))
_CALLS_OF_FORTRAN = ("-mmemcpy-strategy=libcall:-1:noalign", "-mmemset-strategy=libcall:-1:noalign")
_STATIC = ("-static", "-static-pie", "--static")
# Options by which the linker itself prints.
_LINKER_TELLS = {"--trace", "-t", "--verbose", "--print-map", "-M", "--print-gc-sections", "--stats"}


class _Failed(Exception):
    """A tool ended with this status; what it said is on stderr."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def _run(*words: str | Path) -> None:
    status = subprocess.run([str(word) for word in words], check=False).returncode
    if status:
        raise _Failed(status)


def _run_on(source: Path, text: Path, *words: str | Path) -> None:
    """Run a compiler on a text that stands for a source: what it says is about the source."""
    ended = subprocess.run([str(word) for word in words], stderr=subprocess.PIPE, check=False)
    sys.stderr.write(ended.stderr.decode(errors="replace").replace(str(text), str(source)))
    if ended.returncode:
        raise _Failed(ended.returncode)


def _text_of(source: Source, line: CommandLine, driver: str, target: Path, folder: Path) -> str:
    """The source after its preprocessor, with line markers."""
    fortran = source.language.fortran
    preprocessed = source.language.preprocessed
    if fortran:
        asked = [word for word in line.compile if word in ("-cpp", "-nocpp")]
        preprocessed = asked[-1] == "-nocpp" if asked else preprocessed
    if preprocessed:
        return source.path.read_text("latin-1")
    result = folder / "preprocessed"
    # The program's own questions for rank and team are told from the compiler's by name; in Fortran they have others anyway.
    asked = [f"-Domp_get_{name}=homenode_user_{name}" for name in ("thread_num", "num_threads")]
    asked = asked if "-fopenmp" in line.compile and not fortran else []
    dependencies = [word for word in line.preprocess if word in ("-MD", "-MMD")]
    names: list[str | Path] = ["-MF", target.with_suffix(".d")] if dependencies and "-MF" not in line.preprocess else []
    named: list[str | Path] = (
        ["-MT", target] if dependencies and "-MT" not in line.preprocess and "-MQ" not in line.preprocess else []
    )
    flags = [*line.compile, *line.preprocess, *names, *named, *(["-cpp"] if fortran else [])]
    flags += [f"-I{capture_runtime()}", *asked, "-x", source.language.name]
    _run(*compiler_of(driver), "-E", *flags, source.path, "-o", result)
    text = result.read_text("latin-1")
    return without_markers(text, str(source.path)) if fortran else text


def _fixed_form(source: Source, line: CommandLine) -> bool:
    forms = [word for word in line.compile if word in ("-ffixed-form", "-ffree-form")]
    return forms[-1] == "-ffixed-form" if forms else source.language.text == "f77"


def _rewritten(text: str, source: Source, line: CommandLine, folder: Path) -> Rewritten:
    """With its loops for tracing. Fortran's included files with directives are put into the folder, rewritten too."""
    directory = str(Path.cwd())
    if source.language.fortran:
        fixed = _fixed_form(source, line)
        loops = rewrite_fortran(text, os.fsencode(source.path).decode("latin-1"), directory, fixed)
        unheard = re.search(r"^(?:[c*]|[ \t]*!)\$omp[ \t]", text, re.IGNORECASE | re.MULTILINE)
        _warn_of_unheard(source, line, text.count("\n", 0, unheard.start()) + 1 if unheard else 0)
        _warn_of_left(loops, line)
        for name, content in included(text, [source.path.parent, *line.include_folders]).items():
            inner = rewrite_fortran(content, name, directory, fixed)
            if not Path(name).is_absolute() and ".." not in Path(name).parts:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(inner.text, "latin-1")
                loops.notes.extend(inner.notes)
            _warn_of_left(inner, line)
        return loops
    loops = rewrite(text, directory)
    _warn_of_unheard(source, line, loops.unheard)
    _warn_of_left(loops, line)
    cxx = source.language.text.startswith("c++")
    return Rewritten(as_calls(loops.text, os.fsencode(source.path).decode("latin-1"), cxx, line.compile), loops.notes)


def _put(made: Path, target: Path) -> None:
    """A file in its place at once; a device, such as /dev/null, is written to."""
    if target.exists() and not target.is_file():
        target.write_bytes(made.read_bytes())
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    temporary.write_bytes(made.read_bytes())
    temporary.replace(target)


def _warn_of_unheard(source: Source, line: CommandLine, first: int) -> None:
    """OpenMP in a source that is compiled without it, as by a build that adds -fopenmp where the compiler's name has gcc in it."""
    if first and not any(word.startswith("-fopenmp") for word in line.compile):
        name = "homenode-gfortran" if source.language.fortran else "homenode-gcc or homenode-g++"
        sys.stderr.write(
            f"homenode: warning: {readable(source.path)}:{first}: OpenMP without -fopenmp does nothing: the trace will have no "
            f"parallel loops. Where a build adds -fopenmp for gcc alone, take {name} in place of 'homenode cc' and its kin\n"
        )


def _warn_of_left(loops: Rewritten, line: CommandLine) -> None:
    """Worksharing that is not handed out by the runtime, so that the trace has it for the captured team only."""
    if not any(word.startswith("-fopenmp") for word in line.compile):
        return
    for file, number, words in loops.left:
        if "inscan" in words:
            sys.stderr.write(
                f"homenode: {readable(Path(file))}:{number}: found 'omp scan', whose loops take no schedule that hands out single "
                "iterations; allowed: other reductions\n"
            )
            raise _Failed(2)
        sys.stderr.write(
            f"homenode: warning: {readable(Path(file))}:{number}: gcc divides '{words}' among the threads itself: its shares are those "
            "of the captured team. Give 'homenode capture' the --threads of the replay. A loop ('omp for', '!$omp do') is handed out "
            "iteration by iteration, and needs none\n"
        )


def _compile(source: Source, line: CommandLine, driver: str, target: Path) -> None:
    """One source into one object that holds both."""
    compiler, language = compiler_of(driver), source.language.text
    flags: list[str | Path] = [*line.compile]
    traced_flags = [*_TRACED]
    if not source.language.fortran:
        # The preprocessor has converted the text; what it made has no comments, and macros no place of their own: warnings that depend
        # on these are no errors of the program.
        _check_for_errors(source, line, compiler)
        flags = [flag for flag in line.compile if not flag.startswith(("-finput-charset", "-Werror"))]
        traced_flags.append("-Wno-implicit-fallthrough")
    if source.language.fortran:
        # modules and included files are looked for now, beside the source first
        flags += [f"-I{folder}" for folder in (source.path.parent, *line.include_folders)]
        flags = [flag for flag in flags if flag not in ("-cpp", "-nocpp")]
        traced_flags += _CALLS_OF_FORTRAN
        if not _fixed_form(source, line):
            flags.append("-ffree-line-length-none")  # for clauses that are added
    else:
        traced_flags += _CALLS_COPIES
    with tempfile.TemporaryDirectory(prefix="homenode-cc-") as name:
        folder = Path(name)
        # gfortran's debug information takes the file's own name; the others take the markers'.
        name_of_text = source.path.name if source.language.fortran else "source.i"
        text, traced_text = folder / "original" / name_of_text, folder / "traced" / name_of_text
        text.parent.mkdir()
        traced_text.parent.mkdir()
        text.write_text(_text_of(source, line, driver, target, folder), "latin-1")
        rewritten = _rewritten(text.read_text("latin-1"), source, line, traced_text.parent)
        traced_text.write_text(rewritten.text, "latin-1")
        traced, after_tsan, optimized = folder / "traced.o", folder / "tsan", folder / "optimized"
        dumps = [
            f"-fdump-tree-tsan={after_tsan}",
            f"-fdump-tree-tsan0={after_tsan}",
            f"-fdump-tree-optimized={optimized}",
        ]
        words = [*compiler, "-x", language, "-c", *flags, *traced_flags, *dumps, traced_text, "-o", traced]
        _run_on(source.path, traced_text, *words)
        # The twin: original schedule, original optimisation, counters in the final assembly; -g1 for the lines of its blocks.
        assembly, counted, twin, plain = (folder / file for file in ("twin.s", "counted.s", "twin.o", "plain.o"))
        _run(*compiler, "-x", language, "-S", *flags, "-w", "-g1", "-fno-lto", text, "-o", assembly)
        code, heads = spins.routed(assembly.read_text("latin-1"))
        counted.write_text(spins.with_hooks(with_counters(code), heads), "latin-1")
        assembly.write_text(spins.with_hooks(code, heads), "latin-1")
        _run(*compiler, "-c", assembly, "-o", plain)
        _assemble_counted(source, compiler, counted, twin, plain)
        notes = folder / "notes"
        notes.write_text("".join(json.dumps(_as_named(note)) + "\n" for note in rewritten.notes))
        zeroed = folder / "zeroed"
        lines = zeroed_lines(assembly.read_text("latin-1"))
        zeroed.write_text("".join(json.dumps({**note, "file": _named(note["file"])}) + "\n" for note in lines))
        losses = folder / "losses"
        losses.write_text(
            "".join(
                json.dumps(loss) + "\n"
                for loss in losses_of(traced, readable(Path(source.path.name)), after_tsan, optimized)
            )
        )
        sections: list[str | Path] = []
        contents = {
            _TWIN: twin,
            _PLAIN: plain,
            ".homenode.clauses": notes,
            ".homenode.loss": losses,
            ".homenode.zeroed": zeroed,
        }
        for section, content in contents.items():
            if content.stat().st_size:
                sections += [
                    "--add-section",
                    f"{section}={content}",
                    "--set-section-flags",
                    f"{section}=readonly,exclude" if section in (_TWIN, _PLAIN) else f"{section}=readonly",
                ]
        if sections:
            _run("objcopy", *sections, traced)
        _put(traced, target)


def _check_for_errors(source: Source, line: CommandLine, compiler: Sequence[str]) -> None:
    """What -Werror makes an error of the source as it is; the text that is compiled is another one."""
    if not any(flag.startswith("-Werror") for flag in line.compile):
        return
    # Dependencies are written by the preprocessor's own run.
    asked = any(word in ("-MD", "-MMD") for word in line.preprocess)
    words = [*line.preprocess, *(["-MF", os.devnull] if asked else [])]
    language = source.language.name
    ended = subprocess.run(
        [*compiler, "-fsyntax-only", *line.compile, *words, f"-I{capture_runtime()}", "-x", language, str(source.path)],
        stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    if ended.returncode:
        sys.stderr.buffer.write(ended.stderr)
        raise _Failed(ended.returncode)


def _assemble_counted(source: Source, compiler: Sequence[str], counted: Path, twin: Path, plain: Path) -> None:
    """The twin's object; without counters where an `asm` of the program is written such that they do not assemble."""
    ended = subprocess.run([*compiler, "-c", str(counted), "-o", str(twin)], stderr=subprocess.PIPE, check=False)
    if ended.returncode == 0:
        return
    first = next((line for line in ended.stderr.decode(errors="replace").splitlines() if "Error" in line), "")
    sys.stderr.write(
        f"homenode: warning: {readable(source.path)}: its code is not counted, for it does not assemble with counters "
        f"({first.partition(': ')[2] or 'no reason given'}); -masm=intel, for one, has them refused\n"
    )
    twin.write_bytes(plain.read_bytes())


def readable(path: Path) -> str:
    """A file's name as a trace has it: text is UTF-8, other bytes are `\\xe9`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _named(file: str) -> str:
    """A file's name that was read as Latin-1, as all of the source."""
    return file.encode("latin-1", "replace").decode("utf-8", "backslashreplace")


def _as_named(note: dict[str, Any]) -> dict[str, Any]:
    return {**note, "file": _named(note["file"]), "directory": readable(Path(note["directory"]))}


def _linked(line: CommandLine, *words: str | Path) -> list[str]:
    """Link, and tell which files the linker read."""
    ended = subprocess.run([*(str(word) for word in words), "-Wl,--trace,--trace"], stdout=subprocess.PIPE, check=False)
    said = os.fsdecode(ended.stdout)
    asked = {part for word in line.link if word.startswith("-Wl,") for part in word.split(",")[1:]}
    if asked & _LINKER_TELLS:  # its errors went to stderr; the list of files is for us
        sys.stdout.buffer.write(ended.stdout)
    if ended.returncode:
        raise _Failed(ended.returncode)
    return inputs_of(said)


def _section(file: Path, name: str, folder: Path) -> bytes:
    """Content of a section that is not loaded; empty where there is none."""
    content = folder / "section"
    content.unlink(missing_ok=True)
    subprocess.run(
        ["objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc", str(file), str(content)],
        capture_output=True, check=False,
    )  # fmt: skip
    return content.read_bytes() if content.exists() else b""


def _add_losses(program: Path, losses: list[dict[str, Any]]) -> None:
    if not losses:
        return
    with tempfile.TemporaryDirectory(prefix="homenode-ld-") as name:
        section, notes = ".homenode.loss", Path(name) / "notes"
        lines = "".join(json.dumps(loss) + "\n" for loss in losses).encode()
        notes.write_bytes(_section(program, section, Path(name)) + lines)
        _run("objcopy", "--remove-section", section, "--add-section", f"{section}={notes}", program)


def _mark(target: Path, twin: Path, timed: Path) -> None:
    """A copy of the program finds the other two by it."""
    with tempfile.TemporaryDirectory(prefix="homenode-ld-") as name:
        mark = Path(name) / "mark"
        mark.write_text(mark_of(target, twin))
        for program in (target, twin, timed):
            if program.is_file():
                _run("objcopy", "--remove-section", SECTION, "--add-section", f"{SECTION}={mark}", program)


def _stand_ins(inputs: list[str], line: CommandLine, driver: str, folder: Path) -> list[str]:
    """An object with what stands in for the C library's functions that these inputs call; none if they call none."""
    language = language_of("qsort.c", "cc", None)
    called = stand_ins.are_called(path for _, path in files_of(inputs) if path is not None and is_code(path))
    if language is None or not called or "-r" in line.compile:
        return []
    made = folder / "stand_ins.o"
    flags = CommandLine.parse([*stand_ins.FLAGS, "-c", "qsort.c"])
    _compile(Source(stand_ins.source(), language), flags, driver, made)
    return [str(made)]


def _without_static(line: CommandLine, driver: str) -> None:
    """Take -static out of the line: the recording stands in for functions of the C library, which only a shared one lets it."""
    asked = [word for word in (*line.link, *line.compile) if word in _STATIC]
    if not asked:
        return
    line.link = [word for word in line.link if word not in _STATIC]
    line.compile = [word for word in line.compile if word not in _STATIC]
    sys.stderr.write(
        f"homenode {driver}: warning: {asked[0]} is left out: a traced program takes the C library as a shared one\n"
    )


def _link(objects: list[Path], line: CommandLine, driver: str, target: Path) -> None:
    _without_static(line, driver)
    with tempfile.TemporaryDirectory(prefix="homenode-ld-") as name:
        inputs = [*map(str, objects), *line.link]
        _link_inputs(inputs, _stand_ins(inputs, line, driver, Path(name)), line, driver, target)


def _link_inputs(inputs: list[str], own: list[str], line: CommandLine, driver: str, target: Path) -> None:
    """Link the traced program, its twin and the timed one; the first two with homenode's own functions."""
    runtime, compiler = capture_runtime(), compiler_of(driver)
    traced = [*inputs, *own]
    wraps = [f"-Wl,--wrap={name}" for name in _WRAPPED]
    if "-shared" in line.link:
        # The program that loads it brings the runtime.
        words = [*wraps, *traced, MAY_BE_UNDEFINED]
        _linked(line, *compiler, *line.compile, "-fsanitize=thread", f"-B{runtime}", *words, "-o", target)
        if target.is_file():
            _link_plain_library(inputs, line, compiler, target)
        return
    flags = [word for word in line.compile if word not in ("-MD", "-MMD")]
    read = _linked(line, *compiler, *flags, "-fsanitize=thread", f"-B{runtime}", *wraps, *traced, "-o", target)
    if not target.is_file():  # a device: whether it links was the question
        return
    _add_losses(target, [*untraced(read, target), *stand_ins.missed(target)])
    # One that was linked here before is another program's.
    twin, timed = Path(f"{target}.twin"), Path(f"{target}.timed")
    for old in (twin, timed):
        old.unlink(missing_ok=True)
    if said := _link_inner(_TWIN, "twin.o", twin, traced, flags, compiler):
        # The program itself is linked; a shared library that was traced, for one, has no twin.
        print(
            f"homenode {driver}: {target} has no work counts, for its twin does not link:\n{said}",
            file=sys.stderr,
            end="",
        )
    elif twin.is_file() and (said := _link_inner(_PLAIN, "timed.o", timed, inputs, flags, compiler)):
        print(
            f"homenode {driver}: {target} will not be timed, for {timed.name} does not link:\n{said}",
            file=sys.stderr,
            end="",
        )
    if twin.is_file():
        _mark(target, twin, timed)


def _link_plain_library(inputs: list[str], line: CommandLine, compiler: Sequence[str], target: Path) -> None:
    """What the twin and the timed program load in the place of this shared library: its code as it was, without counters."""
    plain = plain_name(target)
    plain.unlink(missing_ok=True)
    flags = [word for word in line.compile if word not in ("-MD", "-MMD", "-flto")]
    with tempfile.TemporaryDirectory(prefix="homenode-ld-") as name:
        words, found = inner_inputs(_PLAIN, inputs, Path(name))
        if found:
            words += [MAY_BE_UNDEFINED, *plain_soname(target, plain)]
            ended = subprocess.run(
                [*compiler, *flags, f"-L{capture_runtime()}", *words, "-o", str(plain)],
                stderr=subprocess.PIPE,
                check=False,
            )
            if ended.returncode:
                said = ended.stderr.decode(errors="replace")
                sys.stderr.write(
                    f"homenode: warning: programs with {target} will have no work counts: {plain.name} does not link:\n{said}"
                )


def _link_inner(
    section: str, runtime_part: str, target: Path, inputs: list[str], flags: list[str], compiler: Sequence[str]
) -> str:
    """Link the objects that travel in a section; what the linker said where it could not."""
    with tempfile.TemporaryDirectory(prefix="homenode-ld-") as name:
        words, found = inner_inputs(section, inputs, Path(name))
        if not found:
            return ""
        # libgomp stays out: the empty archive of the runtime's folder stands for it, the shims come from the runtime's part.
        without_lto = [word for word in flags if word != "-flto"]
        # Resolved at the start: what the dynamic linker does at a first call is no part of the function that is called.
        linked = subprocess.run(
            [*compiler, *without_lto, f"-L{capture_runtime()}", *words, str(capture_runtime() / runtime_part), "-Wl,-z,now",
             "-o", str(target)], capture_output=True, check=False,
        )  # fmt: skip
        if linked.returncode:
            target.unlink(missing_ok=True)
        return os.fsdecode(linked.stderr) if linked.returncode else ""


def main(words: list[str], driver: str = "cc") -> int:
    """Do what the compiler behind `homenode DRIVER` was asked to do, for tracing; returns its exit status."""
    if (refused := refusal_of(driver)) is not None:
        print(f"homenode {driver}: {refused}", file=sys.stderr)
        return 2
    line = CommandLine.parse(expanded(words), driver)
    try:
        if line.passes_through:
            for other in line.untraced:
                print(f"homenode {driver}: {other}: compiled without tracing", file=sys.stderr)
            return subprocess.run([*compiler_of(driver), *words], check=False).returncode
        for source in line.sources:
            if not source.path.is_file():
                print(f"homenode {driver}: {source.path}: no such file", file=sys.stderr)
                return 1
        if line.compile_only:
            for source in line.sources:
                _compile(source, line, driver, line.output or Path(source.path.name).with_suffix(".o"))
            return 0
        with tempfile.TemporaryDirectory(prefix="homenode-cc-") as name:
            objects = []
            for number, source in enumerate(line.sources):
                objects.append(Path(name) / f"{number}-{source.path.stem}.o")
                _compile(source, line, driver, objects[-1])
            _link(objects, line, driver, line.output or Path("a.out"))
        return 0
    except _Failed as failed:
        return failed.status
    except FileNotFoundError as missing:
        print(f"homenode {driver}: {missing.filename}: not found", file=sys.stderr)
        return 2
