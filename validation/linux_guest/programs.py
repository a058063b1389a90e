"""The guest's C programs: compiled statically for it, and by `homenode cc` for the model."""

import shutil
import subprocess
import sys
from pathlib import Path

from validation.linux_guest.guest import MissingPart

SOURCES = Path(__file__).with_name("programs")
PSM = Path(__file__).parents[2] / "traces" / "psm"
_FLAGS = ["-std=gnu11", "-O2", "-fopenmp"]
# The whole archive, so that malloc is tcmalloc's in every object.
_TCMALLOC = ["-Wl,--whole-archive", "-l:libtcmalloc_minimal.a", "-Wl,--no-whole-archive", "-lstdc++", "-lm"]


def _compile(source: str, target: Path, *more: str) -> None:
    command = ["gcc", *_FLAGS, "-static", str(SOURCES / source), *more, "-o", str(target)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise MissingPart(f"{target.name} did not compile: {ended.stderr.strip().splitlines()[-1]}")


def has_tcmalloc() -> bool:
    """Whether the static library is installed (Debian: libgoogle-perftools-dev)."""
    name = "libtcmalloc_minimal.a"
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=False).stdout
    return found.strip() != name


def for_guest(folder: Path) -> dict[str, Path]:
    """The static programs by name; heap_tcmalloc only where the library is."""
    if shutil.which("gcc") is None:
        raise MissingPart("no gcc")
    folder.mkdir(parents=True, exist_ok=True)
    psm = [f"-I{PSM}", *(str(path) for path in sorted(PSM.glob("*.c")))]
    made: dict[str, tuple[str, list[str]]] = {
        "placement": ("placement.c", []),
        "balance": ("balance.c", []),
        "psm_pages": ("psm_pages.c", psm),
        "heap_glibc": ("heap_list1.c", []),
        "heap_psm": ("heap_list1.c", ["-DWITH_PSM", *psm]),
    }
    if has_tcmalloc():
        made["heap_tcmalloc"] = ("heap_list1.c", _TCMALLOC)
    for name, (source, more) in made.items():
        _compile(source, folder / name, *more)
    return {name: folder / name for name in made}


def traced(source: str, folder: Path) -> Path:
    """A program compiled for tracing."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / Path(source).stem
    homenode = Path(sys.executable).with_name("homenode")
    subprocess.run([str(homenode), "cc", *_FLAGS, "-g", str(SOURCES / source), "-o", str(target)], check=True)
    return target
