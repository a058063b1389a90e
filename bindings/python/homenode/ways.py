"""Ways to run a program: the present one, others that differ in one thing, and each as a run that can be replayed.

A way has no more in it than somebody outside can decide: threads, where they run, where pages go, who gets which iterations, the
heap, the size of pages, and what the kernel does by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homenode import _core, host
from homenode.advising import dynamic_chunks
from homenode.errors import UsageError
from homenode.machine import Machine
from homenode.map_suggestion import threads_to_map
from homenode.result import Result
from homenode.run_spec import AS_WRITTEN, NAMES, RunSpec
from homenode.source_schedules import clause, schedule_of, taken_as_one
from homenode.trace import Trace

BY_COMMUNICATION = ("treematch", "scotch", "greedy")
"""Mappings that look at what threads exchange: a list of cores of their own for each program."""
PARALLEL_TOUCH = "stencil-aware"
"""What a first touch by the threads that use the pages comes to."""
BALANCED = "autonuma"
OWNER_HEAP = "jarena:owner=inferred"
TCMALLOC = "tcmalloc"
KEEPING_HEAP = "glibc:mmap_threshold=32MiB,trim_threshold=1GiB,dynamic=0"
"""glibc's heap that returns nothing to the system while the program runs; 32 MiB is the largest threshold that it takes."""
MEMORY_POLICIES = ("interleave", "weighted-interleave", "bind", "preferred")
"""Placements by a memory policy, whose pages the kernel's balancing leaves alone."""
OPTIONS = tuple(name for name in NAMES if name not in ("engine", "energy"))
"""The options of a replay that tell the present way."""
LOOPS = 3  # the longest ones are tried with other schedules


@dataclass(frozen=True)
class Way:
    """A way to run a program."""

    threads: int
    mapping: str
    """A mapping's name; of those by communication the name, too (`Ways.cores` has the cores)."""
    placement: str
    """Without modifiers."""
    balancing: str
    """The modifier that the kernel puts on the placement: ``autonuma``, with parameters, or empty."""
    schedules: tuple[tuple[str, str], ...]
    """By region its schedule, in the trace's order; what is not named is static."""
    heap: str
    pages: str

    @property
    def distribution(self) -> str:
        """The schedules as `replay` takes them."""
        different = {schedule for _, schedule in self.schedules}
        if len(different) == 1:
            return next(iter(different))
        return " ".join(f"{label}@{schedule}" for label, schedule in self.schedules if schedule != "static") or "static"

    @property
    def whole_placement(self) -> str:
        """With what modifies it."""
        return self.placement if self.has_policy or not self.balancing else f"{self.placement}+{self.balancing}"

    @property
    def has_policy(self) -> bool:
        """Whether pages are under a memory policy, so that the kernel's balancing leaves them alone."""
        return self.placement.partition(":")[0] in MEMORY_POLICIES

    def changed(self, other: Way) -> list[str]:
        """The axes in which it differs from another one."""
        axes = [one.name for one in dataclasses.fields(self) if one.name != "schedules"]
        found = [axis for axis in axes if getattr(self, axis) != getattr(other, axis)]
        before = dict(other.schedules)
        return found + [
            f"schedule of {label}" for label, schedule in self.schedules if schedule != before.get(label, "static")
        ]


@dataclass(frozen=True)
class Move:
    """One thing that may be done otherwise."""

    axis: str
    """The field of `Way`, or ``schedules``."""
    value: str | int
    labels: tuple[str, ...] = ()
    """The loops that get the schedule `value`."""

    @property
    def group(self) -> str:
        """Moves of one group exclude each other."""
        return " ".join((self.axis, *self.labels))

    def of(self, way: Way) -> Way:
        """The way with this done."""
        if self.axis != "schedules":
            changes: dict[str, Any] = {self.axis: self.value}
            return dataclasses.replace(way, **changes)
        found = tuple((label, str(self.value) if label in self.labels else old) for label, old in way.schedules)
        return dataclasses.replace(way, schedules=found)


def check_options(machine: Machine, options: Mapping[str, Any]) -> None:
    """Refuse what no trace is needed for: TypeError for unknown names of options, UsageError for their values."""
    for name in options:
        if name not in OPTIONS:
            raise TypeError(_core.unknown_name("option", name, OPTIONS))
    RunSpec(machine, **options).check_values()


