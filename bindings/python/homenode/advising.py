"""Whether chunks sized by memory latency pay off (Metzger et al. 2018), by how much, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from homenode import _core
from homenode.advice_words import snippet, why
from homenode.arguments import whole_number
from homenode.confidence import LEVEL, interval
from homenode.errors import UsageError
from homenode.estimating import Estimate, estimate_one
from homenode.gain_map import WORTH, GainModel, remote_ratio
from homenode.grids import follow_seconds, replay_seconds
from homenode.machine import Machine
from homenode.replaying import replay_one
from homenode.result import Result
from homenode.run_spec import CLOSED_FORM, RunSpec, asked, lists_options
from homenode.run_types import AdviceOptions
from homenode.sampling import changed, sampled_factors
from homenode.trace import Trace
from homenode.unseen import open_regions

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "homenode.advice/1"
PLAIN = ("static", "dynamic", "guided")
"""OpenMP's schedules that weighting competes with; `auto` is static in libgomp."""
HAND_OUTS = 64
"""For each thread at most: `dynamic` takes chunks of as many iterations as that needs, as one who uses it would ask for."""
WEIGHTED = "latency-weighted"
ENGINES = ("flow", "closed-form")
SAMPLES = 20
_TRIED = 8  # sampled machines on which each schedule that comes near is replayed
_CLOSE = 1.002  # times the least one: a schedule that is never as near as this on those is replayed on no others
ONE_IN_EIGHT, ONE_IN_32 = "lines:sample=8", "lines:sample=32"


def no_chunks(trace: Trace) -> str | None:
    """Why a program has no chunks that weights could size, or None."""
    if trace.own_threads:
        return "the program creates its threads itself, and no schedule hands out their work"
    if trace.has_tasks:
        return "the program shares out tasks, and weights size chunks of loops"
    return None


