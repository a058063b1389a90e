"""`homenode doctor`: what is installed, and what each missing part is needed for."""

import importlib.metadata
import platform
import shutil
import subprocess
from typing import Any

import click

from homenode import _core
from homenode.cli import console
from homenode.kernel_sources import kernels
from homenode.machine import Machine
from homenode.resources import capture_runtime


def _tool(name: str, needed_for: str) -> dict[str, Any]:
    path = shutil.which(name)
    version = None
    if path:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
        version = said[0] if said else None
    return {"name": name, "found": path is not None, "version": version, "needed_for": needed_for}


def _package(name: str, needed_for: str) -> dict[str, Any]:
    try:
        version: str | None = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = None
    return {"name": name, "found": version is not None, "version": version, "needed_for": needed_for}


@click.command("doctor")
@console.json_option
def command(as_json: bool) -> int:
    """List the parts that are installed, and the commands that need a missing one. Exit code 2 if a part is missing."""
    runtime = (capture_runtime() / "libtsan_preinit.o").is_file()
    checks = [
        {"name": "homenode", "found": True, "version": _core.version, "needed_for": "everything"},
        {"name": "python", "found": True, "version": platform.python_version(), "needed_for": "everything"},
        *(_package(name, "everything") for name in ("numpy", "pandas", "rich", "click")),
        _tool("gcc", "homenode cc, homenode capture KERNEL"),
        _tool("g++", "homenode c++"),
        _tool("gfortran", "homenode fortran"),
        _tool("objdump", "homenode cc: finding code that gcc does not instrument"),
        _tool("valgrind", "./dev bench: the cachegrind row"),
        {"name": "capture runtime", "found": runtime, "version": None, "needed_for": "homenode cc, homenode capture"},
        {
            "name": "kernels",
            "found": True,
            "version": f"{len(kernels())} programs",
            "needed_for": "homenode capture KERNEL",
        },
        {
            "name": "machines",
            "found": True,
            "version": f"{len(Machine.names())} described",
            "needed_for": "homenode replay",
        },
        {"name": "engines", "found": True, "version": ", ".join(_core.engine_names()), "needed_for": "homenode replay"},
    ]
    healthy = all(check["found"] for check in checks if check["name"] not in ("valgrind", "gfortran"))
    if as_json:
        console.print_json({"homenode_version": _core.version, "healthy": healthy, "checks": checks})
    else:
        table = console.table("part", "found", "version", "needed for")
        for check in checks:
            found = "[green]yes[/green]" if check["found"] else "[red]no[/red]"
            table.add_row(check["name"], found, check["version"] or "", check["needed_for"])
        console.output().print(table)
    return 0 if healthy else 2
