"""Where the package keeps what it ships: machine descriptions, kernel sources, the capture runtime, the compiler pass."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
MACHINES = _PACKAGE / "machines"
SYSTEMS = _PACKAGE / "systems"
ENERGY = _PACKAGE / "energy"
KERNELS = _PACKAGE / "kernels"
CAPTURE_RUNTIME = _PACKAGE / "capture_runtime"
PROGRAMS = _PACKAGE / "programs"
ANALYSIS = _PACKAGE / "analysis"
CMAKE = _PACKAGE / "cmake"
ENGINES = _PACKAGE / "engines"
REPORT_SCHEMA = _PACKAGE / "report-1.schema.json"
KIT_PARTS = _PACKAGE / "kit_parts"


def core_model() -> Path | None:
    """`homenode-mca`, which computes the cycles of code on a core; None if homenode was built without LLVM 19."""
    program = PROGRAMS / "homenode-mca"
    return program if program.is_file() else None


def simgrid_module() -> Path | None:
    """What the engine `simgrid` loads; None if homenode was built without SimGrid."""
    module = ENGINES / "simgrid.so"
    return module if module.is_file() else None


def kit_calibration() -> Path | None:
    """What a kit's `homenode-calibrate` is linked from; None if homenode was built without the archives of hwloc and xxHash."""
    archive = KIT_PARTS / "libhomenode_calibrate.a"
    return archive if archive.is_file() else None


def capture_runtime() -> Path:
    """The folder of the recording runtime; the environment's HOMENODE_CAPTURE_RUNTIME comes first."""
    return Path(os.environ.get("HOMENODE_CAPTURE_RUNTIME") or CAPTURE_RUNTIME)


def cache_directory() -> Path:
    """The user's cache: compiled kernels, by the hash of what they were made from."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "homenode"
