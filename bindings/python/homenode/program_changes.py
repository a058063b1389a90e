"""What to change in a program, tried in replays: where an allocation's pages go, who runs a loop, where threads sit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.advising import dynamic_chunks
from homenode.arguments import whole_number
from homenode.confidence import interval
from homenode.errors import UsageError
from homenode.machine import Machine
from homenode.page_faults import PageFaults
from homenode.policies import page_placement
from homenode.registering import forget
from homenode.replaying import replay_one
from homenode.result import Result
from homenode.run_spec import RunSpec, asked, lists_options
from homenode.sampling import changed, sampled_factors
from homenode.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLES = 10
KINDS = ("threads", "program", "loop", "allocation")
"""Of changes: pinning, all pages, a loop's schedule, the pages of one allocation."""
LEAST = 1.005  # gains below it are not listed
LOOPS = 3  # the longest ones are tried
ALLOCATIONS = 4  # the largest ones are tried
SCHEDULES = ("static", "static:{chunk}", "dynamic:{chunk}", "guided", "latency-weighted")
"""`chunk`: one iteration, or more where that would be handing out more than 64 times a thread."""
MAPPINGS = ("compact", "scatter")
_SHARE = 0.02  # of the footprint, below which an allocation is not tried by itself
_PAGE = 4096


@dataclass(frozen=True)
class Change:
    """One change of the program, tried in a replay."""

    kind: str
    """``allocation``, ``loop``, ``threads``, or ``program``: all pages."""
    site: str
    """Source line of the allocation or loop."""
    what: str
    """The object's symbol, the loop's label."""
    change: str
    """In words."""
    gain: float
    """Time as it is over time when changed."""
    gain_low: float
    gain_high: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class _Candidate:
    kind: str
    site: str
    what: str
    change: str
    options: dict[str, str]  # of the run that are other ones


def _placed(number: int, how: str, homes: dict[int, int], faults: PageFaults) -> NDArray[np.int64]:
    """Pages of one object interleaved, or where `homes` says; all others by first touch."""
    import numpy

    nodes = faults.node.astype(numpy.int64)
    own = faults.object == number
    if how == "interleave":
        nodes[own] = faults.page[own].astype(numpy.int64) % int(faults.machine.nodes)
    else:
        nodes[own] = [homes.get(int(page), int(node)) for page, node in zip(faults.page[own], nodes[own], strict=True)]
    return nodes


def _register(name: str, number: int, how: str, homes: dict[int, int]) -> None:
    page_placement(name)(lambda faults: _placed(number, how, homes, faults))


