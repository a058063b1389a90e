"""How sure a ranking is: machines sampled within what is known of their numbers, the same samples for all that is compared.

Each sample takes every uncertain value of the machine once, by a Latin hypercube (`sampling`).
All choices of a comparison are replayed on the same sampled machine and with the same seed, so that what they have in common
cancels. What a parameter's measurement would settle is its share of the variance of log(time A / time B): the squared
correlation over the samples, which is the first-order sensitivity index as far as the effect is linear (Saltelli et al.,
Global Sensitivity Analysis: The Primer, 2008, 1.2.5), less what chance alone gives (adjusted R²); summed over pairs, each
weighted by how contested it is, min(P, 1 - P).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import notebook, report
from homenode.arguments import whole_number
from homenode.errors import UsageError
from homenode.first_place import contenders, first_place, is_tie, log_ratio, samples_that_fit
from homenode.grids import replay_grid, replay_seconds, replay_times
from homenode.machine import Machine
from homenode.rank_by import regions_to_rank_by
from homenode.result import Result
from homenode.run_spec import RunSpec, check, several
from homenode.sampling import changed, sampled_factors
from homenode.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

SAMPLES = 40
LEVEL = 0.9  # of the intervals: from the 5th to the 95th percentile of the samples
MODEL_OF_MEMORY = "memory_time"  # of the uncertainties the one that nobody can measure
CORE_FACTORS = (0.5, 2.0)  # of the time of instructions, for the mark of rankings that depend on it


def probability(faster: NDArray[np.float64], slower: NDArray[np.float64]) -> float:
    """Share of the samples in which the first takes less time; equal times count half."""
    import numpy

    return float(numpy.mean((faster < slower) + 0.5 * (faster == slower)))


def interval(samples: Sequence[float] | NDArray[np.float64], stated: float) -> tuple[float, float]:
    """From the 5th to the 95th percentile of the samples, and to what the stated machine gives: its numbers may lie at an end."""
    import numpy

    low, high = (float(bound) for bound in numpy.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    return min(low, stated), max(high, stated)


def explained(values: NDArray[np.float64], effect: NDArray[np.float64]) -> float:
    """Share of the variance of `effect` that a linear dependence on `values` explains, adjusted for chance: 0 to 1."""
    import numpy

    samples = len(values)
    if samples < 3 or numpy.ptp(values) == 0 or numpy.ptp(effect) == 0:
        return 0.0
    correlation = float(numpy.corrcoef(values, effect)[0, 1])
    return max(0.0, 1 - (1 - correlation**2) * (samples - 1) / (samples - 2))


@dataclass(frozen=True)
class Ranking:
    """What `rank` yields."""

    results: list[Result]
    """In the order of the choices; ``run["seconds_interval"]`` of each is filled in."""
    confidence: dict[str, Any]
    """The report's ``confidence``."""

    @property
    def pairs(self) -> pd.DataFrame:
        """By pair: index of the run that is ranked first, the other's, P(first beats second), whether core time flips them."""
        import pandas

        columns = ["faster", "slower", "probability", "flips_with_core_time"]
        return pandas.DataFrame(
            [pair for ranking in self.confidence["rankings"] for pair in ranking["pairs"]], columns=columns
        )

    @property
    def parameters(self) -> pd.DataFrame:
        """What measuring each parameter would settle: its share of the variance of contested comparisons, largest first."""
        import pandas

        rows = [
            {"machine": ranking["machine"], **parameter}
            for ranking in self.confidence["rankings"]
            for parameter in ranking["parameters"]
        ]
        return pandas.DataFrame(rows, columns=["machine", "name", "value", "low", "high", "basis", "share"])

    def _repr_html_(self) -> str:
        """For notebooks: the runs of each ranking by time, with their intervals."""
        names = ("machine", "threads", "placement", "mapping", "distribution", "heap")
        shown = [place for ranking in self.confidence["rankings"] for place in ranking["runs"]]
        rows = [
            (
                *(self.results[place].run[name] for name in names),
                self.results[place].seconds,
                *(self.results[place].interval or ()),
            )
            for place in shown
        ]
        return notebook.table((*names, "seconds", "from", "to"), rows)

    def to_json(self) -> str:
        """The report document of all runs."""
        runs = [result.run for result in self.results]
        return report.to_text(report.document(self.results[0].trace, runs, self.confidence))


