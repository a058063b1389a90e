"""A way to run a program as what somebody can do: lines for a shell, and lines of the source to change."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homenode import host
from homenode.hottest_lines import hottest, instructions_by_line
from homenode.ways import BALANCED, BY_COMMUNICATION, KEEPING_HEAP, OWNER_HEAP, PARALLEL_TOUCH, TCMALLOC, Way, Ways

TCMALLOC_LIBRARY = "libtcmalloc_minimal.so.4"
"""gperftools' (Debian: libtcmalloc-minimal4)."""
_TUNABLES = "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1073741824"  # KEEPING_HEAP
_HUGE_PAGES = {"thp": "always", "4KiB": "never"}
_NAMED = 4  # lines of the source that one change names, the most important ones
_STORES = 8  # numbers of 8 B in the widest store, which is one instruction
_LEAST_SHARE = 0.1  # of what serial code writes, or of the data, below which a line is not named
# A name without a slash that a shell takes for its own, or for a variable.
_RESERVED = re.compile(
    r"if|then|elif|else|fi|do|done|case|esac|while|until|for|in|select|function|time|coproc|.*=.*", re.S
)


@dataclass(frozen=True)
class SourceChange:
    """A line of the program to change."""

    site: str
    """``file:line``, as the debugging information has it; empty where it has none."""
    what: str
    """The loop, the serial code or the allocation."""
    change: str
    """What to do there."""

    def to_dict(self) -> dict[str, str]:
        """As plain values."""
        return dataclasses.asdict(self)


def places(cpus: Sequence[int]) -> str:
    """OMP_PLACES with a place for each CPU, in this order: ``{0}:4:8,{1}:4:8`` stands for 0, 8, 16, 24, 1, 9, 17, 25."""
    found: list[str] = []
    at = 0
    while at < len(cpus):
        stride = cpus[at + 1] - cpus[at] if at + 1 < len(cpus) else 0
        end = at + 1
        while stride > 0 and end < len(cpus) and cpus[end] - cpus[end - 1] == stride:
            end += 1
        number = end - at if end - at > 2 else 1
        found.append(f"{{{cpus[at]}}}" + (f":{number}" + (f":{stride}" if stride > 1 else "") if number > 1 else ""))
        at += number
    return ",".join(found)


def ranges(cpus: Sequence[int]) -> str:
    """CPUs as taskset takes them: ``0-3,8``."""
    found: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if found and cpu == found[-1][1] + 1:
            found[-1][1] = cpu
        else:
            found.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def command_line(program: Sequence[str]) -> str:
    """A program with its arguments, as a shell takes it, behind variables and other commands too."""
    first = program[0]
    is_reserved = "/" not in first and _RESERVED.fullmatch(first) is not None
    quoted = f"'{first}'" if is_reserved and "'" not in first else shlex.quote(first)
    return " ".join([quoted, *(shlex.quote(word) for word in program[1:])])


_STAYS_SERIAL = (
    "A gain by first touch counts where the pages lie; the initialisation stays serial in that replay. In a parallel loop it is faster, "
    "too: 'about' shares all of that code evenly among the threads. Change the source, capture again and compare."
)


