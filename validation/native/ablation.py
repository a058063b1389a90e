"""A mechanism of the model switched off, one at a time: what it is worth shows in how the errors change."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import homenode as hn

_ZERO = re.compile(r"^(parallel|serial|zeroing|serial_transfers)( *= *\{ *value *= *)(\"[^\"]*\"|[0-9.]+)(.*)$")


class Switch(NamedTuple):
    """A mechanism, and the options of `homenode replay` that leave it out; none: this machine does not have it."""

    name: str
    options: Callable[[Path, Path], list[str]]  # of machine and a folder to write to


def without_faults(system: str) -> str:
    """The description of an operating system in which a page fault takes no time; what stands in [faults] alone is changed."""
    lines, inside = [], False
    for line in system.splitlines():
        if line.startswith("["):
            inside = line.strip() == "[faults]"
        found = _ZERO.match(line) if inside else None
        if found is None:
            lines.append(line)
            continue
        name, middle, value, rest = found.groups()
        zero = '"0 ns"' if value.startswith('"') else "0.0"
        rest = re.sub(r", (low|high) = (\"[^\"]*\"|[0-9.]+)", "", rest)
        lines.append(f"{name}{middle}{zero}{rest}")
    return "\n".join(lines) + "\n"


_FAULTS = {"parallel": "0 ns", "serial": "0 ns", "serial_transfers": "0", "zeroing": "0"}


def _no_faults(machine: Path, folder: Path) -> list[str]:
    known = hn.Machine.load(machine).changeable_names
    own = [f"system.faults.{name}={zero}" for name, zero in _FAULTS.items() if f"system.faults.{name}" in known]
    if own:  # the machine's own operating system, as calibration measured it
        return [word for change in own for word in ("--change", change)]
    system = folder / "no_faults.toml"
    folder.mkdir(parents=True, exist_ok=True)
    description = Path(hn.__file__).parent / "systems" / "default.toml"
    system.write_text(without_faults(description.read_text(encoding="utf-8")), encoding="utf-8")
    return ["--system", str(system)]


def _change(name: str, value: str) -> Callable[[Path, Path], list[str]]:
    """Where the machine has such a number."""

    def options(machine: Path, folder: Path) -> list[str]:
        return ["--change", f"{name}={value}"] if name in hn.Machine.load(machine).changeable_names else []

    return options


def _classes(machine: Path, folder: Path) -> list[str]:
    """The class bound is all that there is on a core without a block model."""
    has_blocks = any(one["path"] == "core.llvm_cpu" and one["value"] for one in hn.Machine.load(machine).parameters)
    return ["--core", "classes"] if has_blocks else []


def _changes(*changes: tuple[str, str]) -> Callable[[Path, Path], list[str]]:
    """Those of them that the machine has."""

    def options(machine: Path, folder: Path) -> list[str]:
        return [word for name, value in changes for word in _change(name, value)(machine, folder)]

    return options


SWITCHES = (
    Switch("block model off (--core classes)", _classes),
    Switch("mispredictions free", _change("core.misprediction", "0")),
    Switch("page faults free", _no_faults),
    Switch("streams read again do not disturb", _changes(("core.reread_slowdown", "0"), ("core.reread_serial", "0"))),
    Switch("prefetchers follow from the first line", _change("core.prefetch_trigger", "0")),
    Switch("everything in a slice overlaps", _change("core.overlap_accesses", "1000000000")),
)
