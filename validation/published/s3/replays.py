"""S3's replays: its kinds of programs under mappings by type and otherwise."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.map_suggestion import thread_map
from homenode.run_spec import command
from validation.published import ONE_SOCKET
from validation.published.s3.cases import UMA
from validation.traces import captured, trace_path


@dataclass(frozen=True)
class Mapped:
    """One program under one mapping."""

    seconds: float
    joules: float
    core_joules: float
    private_hit_rate: float  # of the lines that arrive at the first level, what L1 and L2 serve
    local_share: float  # of the bytes moved at controllers
    parallelism: float  # seconds that threads worked in a second
    wakeups: int
    sensitivity: Mapping[str, Sequence[float]]  # joules at both ends of each parameter's interval
    command: str

    @property
    def watts(self) -> float:
        """Mean power of the whole machine."""
        return self.joules / self.seconds

    @property
    def core_watts(self) -> float:
        """Mean power of the cores."""
        return self.core_joules / self.seconds


def figures(run: Mapping[str, Any], command: str) -> Mapped:
    """Of a run of the report."""
    rates = run["cache_hit_rates"]
    private = rates["L1"] + (1 - rates["L1"]) * rates["L2"]
    local = sum(row[node] for node, row in enumerate(run["traffic_bytes"]))
    moved = sum(map(sum, run["traffic_bytes"]))
    return Mapped(
        run["seconds"],
        run["energy_joules"]["total"],
        run["energy_joules"]["cores"],
        private,
        local / moved if moved else 1.0,
        sum(entry["busy_seconds"] for entry in run["threads_detail"]) / run["seconds"],
        run["energy_detail"]["wakeups"],
        run["energy_detail"]["sensitivity_joules"],
        command,
    )


def machine_named(name: str) -> hn.Machine:
    """A described machine, or the one of one socket."""
    return hn.Machine.load(ONE_SOCKET if name == UMA else name)


def mapped(
    folder: Path,
    kernel: str,
    parameters: Mapping[str, int | str],
    machine: str,
    *mappings: str,
    system: str | Path = "default",
) -> dict[str, Mapped]:
    """A program under each mapping."""
    settings = {**parameters, "check": 0}
    trace, path = captured(folder, kernel, settings), trace_path(folder, kernel, settings)
    threads = len(trace.inspect()["threads"])
    choices = hn.grid([machine_named(machine)], [threads], mapping=mappings, oversubscribe=True, system=system)
    repeat = command(path.name, choices)
    return {
        mapping: figures(result.run, repeat)
        for mapping, result in zip(mappings, hn.replay_grid(trace, choices), strict=True)
    }


def systems(folder: Path, keys: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """The default system with one number of its scheduler at either end of its interval."""
    described = hn.System.load("default")
    text = described.path.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for entry in described.parameters:
        key = entry["path"].removeprefix("scheduler.")
        for end in (entry["low"], entry["high"]) if key in keys else ():
            changed, count = re.subn(rf'(?m)^{key} = {{ value = "[^"]*"', f'{key} = {{ value = "{end}"', text)
            if count != 1:
                raise ValueError(f"{key} stands {count} times in {described.path}")
            path = folder / f"{key}-{end.replace(' ', '')}.toml"
            path.write_text(changed, encoding="utf-8")
            yield f"{key} {end}", path


def balances(folder: Path, machine: hn.Machine, most: int) -> dict[tuple[int, int], int]:
    """By threads and cores: how far the numbers of autonomous threads on two cores are apart."""
    found = {}
    for workers in range(1, most + 1):
        settings: dict[str, int | str] = {"integer": workers, "floating": 0, "elements": 1, "rounds": 1, "check": 0}
        load = [0] * machine.cores
        for entry in thread_map(captured(folder, "threads_autonomous", settings), machine, mapping="btdm")[1:]:
            load[entry.cores[0]] += 1
        found[workers, machine.cores] = max(load) - min(load)
    return found
