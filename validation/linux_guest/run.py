"""Boots the guest, replays the same programs, and yields the rows; says in one row what is missing where it cannot."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.errors import UsageError
from homenode.resources import cache_directory
from validation.linux_guest import compare, guest, programs, results
from validation.linux_guest.cases import (
    BALANCE_CASES,
    BALANCED_PAGES,
    GLIBC,
    PAGE,
    PSM,
    SMALL_HEAP,
    TCMALLOC,
    BalanceCase,
    HeapCase,
    HeapSize,
    PlacementCase,
    Plan,
    commands,
    overflow_case,
    placement_cases,
)
from validation.linux_guest.log import GuestLog, parse
from validation.rows import GuestRow
from validation.study import Options, Study
from validation.traces import capture_to

DESCRIPTION = Path(__file__).with_name("machines") / "guest-4n.toml"
# Emulation is slow, and other work may share the host.
TIMEOUT = 1500.0


class Model:
    """Captures the guest's programs once each and replays them on a machine of the guest's nodes."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Traces and traced programs go to `folder`."""
        self._folder = folder
        self._threads = threads
        self._machine = hn.Machine.load(DESCRIPTION)
        self._traces: dict[Path, hn.Trace] = {}

    def _trace(self, source: str, arguments: list[str]) -> hn.Trace:
        name = Path(source).stem
        path = self._folder / ("-".join([name, *arguments]).translate(str.maketrans(":,", "x+", "=")) + ".hnt")
        if path not in self._traces:
            program = programs.traced(source, self._folder)
            words = [str(program), *arguments, "report=0"]
            self._traces[path] = capture_to(path, command=words, threads=self._threads)
        return self._traces[path]

    def _replayed(self, trace: hn.Trace, machine: hn.Machine, **options: Any) -> tuple[hn.Result, str]:
        spec = hn.RunSpec(machine, threads=self._threads, **options)
        return hn.replay(trace, machine, keep_log=True, **spec.options()), spec.command(trace.path.name)

    def pages(self, case: PlacementCase, free_pages: list[int] | None = None) -> tuple[list[int], str]:
        """The node of each page of the area, and the command that repeats the replay; nodes have `free_pages` if given."""
        trace = self._trace("placement.c", case.arguments())
        machine = self._machine
        if free_pages is not None:
            machine = machine.with_changes(
                {f"nodes.{node}.memory": f"{pages * PAGE} B" for node, pages in enumerate(free_pages)}
            )
        result, command = self._replayed(trace, machine, placement=case.placement, distribution=case.distribution)
        return _last_nodes(trace, result, case.pages), command

    def balanced(self, case: BalanceCase) -> tuple[list[int], float, str]:
        """The node of each page at the end, the simulated seconds, and the command that repeats the replay."""
        trace = self._trace("balance.c", case.arguments())
        result, command = self._replayed(trace, self._machine, placement=case.placement, system="linux-6.1")
        return _last_nodes(trace, result, BALANCED_PAGES), result.seconds, command

    def remote_pages(self, heap: HeapCase, size: HeapSize) -> tuple[int | None, str, str]:
        """Remote pages of List. 1 over all passes; or none and why; and the command."""
        if heap.heap not in _heap_managers():
            return None, f"not compared: the model has no heap manager {heap.heap}", ""
        trace = self._trace("heap_list1.c", size.arguments())
        result, command = self._replayed(trace, self._machine, heap=heap.heap)
        return int(result.run["heap_detail"]["remote_block_pages"]), "", command


def _heap_managers() -> set[str]:
    try:
        return {policy["name"] for policy in hn.policies("heap")}
    except UsageError:
        return set()


def _last_nodes(trace: hn.Trace, result: hn.Result, pages: int) -> list[int]:
    """The node of each page of the mapped area, where it last came to; -1 where it is on none."""
    area = _area(trace, pages * PAGE)
    nodes = [-1] * pages
    assert result.pages is not None
    for placed, page, node in result.pages.tolist():
        if placed == area:
            nodes[page] = node
    return nodes


def _area(trace: hn.Trace, size: int) -> int:
    """The object that the program maps."""
    objects: list[dict[str, Any]] = trace.inspect()["objects"]
    found = [int(entry["id"]) for entry in objects if entry["kind"] == "mmap" and entry["bytes"] == size]
    if len(found) != 1:
        raise ValueError(f"{len(found)} mapped objects of {size} bytes in {trace!r}; expected 1")
    return found[0]


def skipped(why: str) -> GuestRow:
    """The row of a host that cannot run the guest."""
    return GuestRow("linux-guest", f"skipped: {why}", "predicted", "", "", "", "skipped", "")


def model_rows(log: GuestLog, plan: Plan, model: Model) -> Iterator[GuestRow]:
    """Everything that is held against the guest's log."""
    nodes = plan.machine.nodes
    for case in placement_cases(plan.machine):
        placed, command = model.pages(case)
        yield compare.placement_row(case, log.pages[case.name].nodes, placed, nodes, command)
    yield compare.law_row("interleave-area", log.pages["interleave-area"], nodes)
    overflow = overflow_case(plan.machine)
    placed, command = model.pages(overflow, log.free_pages)
    yield from compare.overflow_rows(overflow, log.pages[overflow.name].nodes, placed, log.free_pages, command)
    for balance in BALANCE_CASES:
        nodes_of_pages, seconds, command = model.balanced(balance)
        runs = [line.nodes for line in log.balance[balance.name]]
        yield compare.balance_row(balance, runs, nodes_of_pages, seconds, command)
    yield from compare.psm_rows(log)
    for heap in (GLIBC, PSM, TCMALLOC):
        if heap not in plan.heaps:
            yield skipped(f"{heap.name} (Debian: libgoogle-perftools-dev)")
            continue
        remote, why, command = model.remote_pages(heap, plan.heap_size)
        yield compare.heap_row(heap, plan.heap_size, compare.heap_guest_sums(log, heap), remote, why, command)


def rows(folder: Path, cache: Path, small: bool = False) -> Iterator[GuestRow]:
    """Yield all rows; the guest's output is kept as linux_guest.log in the folder."""
    try:
        guest.emulator()
        guest.busybox()
        made = programs.for_guest(folder / "guest")
        heaps = [heap for heap in (GLIBC, PSM, TCMALLOC) if heap.program in made]
        plan = Plan(heaps, SMALL_HEAP) if small else Plan(heaps)
        text = guest.run(plan.machine, made, commands(plan), cache, TIMEOUT)
    except guest.MissingPart as missing:
        yield skipped(str(missing))
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "linux_guest.log").write_text(text, encoding="utf-8")
    yield from model_rows(parse(text), plan, Model(folder / "model", plan.machine.cores))


def _rows(options: Options) -> Iterator[GuestRow]:
    try:
        yield from rows(options.folder / "linux-guest", cache_directory() / "guest", options.small)
    except guest.GuestFailed as error:
        raise SystemExit(f"the Linux guest failed: {error}") from None


def _write(found: Sequence[GuestRow], options: Options) -> None:
    """Renew the page after a full run that was not skipped."""
    if not options.small and found[0].verdict != "skipped":
        log = options.folder / "linux-guest" / "linux_guest.log"
        results.write(found, parse(log.read_text(encoding="utf-8")))


STUDY = Study(
    "linux-guest",
    "a Linux of 4 nodes in QEMU against the model, page by page",
    "minutes",
    ("case", "what", "guest", "model", "unit", "verdict", "command", "class"),
    _rows,
    (results.PAGE,),
    write=_write,
)
