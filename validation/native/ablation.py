"""A mechanism of the model switched off, one at a time: what it is worth shows in how the errors change."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import homenode as hn
from homenode.run_spec import schedules_of

_ZERO = re.compile(
    r"^(parallel|cold|huge|serial|zeroing|serial_transfers)( *= *\{ *value *= *)(\"[^\"]*\"|[0-9.]+)(.*)$"
)


class Switch(NamedTuple):
    """A mechanism, and the run that leaves it out; None: this machine does not have it."""

    name: str
    without: Callable[[hn.RunSpec, Path], hn.RunSpec | None]  # Path: a folder to write to


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


_FAULTS = {
    "parallel": "0 ns",
    "cold": "0 ns",
    "huge": "0 ns",
    "serial": "0 ns",
    "serial_transfers": "0",
    "zeroing": "0",
}


def _no_faults(spec: hn.RunSpec, folder: Path) -> hn.RunSpec:
    own = _changes(*((f"system.faults.{name}", zero) for name, zero in _FAULTS.items()))(spec, folder)
    if own is not None:  # the machine's own operating system, as calibration measured it
        return own
    system = folder / "no_faults.toml"
    folder.mkdir(parents=True, exist_ok=True)
    description = Path(hn.__file__).parent / "systems" / "default.toml"
    system.write_text(without_faults(description.read_text(encoding="utf-8")), encoding="utf-8")
    return spec.with_(system=str(system))


def _classes(spec: hn.RunSpec, folder: Path) -> hn.RunSpec | None:
    """The class bound is all that there is on a core without a block model."""
    has_blocks = any(one["path"] == "core.llvm_cpu" and one["value"] for one in spec.machine.parameters)
    return spec.with_(core="classes") if has_blocks else None


def _changes(*changes: tuple[str, str]) -> Callable[[hn.RunSpec, Path], hn.RunSpec | None]:
    """Those of them that the machine has."""

    def without(spec: hn.RunSpec, folder: Path) -> hn.RunSpec | None:
        known = {name: value for name, value in changes if name in spec.machine.changeable_names}
        return spec.with_(machine=spec.machine.with_changes(known)) if known else None

    return without


SWITCHES = (
    Switch("block model off (--core classes)", _classes),
    Switch("mispredictions free", _changes(("core.misprediction", "0"))),
    Switch("page faults free", _no_faults),
    Switch("streams read again do not disturb", _changes(("core.reread_slowdown", "0"), ("core.reread_serial", "0"))),
    Switch("prefetchers follow from the first line", _changes(("core.prefetch_trigger", "0"))),
    Switch("streams do not wait for page walks", _changes(("tlb.stream_walk", "0 ps"))),
    Switch("the core waits for no load", _changes(("core.load_waits", "0"))),
    Switch("everything in a slice overlaps", _changes(("core.overlap_accesses", "1000000000"))),
)


def seconds_without(trace: hn.Trace, spec: hn.RunSpec, folder: Path) -> dict[str, float]:
    """Predicted seconds by what is switched off. Runs that see the same caches share what the caches did."""
    specs = {switch.name: found for switch in SWITCHES if (found := switch.without(spec, folder)) is not None}
    results = hn.replay_grid(trace, list(specs.values()), workers=1) if specs else []
    return {name: result.seconds for name, result in zip(specs, results, strict=True)}


def main() -> None:
    """Write them as JSON: `python -m validation.native.ablation TRACE MACHINE THREADS FOLDER`; 0 threads: the program's own."""
    trace, machine, threads = hn.Trace.open(sys.argv[1]), hn.Machine.load(Path(sys.argv[2])), int(sys.argv[3])
    own, schedules = trace.own_threads, schedules_of(trace).get("distribution", "static")
    if own and not threads:
        spec = hn.RunSpec(machine, stores="regular", threads=own[0], oversubscribe=True)
    else:
        spec = hn.RunSpec(machine, stores="regular", threads=threads, distribution=schedules)
    json.dump(seconds_without(trace, spec, Path(sys.argv[4])), sys.stdout)


if __name__ == "__main__":
    main()
