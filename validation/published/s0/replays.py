"""S0's replays: a program's trace with a few iterations more or fewer, each with one placement, mapping and machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import homenode as hn
from validation.published.s0.cases import (
    MACHINES,
    PINNED,
    SYSTEMS,
    A,
    Balancing,
    Case,
    Timing,
    of_steps,
    parameters_of,
)
from validation.result_cache import ResultCache
from validation.traces import captured, enlarged

# From here on a grid is extrapolated from captures of these sizes (the last is held out), each of at least six rows of blocks.
EXTRAPOLATED_FROM = 4096
SMALL_SIZES = (96, 112, 128, 160)
NEVER_SCANS = "+autonuma:scan_delay=1000000s"
LINUX_SCAN_DELAY = 1.0  # seconds; kernel/sched/fair.c, sysctl_numa_balancing_scan_delay


def _trace_of(folder: Path, case: Case, steps: int) -> Path:
    parameters = parameters_of(case)
    if parameters.get("class") == "B" and case.kernel == "mg":
        parameters["class"] = "A"  # the same grid
    parameters = {**parameters, of_steps(case): steps, "check": 0}
    if case.kernel != "hotspot" or int(case.size) < EXTRAPOLATED_FROM:
        return captured(folder, case.kernel, parameters).path
    return enlarged(folder, case.kernel, parameters, "size", SMALL_SIZES, int(case.size)).path


def _longest_region(run: Mapping[str, Any]) -> str:
    region = max(run["regions"], key=lambda region: float(region["seconds"]))
    return f"{region['binding_resource']}, {region['label']}"


def _shares_caches(setting: hn.RunSpec, other: hn.RunSpec) -> bool:
    return all("+" not in one.placement and one.mapping == "compact" for one in (setting, other)) and (
        setting.distribution == other.distribution == "static"
    )


def _asked(machine: str, setting: hn.RunSpec) -> hn.RunSpec:
    return setting.with_(machine=machine, threads=MACHINES[machine], system=SYSTEMS[machine])


def _question(trace: hn.Trace, machine: str, setting: hn.RunSpec) -> dict[str, Any]:
    names = _asked(machine, setting).options(("threads", "seed", "placement", "mapping", "distribution", "system"))
    return {"trace": trace.hash, "machine": machine, **names}


def _answer(result: hn.Result) -> dict[str, Any]:
    moved = result.traffic
    return {
        "seconds": result.seconds,
        "pass_seconds": sum(r["seconds"] for r in result.run["regions"] if r["label"] == "placement pass"),
        "idle": [float(seconds) for seconds in result.threads["idle_seconds"]],
        "remote": 1 - float(moved.trace()) / float(moved.sum()) if moved.sum() else 0.0,
        "held_up_by": _longest_region(result.run),
        "hinting_faults": int(result.run["hinting_faults"]),
        "migrated_pages": int(result.run["migrated_pages"]),
    }


@dataclass(frozen=True)
class Replays:
    """Where traces and answers are kept."""

    folder: Path
    cache: ResultCache

    def _replay(self, case: Case, steps: int, machine: str, setting: hn.RunSpec) -> tuple[dict[str, Any], str]:
        path = _trace_of(self.folder, case, steps)
        trace = hn.Trace.open(path)
        # Placements of a pinned team read what the first of them recorded of the caches, if they are replayed in one grid.
        together = [other for other in case.placed if _shares_caches(other, setting)]
        if setting in together:
            self._ask(trace, machine, together, workers=1)
        elif setting in case.settings:  # side by side on the host's cores
            self._ask(trace, machine, [other for other in case.settings if not _shares_caches(other, PINNED)])
        answer = self.cache.get(
            _question(trace, machine, setting),
            lambda: _answer(hn.replay_grid(trace, [_asked(machine, setting)], workers=1)[0]),
        )
        return answer, _asked(machine, setting).command(path.name)

    def _ask(self, trace: hn.Trace, machine: str, settings: Sequence[hn.RunSpec], workers: int | None = None) -> None:
        """Replay in one grid what was not replayed before."""
        missing = [other for other in settings if _question(trace, machine, other) not in self.cache]
        if not missing:
            return
        results = hn.replay_grid(trace, [_asked(machine, other) for other in missing], workers=workers)
        for other, result in zip(missing, results, strict=True):
            self.cache.get(_question(trace, machine, other), partial(_answer, result))

    def timing(self, case: Case, machine: str, setting: hn.RunSpec) -> Timing:
        """Take a case apart into what happens once and what each iteration takes."""
        few, _ = self._replay(case, case.few, machine, setting)
        more, command = self._replay(case, case.more, machine, setting)
        step = (more["seconds"] - few["seconds"]) / (case.more - case.few)
        idle = tuple(
            (later - earlier) / (more["seconds"] - few["seconds"])
            for earlier, later in zip(few["idle"], more["idle"], strict=True)
        )
        return Timing(few["seconds"] - case.few * step, step, more["remote"], idle, more["held_up_by"], command)

    def balancing(self, case: Case, machine: str, setting: hn.RunSpec, timing: Timing) -> Balancing:
        """Replay with automatic balancing from the first iteration's end on; a tenth of the rest passes for a second.

        Linux waits for a second, by when initialisation and many iterations are over. An iteration is the least that passes for it.
        """
        replay = self._replay(case, case.more, machine, setting)[0]
        without, step = replay["seconds"], timing.step_seconds
        # the placement pass is over when the program's time begins
        delay = min(timing.once_seconds - replay["pass_seconds"] + step, LINUX_SCAN_DELAY)
        second = float(f"{min(max((without - replay['pass_seconds'] - delay) / 10, step), LINUX_SCAN_DELAY):.3g}")
        # Linux 4.4 scans every 1 to 60 s, 3.10 every 0.1 to 5 s (models/placement/autonuma.cpp)
        shortest, longest = (1, 60) if machine == A else (0.1, 5)
        modifier = (
            f"+autonuma:scan_delay={delay * 1e9:.0f}ns,scan_period_min={second * shortest * 1e9:.0f}ns,"
            f"scan_period_max={second * longest * 1e9:.0f}ns"
        )
        balanced = setting.with_(placement=setting.placement + modifier)
        found, command = self._replay(case, case.more, machine, balanced)
        # Where pages may move, slices pass the caches in the order of time (docs/decisions/0008), so in what this is held against, too.
        never = setting.with_(placement=setting.placement + NEVER_SCANS)
        without = self._replay(case, case.more, machine, never)[0]["seconds"]
        return Balancing(without, found["seconds"], second, found["hinting_faults"], found["migrated_pages"], command)
