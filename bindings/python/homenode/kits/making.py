"""A kit: the parts compiled statically, with a script, packed."""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import io
import json
import platform
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from homenode.compiler.languages import compiler_of
from homenode.errors import CaptureError, UsageError
from homenode.kernel_sources import Kernel, kernel
from homenode.kits.plan import Case, cases
from homenode.native_times import timed_labels
from homenode.outputs import check_output, written_whole
from homenode.resources import KERNELS, KIT_PARTS, kit_calibration

MANIFEST_SCHEMA = "homenode.kit-manifest/1"
FOLDER = "homenode-kit"
"""The one folder in the archive."""
_FLAGS = ("-std=gnu11", "-O2", "-static", "-s")
_WRAPPED = ("malloc", "calloc", "aligned_alloc", "realloc", "free")
# Words for homenode-calibrate (MiB, samples a pass, passes): as `machine calibrate` without and with --quick; of a trial, next to nothing.
_CALIBRATIONS = {
    "usual": (
        "--largest 1024 --array 1024 --repeats 3 --passes 15",
        "--largest 512 --array 256 --repeats 2 --passes 6",
    ),
    "tiny": ("--largest 8 --array 4 --repeats 1 --passes 1", "--largest 8 --array 4 --repeats 1 --passes 1"),
}
# An emulator runs one processor at a time: threads that spin would wait for its turns.
_WAITING = {"usual": "", "tiny": "OMP_WAIT_POLICY=passive\nexport OMP_WAIT_POLICY\n"}
Progress = Callable[[str], None]


def make_kit(
    output: Path, size: str = "usual", kernels: Sequence[str] = (), progress: Progress = lambda step: None
) -> list[Case]:
    """Write a kit for machines of this host's architecture, and return what it runs.

    UsageError where homenode was built without what a kit needs, CaptureError where the compiler refuses.
    """
    check_output(output)
    planned = cases(size, kernels)
    with tempfile.TemporaryDirectory(prefix="homenode-kit-") as temporary:
        folder = Path(temporary) / FOLDER
        fill(folder, planned, size, progress)
        with written_whole(output) as part:
            part.write_bytes(_packed(folder))
    return planned


def fill(folder: Path, planned: Sequence[Case], size: str, progress: Progress = lambda step: None) -> None:
    """Everything that a kit unpacks to, in a folder that is made."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    progress("compiling kit and homenode-calibrate")
    _compile([*_FLAGS, *(str(path) for path in _sources() if path.name != "pages.c")], programs / "kit", "cc")
    _link_calibration(programs / "homenode-calibrate")
    chosen = [kernel(name) for name in dict.fromkeys(case.kernel for case in planned)]
    for one in chosen:
        progress(f"compiling {one.name}")
        _compile_kernel(one, programs / one.name)
    for name in ("run.sh", "README.txt"):
        (folder / name).write_bytes((KIT_PARTS / name).read_bytes())
    full, quick = _CALIBRATIONS[size]
    settings = f"full_calibration='{full}'\nquick_calibration='{quick}'\n{_WAITING[size]}"
    (folder / "settings").write_text(settings, encoding="ascii")
    (folder / "cases").write_text("".join(f"{_line(case)}\n" for case in planned), encoding="ascii")
    (folder / "manifest.json").write_text(f"{_manifest(folder, planned, chosen, size)}\n", encoding="ascii")


def source_hash(of: Kernel) -> str:
    """SHA-256 over a kernel's source and the headers of all kernels."""
    digest = hashlib.sha256()
    for path in (of.source, *sorted(KERNELS.glob("*.h"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources() -> list[Path]:
    return sorted(KIT_PARTS.glob("*.c"))


def _compile(words: Sequence[str], program: Path, driver: str, text: str | None = None) -> None:
    done = subprocess.run(
        [*compiler_of(driver), *words, "-o", str(program)], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CaptureError(f"'{program.name}' did not compile statically: {done.stderr.strip()}")


def _link_calibration(program: Path) -> None:
    """The archive has all but the C and C++ libraries."""
    archive = kit_calibration()
    if archive is None:
        raise UsageError(
            "homenode was built without libhwloc.a or libxxhash.a (Debian: libhwloc-dev, libxxhash-dev), which a kit needs"
        )
    whole = ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]
    _compile(["-static", "-s", *whole, "-w"], program, "c++")


def _compile_kernel(of: Kernel, program: Path) -> None:
    """With its own flags; its loops take the schedule of OMP_SCHEDULE where the source says schedule(static)."""
    text = of.source.read_text(encoding="utf-8").replace("schedule(static)", "schedule(runtime)")
    wrapped = [f"-Wl,--wrap={name}" for name in _WRAPPED]
    words = [*of.flags, "-I", str(KERNELS), "-x", "c", "-", str(KIT_PARTS / "pages.c"), "-x", "none"]
    _compile([*words, *wrapped, "-static", "-s", "-lm"], program, of.driver, text)


def _line(case: Case) -> str:
    """For the script: words without blanks."""
    words = [f"{name}={value}" for name, value in case.parameters.items()]
    return " ".join([case.name, case.kernel, "quick" if case.quick else "full", str(case.chunk), *words])


def _manifest(folder: Path, planned: Sequence[Case], chosen: Sequence[Kernel], size: str) -> str:
    """One line of JSON."""
    compiler = subprocess.run([*compiler_of("cc"), "--version"], capture_output=True, text=True, check=True).stdout
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    document = {
        "schema": MANIFEST_SCHEMA,
        "homenode_version": importlib.metadata.version("homenode"),
        "architecture": platform.machine(),
        "compiler": compiler.splitlines()[0],
        "size": size,
        "cases": [case.to_dict() for case in planned],
        "kernels": {one.name: {"source": source_hash(one), "timed": timed_labels(one.regions)} for one in chosen},
        "files": {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }
    return json.dumps(document, ensure_ascii=True)


def _packed(folder: Path) -> bytes:
    """The same bytes for the same files: no times, no names of users."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in [folder, *sorted(folder.rglob("*"))]:
            entry = tarfile.TarInfo(str(path.relative_to(folder.parent)))
            entry.mode = 0o755 if path.is_dir() or path.parent.name == "bin" or path.suffix == ".sh" else 0o644
            if path.is_dir():
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
                continue
            content = path.read_bytes()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as file:
        file.write(tar.getvalue())
    return packed.getvalue()
