"""Policies in Python, of every kind: the same bytes as built-in ones, what they are told, their settings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import homenode as hn
from extension_support import MACHINE, report_of
from homenode import errors

# What is written again there, under the names of what it equals.
WRITTEN_AGAIN = {
    "placement": {"python-interleave": "interleave"},
    "mapping": {"python-compact": "compact", "python-scatter": "scatter"},
    "distribution": {"python-static": "static", "python-chunks:3": "static:3"},
}


# ---- the same as what is built in


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    machine=st.sampled_from([MACHINE, "opteron-8431-4s", "xeon-x7560-4s"]),
    threads=st.integers(1, 8),
    engine=st.sampled_from(["flow", "line"]),
    pages=st.sampled_from(["4KiB", "thp"]),
    chosen=st.fixed_dictionaries({kind: st.sampled_from(sorted(names)) for kind, names in WRITTEN_AGAIN.items()}),
)
def test_what_is_written_again_gives_the_same_bytes(
    trace: hn.Trace, machine: str, threads: int, engine: str, pages: str, chosen: dict[str, str]
) -> None:
    same: dict[str, Any] = {"machine": machine, "threads": threads, "engine": engine, "pages": pages}
    mine = report_of(trace, **same, **chosen)
    for kind, name in chosen.items():
        mine = mine.replace(f'"{name}"', f'"{WRITTEN_AGAIN[kind][name]}"')
    assert mine == report_of(trace, **same, **{kind: WRITTEN_AGAIN[kind][name] for kind, name in chosen.items()})


def test_a_grid_gives_the_same_bytes_with_any_number_of_workers(trace: hn.Trace) -> None:
    choices = hn.grid(
        MACHINE,
        8,
        placement=["python-in-turn", "first-touch"],
        mapping=["python-scatter", "compact"],
        distribution=["python-on-demand:50", "python-by-home", "static"],
    )
    one, four = ([result.to_json() for result in hn.replay_grid(trace, choices, workers=workers)] for workers in (1, 4))
    assert one == four


def test_the_closed_form_takes_them(trace: hn.Trace) -> None:
    mine, built_in = (
        hn.estimate(trace, MACHINE, threads=8, placement=placement, mapping=mapping, distribution=distribution).seconds
        for placement, mapping, distribution in (
            ("python-interleave", "python-scatter", "python-static"),
            ("interleave", "scatter", "static"),
        )
    )
    assert mine == built_in


def test_modifiers_and_regions_take_them(trace: hn.Trace) -> None:
    placed = hn.replay(trace, MACHINE, threads=8, placement="python-interleave+autonuma").run
    assert (
        placed["pages_by_node"]
        == hn.replay(trace, MACHINE, threads=8, placement="interleave+autonuma").run["pages_by_node"]
    )
    label = trace.labels[-1]
    log = hn.replay(trace, MACHINE, threads=8, distribution=f"{label}@python-chunks:7", keep_log=True).log
    assert log is not None
    assert (log == hn.replay(trace, MACHINE, threads=8, distribution=f"{label}@static:7", keep_log=True).log).all()


# ---- what policies are told, and state


def test_a_mapping_sees_the_threads_and_their_graph(trace: hn.Trace) -> None:
    seen: list[Any] = []

    @hn.thread_mapping("watching-threads", graph=True)
    def watch(threads: hn.ThreadsToMap) -> np.ndarray:
        seen.append(
            (len(threads), threads.machine, threads.shared_bytes, threads.pairs, threads.parent, threads.accesses)
        )
        assert (threads.dependent_bytes <= threads.shared_bytes).all()
        return threads.numbers

    machine = hn.Machine.load(MACHINE).with_changes(link_bandwidth="25 GB/s")
    hn.replay(trace, machine, threads=4, mapping="watching-threads")
    count, known, matrix, pairs, parent, accesses = seen[-1]
    assert count == 4
    assert known == machine and known.changes  # the run's own, not one like it
    assert matrix.shape == (4, 4) and (np.diag(matrix) == 0).all()
    assert matrix.sum() == pairs[:, 2].sum() > 0
    assert parent[0] == -1 and len(accesses) == 4


def test_a_mapping_without_the_graph_is_refused_to_look_at_it(trace: hn.Trace) -> None:
    hn.thread_mapping("peeping")(lambda threads: threads.parent)
    with pytest.raises(errors.UsageError, match="registered with graph=True"):
        hn.replay(trace, MACHINE, threads=2, mapping="peeping")


def test_a_table_of_truth_values_lets_threads_move(trace: hn.Trace) -> None:
    @hn.thread_mapping("second-socket")
    def on_second(threads: hn.ThreadsToMap) -> np.ndarray:
        return np.tile(threads.machine.node_of_core == 1, (len(threads), 1))

    threads = hn.replay(trace, MACHINE, threads=4, mapping="second-socket").threads
    assert (threads["node"] == 1).all()


def test_a_distribution_keeps_state_from_loop_to_loop_and_is_new_in_each_run(trace: hn.Trace) -> None:
    told: list[tuple[int, int]] = []

    @hn.work_distribution("counting")
    class Counting:
        def __init__(self) -> None:
            self.loops = 0

        def __call__(self, loop: hn.Loop) -> Any:
            self.loops += 1
            told.append((self.loops, loop.execution))
            thread = np.arange(loop.threads)
            bounds = np.linspace(0, loop.iterations, loop.threads + 1).astype(int)
            assert loop.label in trace.labels
            assert (loop.nodes == loop.machine.node_of_core[loop.cores]).all()
            assert set(loop.homes()) <= {-1, 0, 1} and len(loop.homes(1, 3)) == 2
            return bounds[:-1], bounds[1:], thread

    first, second = (report_of(trace, threads=4, distribution="counting") for _ in range(2))
    assert first == second
    assert [count for count, _ in told] == 2 * list(range(1, len(told) // 2 + 1))
    assert len({execution for _, execution in told}) == len(told) // 2 > 1


def test_a_distribution_on_demand_is_told_what_is_complete(trace: hn.Trace) -> None:
    done: dict[int, list[tuple[int, int, int]]] = {}
    ends: list[int] = []

    class OneByOne:
        def __init__(self, loop: hn.Loop) -> None:
            self.loop, self.at = loop, 0

        def next(self, thread: int, time_ps: int) -> tuple[np.int64, int] | None:
            assert time_ps >= 0
            self.at += 1
            return (np.int64(self.at - 1), self.at) if self.at <= self.loop.iterations else None

        def complete(self, first: int, last: int, thread: int, time_ps: int) -> None:
            done.setdefault(self.loop.execution, []).append((first, last, thread))
            ends.append(time_ps)

    hn.work_distribution("one-by-one")(lambda loop: OneByOne(loop))
    log = hn.replay(trace, MACHINE, threads=3, distribution="one-by-one", keep_log=True).log
    assert log is not None
    for execution, told in done.items():
        rows = log[log[:, 0] == execution]
        assert sorted(told) == sorted((int(first), int(last), int(thread)) for _, first, last, thread, _ in rows)
    assert ends == sorted(ends)


def test_what_a_loop_knows_ends_with_it(trace: hn.Trace) -> None:
    kept: list[hn.Loop] = []

    @hn.work_distribution("keeping")
    def keep(loop: hn.Loop) -> Any:
        kept.append(loop)
        return [0], [loop.iterations], [0]

    hn.replay(trace, MACHINE, threads=2, distribution="keeping")
    assert kept[0].iterations > 0
    with pytest.raises(errors.UsageError, match="is over"):
        kept[0].homes()


def test_a_heap_serves_a_program(heap_trace: hn.Trace) -> None:
    for heap in ("python-bump", "python-bump:chunk=65536", "python-powers-of-two"):
        run = hn.replay(heap_trace, MACHINE, threads=4, heap=heap).run
        assert run["heap"] == heap
        assert run["heap_detail"]["reserved_bytes"] >= run["heap_detail"]["requested_peak_bytes"] > 0


def test_a_heap_sees_each_call(heap_trace: hn.Trace) -> None:
    calls: list[Any] = []

    @hn.heap_manager("watching-calls")
    class Watching:
        def prepare(self, heap: hn.Heap) -> None:
            self.heap, self.live = heap, {}
            assert len(heap.cores) == 4 and heap.page_bytes == 4096

        def allocate(self, call: hn.Allocation) -> int:
            address = self.heap.reserve(call.bytes, call.alignment)
            self.live[address] = call.bytes
            calls.append(call)
            return address

        def release(self, call: hn.Release) -> None:
            assert self.live.pop(call.address) == call.bytes
            self.heap.unmap(call.address, -(-call.bytes // 4096) * 4096)
            calls.append(call)

    hn.replay(heap_trace, MACHINE, threads=4, heap="watching-calls")
    assert {type(call) for call in calls} == {hn.Allocation, hn.Release}
    assert all(call.node == call.core // 4 and 0 <= call.thread < 4 for call in calls)
    assert [call.time_ps for call in calls] == sorted(call.time_ps for call in calls)


def test_a_placement_that_watches_migrates_pages(trace: hn.Trace) -> None:
    seen: list[tuple[int, int]] = []

    @hn.page_placement("to-the-reader", watches="traffic")
    class ToTheReader:
        def __call__(self, faults: hn.PageFaults) -> Any:
            return [0] * len(faults)

        def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
            mapped = uses.home >= 0
            assert (pages.homes(uses.page)[mapped] == uses.home[mapped]).all()
            assert (np.diff(uses.page.astype(np.int64)) > 0).all()
            assert (uses.read_bytes + uses.written_bytes > 0).all()
            seen.append((uses.place.thread, uses.place.node))
            pages.migrate(uses.page[mapped], uses.place.node)

    run = hn.replay(trace, MACHINE, threads=8, placement="to-the-reader").run
    assert run["migrated_pages"] > 0
    assert {node for _, node in seen} == {0, 1}
    with pytest.raises(errors.UsageError, match="a modifier that migrates pages on a placement that migrates pages"):
        hn.replay(trace, MACHINE, threads=8, placement="to-the-reader+autonuma")


def test_a_placement_that_wakes_unmaps_pages(trace: hn.Trace) -> None:
    woken: list[int] = []

    @hn.page_placement("waking", watches="hinting-faults")
    class Waking:
        wakeup_ps: int | None = 0

        def __call__(self, faults: hn.PageFaults) -> Any:
            return faults.node

        def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
            assert (uses.read_bytes == 0).all()

        def wake(self, place: hn.Place, pages: hn.MappedPages) -> None:
            assert self.wakeup_ps is not None and place.time_ps >= self.wakeup_ps
            woken.append(pages.unmap(np.arange(len(pages))))
            self.wakeup_ps = place.time_ps + 1 if len(woken) < 3 else None

    run = hn.replay(trace, MACHINE, threads=8, placement="waking").run
    assert len(woken) == 3
    assert run["hinting_faults"] > 0


def small_caches() -> hn.Machine:
    """They keep no page that the kernel zeroes, so that memory is read."""
    sizes = {f"caches.{level}.size": size for level, size in ((1, "1 KiB"), (2, "2 KiB"), (3, "8 KiB"))}
    return hn.Machine.load(MACHINE).with_changes(sizes)


@pytest.mark.parametrize(
    ("name", "act", "message"),
    [
        ("migrate", lambda pages: pages.migrate([len(pages)], 0), "asks for page"),
        ("migrate", lambda pages: pages.migrate(np.arange(len(pages)), 9), "to node 9; allowed: nodes 0 to 1"),
        ("migrate", lambda pages: pages.migrate([0.5], 0), "allowed: integers, the numbers of pages"),
        ("observe", lambda pages: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_wrong_acts_of_a_watching_placement(trace: hn.Trace, name: str, act: Any, message: str) -> None:
    @hn.page_placement("wrong", watches="traffic")
    class Wrong:
        def __call__(self, faults: hn.PageFaults) -> Any:
            return faults.node

        def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
            act(pages)

    with pytest.raises(errors.PolicyError, match=re.escape(message)):
        hn.replay(trace, small_caches(), threads=2, placement="wrong")


def test_pages_are_there_during_the_call_only(trace: hn.Trace) -> None:
    kept: list[hn.MappedPages] = []

    @hn.page_placement("keeping-pages", watches="traffic")
    class Keeping:
        def __call__(self, faults: hn.PageFaults) -> Any:
            return faults.node

        def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
            kept.append(pages)

    hn.replay(trace, small_caches(), threads=2, placement="keeping-pages")
    with pytest.raises(errors.UsageError, match="after the call that gave them"):
        len(kept[0])


@pytest.fixture(scope="module")
def task_trace(own_cache: None) -> hn.Trace:
    """A program of tasks."""
    return hn.capture("jacobi3d_tasks", ni=16, nj=16, nk=16, bk=16)


def test_a_distribution_runs_tasks(task_trace: hn.Trace) -> None:
    log = hn.replay(task_trace, MACHINE, threads=4, distribution="python-task-stack", keep_log=True).log
    theirs = hn.replay(task_trace, MACHINE, threads=4, distribution="tasks", keep_log=True).log
    assert log is not None and theirs is not None
    handed_out = [sorted(map(tuple, rows[:, :3].tolist())) for rows in (log, theirs)]
    assert handed_out[0] == handed_out[1]
    with pytest.raises(errors.UsageError, match="consists of tasks, which distribution 'python-static' does not run"):
        label = next(one for one in task_trace.labels if one.endswith(":task"))
        hn.replay(task_trace, MACHINE, threads=4, distribution=f"{label}@python-static")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({}, "for a region of tasks; allowed: an object with methods next, submit, queue and withdraw"),
        ({"submit": lambda *_: "yes"}, "returned 'yes' for a task; allowed: True, False, or None for True"),
        ({"submit": lambda *_: (True, -3)}, "says that a call takes -3"),
        ({"next": lambda *_: (0, 2)}, "allowed: one task that was queued"),
    ],
)
def test_wrong_answers_about_tasks(task_trace: hn.Trace, methods: dict[str, Any], message: str) -> None:
    usual = {"next": lambda *_: None, "submit": lambda *_: None, "queue": lambda *_: None, "withdraw": lambda *_: None}
    answer = type("Answer", (), {**usual, **methods} if methods else {"next": usual["next"]})
    hn.work_distribution("wrong", tasks=True)(lambda loop: answer() if loop.tasks else ([0], [loop.iterations], [0]))
    with pytest.raises(errors.PolicyError, match=re.escape(message)):
        hn.replay(task_trace, MACHINE, threads=2, distribution="wrong static")


# ---- settings


def test_settings_are_arguments(trace: hn.Trace) -> None:
    @hn.page_placement("on-one-node")
    def on_node(faults: hn.PageFaults, *, node: int = 0) -> Any:
        """All pages on one node."""
        return np.full(len(faults), node)

    for setting, pages in (("", 0), (":1", 1), (":node=1", 1)):
        by_node = hn.replay(trace, MACHINE, threads=2, placement=f"on-one-node{setting}").run["pages_by_node"]
        assert by_node[1 - pages] == 0 < by_node[pages]
    listed = next(policy for policy in hn.policies("placement") if policy["name"] == "on-one-node")
    assert listed["description"] == "All pages on one node."
    assert [(one["name"], one["default"], one["required"]) for one in listed["parameters"]] == [("node", 0, False)]
    with pytest.raises(errors.UsageError, match="nodes"):
        hn.replay(trace, MACHINE, threads=2, placement="on-one-node:nodes=1")


def test_a_setting_without_a_default_is_required(trace: hn.Trace) -> None:
    @hn.work_distribution("all-to", examples=["all-to:1"])
    class AllTo:
        def __init__(self, thread: int) -> None:
            self.thread = thread

        def __call__(self, loop: hn.Loop) -> Any:
            return [0], [loop.iterations], [self.thread]

    assert hn.replay(trace, MACHINE, threads=2, distribution="all-to:1").seconds > 0
    with pytest.raises(errors.UsageError, match="thread"):
        hn.replay(trace, MACHINE, threads=2, distribution="all-to")


def test_what_can_be_no_policy_is_refused_when_it_is_registered() -> None:
    def words(faults: hn.PageFaults, *, how: str = "round") -> Any: ...

    class Seeing:
        def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None: ...

    class NoHeap:
        def allocate(self, call: hn.Allocation) -> int: ...  # type: ignore[empty-body]

    for register, message in (
        (lambda: hn.page_placement("worded")(words), "setting 'how' has the default 'round'; allowed: whole numbers"),
        (lambda: hn.heap_manager("no-heap")(NoHeap), "a class without prepare, release; allowed: "),
        (lambda: hn.heap_manager("no-heap")(lambda: 0), "no class; allowed: "),
        (
            lambda: hn.page_placement("seeing", watches="all")(Seeing),
            "unknown what a placement watches 'all'; allowed: ",
        ),
        (
            lambda: hn.page_placement("seeing", watches="traffic")(len),
            "watches pages; allowed: a class with a method observe",
        ),
        (
            lambda: hn.page_placement("asleep")(type("A", (), {"wake": words})),
            "has a method wake and watches nothing; allowed: ",
        ),
        (lambda: hn.thread_mapping("no-mapping")(3), "mapping 'no-mapping' is int; allowed: a function or a class"),  # type: ignore[type-var]
        (lambda: hn.thread_mapping("compact"), "mapping 'compact' is built in; allowed: any other name"),
        (lambda: hn.work_distribution("No"), "distribution name 'No'; allowed: a small letter"),
    ):
        with pytest.raises(errors.UsageError, match=re.escape(message)):
            register()  # type: ignore[no-untyped-call]
