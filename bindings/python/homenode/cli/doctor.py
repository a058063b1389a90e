"""`homenode doctor`: what is installed, and what each missing part is needed for. Runs where the extension cannot be loaded."""

import ctypes
import importlib
import importlib.metadata
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click

from homenode.cli import console
from homenode.resources import capture_runtime, core_model, kit_calibration, simgrid_module

_PACKAGES = {"numpy": "everything", "pandas": "everything", "rich": "everything", "click": "everything"}
_OPTIONAL_PACKAGES = {"plotly": "figures: homenode report, advise --map"}
_TOOLS = {
    "gcc": "homenode cc, homenode capture KERNEL",
    "g++": "homenode c++",
    "objdump": "homenode cc: finding code that gcc does not instrument",
}
_OPTIONAL_TOOLS = {
    "gfortran": "homenode fortran",
    "clang": "homenode classify; homenode validate fuzz",
    "setarch": "homenode capture: the same addresses in each capture",
    "valgrind": "homenode import lackey; ./dev bench: the cachegrind row",
    "qemu-system-x86_64": "homenode validate linux-guest, linux-guest-kit",
}
_LIBRARIES = {
    "hwloc": "homenode machine detect",
    "scotch": "homenode replay --mapping scotch",
    "zstd": "everything",
}
"""What the extension is linked to: where one is missing, it cannot be loaded. In a wheel they are part of it."""


def extension_error() -> str | None:
    """Why the extension cannot be loaded; None if it can."""
    try:
        importlib.import_module("homenode._core")
    except ImportError as error:
        return str(error)
    return None


def _entry(name: str, found: bool, version: str | None, needed_for: str, optional: bool = False) -> dict[str, Any]:
    return {"name": name, "found": found, "version": version, "needed_for": needed_for, "optional": optional}


def _tool(name: str, needed_for: str, optional: bool) -> dict[str, Any]:
    # Debian has versions of clang beside each other.
    paths = [shutil.which(name), *(shutil.which(f"{name}-{version}") for version in (19, 14) if name == "clang")]
    path = next((path for path in paths if path), None)
    version = None
    if path:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
        version = said[0] if said else None
    return _entry(name, path is not None, version, needed_for, optional)


def _package(name: str, needed_for: str, optional: bool) -> dict[str, Any]:
    try:
        version: str | None = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = None
    return _entry(name, version is not None, version, needed_for, optional)


def _libraries(error: str | None) -> list[dict[str, Any]]:
    """Which files the loader found for what the extension is linked to; where none of it is known, what its error says."""
    checks = []
    for name, needed_for in _LIBRARIES.items():
        file = _loaded_file(f"lib{name}") if error is None else None
        missing = f"lib{name}" in (error or "")
        if file or missing:
            checks.append(_entry(f"lib{name}", file is not None, file, needed_for))
    return checks


def _loaded_file(library: str) -> str | None:
    """The file of a library in this process."""
    found = re.search(rf"/({library}[^/\s]*\.so\S*)", Path("/proc/self/maps").read_text(encoding="utf-8"))
    return found[1] if found else None


def _simgrid() -> dict[str, Any]:
    """What the engine `simgrid` loads when it is asked for: loaded here to see whether it can be."""
    module = simgrid_module()
    found, version = False, "homenode was built without it"
    if module is not None:
        try:
            ctypes.CDLL(str(module))
            found, version = True, _loaded_file("libsimgrid") or ""
        except OSError as error:
            version = str(error)
    return _entry("libsimgrid", found, version, "homenode replay --engine simgrid", optional=True)


def _described(error: str | None) -> list[dict[str, Any]]:
    """What the extension knows of."""
    if error is not None:
        return []
    from homenode import _core
    from homenode.kernel_sources import kernels
    from homenode.machine import Machine

    return [
        _entry("kernels", True, f"{len(kernels())} programs", "homenode capture KERNEL"),
        _entry("machines", True, f"{len(Machine.names())} described", "homenode replay"),
        _entry("engines", True, ", ".join(_core.engine_names()), "homenode replay"),
    ]


@click.command("doctor")
@console.json_option
def command(as_json: bool) -> int:
    """List the parts that are installed, and the commands that need a missing one. Exit code 2 if one is missing that is not optional."""
    error = extension_error()
    version = importlib.metadata.version("homenode")
    runtime = (capture_runtime() / "libtsan_preinit.o").is_file()
    checks = [
        _entry("homenode", True, version, "everything"),
        _entry("python", True, platform.python_version(), "everything"),
        _entry("extension", error is None, error or version, "everything but homenode cc, c++, fortran and doctor"),
        *_libraries(error),
        _simgrid(),
        *(_package(name, needed_for, False) for name, needed_for in _PACKAGES.items()),
        *(_package(name, needed_for, True) for name, needed_for in _OPTIONAL_PACKAGES.items()),
        *(_tool(name, needed_for, False) for name, needed_for in _TOOLS.items()),
        *(_tool(name, needed_for, True) for name, needed_for in _OPTIONAL_TOOLS.items()),
        _entry("capture runtime", runtime, None, "homenode cc, homenode capture"),
        _entry(
            "core model", core_model() is not None, None, "core times from code (LLVM 19 at the build)", optional=True
        ),
        _entry("kit", kit_calibration() is not None, None, "homenode kit (libhwloc.a at the build)", optional=True),
        *_described(error),
    ]
    healthy = all(check["found"] or check["optional"] for check in checks)
    if as_json:
        console.print_json({"homenode_version": version, "healthy": healthy, "checks": checks})
    else:
        table = console.table("part", "found", "version", "needed for")
        for check in checks:
            found = "[green]yes[/green]" if check["found"] else "[red]no[/red]"
            needed = f"{check['needed_for']}{' (optional)' if check['optional'] else ''}"
            table.add_row(check["name"], found, console.plain(check["version"] or ""), needed)
        console.output().print(table)
    return 0 if healthy else 2