def rank(
    trace: Trace | str | Path,
    choices: RunSpec | Iterable[RunSpec],
    *,
    samples: int = SAMPLES,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
    rank_by: str | Iterable[str] = (),
) -> Ranking:
    """Replay each choice on its machine and on `samples` machines that may be the real one, equally for all choices.

    ``hn.rank(trace, hn.grid([machine], [32], placement=["first-touch", "interleave"]))``; takes ``samples + 3`` times as long as
    `replay_grid`. Sample s replays with seed + s, so that what a policy leaves to chance is sampled with the machine.
    `rank_by`: labels of the regions by whose time alone the choices are ranked, as in `replay_grid`.
    """
    import numpy

    trace, choices = Trace.of(trace), several(choices)
    samples = whole_number("samples", samples, 2)
    if not choices:
        raise UsageError("no choices to rank; allowed: at least 1")
    check(trace, choices)
    labels = regions_to_rank_by(trace, rank_by, choices)
    results = replay_grid(trace, choices, workers=workers, advance=advance, rank_by=labels)
    machines = {choice.machine.hash: choice.machine for choice in choices}
    uncertain = {name: machine.uncertainties for name, machine in machines.items()}
    factors = {name: sampled_factors(uncertain[name], samples, choices[0].seed) for name in machines}
    sampled = {
        name: [changed(machine, uncertain[name], row) for row in factors[name]] for name, machine in machines.items()
    }
    slowed = {name: [_with_core_time(machine, by) for by in CORE_FACTORS] for name, machine in machines.items()}
    variants = [variant for choice in choices for variant in _variants(choice, sampled[choice.machine.hash])]
    variants += [choice.with_(machine=machine) for choice in choices for machine in slowed[choice.machine.hash]]
    times = numpy.asarray(replay_times(trace, variants, labels, workers=workers, advance=advance))
    whole, ranked = times.T
    by_sample = ranked[: samples * len(choices)].reshape(len(choices), samples)
    by_core = ranked[samples * len(choices) :].reshape(len(choices), len(CORE_FACTORS))
    for place, result in enumerate(results):
        of_run = slice(place * samples, (place + 1) * samples)
        result.run["seconds_interval"] = list(interval(whole[of_run], result.seconds))
        if labels:
            stated = report.ranked_seconds(result.run)
            result.run["ranked_seconds_interval"] = list(interval(ranked[of_run], stated))
    rankings = []
    for order in _orders(results):
        first = choices[order[0]].machine
        rankings.append(_ranking(first, order, results, by_sample, by_core, uncertain[first.hash], factors[first.hash]))
    return Ranking(
        results,
        {"samples": samples, "seed": choices[0].seed, "level": LEVEL, "rankings": rankings},
    )


def _variants(choice: RunSpec, machines: Sequence[Machine]) -> list[RunSpec]:
    """A choice on each of the sampled machines; what policies leave to chance is drawn anew for each."""
    return [
        choice.with_(machine=machine, seed=(choice.seed + sample) % 2**64)
        for sample, machine in enumerate(machines, start=1)
    ]