class Ways:
    """The ways to run one program on one machine."""

    def __init__(self, trace: Trace, machine: Machine, options: Mapping[str, Any]) -> None:
        """`options` of `hn.replay` tell the present way; what they leave out is what the system does by itself.

        UsageError where that cannot be, or is no way that a program can be run.
        """
        check_options(machine, options)
        self.trace, self.machine = trace, machine
        self.remarks: list[str] = []
        self.own_threads = trace.own_threads
        self.regions: list[dict[str, Any]] = trace.inspect()["regions"]
        self.loops = [one for one in self.regions if one["kind"] == "loop" and " " not in one["label"]]
        self.runtime_loops = [one["label"] for one in self.loops if clause(one) == "runtime"]
        self._affinities: dict[tuple[str, int], list[list[int]]] = {}
        self.present = self._present(dict(options))
        at_once = self.own_threads[1] if self.own_threads else self.present.threads
        oversubscribed = at_once > machine.cores and bool(self.own_threads or options.get("oversubscribe"))
        fixed = {name: value for name, value in options.items() if name not in _DECIDED}
        self._base = RunSpec(machine, **{**fixed, "oversubscribe": oversubscribed})
        self.spec(self.present).check(trace)

    @property
    def has_team(self) -> bool:
        """Whether variables of OpenMP decide on the threads."""
        return self.own_threads is None and not self.trace.is_serial

    def spec(self, way: Way) -> RunSpec:
        """The run that tells what a way takes."""
        return self._base.with_(
            threads=way.threads,
            mapping=self.mapping(way),
            placement=way.whole_placement,
            distribution=way.distribution,
            heap=way.heap,
            pages=way.pages,
        )

    def seeds(self, number: int) -> list[RunSpec]:
        """The present way with several seeds, if chance decides where its threads run; else once."""
        spec = self.spec(self.present)
        is_chance = self.present.mapping.partition(":")[0] == "unpinned"
        return [spec.with_(seed=(spec.seed + one) % 2**64) for one in range(number if is_chance else 1)]

    def use_seed(self, seed: int) -> None:
        """Of all runs from now on."""
        self._base = self._base.with_(seed=seed)

    def mapping(self, way: Way) -> str:
        """The mapping of the run: for a team, those by communication as the list of cores that OMP_PLACES will have."""
        if not self.has_team or way.mapping not in BY_COMMUNICATION:
            return way.mapping
        cores = self.cores(way)
        for name in ("compact", "scatter"):
            if cores == self._cores(name, way.threads):
                return name
        return "cores:" + ":".join(str(one[0]) for one in cores)

    def cores(self, way: Way) -> list[list[int]]:
        """By thread the cores that it may run on."""
        return self._cores(way.mapping, way.threads)

    def _cores(self, mapping: str, threads: int) -> list[list[int]]:
        key = (mapping, threads)
        if key not in self._affinities:
            found = _core.affinities(self.trace._core, self.machine._core, mapping, threads)
            self._affinities[key] = [list(cores) for cores in found]
        return self._affinities[key]

    def before_the_end(self, result: Result) -> float:
        """Seconds of a run without the heap calls of serial code behind the last team or thread."""
        kinds = [one["kind"] for one in self.regions]
        last = max((at for at, kind in enumerate(kinds) if kind != "serial"), default=-1)
        end = {one["label"] for one in self.regions[last + 1 :]} - {one["label"] for one in self.regions[: last + 1]}
        calls = [
            float(cause["seconds"])
            for region in result.run["regions"]
            if region["label"] in end
            for cause in region["binding"]
            if cause["resource"] == "heap calls"
        ]
        return result.seconds - sum(calls)

    # ---- the present way

    def _present(self, options: dict[str, Any]) -> Way:
        placement, _, balancing = str(options.get("placement", "first-touch")).partition("+")
        if placement == "optimal":
            raise UsageError("placement 'optimal' is a bound, no way to run a program; allowed: the present placement")
        if balancing and placement.partition(":")[0] in MEMORY_POLICIES:
            raise UsageError(
                f"placement '{placement}+{balancing}'; allowed: '{placement}', as the kernel leaves pages under a memory policy alone"
            )
        is_here = host.is_this_host(self.machine)
        if is_here and "placement" not in options and self.machine.nodes > 1 and host.balances_pages():
            balancing = BALANCED
        here = "thp" if is_here and host.huge_pages() == "always" else "4KiB"
        return Way(
            threads=len(threads_to_map(self.trace, self.machine, options.get("threads"))),
            mapping=str(options.get("mapping", "unpinned")),
            placement=placement,
            balancing=balancing,
            schedules=self._schedules(options.get("distribution")),
            heap=str(options.get("heap", "auto")),
            pages=str(options.get("pages", here)),
        )

    def _schedules(self, distribution: str | None) -> tuple[tuple[str, str], ...]:
        """Of the loops as the source says, or as the present distribution was told."""
        labels = dict.fromkeys(one["label"] for one in self.loops)
        if distribution is None or distribution == AS_WRITTEN:
            if self.runtime_loops:
                listed = ", ".join(f"'{label}'" for label in dict.fromkeys(self.runtime_loops))
                self.remarks.append(
                    f"The schedule of {listed} is runtime: without OMP_SCHEDULE libgomp takes dynamic,1; "
                    "--distribution tells another one."
                )
            return tuple({one["label"]: self._told(one) for one in self.loops}.items())
        if "@" not in distribution:
            return tuple((label, distribution) for label in labels)
        parts = distribution.split()
        words = dict(word.rpartition("@")[::2] for word in parts if "@" in word)
        rest = next((word for word in parts if "@" not in word), "static")
        if rest == AS_WRITTEN:
            return tuple({**{one["label"]: self._told(one) for one in self.loops}, **words}.items())
        return tuple((label, words.get(label, rest)) for label in {**labels, **words})

    def _told(self, loop: Mapping[str, Any]) -> str:
        """The policy of a loop's own clause."""
        if remark := taken_as_one(loop):
            self.remarks.append(remark)
        return schedule_of(loop)[0]

    # ---- others

    def moves(self, now: Result) -> list[Move]:
        """What may be done otherwise, one thing at a time. `now` is the replay of the present way."""
        found = [
            *self._of_threads(),
            *self._of_mappings(),
            *self._of_pages(),
            *self._of_heaps(now),
            *self._of_loops(now),
        ]
        return [move for move in found if move.of(self.present) != self.present]

    def back_to_present(self) -> list[Move]:
        """For each group of moves the one that undoes it."""
        fields = ("threads", "mapping", "placement", "balancing", "heap", "pages")
        return [Move(field, getattr(self.present, field)) for field in fields] + [
            Move("schedules", schedule, (label,)) for label, schedule in self.present.schedules
        ]

    def _of_threads(self) -> list[Move]:
        if not self.has_team:
            return []
        sizes = {max(1, self.machine.cores // self.machine.nodes)}
        size = self.machine.cores
        while size > 0:
            sizes.add(size)
            size //= 2
        return [Move("threads", size) for size in sorted(sizes, reverse=True) if self._can_run(size)]

    def _can_run(self, threads: int) -> bool:
        """Not where the program's own thread numbers decide what runs, for a team that is too small."""
        try:
            self.trace.thread_graph(threads)
        except UsageError:
            return False
        return True

    def _of_mappings(self) -> list[Move]:
        names = ["unpinned", "compact"]
        if self.machine.nodes > 1 and not self.trace.is_serial:
            names += ["scatter", *BY_COMMUNICATION]
        return [Move("mapping", name) for name in names if name == "unpinned" or self._is_mapped(name)]

    def _is_mapped(self, mapping: str) -> bool:
        try:
            return all(len(cores) == 1 for cores in self._cores(mapping, self.present.threads))
        except UsageError:  # an imported trace may not tell its threads apart
            return False

    def _of_pages(self) -> list[Move]:
        found = [Move("pages", "4KiB"), Move("pages", "thp")]
        if self.machine.nodes > 1:
            found += [Move("placement", one) for one in ("first-touch", "interleave", PARALLEL_TOUCH)]
            found += [Move("balancing", one) for one in ("", self.present.balancing or BALANCED)]
        return found

    def _of_heaps(self, now: Result) -> list[Move]:
        if now.run["heap"] == "plain":  # it calls none
            return []
        heaps = [self.present.heap, TCMALLOC, KEEPING_HEAP]
        return [Move("heap", one) for one in (*heaps, *([OWNER_HEAP] if self.machine.nodes > 1 else []))]

    def _of_loops(self, now: Result) -> list[Move]:
        """Other schedules: of each of the longest loops; of all those together that take theirs from the environment."""
        chunks = dynamic_chunks(self.trace, self.present.threads)
        seconds = {region["label"]: float(region["seconds"]) for region in now.run["regions"]}
        known = dict.fromkeys(one["label"] for one in self.loops)
        longest = sorted(known, key=lambda label: -seconds.get(label, 0.0))[:LOOPS]
        groups: list[Sequence[str]] = [[label] for label in longest if label not in self.runtime_loops]
        if self.runtime_loops:
            groups.append(self.runtime_loops)
        if not self.has_team:
            return []
        return [
            Move("schedules", schedule, tuple(labels))
            for labels in groups
            for schedule in dict.fromkeys(_schedules_to_try(max(chunks[label] for label in labels)))
        ]


_DECIDED = ("threads", "mapping", "placement", "distribution", "heap", "pages", "oversubscribe")
"""The options of a run that a way decides on."""


def _schedules_to_try(chunk: int) -> list[str]:
    """`chunk`: one iteration, or more where that would be handing out more than 64 times a thread."""
    return ["static", f"static:{chunk}", f"dynamic:{chunk}", "guided"]