def dynamic_chunks(trace: Trace, threads: int) -> dict[str, int]:
    """By loop the chunk that `dynamic` competes with."""
    return {
        region["label"]: max(1, region["items"] // max(1, region["executions"]) // (HAND_OUTS * threads))
        for region in trace.inspect()["regions"]
        if region["kind"] == "loop"
    }


def plain_distributions(trace: Trace, threads: int) -> dict[str, str]:
    """What each of `PLAIN` is for the loops of this program."""
    chunks = dynamic_chunks(trace, threads)
    by_loop = " ".join(f"{label}@dynamic:{chunk}" for label, chunk in chunks.items())
    return {
        "static": "static",
        "dynamic": by_loop if max(chunks.values(), default=1) > 1 else "dynamic",
        "guided": "guided",
    }


@dataclass(frozen=True)
class Advice:
    """What `advise` says."""

    choice: dict[str, Any]
    """What was asked for, in a report's keys."""
    engine: str
    gain: float
    """Time of the best plain schedule over the time with weights."""
    gain_low: float
    gain_high: float
    """Between these lie the gain and nine in ten of those on sampled machines, the weights being those of the stated one."""
    samples: int
    reason: str
    break_even: dict[str, float | None]
    """Where the bound of the closed form reaches 1.02, all else equal; None where it does not."""
    here: dict[str, float]
    """The same quantities as they are."""
    plain: dict[str, float]
    """Seconds by plain schedule."""
    plain_distributions: dict[str, str]
    """What each of them was, as `replay` takes it."""
    weighted_seconds: float
    region: str | None
    """The loop that the weights are of: the one that gains most."""
    weights: list[float]
    """Share of its iterations, by thread; empty if the program has no loop."""
    boundaries: list[int] | None
    """First iteration of each thread, and their number."""
    model: GainModel
    unseen: dict[str, Any]
    """What was not seen of the program, as in a report."""

    @property
    def pays_off(self) -> bool:
        """Whether at least two percent are gained."""
        return self.gain >= WORTH

    @property
    def best_plain(self) -> str:
        """The fastest plain schedule."""
        return min(self.plain, key=self.plain.__getitem__)

    @property
    def snippet(self) -> str:
        """The weights as C with OpenMP."""
        return snippet(self.region, self.weights, self.choice["machine"]) if self.region else ""

    @property
    def map(self) -> pd.DataFrame:
        """The most that can be gained over equal chunks, by halo share and cost of remote accesses: by the closed form."""
        import pandas

        return pandas.DataFrame(self.model.table(self.here["halo_share"]))

    @property
    def gain_bound(self) -> float:
        """What the closed form allows at most here, over equal chunks: where `here` lies on the map."""
        return self.model.gain()

    def to_dict(self) -> dict[str, Any]:
        """The document; keys are only ever added."""
        return {
            "schema": SCHEMA,
            "homenode_version": _core.version,
            "gain": self.gain,
            "gain_low": self.gain_low,
            "gain_high": self.gain_high,
            "gain_bound": self.gain_bound,
            "pays_off": self.pays_off,
            "reason": self.reason,
            "break_even": self.break_even,
            "weights": self.weights,
            "here": self.here,
            "region": self.region,
            "boundaries": self.boundaries,
            "best_plain": self.best_plain,
            "plain_seconds": self.plain,
            "plain_distributions": self.plain_distributions,
            "weighted_seconds": self.weighted_seconds,
            "level": LEVEL,
            "samples": self.samples,
            "snippet": self.snippet,
            **self.choice,
            "engine": self.engine,
            "unseen": self.unseen,
        }

    def to_json(self) -> str:
        """As a JSON document."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"


@lists_options(tuple(name for name in CLOSED_FORM if name != "distribution"))
def advise(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    *,
    engine: Literal["flow", "closed-form"] = "flow",
    samples: int = SAMPLES,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
    **options: Unpack[AdviceOptions],
) -> Advice:
    """Tell whether latency-weighted chunks pay off for a program on a machine: ``hn.advise(trace, machine, threads=8)``.

    `engine` compares by replays (``"flow"``) or by the closed form alone, which replays nothing. `samples` machines within what is
    known of this one give the interval.
    """
    trace, machine = Trace.of(trace), Machine.of(machine)
    if engine not in ENGINES:
        raise UsageError(_core.unknown_name("engine of advice", engine, ENGINES))
    samples = whole_number("samples", samples, 2)
    if (reason := no_chunks(trace)) is not None:
        raise UsageError(
            f"no chunks of '{trace.program}' to weigh: {reason}; allowed: hn.program_changes for places of pages and schedules of loops, "
            "hn.suggest_mapping for those of threads"
        )
    spec = asked(machine, options)
    spec.check(trace)
    distributions = plain_distributions(trace, spec.threads)
    by_replays = _Replays if dynamic_chunks(trace, spec.threads) else _OneReplay
    timing = (by_replays if engine == "flow" else _Estimates)(trace, spec, distributions, workers)
    with ThreadPoolExecutor(workers) as pool:
        closed_form, stands = (
            pool.submit(_closed_form, trace, spec),
            pool.submit(where_it_stands, trace, machine, spec.threads),
        )
        plain, weighted = timing.stated(pool)
        (before, after, model), here = closed_form.result(), stands.result()
        advance(len(PLAIN) + 3)
        break_even = pool.submit(_break_even, model, here)  # beside the replays, as before them the closed form
        if workers == 1:
            break_even.result()
        sampled = sampled_factors(machine.uncertainties, samples, spec.seed)
        machines = [changed(machine, machine.uncertainties, row) for row in sampled]
        gains = timing.gains(machines, advance)
    gain = min(plain.values()) / weighted
    low, high = interval(gains, gain)
    region = _region(before, after, list(dynamic_chunks(trace, spec.threads)))
    chosen = after.region(region) if region else None
    boundaries = chosen.boundaries if chosen is not None else None
    best = min(plain, key=plain.__getitem__)
    return Advice(
        choice=spec.keys(),
        engine=engine,
        gain=gain,
        gain_low=low,
        gain_high=high,
        samples=samples,
        reason=why(
            region,
            before,
            model,
            timing.static_run(),
            gain,
            best,
            here,
            open_regions(trace.unseen, trace.is_timed_by_blocks(machine)),
        ),
        break_even=break_even.result(),
        here=here,
        plain=plain,
        plain_distributions=timing.distributions,
        weighted_seconds=weighted,
        region=region,
        weights=[] if chosen is None else [float(weight) for weight in chosen.weights],
        boundaries=None if boundaries is None else [int(boundary) for boundary in boundaries],
        model=model,
        unseen=trace.unseen,
    )


def _closed_form(trace: Trace, spec: RunSpec) -> tuple[Estimate, Estimate, GainModel]:
    """Equal chunks, weighted ones, and what weights can gain at most: one after the other, since they share what they count."""
    before = estimate_one(trace, spec.with_(distribution="static"))
    after = estimate_one(trace, spec.with_(distribution=WEIGHTED))
    return before, after, GainModel(trace, spec)


class _Replays:
    """Times by `flow`; on sampled machines the chunks stay those that were weighed for the stated one.

    Where `auto` follows one line in eight, sampled machines have one in 32, and their gains are multiplied by the stated machine's over
    what it is with one in 32.
    """

    def __init__(self, trace: Trace, spec: RunSpec, distributions: dict[str, str], workers: int | None) -> None:
        self._trace, self._spec, self.distributions, self._workers = trace, spec, distributions, workers

    def _of(self, machine: Machine, distribution: str) -> RunSpec:
        return self._spec.with_(machine=machine, distribution=distribution, engine="flow")

    def _one(self, machine: Machine, distribution: str, **more: Any) -> Result:
        return replay_one(self._trace, self._of(machine, distribution), host_threads=1, **more)

    def stated(self, pool: ThreadPoolExecutor) -> tuple[dict[str, float], float]:
        machine = self._spec.machine
        weighted = pool.submit(self._one, machine, WEIGHTED, keep_log=True)
        plain = {
            name: pool.submit(self._one, machine, text, keep_log=name == "static")
            for name, text in self.distributions.items()
        }
        self._static, self._weighted = plain["static"].result(), weighted.result()
        self.plain = {name: result.result().seconds for name, result in plain.items()}
        return self.plain, self._weighted.seconds

    def static_run(self) -> dict[str, Any] | None:
        return self._static.run

    def gains(self, machines: Sequence[Machine], advance: Callable[[int], None]) -> list[float]:
        """The best of the plain schedules that come near, over the weighted one.

        Near on the stated machine; of more than `_TRIED` machines, on one of the first so many, too, but closer.
        """
        near = [name for name, seconds in self.plain.items() if seconds <= 1.1 * min(self.plain.values())]
        scale, caches = 1.0, {}
        samples = self._static.run["caches"] == ONE_IN_EIGHT and self._spec.caches != ONE_IN_EIGHT
        if samples and self._spec.machine._core.allows_sample(32):
            caches = {"caches": ONE_IN_32}
            times = self._times([self._spec.machine], near, caches, lambda steps: None)
            scale = min(self.plain.values()) / self._weighted.seconds / _gains(times)[0]
        done = 0

        def counted(steps: int) -> None:
            nonlocal done
            done += steps
            advance(steps)

        first = self._times(machines[:_TRIED], near, caches, counted)
        best = [min(seconds) for seconds in zip(*(first[name] for name in near), strict=True)]
        near = [
            name for name in near if any(own <= _CLOSE * least for own, least in zip(first[name], best, strict=True))
        ]
        rest = self._times(machines[_TRIED:], near, caches, counted) if machines[_TRIED:] else {}
        advance(len(machines) * (len(self.plain) + 1) - done)
        return [scale * gain for times in (first, rest) if times for gain in _gains(times)]

    def _times(
        self, machines: Sequence[Machine], near: Sequence[str], options: dict[str, str], advance: Callable[[int], None]
    ) -> dict[str, list[float]]:
        """Seconds on each machine, by schedule. Equal weights are `static`, which is replayed once."""
        import numpy

        log, of_static = self._weighted.log, self._static.log
        assert log is not None and of_static is not None
        equal = "static" in near and numpy.array_equal(log, of_static)
        specs = [self._of(machine, self.distributions[name]).with_(**options) for machine in machines for name in near]
        seconds = replay_seconds(self._trace, specs, workers=self._workers, advance=advance)
        found = {name: seconds[place :: len(near)] for place, name in enumerate(near)}
        if equal:
            return {**found, WEIGHTED: found["static"]}
        weighted = [self._of(machine, WEIGHTED).with_(**options) for machine in machines]
        return {**found, WEIGHTED: follow_seconds(self._trace, weighted, log, workers=self._workers, advance=advance)}


class _OneReplay(_Replays):
    """Of a program without loops: no schedule and no weights change anything, on no machine."""

    def stated(self, pool: ThreadPoolExecutor) -> tuple[dict[str, float], float]:
        self._static = self._one(self._spec.machine, "static")
        self.plain = dict.fromkeys(self.distributions, self._static.seconds)
        return self.plain, self._static.seconds

    def gains(self, machines: Sequence[Machine], advance: Callable[[int], None]) -> list[float]:
        advance(len(machines) * (len(self.plain) + 1))
        return [1.0] * len(machines)


def _gains(times: dict[str, list[float]]) -> list[float]:
    plain = zip(*(seconds for name, seconds in times.items() if name != WEIGHTED), strict=True)
    return [min(seconds) / weighted for seconds, weighted in zip(plain, times[WEIGHTED], strict=True)]


class _Estimates:
    """Times by the closed form, which cannot follow a log: on each sampled machine the chunks are weighed anew."""

    def __init__(self, trace: Trace, spec: RunSpec, distributions: dict[str, str], workers: int | None) -> None:
        self._trace, self._spec, self.distributions = trace, spec, distributions

    def _one(self, machine: Machine, distribution: str) -> float:
        return estimate_one(self._trace, self._spec.with_(machine=machine, distribution=distribution)).seconds

    def stated(self, pool: ThreadPoolExecutor) -> tuple[dict[str, float], float]:
        machine = self._spec.machine
        plain = {schedule: self._one(machine, text) for schedule, text in self.distributions.items()}
        return plain, self._one(machine, WEIGHTED)

    def static_run(self) -> dict[str, Any] | None:
        return None

    def gains(self, machines: Sequence[Machine], advance: Callable[[int], None]) -> list[float]:
        found = []
        for machine in machines:
            plain = min(self._one(machine, text) for text in self.distributions.values())
            found.append(plain / self._one(machine, WEIGHTED))
            advance(len(PLAIN) + 1)
        return found


def _region(before: Estimate, after: Estimate, loops: Sequence[str]) -> str | None:
    """Of the loops with other weights the one that gains most seconds; where none gains, the one that takes longest.

    A loop that keeps equal shares may gain, too, by data that others leave nearer; but its weights are no advice.
    """
    import numpy

    labels = [region.label for region in before.regions if region.label in loops and region.executions]
    if not labels:
        return None
    weighed = {
        label for label in labels if not numpy.allclose(before.region(label).weights, after.region(label).weights)
    }

    def gained(label: str) -> tuple[float, float]:
        was = before.region(label).seconds
        saved = was - after.region(label).seconds
        return (saved if label in weighed and saved > 1e-3 * was else 0.0, was)

    return max(labels, key=gained)


def where_it_stands(trace: Trace, machine: Machine, threads: int) -> dict[str, float]:
    """The coordinates of the map: where this program stands on this machine."""
    return {
        "remote_ratio": remote_ratio(machine),
        "halo_share": _halo_share(trace, threads),
        "working_set_bytes": float(trace.inspect()["footprint_bytes"]),
    }


def _halo_share(trace: Trace, threads: int) -> float:
    """Of the bytes that a thread reads, those that another one writes, with equal chunks; the median of all threads.

    What serial code wrote is no halo, although the first thread ran it. The median, not the largest: the first thread also runs
    serial code, which may read what all have written.
    """
    import numpy

    graph = trace.thread_graph(threads)
    foreign = numpy.asarray(graph["dependent_bytes"], dtype=numpy.float64).sum(axis=0)
    reads = numpy.asarray([thread["read_bytes"] for thread in graph["threads"]], dtype=numpy.float64)
    shares = numpy.minimum(1.0, foreign[reads > 0] / reads[reads > 0])  # a byte may have had several writers
    return float(numpy.median(shares)) if len(shares) else 0.0


def _break_even(model: GainModel, here: dict[str, float]) -> dict[str, float | None]:
    scale = model.break_even_halo_scale()
    share = scale * here["halo_share"] if scale is not None else None
    if scale and share == 0:  # there is no halo that could be larger
        share = None
    return {
        "remote_ratio": model.break_even_ratio(),
        "halo_share": share if share is None or share <= 1 else None,
        # Chunks shrink while their borders stay: halo share x working set is constant where one dimension is cut.
        "working_set_bytes": here["working_set_bytes"] / scale if scale else None,
    }