def sampled_seconds(
    trace: Trace,
    choices: Sequence[RunSpec],
    samples: int,
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> NDArray[np.float64]:
    """Seconds by choice and sampled machine, the same machines for all choices, which are of one machine; they are not checked again."""
    import numpy

    machine = choices[0].machine
    factors = sampled_factors(machine.uncertainties, samples, choices[0].seed)
    machines = [changed(machine, machine.uncertainties, row) for row in factors]
    specs = [variant for choice in choices for variant in _variants(choice, machines)]
    seconds = replay_seconds(trace, specs, workers=workers, advance=advance)
    return numpy.asarray(seconds, dtype=numpy.float64).reshape(len(choices), samples)


def _orders(results: Sequence[Result]) -> list[list[int]]:
    """The runs of each set of comparable ones that have a rank, fastest first: bounds are compared with nothing."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, result in enumerate(results):
        groups.setdefault(report.comparable(result.run), []).append(place)
    ranked = [
        [members[place] for place in report.by_rank([results[member].run for member in members])[0]]
        for members in groups.values()
    ]
    return [order for order in ranked if order]


def settle(
    trace: Trace,
    choices: Sequence[RunSpec],
    results: Sequence[Result],
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
    rank_by: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Whether the first place of each ranking among `results` is settled, by no more replays than these were: the report's `first_places`.

    The first and its near rivals are replayed on as many sampled machines as fit, at most `SAMPLES`. `rank_by`: as in `replay_grid`.
    """
    labels = regions_to_rank_by(trace, rank_by, choices)
    seconds = [report.ranked_seconds(result.run) for result in results]
    found: list[dict[str, Any]] = []
    variants: list[RunSpec] = []
    for order in _orders(results):
        runs = contenders(order, seconds)
        samples = samples_that_fit(len(order), len(runs), SAMPLES)
        if samples == 0:
            continue
        machine = choices[runs[0]].machine
        factors = sampled_factors(machine.uncertainties, samples, choices[runs[0]].seed)
        machines = [changed(machine, machine.uncertainties, row) for row in factors]
        found.append({"runs": runs, "samples": samples})
        variants += [variant for run in runs for variant in _variants(choices[run], machines)]
    replayed = replay_times(trace, variants, labels, workers=workers, advance=advance) if variants else []
    times = (ranked for _, ranked in replayed)
    return [
        _of_group(results, entry["runs"], [[next(times) for _ in range(entry["samples"])] for _ in entry["runs"]])
        for entry in found
    ]


def _of_group(results: Sequence[Result], runs: Sequence[int], sampled: Sequence[Sequence[float]]) -> dict[str, Any]:
    """An entry of the report's `first_places`."""
    run = results[runs[0]].run
    group = {key: run[key] for key in ("machine", "machine_hash", "threads")}
    group |= {"nodes": len(run["pages_by_node"])} | {key: run[key] for key in ("rank_by",) if key in run}
    return group | first_place(runs, [report.ranked_seconds(results[one].run) for one in runs], sampled)


def _with_core_time(machine: Machine, factor: float) -> Machine:
    return machine.with_changes(core_time=f"x{factor:g}")


def _ranking(
    machine: Machine,
    order: list[int],
    results: list[Result],
    by_sample: NDArray[np.float64],
    by_core: NDArray[np.float64],
    uncertain: Sequence[dict[str, Any]],
    factors: NDArray[np.float64],
) -> dict[str, Any]:
    import numpy

    pairs = []
    shares = numpy.zeros(len(uncertain))
    contested = 0.0
    # As the triangle of its density stands: on the logarithm, or on the value.
    values = [
        numpy.log(column) if one["low_factor"] > 0 else column for one, column in zip(uncertain, factors.T, strict=True)
    ]
    for place, faster in enumerate(order):
        for slower in order[place + 1 :]:
            beats = probability(by_sample[faster], by_sample[slower])
            first, second = (report.ranked_seconds(results[run].run) for run in (faster, slower))
            effect = numpy.log(by_sample[faster] / by_sample[slower])
            pairs.append(
                {
                    "faster": faster,
                    "slower": slower,
                    "probability": beats,
                    "flips_with_core_time": bool(first < second and (by_core[faster] > by_core[slower]).any()),
                    "tied": is_tie(log_ratio(first, second), effect.tolist()),
                }
            )
            weight = min(beats, 1 - beats)
            if numpy.ptp(effect) > 0:
                contested += weight
                shares += weight * numpy.asarray([explained(column, effect) for column in values])
    parameters = [
        {key: one[key] for key in ("name", "value", "low", "high", "basis")}
        | {"share": float(share / contested) if contested > 0 else 0.0}
        for one, share in zip(uncertain, shares, strict=True)
    ]
    parameters.sort(key=lambda parameter: (-parameter["share"], parameter["name"]))
    return {
        "machine": machine.name,
        "machine_hash": machine.hash,
        "threads": results[order[0]].run["threads"],
        "runs": order,
        "seconds_by_core_time": {
            f"{by:g}": [float(t) for t in by_core[order, place]] for place, by in enumerate(CORE_FACTORS)
        },
        "pairs": pairs,
        **({"first_place": _of_group(results, order, by_sample[order].tolist())} if len(order) > 1 else {}),
        "measure_first": next((one for one in parameters if one["share"] > 0 and one["name"] != MODEL_OF_MEMORY), None),
        "parameters": parameters,
    }