class Commands:
    """What to do for each way of one program."""

    def __init__(self, ways: Ways, program: Sequence[str], trace_name: str = "") -> None:
        """`program`: the words that start it; `trace_name`: by which commands of homenode find the trace, if it is kept."""
        self._ways, self._program, self._trace_name = ways, list(program), trace_name
        self._cpus: list[int] = list(range(ways.machine.cores))
        self.remarks: list[str] = []
        if host.is_this_host(ways.machine):
            found = host.cpus_of_cores(ways.machine.cores)
            if found is None:
                self.remarks.append(
                    "The kernel shows another number of cores than the description; CPUs are numbered by it."
                )
            self._cpus = found or self._cpus
        elif ways.machine.cores > 1:
            self.remarks.append(
                f"CPUs are numbered socket by socket, as {ways.machine.name} is described; `lscpu -e` shows whether the machine's are."
            )

    def lines(self, way: Way) -> list[str]:
        """Lines for a shell: settings of the kernel, then the program."""
        words = [
            *(f"{name}={shlex.quote(value)}" for name, value in self.environment(way).items()),
            *self.wrappers(way),
        ]
        return [*self.settings(way), " ".join([*words, command_line(self._program)])]

    def needs(self, way: Way) -> list[str]:
        """What these lines take for granted."""
        found = ["numactl (Debian: numactl)"] if "numactl" in self.wrappers(way) else []
        if way.heap == TCMALLOC:
            found.append(f"{TCMALLOC_LIBRARY} (Debian: libtcmalloc-minimal4)")
        if self.settings(way):
            found.append("root, to set the kernel")
        return found

    def settings(self, way: Way) -> list[str]:
        """What the administrator sets where it is not so at present."""
        present, found = self._ways.present, []
        if way.pages != present.pages and way.pages in _HUGE_PAGES:
            found.append(f"echo {_HUGE_PAGES[way.pages]} | sudo tee {host.HUGE_PAGES}")
        if way.balancing != present.balancing and not way.has_policy:
            found.append(f"sudo sysctl kernel.numa_balancing={int(way.balancing.startswith(BALANCED))}")
        return found

    def environment(self, way: Way) -> dict[str, str]:
        """Variables of the environment."""
        found = {}
        if self._ways.has_team:
            found["OMP_NUM_THREADS"] = str(way.threads)
            if way.mapping != "unpinned":
                found["OMP_PLACES"] = places([self._cpus[cores[0]] for cores in self._ways.cores(way)])
                found["OMP_PROC_BIND"] = "close"
            schedules = {dict(way.schedules)[label] for label in self._ways.runtime_loops}
            if schedules and (schedule := _as_clause(schedules.pop())):
                found["OMP_SCHEDULE"] = schedule
        if way.heap == TCMALLOC:
            found["LD_PRELOAD"] = TCMALLOC_LIBRARY
        if way.heap == KEEPING_HEAP:
            found["GLIBC_TUNABLES"] = _TUNABLES
        return found

    def wrappers(self, way: Way) -> list[str]:
        """Commands in front of the program."""
        found = []
        policy, _, rest = way.placement.partition(":")
        node = {"interleave": "all", "weighted-interleave": "all", "bind": rest, "preferred": rest}.get(policy)
        if node is not None:
            found += ["numactl", f"--{'membind' if policy == 'bind' else policy}={node}"]
        if not self._ways.has_team and (cpus := self._held_to(way)):
            found += ["taskset", "-c", ranges(cpus)]
        return found

    def _held_to(self, way: Way) -> list[int]:
        """The CPUs of a program that OpenMP does not bind; none where that would be all, or says nothing of who goes where."""
        if way.mapping == "unpinned" or self._binds_each(way):
            return []
        return [self._cpus[cores[0]] for cores in self._ways.cores(way)]

    def _binds_each(self, way: Way) -> bool:
        """Whether created threads must be bound one by one: which CPUs they have together does not tell it."""
        if self._ways.own_threads is None or way.mapping == "unpinned":
            return False
        used = {core for cores in self._ways.cores(way) for core in cores}
        return way.mapping in BY_COMMUNICATION or len(used) == self._ways.machine.cores

    # ---- the source

    def source(self, way: Way) -> list[SourceChange]:
        """Lines of the source to change, for what no command does."""
        present = self._ways.present
        found = self._schedules(way)
        if way.placement == PARALLEL_TOUCH != present.placement:
            found += self._first_touch()
        if way.heap == OWNER_HEAP != present.heap:
            change = "psm_alloc(bytes, owner) and psm_free of homenode's traces/psm in place of malloc and free"
            found += self._allocations(change)
        if way.mapping != present.mapping and self._binds_each(way):
            found.append(self._bound(way))
        return found

    def _schedules(self, way: Way) -> list[SourceChange]:
        before, sites = dict(self._ways.present.schedules), {one["label"]: one["site"] for one in self._ways.loops}
        return [
            SourceChange(sites.get(label, ""), label, f"schedule({_as_clause(schedule) or schedule})")
            for label, schedule in way.schedules
            if schedule != before[label] and label not in self._ways.runtime_loops
        ]

    def initialising(self) -> list[Mapping[str, Any]]:
        """Regions where the data are first written: serial code in front of all teams, what writes most first."""
        kinds = [one["kind"] for one in self._ways.regions]
        before = next((at for at, kind in enumerate(kinds) if kind not in ("serial", "single")), len(kinds))
        serial = self._ways.regions[: None if self._ways.own_threads else before]
        serial = [one for one in serial if one["kind"] == "serial"]
        written = sum(one["writes"] for one in serial)
        return sorted(
            (one for one in serial if one["writes"] > _LEAST_SHARE * written), key=lambda one: -int(one["writes"])
        )

    def _first_touch(self) -> list[SourceChange]:
        """Where the data are first written; else where they are allocated."""
        first = self.initialising()
        change = (
            "let each thread touch first what it will use"
            if self._ways.own_threads
            else "initialise in a parallel loop with the schedule of the loops that use the data, so that each thread touches "
            "its own pages first"
        )
        found = [
            SourceChange(self._busiest_line(one), f"serial code '{one['label']}', {one['writes']:,} writes", change)
            for one in first
        ]
        if found and not self._ways.own_threads and _STAYS_SERIAL not in self.remarks:
            self.remarks.append(_STAYS_SERIAL)
        return found[:_NAMED] or self._allocations(change)

    def _busiest_line(self, region: Mapping[str, Any]) -> str:
        """Of a region's code the line that most instructions are of, if they can be its writes; else where the region begins."""
        line, instructions = hottest(instructions_by_line(self._ways.trace.executed_code()).get(region["label"], {}))
        return line if line and instructions * _STORES >= region["writes"] else str(region["site"])

    def _allocations(self, change: str) -> list[SourceChange]:
        """Lines that allocate much, largest first."""
        inspected = self._ways.trace.inspect()
        sites: dict[str, list[dict[str, Any]]] = {}
        for one in inspected["objects"]:
            if not one["private"] and one["kind"] in ("heap", "global", "mmap", "unknown"):
                sites.setdefault(one["site"] or one["symbol"] or one["kind"], []).append(one)
        sizes = {site: sum(int(one["bytes"]) for one in ones) for site, ones in sites.items()}
        large = [site for site, size in sizes.items() if size >= _LEAST_SHARE * inspected["footprint_bytes"]]
        large.sort(key=lambda site: (-sizes[site], site))
        found = [SourceChange(sites[site][0]["site"], _listed(sites[site]), change) for site in large[:_NAMED]]
        return found or [SourceChange("", "all allocations", change)]

    def _bound(self, way: Way) -> SourceChange:
        created = next((one for one in self._ways.regions if one["kind"] == "thread"), None)
        name = self._trace_name or "F.hnt"
        words = ["homenode", "map", name, "--machine", self._ways.machine.source, "--mapping", way.mapping, "--as", "c"]
        return SourceChange(
            created["site"] if created else "",
            f"creation of {created['label']}" if created else "creation of threads",
            f"homenode_bind(k, handle) behind the k-th pthread_create, by the header of: {shlex.join(words)}",
        )

    # ---- in words

    def words(self, way: Way) -> str:
        """How a way differs from the present one, for people."""
        present = self._ways.present
        found = []
        if way.threads != present.threads:
            found.append(f"{way.threads} thread{'' if way.threads == 1 else 's'}")
        if way.mapping != present.mapping:
            found.append("threads not pinned" if way.mapping == "unpinned" else f"threads pinned {way.mapping}")
        if way.placement != present.placement:
            found.append(_PLACEMENTS.get(way.placement, f"pages by {way.placement}"))
        by_schedule: dict[str, list[str]] = {}
        for label, schedule in way.schedules:
            if schedule != dict(present.schedules)[label]:
                by_schedule.setdefault(schedule, []).append(label)
        found += [
            f"schedule({_as_clause(schedule) or schedule}) of {', '.join(labels)}"
            for schedule, labels in by_schedule.items()
        ]
        if way.heap != present.heap:
            found.append(_HEAPS.get(way.heap, f"heap {way.heap}"))
        if way.pages != present.pages:
            found.append("transparent huge pages" if way.pages == "thp" else f"pages of {way.pages}")
        if way.balancing != present.balancing:
            found.append(f"NUMA balancing {'on' if way.balancing else 'off'}")
        return ", ".join(found) or "as it is"

    def present_words(self) -> str:
        """What the present way is."""
        way = self._ways.present
        threads = f"{way.threads} thread{'' if way.threads == 1 else 's'}"
        pinned = "not pinned" if way.mapping == "unpinned" else f"pinned {way.mapping}"
        return ", ".join(
            [
                threads,
                pinned,
                f"placement {way.whole_placement}",
                f"schedule {way.distribution}",
                "glibc's heap" if way.heap == "auto" else f"heap {way.heap}",
                f"pages {way.pages}",
            ]
        )


def _listed(objects: Sequence[Mapping[str, Any]]) -> str:
    """Objects of one line: ``3 allocations, 786,432 B``."""
    size = f"{sum(int(one['bytes']) for one in objects):,} B"
    if len(objects) > 1:
        return f"{len(objects)} allocations, {size}"
    name = objects[0]["symbol"] if objects[0]["symbol"] != objects[0]["site"] else ""
    return f"{name or objects[0]['kind']}, {size}"


_PLACEMENTS = {
    "first-touch": "pages by first touch",
    "interleave": "all pages interleaved",
    PARALLEL_TOUCH: "first touch by the threads that use the pages",
}
_HEAPS = {
    TCMALLOC: "tcmalloc",
    KEEPING_HEAP: "glibc's heap keeps freed memory",
    OWNER_HEAP: "a heap for each node (psm_alloc)",
    "auto": "glibc's heap",
}


def _as_clause(schedule: str) -> str:
    """A schedule as OMP_SCHEDULE and the clause have it; empty for what OpenMP has not."""
    found = re.fullmatch(r"(static|dynamic|guided|auto)(?::([0-9]+))?", schedule)
    return ",".join(part for part in found.groups() if part) if found else ""