@lists_options()
def program_changes(
    trace: Trace | str | Path,
    machine: Machine | str | Path,
    *,
    samples: int = SAMPLES,
    kinds: Sequence[str] = KINDS,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda steps: None,
    **options: Any,
) -> list[Change]:
    """Try changes of single allocations and loops and of the threads' places; those that gain, best first, with intervals.

    Pages of one allocation are interleaved, or put where `stencil-aware` puts them, which is what its parallel first touch or an
    allocation by owner would do (the shorter initialisation of a parallel first touch is not in the gain); all other pages stay as
    they are. Each gain is that of the one change by itself. Intervals come from `samples` machines (`hn.rank`). Only changes of `kinds`
    are tried.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(_core.unknown_name("kind of change", kind, list(KINDS)))
    trace, base = Trace.of(trace), asked(machine, options)
    samples = whole_number("samples", samples, 2)
    base.check(trace)
    replays = _Replays(trace, base, workers, advance)
    now = replays.run(base)
    sources: dict[str, Callable[[Result], list[_Candidate]]] = {
        "threads": lambda now: replays.threads(),
        "program": lambda now: replays.program(),
        "loop": replays.loops,
        "allocation": replays.allocations,
    }
    try:
        candidates = [one for kind in KINDS if kind in kinds for one in sources[kind](now)]
        times = replays.many([replays.choice(candidate) for candidate in candidates])
        gaining = [
            (candidate, seconds)
            for candidate, seconds in zip(candidates, times, strict=True)
            if now.seconds / seconds >= LEAST
        ]
        gaining.sort(key=lambda entry: entry[1])
        return replays.with_intervals(gaining, now.seconds, samples)
    finally:
        replays.forget()


class _Replays:
    """The candidates of one program and their times."""

    def __init__(self, trace: Trace, base: RunSpec, workers: int | None, advance: Callable[[int], None]) -> None:
        self._trace, self._base, self._workers, self._advance = trace, base, workers, advance
        self._registered: list[str] = []

    def run(self, spec: RunSpec, **more: Any) -> Result:
        result = replay_one(self._trace, spec, **more)
        self._advance(1)
        return result

    def many(self, specs: Sequence[RunSpec]) -> list[float]:
        with ThreadPoolExecutor(self._workers or 2) as pool:
            return list(pool.map(lambda spec: self.run(spec).seconds, specs))

    def forget(self) -> None:
        for name in self._registered:
            forget("placement", name)

    def choice(self, candidate: _Candidate, machine: Machine | None = None) -> RunSpec:
        return self._base.with_(machine=machine or self._base.machine, **candidate.options)

    def with_intervals(self, gaining: Sequence[tuple[_Candidate, float]], now: float, samples: int) -> list[Change]:
        import numpy

        if not gaining:
            return []
        machine = self._base.machine
        factors = sampled_factors(machine.uncertainties, samples, self._base.seed)
        machines = [changed(machine, machine.uncertainties, row) for row in factors]
        befores = self.many([self._base.with_(machine=one) for one in machines])
        changes = []
        for candidate, seconds in gaining:
            afters = self.many([self.choice(candidate, one) for one in machines])
            gain = now / seconds
            low, high = interval(numpy.asarray(befores) / numpy.asarray(afters), gain)
            changes.append(
                Change(
                    kind=candidate.kind,
                    site=candidate.site,
                    what=candidate.what,
                    change=candidate.change,
                    gain=gain,
                    gain_low=low,
                    gain_high=high,
                    seconds=seconds,
                )
            )
        return changes

    # ---- what is tried

    def threads(self) -> list[_Candidate]:
        if self._base.mapping.partition(":")[0] == "unpinned":
            return [
                _Candidate("threads", "", "threads", f"pin them: {mapping}", {"mapping": mapping})
                for mapping in MAPPINGS
            ]
        return [
            _Candidate(
                "threads", "", "threads", f"pin them {mapping} instead of {self._base.mapping}", {"mapping": mapping}
            )
            for mapping in MAPPINGS
            if mapping != self._base.mapping
        ]

    def program(self) -> list[_Candidate]:
        if self._base.machine.nodes < 2:
            return []
        words = {
            "interleave": "interleave all pages (numactl --interleave=all)",
            "stencil-aware": "a parallel pass at the start that touches all pages first as they will be used",
        }
        return [
            _Candidate("program", "", "all allocations", text, {"placement": placement})
            for placement, text in words.items()
            if placement != self._base.placement
        ]

    def loops(self, now: Result) -> list[_Candidate]:
        kinds = {region["label"]: region for region in self._trace.inspect()["regions"]}
        if "@" in self._base.distribution:  # told region by region: what is told stays
            return []
        found = []
        chunks = dynamic_chunks(self._trace, self._base.threads)
        longest = sorted(now.run["regions"], key=lambda region: -float(region["seconds"]))
        labels = [region["label"] for region in longest if kinds.get(region["label"], {}).get("kind") == "loop"]
        for label in labels[:LOOPS]:
            chunk = chunks[label]
            for schedule in (one.format(chunk=chunk) for one in SCHEDULES):
                if schedule == self._base.distribution or " " in label:
                    continue
                others = " ".join(
                    f"{other}@{self._base.distribution}"
                    for other in dict.fromkeys(labels)
                    if other != label and " " not in other
                )
                found.append(
                    _Candidate(
                        "loop",
                        kinds[label]["site"],
                        label,
                        f"schedule({schedule.replace(':', ', ')})" if schedule != "latency-weighted" else schedule,
                        {"distribution": f"{label}@{schedule} {others}".strip()},
                    )
                )
        return found

    def allocations(self, now: Result) -> list[_Candidate]:
        """Objects worth moving, alone: what is large, heap or global, and touched."""
        import numpy

        inspected = self._trace.inspect()
        large = [
            one
            for one in inspected["objects"]
            if not one["private"]
            and one["kind"] in ("heap", "global", "mmap", "unknown")
            and one["bytes"] >= max(2 * _PAGE, _SHARE * inspected["footprint_bytes"])
        ]
        large = sorted(large, key=lambda one: (-one["bytes"], one["id"]))[:ALLOCATIONS]
        if not large or self._base.placement != "first-touch" or self._base.machine.nodes < 2:
            return []
        base_pages = self._first_pages()
        used = self.run(self._base.with_(placement="stencil-aware"), keep_log=True).pages
        assert used is not None
        found = []
        for one in large:
            number = int(one["id"])
            rows = used[used[:, 0] == number]
            if number not in base_pages or not len(rows):
                continue
            homes = {int(base_pages[number] + page): int(node) for _, page, node in rows}
            many_nodes = len(numpy.unique(rows[:, 2])) > 1
            for how, words in (
                ("interleave", "interleave its pages"),
                ("owner", "first touch by the threads that use it, or allocation by owner"),
            ):
                if how == "owner" and not many_nodes:
                    continue
                name = f"advice-{how}-{number}"
                _register(name, number, how, homes)
                self._registered.append(name)
                what = f"{one['symbol'] or one['kind']} ({one['bytes']} B, object {number})"
                found.append(_Candidate("allocation", one["site"], what, words, {"placement": name}))
        return found

    def _first_pages(self) -> dict[int, int]:
        """By object the virtual number of the page that its first byte is on."""
        seen: list[tuple[int, int]] = []

        def watch(faults: PageFaults) -> Any:
            seen.extend(zip(faults.object.tolist(), faults.page.tolist(), strict=True))
            return faults.node.copy()

        page_placement("advice-watch")(watch)
        try:
            pages = self.run(self._base.with_(placement="advice-watch"), keep_log=True).pages
        finally:
            forget("placement", "advice-watch")
        assert pages is not None
        least: dict[int, int] = {}
        for number, page in seen:
            least[number] = min(page, least.get(number, page))
        of_object: dict[int, int] = {}
        for number, page, _ in pages.tolist():
            of_object[number] = min(page, of_object.get(number, page))
        return {number: page - of_object.get(number, 0) for number, page in least.items()}
