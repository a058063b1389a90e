"""Three programs of Debian that nobody wrote for homenode: unpacked, compiled for a capture, classified, bound and run."""

import bz2
import json
import lzma
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import homenode as hn

BLOCK = 100_000  # bytes; the programs' smallest
_HOMENODE = Path(sys.executable).with_name("homenode")

# Linked into a bound binary: says after each call whether the thread really has the cores that it was given.
_WITNESS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
int __real_pthread_setaffinity_np(pthread_t, size_t, const cpu_set_t*);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set) {
  cpu_set_t found;
  const int error = __real_pthread_setaffinity_np(thread, size, set);
  if (!error && !pthread_getaffinity_np(thread, sizeof found, &found))
    dprintf(2, "bound %d\n", CPU_COUNT(&found) > 0 && CPU_EQUAL(&found, set));
  return error;
}
"""


@dataclass(frozen=True)
class Program:
    """One program: `sources` are globs in its folder, an object standing for its source; `prepare` makes the files that they want."""

    name: str
    archive: str
    folder: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    links: tuple[str, ...]
    arguments: tuple[str, ...]
    unpack: Callable[[bytes], bytes]
    ending: str
    prepare: Callable[[Path], None] = field(default=lambda folder: None)
    compiler: str = "cc"

    def files(self, folder: Path) -> list[str]:
        """The sources, relative to its folder."""
        found = [path for glob in self.sources for path in sorted(folder.glob(glob))]
        return [str((path.with_suffix(".c") if path.suffix == ".o" else path).relative_to(folder)) for path in found]


def _describe_pixz(folder: Path) -> None:
    """What its configure would find in glibc."""
    (folder / "config.h").write_text("#define HAVE_DECL_HTOLE64 1\n#define HAVE_DECL_LE64TOH 1\n", encoding="utf-8")


def _configure_lbzip2(folder: Path) -> None:
    """Its gnulib makes headers; the two definitions are what Debian's patch gives it. What it compiles is its own choice."""
    _run(["./configure"], folder)
    _run(["make", "-C", "lib", f"CFLAGS={' '.join(_GNULIB)}"], folder)


_GNULIB = ("-O2", "-D_IO_ftrylockfile=1", "-D_IO_IN_BACKUP=0x100")
PROGRAMS = (
    Program(
        "pbzip2",
        "pbzip2_1.1.13.orig.tar.gz",
        "pbzip2-1.1.13",
        ("*.cpp",),
        ("-std=gnu++98", "-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION"),
        ("-lbz2",),
        ("-k", "-f", "-p3", "-b1", "input"),
        bz2.decompress,
        ".bz2",
        compiler="c++",
    ),
    Program(
        "lbzip2",
        "lbzip2_2.5.orig.tar.bz2",
        "lbzip2-2.5",
        ("src/*.c", "lib/*.o"),
        ("-std=gnu99", "-DHAVE_CONFIG_H", "-I.", "-Ilib", *_GNULIB[1:]),
        (),
        ("-k", "-f", "-n3", "-1", "input"),
        bz2.decompress,
        ".bz2",
        _configure_lbzip2,
    ),
    Program(
        "pixz",
        "pixz_1.0.7.orig.tar.gz",
        "pixz-1.0.7",
        ("src/*.c",),
        ("-std=gnu99", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", '-DPACKAGE_VERSION="1.0.7"', "-I."),
        ("-llzma", "-larchive", "-lm"),
        ("-0", "-p", "3", "-t", "-k", "input", "input.xz"),
        lzma.decompress,
        ".xz",
        _describe_pixz,
    ),
)


@dataclass(frozen=True)
class Examined:
    """What the pass says, what a run did, and what became of the bound binary."""

    found: dict[str, Any]
    graph: dict[str, Any]
    accesses: int
    threads: int  # that a bound run created and bound
    bound: int  # of them: with the cores they were given
    whole: bool  # the bound run's output unpacks to its input


def _run(words: Sequence[str | Path], folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, text=True, capture_output=True, check=False, **options
    )
    if done.returncode:
        raise SystemExit(f"{words[0]} failed in {folder}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done


def absent(sources: Path, programs: Sequence[Program] = PROGRAMS) -> list[str]:
    """The archives that are not in the folder."""
    return [program.archive for program in programs if not (sources / program.archive).is_file()]


def text(length: int) -> bytes:
    """The same every time, and neither constant nor random: words of a small language by a linear congruence."""
    words = [bytes(97 + (i * j) % 26 for j in range(1, 2 + i % 7)) for i in range(1, 200)]
    made, state = bytearray(), 20240101
    while len(made) < length:
        state = (state * 16807) % 2147483647
        made += words[state % len(words)] + b" "
    return bytes(made[:length])


def examine(program: Program, sources: Path, work: Path) -> Examined:
    """Unpack the authors' archive into `work` and go through all of it there."""
    folder = work / program.folder
    shutil.rmtree(folder, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    _run(["tar", "xf", (sources / program.archive).absolute()], work)
    program.prepare(folder)
    packed = text(2 * BLOCK + BLOCK // 2)
    (folder / "input").write_bytes(packed)
    files = program.files(folder)
    _run(
        [_HOMENODE, program.compiler, "-O2", "-g", *program.flags, *files, "-o", "traced", *program.links, "-pthread"],
        folder,
    )
    (folder / "witness.c").write_text(_WITNESS, encoding="utf-8")
    _run(["gcc", "-O2", "-Wall", "-Werror", "-c", "witness.c", "-o", "witness.o"], folder)
    capture = ["capture", "--timeout", "300", "-o", "run.hnt", "--json", "--", "./traced", *program.arguments]
    if not json.loads(_run([_HOMENODE, *capture], folder).stdout)["complete"]:
        raise SystemExit(f"the capture of {program.name} did not end in 300 s")
    trace = hn.Trace.open(folder / "run.hnt")
    flags = ("-O2", *program.flags, *program.links, "witness.o", "-Wl,--wrap=pthread_setaffinity_np")
    classify = ["classify", *files, "--json", "--instrument", "-o", "bound", "--", *flags]
    found = json.loads(_run([_HOMENODE, *classify], folder).stdout)
    said = _run(["./bound", *program.arguments], folder).stderr.splitlines()
    answers = [line.split()[1] for line in said if line.startswith("bound ")]
    unpacked = program.unpack((folder / f"input{program.ending}").read_bytes())
    return Examined(found, trace.thread_graph(), trace.accesses, len(answers), answers.count("1"), unpacked == packed)
