"""`./dev demo`: capture a real kernel, rank policies for it on two machines, and say in words what was learnt."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from homenode.capturing import capture
from homenode.cli import console
from homenode.cli.replay_tables import print_ranking
from homenode.confidence import settle
from homenode.grids import replay_grid
from homenode.machine import Machine
from homenode.result import Result
from homenode.run_spec import command, grid

MACHINES = {"xeon-x7560-4s": 32, "opteron-8431-4s": 24}  # with all their cores
PLACEMENTS = ("first-touch", "interleave", "bind:0")
DISTRIBUTIONS = ("static", "dynamic:4")
UNTOUCHED = ("first-touch", "static")  # what Linux and the program do when nobody interferes


def lesson(runs: list[dict[str, Any]]) -> str:
    """What the runs of one machine say about the program as it stands, in one sentence made from their figures."""
    best = min(runs, key=lambda run: run["seconds"])
    untouched = next(run for run in runs if (run["placement"], run["distribution"]) == UNTOUCHED)
    gain = untouched["seconds"] / best["seconds"]
    choice = f"'{best['placement']}' with '{best['distribution']}'"
    if gain < 1.02:
        return f"on {best['machine']} leave it as it is: no choice here gains more than {100 * (gain - 1):.1f} %"
    # The region that loses most to the best choice, and what holds it up.
    better = {region["label"]: region["seconds"] for region in best["regions"]}
    worst = max(untouched["regions"], key=lambda region: region["seconds"] - better[region["label"]])
    pages = untouched["pages_by_node"]
    fullest = max(range(len(pages)), key=pages.__getitem__)
    share = 100 * pages[fullest] / sum(pages)
    return (
        f"on {best['machine']} {choice} makes it {gain:.2f} times as fast as '{UNTOUCHED[0]}' with '{UNTOUCHED[1]}'. "
        f"The latter puts {share:.0f} % of the pages on node {fullest}: {worst['binding_resource']} holds up '{worst['label']}', "
        f"which takes {worst['seconds'] / better[worst['label']]:.2f} times as long"
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="./dev demo", description=main.__doc__)
    parser.add_argument("--size", type=int, default=160, help="sites of jacobi3d in each direction")
    parser.add_argument("--sweeps", type=int, default=10, help="sweeps of jacobi3d")
    options = parser.parse_args(arguments)
    screen = console.output()
    with tempfile.TemporaryDirectory(prefix="homenode-demo-") as folder:
        file = Path(folder) / "jacobi3d.hnt"
        sides = dict.fromkeys(("ni", "nj", "nk", "bk"), options.size)
        settings: dict[str, Any] = {**sides, "sweeps": options.sweeps, "init": "serial"}
        words = " ".join(f"--set {name}={value}" for name, value in settings.items())
        screen.print(f"$ homenode capture jacobi3d {words} -o jacobi3d.hnt", soft_wrap=True)
        trace = capture("jacobi3d", output=file, progress=lambda step: screen.print(f"{step} …"), **settings)
        size = console.quantity(file.stat().st_size, "B")
        screen.print(f"{console.count(trace.accesses)} accesses, {size} on disk")
        results: list[Result] = []
        for name, threads in MACHINES.items():
            choices = grid([Machine.load(name)], [threads], placement=PLACEMENTS, distribution=DISTRIBUTIONS)
            screen.print(f"\n$ {command('jacobi3d.hnt', choices)}", soft_wrap=True)
            with console.progress("replaying", len(choices)) as advance:
                of_machine = replay_grid(trace, choices, advance=advance)
                first_places = settle(trace, choices, of_machine, advance=advance)
            print_ranking(screen, of_machine, [choices[0].machine], first_places)
            results += of_machine
    learnt = [lesson([result.run for result in results if result.run["machine"] == name]) for name in MACHINES]
    screen.print("\nWhat this says about jacobi3d, whose arrays one thread initialises:")
    for said in learnt:
        console.say(screen, f"- {said[0].upper()}{said[1:]}.")


if __name__ == "__main__":
    main()
