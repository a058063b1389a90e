"""S0, 6.4 (C16, C17): what latency-weighted chunks gain over static, and what each hypothesis about the paper's 1.1 adds.

`python -m validation.published.s0_distribution --write` renews results_s0_distribution.md. A gain is the time of an iteration with
static chunks over that with weighted ones, both with stencil-aware pages; an iteration is what ten more take, divided by ten.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import homenode as hn
from validation.published.s0 import AWARE, MACHINES, Case, parameters_of
from validation.traces import captured

PAGE = Path(__file__).with_name("results_s0_distribution.md")
FOLDER = Path(__file__).parents[2] / "build" / "validation"
COMMAND = "python -m validation.published.s0_distribution --write"
CASES = (
    (Case("srad_v2", "", ()), 2, 12),
    (Case("srad_v1", "", ()), 2, 12),
    (Case("hotspot", "1024", ()), 2, 12),
    (Case("mg", "S", ()), 1, 4),
    (Case("ft", "S", ()), 1, 2),
)
# Why the machines may differ from their descriptions in what S0 saw; each is a change of one number, none is fitted.
HYPOTHESES: tuple[tuple[str, dict[str, str]], ...] = (
    ("as described", {}),
    ("lines from other sockets' caches take four times as long", {"core_to_core_remote": "x4"}),
    ("remote memory: links' latency x4", {"link_latency": "x4"}),
    ("no prefetching: one line in flight of each stream", {"prefetched_lines": "1"}),
    ("cores four times as fast, so that memory decides", {"core_time": "x0.25"}),
    (
        "all of these at once",
        {"core_to_core_remote": "x4", "link_latency": "x4", "prefetched_lines": "1", "core_time": "x0.25"},
    ),
)
WEIGHTED = "latency-weighted"


@dataclass(frozen=True)
class Gain:
    """Of one program on one machine."""

    program: str
    machine: str
    hypothesis: str
    static_seconds: float  # of an iteration
    weighted_seconds: float
    estimated: float  # gain by the closed form
    smallest_share: float  # over an equal share, in the region that takes longest
    command: str

    @property
    def gain(self) -> float:
        """By flow."""
        return self.static_seconds / self.weighted_seconds


def _trace(folder: Path, case: Case, steps: int) -> hn.Trace:
    of_steps = "iterations" if case.program in ("mg", "ft") else "steps"
    return captured(folder, case.program, {**parameters_of(case), of_steps: steps, "check": 0})


def gain(folder: Path, case: Case, few: int, more: int, machine: str, hypothesis: str, changes: dict[str, str]) -> Gain:
    """Replay and estimate both schedules on both traces."""
    target = hn.Machine.load(machine).with_changes(**changes)
    threads = MACHINES[machine]
    replayed, estimated, share = {}, {}, 1.0
    for distribution in ("static", WEIGHTED):
        seconds, guess = [], []
        for steps in (few, more):
            trace = _trace(folder, case, steps)
            result = hn.replay(trace, target, threads=threads, placement=AWARE.placement, distribution=distribution)
            estimate = hn.estimate(trace, target, threads=threads, placement=AWARE.placement, distribution=distribution)
            seconds.append(result.seconds)
            guess.append(estimate.seconds)
            if distribution == WEIGHTED:
                loops = [region for region in estimate.regions if len(region.schedule) > 1]
                longest = max(loops, key=lambda region: region.seconds)
                share = float(longest.weights.min() / longest.weights.mean())
        replayed[distribution] = (seconds[1] - seconds[0]) / (more - few)
        estimated[distribution] = (guess[1] - guess[0]) / (more - few)
    options = " ".join(f"--change {name}={value}" for name, value in changes.items())
    return Gain(
        case.name,
        machine,
        hypothesis,
        replayed["static"],
        replayed[WEIGHTED],
        estimated["static"] / estimated[WEIGHTED],
        share,
        f"homenode replay {case.program}.hnt --machine {machine} --threads {threads} --placement {AWARE.placement} "
        f"--distribution static --distribution {WEIGHTED} {options}".rstrip(),
    )


def gains(folder: Path, small: bool = False) -> Iterator[Gain]:
    """Every program as described; srad_v2 under each hypothesis."""
    for machine in MACHINES:
        for case, few, more in CASES[-1:] if small else CASES:
            for hypothesis, changes in HYPOTHESES if case.program == "srad_v2" else HYPOTHESES[:1]:
                yield gain(folder, case, few, more, machine, hypothesis, changes)


def table(found: list[Gain]) -> Iterator[str]:
    """Markdown."""
    yield "| program | machine | machine changed | static | weighted | gain | gain by the closed form | smallest chunk |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in found:
        yield (
            f"| {one.program} | {one.machine} | {one.hypothesis} | {1e3 * one.static_seconds:.4g} ms | "
            f"{1e3 * one.weighted_seconds:.4g} ms | {one.gain:.3f} | {one.estimated:.3f} | {100 * one.smallest_share:.3g} % |"
        )


def main(arguments: list[str] | None = None) -> int:
    """Print the gains, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.published.s0_distribution", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where traces are kept")
    parser.add_argument("--small", action="store_true", help="ft alone")
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    options = parser.parse_args(arguments)
    found = []
    for one in gains(options.folder, options.small):
        found.append(one)
        print(list(table([one]))[-1], flush=True)
    if options.write and not options.small:
        text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        kept = "\n## " + text.partition("\n## ")[2] if "\n## " in text else ""
        head = [
            "# S0, 6.4: latency-weighted chunks",
            "",
            f"Written by `{COMMAND}`, down to the table. Time of one iteration under stencil-aware pages, all cores pinned, `flow`;",
            "the gain is static's time over the weighted one's. S0 found up to 1.1 for srad_v2 and none for the others (C16, C17).",
            "The smallest chunk is over an equal share, in the region that takes longest.",
            "",
        ]
        PAGE.write_text("\n".join([*head, *table(found)]) + "\n" + kept, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
