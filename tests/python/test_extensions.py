"""Policies of extensions: in Python, of every kind; from files and installed packages; as libraries of C++."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import homenode as hn
from homenode import errors
from homenode.registering import forget
from homenode.run_spec import command
from support import BUILD, PAGES_APART, ROOT, SCRIPTS, Ended, build_release

Run = Callable[..., Ended]
MACHINE = "xeon-x5550-2s"
EXAMPLES = ROOT / "tests/contract/extensions/python_policies.py"
# What is written again there, under the names of what it equals.
WRITTEN_AGAIN = {
    "placement": {"python-interleave": "interleave"},
    "mapping": {"python-compact": "compact", "python-scatter": "scatter"},
    "distribution": {"python-static": "static", "python-chunks:3": "static:3"},
}


@pytest.fixture(autouse=True)
def examples() -> Iterator[None]:
    """The examples are there; what a test registers is gone behind it."""
    before = {(policy["kind"], policy["name"]) for policy in hn.policies()}
    hn.load_extension(EXAMPLES)
    yield
    for policy in hn.policies():
        if (policy["kind"], policy["name"]) not in before:
            forget(policy["kind"], policy["name"])


@pytest.fixture(scope="module")
def heap_trace(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """A program that allocates and frees."""
    path = tmp_path_factory.mktemp("heap") / "heap.hnt"
    source = ROOT / "tests/python/programs/heap.c"
    program = path.with_name("heap")
    subprocess.run([SCRIPTS / "homenode", "cc", "-g", "-fopenmp", source, "-o", program], check=True)
    return hn.capture(command=[str(program)], output=path)


def report_of(trace: hn.Trace, **options: Any) -> str:
    return hn.replay(trace, options.pop("machine", MACHINE), **options).to_json()


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
        hn.replay(trace, MACHINE, threads=2, placement="wrong")


def test_pages_are_there_during_the_call_only(trace: hn.Trace) -> None:
    kept: list[hn.MappedPages] = []

    @hn.page_placement("keeping-pages", watches="traffic")
    class Keeping:
        def __call__(self, faults: hn.PageFaults) -> Any:
            return faults.node

        def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
            kept.append(pages)

    hn.replay(trace, MACHINE, threads=2, placement="keeping-pages")
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


# ---- wrong answers and exceptions


class Answers:
    """An execution whose chunks are given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def next(self, thread: int, time_ps: int) -> Any:
        return self.answers.pop(0) if self.answers else None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda loop: None, "returned NoneType; allowed: a plan"),
        (lambda loop: ([0], [1]), "returned tuple; allowed: a plan"),
        (lambda loop: ([0], [loop.iterations - 1], [0]), "plans no thread for iterations"),
        (lambda loop: ([1], [loop.iterations], [0]), "plans no thread for iterations 0 to 1"),
        (lambda loop: ([0, 0], [1, loop.iterations], [0, 0]), "plans iteration 0 twice"),
        (lambda loop: ([0], [loop.iterations + 1], [0]), "; there are 0 to"),
        (lambda loop: ([0], [loop.iterations], [2]), "plans thread 2; allowed: 0 to 1"),
        (lambda loop: ([0, 1], [loop.iterations], [0]), "three arrays of one length"),
        (lambda loop: ([0.0], [loop.iterations], [0]), "allowed: integers, first iterations"),
        (lambda loop: ([0], [loop.iterations], [0], [-1.0]), "says that a call takes -1.000000 ns"),
        (lambda loop: ([0], [loop.iterations], [0], [1.0, 2.0]), "overheads"),
        (lambda loop: Answers((0, 1), (0, 1)), "handed out iteration 0 twice"),
        (lambda loop: Answers((0, loop.iterations + 1)), "there are 0 to"),
        (lambda loop: Answers((1, 1)), "handed out iterations 1 to 1"),
        (lambda loop: Answers((0, 1)), "1 of "),
        (lambda loop: Answers("ab"), "handed out 'ab'; allowed: (first, last)"),
        (lambda loop: Answers((0.5, 1)), "handed out (0.5, 1); allowed: (first, last)"),
        (lambda loop: Answers((0, 2**70)), "handed out (0, 1180591620717411303424); allowed: (first, last)"),
        (lambda loop: Answers((0, 1, "soon")), "says that a call takes 'soon' ns"),
    ],
)
def test_wrong_plans(trace: hn.Trace, answer: Any, message: str) -> None:
    hn.work_distribution("wrong")(answer)
    with pytest.raises(errors.PolicyError, match=re.escape(message)):
        hn.replay(trace, MACHINE, threads=2, distribution="wrong")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda threads: [0], "for 2 threads; allowed: one core for each"),
        (lambda threads: [0, 8], "put thread 1 on core 8; allowed: 0 to 7"),
        (lambda threads: [0, -1], "put thread 1 on core -1"),
        (lambda threads: [0.5, 1], "allowed: integers, the numbers of cores"),
        (lambda threads: None, "one core for each"),
        (lambda threads: np.zeros((2, 8), dtype=bool), "allows thread 0 no core"),
        (lambda threads: np.ones((2, 3), dtype=bool), "a column for each of 8 cores"),
    ],
)
def test_wrong_cores(trace: hn.Trace, answer: Any, message: str) -> None:
    hn.thread_mapping("wrong")(answer)
    with pytest.raises(errors.PolicyError, match=re.escape(message)):
        hn.replay(trace, MACHINE, threads=2, mapping="wrong")


class Misplacing:
    """A heap whose blocks go where `where` says."""

    where: Callable[[Any, hn.Allocation], Any]

    def prepare(self, heap: hn.Heap) -> None:
        self.heap, self.first = heap, heap.reserve(1 << 20)

    def allocate(self, call: hn.Allocation) -> Any:
        return type(self).where(self, call)

    def release(self, call: hn.Release) -> None: ...


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (lambda heap, call: heap.first, "where another one lives"),
        (lambda heap, call: heap.first + 4, "; allowed: multiples of 16"),
        (lambda heap, call: heap.first + (1 << 20), "inside what one call of reserve gave it"),
        (lambda heap, call: None, "returned None for the address of a block"),
        (lambda heap, call: -8, "returned -8 for the address of a block"),
        (lambda heap, call: (heap.first, "long"), "says that a call takes 'long' ns"),
        (lambda heap, call: (heap.first, 1, 2, 3), "raised TypeError: 3 times of a call"),
        (lambda heap, call: heap.heap.unmap(heap.first + 1, 4096), "allowed: whole pages of 4096 bytes"),
        (lambda heap, call: heap.heap.bind(heap.first, 4096, 2), "to node 2; allowed: 0 to 1"),
        (lambda heap, call: heap.heap.reserve(10, 3), "aligned to a power of two"),
    ],
)
def test_wrong_blocks(heap_trace: hn.Trace, where: Any, message: str) -> None:
    hn.heap_manager("wrong")(type("Wrong", (Misplacing,), {"where": where}))
    with pytest.raises(errors.PolicyError, match=re.escape(message)):
        hn.replay(heap_trace, MACHINE, threads=4, heap="wrong")


def raising(kind: str, error: BaseException) -> None:
    """Registers a policy of the kind that raises."""

    def fail(*_: Any) -> Any:
        raise error

    register: dict[str, Callable[[], object]] = {
        "placement": lambda: hn.page_placement("raising")(fail),
        "mapping": lambda: hn.thread_mapping("raising")(fail),
        "distribution": lambda: hn.work_distribution("raising")(fail),
        "heap": lambda: hn.heap_manager("raising")(
            type("Heap", (), dict.fromkeys(("prepare", "allocate", "release"), fail))
        ),
    }
    register[kind]()


KINDS = ("placement", "mapping", "distribution", "heap")


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_is_the_cause(heap_trace: hn.Trace, kind: str) -> None:
    raising(kind, ZeroDivisionError("by nothing"))
    with pytest.raises(errors.PolicyError, match=f"{kind} 'raising' raised ZeroDivisionError: by nothing") as caught:
        hn.replay(heap_trace, MACHINE, threads=4, **{kind: "raising"})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_stays_what_it_is(heap_trace: hn.Trace, kind: str, error: type[BaseException]) -> None:
    raising(kind, error(3))
    with pytest.raises(error) as caught:
        hn.replay(heap_trace, MACHINE, threads=4, **{kind: "raising"})
    assert caught.value.args == (3,)


@pytest.mark.parametrize("kind", ["mapping", "distribution", "heap"])
def test_a_policy_may_refuse(heap_trace: hn.Trace, kind: str) -> None:
    raising(kind, errors.UsageError("two sockets; allowed: one"))
    with pytest.raises(errors.UsageError, match=r"^two sockets; allowed: one$"):
        hn.replay(heap_trace, MACHINE, threads=4, **{kind: "raising"})


# ---- files


MINE = """
import homenode as hn

@hn.page_placement("mine")
def place(faults):
    \"\"\"All on the last node.\"\"\"
    return [faults.machine.nodes - 1] * len(faults)

@hn.thread_mapping("mine")
def assign(threads):
    return threads.machine.cores - 1 - threads.numbers % threads.machine.cores

@hn.page_placement("failing")
def fail(faults):
    return nothing_of_this_name
"""
ON_X5550 = ("--machine", MACHINE, "--threads", "2")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "TRACE", *ON_X5550, "--placement", "mine", "--mapping", "mine", "--extension", "mine.py"),
        ("replay", "TRACE", *ON_X5550, "--python", "mine.py", "--placement", "mine"),
        ("replay", "TRACE", *ON_X5550, "--placement", "mine", "--engine", "simgrid", "--extension", "mine.py"),
        ("map", "TRACE", *ON_X5550, "--mapping", "mine", "--extension", "mine.py"),
        ("advise", "TRACE", *ON_X5550, "--placement", "mine", "--samples", "2", "--extension", "mine.py"),
        ("policies", "mine", "--extension", "mine.py"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_commands_take_policies_of_a_file(homenode: Run, mine: Path, trace_file: Path, words: tuple[str, ...]) -> None:
    ended = homenode(*(str(trace_file) if word == "TRACE" else word for word in words))
    assert ended.status == 0, ended.stderr
    assert words[0] == "advise" or "mine" in ended.stdout
    unknown = homenode(
        *(
            str(trace_file) if word == "TRACE" else word
            for word in words
            if "mine.py" not in word and word not in ("--extension", "--python")
        )
    )
    assert unknown.status == 2
    assert "'mine'" in unknown.stderr


def test_only_the_new_option_is_shown(homenode: Run) -> None:
    for name in ("replay", "map", "advise", "policies"):
        shown = homenode(name, "--help").stdout
        assert "--extension F" in shown
        assert "--python" not in shown


@pytest.mark.parametrize("engine", ["flow", "simgrid"])
def test_an_error_is_the_users_own_traceback(homenode: Run, mine: Path, trace_file: Path, engine: str) -> None:
    ended = homenode("replay", trace_file, *ON_X5550, "--extension", mine, "--placement", "failing", "--engine", engine)
    assert ended.status == 2
    assert ended.stderr.startswith("homenode: placement 'failing' raised NameError")
    assert "    return nothing_of_this_name\n" in ended.stderr
    assert ended.stderr.rstrip().splitlines()[-1].startswith("NameError: ")


def test_an_error_of_the_file_is_the_users_own_traceback(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    (tmp_path / "wrong.py").write_text("import homenode as hn\n\nhn.page_placement('mine')(1 / 0)\n")
    ended = homenode("policies", "--extension", "wrong.py")
    assert ended.status == 2
    first, *lines = ended.stderr.splitlines()
    assert first == "homenode: 'wrong.py' ended with ZeroDivisionError: division by zero"
    assert [line for line in lines if line.startswith("  File ")] == ['  File "wrong.py", line 3, in <module>']


def test_what_is_no_extension_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "words.py").write_text("these are words")
    for extension, error, message in (
        (tmp_path / "missing.py", errors.UsageError, "no Python file"),
        (tmp_path / "missing.so", errors.UsageError, "no library"),
        (tmp_path / "text.so", errors.InputError, "cannot be loaded"),
        (tmp_path / "words.py", errors.UsageError, "is no Python file"),
        (3, errors.UsageError, "an extension is int; allowed: "),
    ):
        with pytest.raises(error, match=message):
            hn.load_extension(extension)  # type: ignore[arg-type]


def test_a_printed_command_names_the_files(mine: Path) -> None:
    hn.load_extension(mine)
    words = command("x.hnt", [hn.RunSpec(MACHINE, threads=2, placement="mine")])
    assert f"--extension {mine}" in words
    assert "--extension" not in command("x.hnt", [hn.RunSpec(MACHINE, threads=2)])


def test_only_what_others_can_load_goes_to_another_process(trace: hn.Trace, mine: Path) -> None:
    hn.load_extension(mine)
    hn.page_placement("of-this-test")(lambda faults: faults.node)
    spec = hn.RunSpec(MACHINE, threads=2, engine="simgrid")
    assert not spec.needs_this_process()
    assert not spec.with_(placement="mine").needs_this_process()
    assert spec.with_(placement="of-this-test+autonuma").needs_this_process()
    same = [
        hn.replay(trace, MACHINE, threads=2, engine="simgrid", placement=one).seconds
        for one in ("of-this-test", "first-touch")
    ]
    assert same[0] == same[1]
    flow, simgrid = (
        hn.replay(trace, MACHINE, threads=2, engine=one, placement="mine").run for one in ("flow", "simgrid")
    )
    assert flow["pages_by_node"] == simgrid["pages_by_node"]


# ---- installed packages


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a package that names a module of policies."""
    site = tmp_path / "site"
    information = site / "their_policies-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: their-policies\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[homenode.policies]\ntheirs = their_policies\n")
    (site / "their_policies.py").write_text(MINE.replace('"mine"', '"theirs"'))
    monkeypatch.setenv("PYTHONPATH", str(site))
    yield site


def test_policies_of_installed_packages_are_known_by_name(homenode: Run, installed: Path, trace_file: Path) -> None:
    assert "theirs" in homenode("policies", "placement").stdout
    for engine in ("flow", "simgrid"):
        ended = homenode(
            "replay", trace_file, *ON_X5550, "--placement", "theirs", "--mapping", "theirs", "--engine", engine
        )
        assert ended.status == 0, ended.stderr
    assert "--placement 'theirs'" not in homenode("replay", trace_file, *ON_X5550, "--placement", "thers").stderr


def test_packages_are_loaded_for_an_unknown_name_alone(installed: Path) -> None:
    code = (
        "import sys, homenode as hn\n"
        "hn.grid('xeon-x5550-2s', 2, placement='interleave', mapping='scatter')\n"
        "assert 'their_policies' not in sys.modules\n"
        "hn.grid('xeon-x5550-2s', 2, placement='theirs')\n"
        "assert 'their_policies' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_package_that_fails_is_named(homenode: Run, installed: Path, trace_file: Path) -> None:
    (installed / "their_policies.py").write_text("1 / 0\n")
    for words in (["policies"], ["replay", trace_file, *ON_X5550, "--placement", "theirs"]):
        ended = homenode(*words)
        assert ended.status == 2
        assert ended.stderr.startswith(
            "homenode: policies of the installed package 'their-policies' (their_policies) ended with ZeroDivisionError"
        )
        assert "their_policies.py" in ended.stderr
    assert homenode("replay", trace_file, *ON_X5550, "--placement", "interleave").status == 0


# ---- the contracts, and libraries of C++


@pytest.fixture(scope="module")
def contracts() -> Path:
    """The library of the contract suites, which `./dev test` has built."""
    build_release("contracts_of_extensions")
    return BUILD / "tests/libcontracts_of_extensions.so"


def suites_on(contracts: Path, *extensions: Path, listing: bool = False) -> Ended:
    """The contract suites over the policies of extensions."""
    words = [sys.executable, ROOT / "tests/contract/extensions/run_contracts.py", contracts, *extensions]
    more = ["--gtest_list_tests"] if listing else []
    done = subprocess.run([*map(str, words), *more], capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def names_of_tests(listed: str, name: str) -> set[str]:
    """The tests that are listed for a policy."""
    return set(re.findall(rf"^  (\w+)/{name}\b", listed, re.MULTILINE))


@pytest.mark.parametrize(
    ("kind", "built_in", "name"),
    [
        ("EveryPlacement", "first_touch", "python_interleave"),
        ("EveryMapping", "compact", "python_scatter"),
        ("EveryDistribution", "static", "python_on_demand"),
        ("EveryHeap", "plain", "python_powers_of_two"),
    ],
)
def test_policies_in_python_have_all_tests_of_the_built_in_ones(
    contracts: Path, kind: str, built_in: str, name: str
) -> None:
    mine = names_of_tests(suites_on(contracts, EXAMPLES, listing=True).stdout, name)
    build_release("test_contract")
    command = [BUILD / "tests/test_contract", "--gtest_list_tests", f"--gtest_filter=*{kind}.*/{built_in}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert mine == names_of_tests(listed, built_in) != set()


def test_policies_in_python_keep_the_contracts(contracts: Path) -> None:
    ended = suites_on(contracts, EXAMPLES)
    assert ended.status == 0, ended.stdout + ended.stderr


def test_the_contracts_catch_a_faulty_policy_in_python(contracts: Path, tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text(
        "import itertools, homenode as hn\n"
        "drawn = itertools.count()\n"
        "@hn.page_placement('forgetful')\n"
        "def place(faults):\n"
        "    return [next(drawn) // 7 % faults.machine.nodes for _ in faults.node]\n"
    )
    ended = suites_on(contracts, faulty)
    assert ended.status == 1
    assert "givesEqualCallsEqualHomesInBatchesOfAnySize/forgetful" in ended.stdout


POLICIES = (
    """
#include "sim/memory/address_space.hpp"
#include "sim/policy/extension.hpp"

using namespace homenode;

namespace {

class Backwards final : public ThreadMapping {
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override { cores_ = machine.cores(); }
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return {CoreId{cores_ - 1 - thread.index() % cores_}}; }
  std::size_t cores_ = 0;
};

class InTurn final : public WorkDistribution {
public:
  explicit InTurn(std::int64_t chunk) : chunk_{chunk} {}
  void prepare(const RegionView& region, const Team&, const CostOracle*) override {
    region_ = region;
    next_ = 0;
  }
  Decision next(ThreadId, Time) override {
    if (next_ >= region_.iterations) return {};
    const std::int64_t first = next_;
    next_ = std::min(first + chunk_, region_.iterations);
    return {Decision::Kind::run, {region_.execution, first, next_}, Time{}};
  }

private:
  std::int64_t chunk_;
  RegionView region_;
  std::int64_t next_ = 0;
};

"""
    + PAGES_APART
    + """
class Picky final : public PagePlacement {
  void prepare(const AccessSummary*, const Machine& machine) override {
    if (machine.nodes.size() > 2) throw UsageError("placement 'picky': " + std::to_string(machine.nodes.size()) + " nodes; allowed: 2");
  }
  void fault(std::span<const PageFault>, std::span<NodeId> home) override {
    for (NodeId& node : home) node = NodeId{0u};
  }
};

}  // namespace

HOMENODE_EXTENSION(registries) {
  registries.mappings.add({"cpp-backwards", "", {}, [](const Parameters&) { return std::make_unique<Backwards>(); }});
  registries.distributions.add({"cpp-in-turn", "", {integer_parameter("chunk", "iterations", "size", 4, 1)},
                                [](const Parameters& given) { return std::make_unique<InTurn>(given.get("chunk")); }, {"cpp-in-turn:9"}});
  registries.heaps.add({"cpp-pages-apart", "", {}, [](const Parameters&) { return std::make_unique<PagesApart>(); }});
  registries.placements.add({"cpp-picky", "", {}, [](const Parameters&) { return std::make_unique<Picky>(); }});
}
"""
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Policies in C++, built outside of the tree."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "policies.cpp").write_text(POLICIES)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(mine LANGUAGES CXX)\n"
        "find_package(homenode REQUIRED)\n"
        "homenode_add_policy(mine policies.cpp)\n"
        "target_compile_options(mine PRIVATE -Wall -Wextra -Werror)\n"
    )
    told = subprocess.run(
        [sys.executable, "-m", "homenode.cmake_directory"], capture_output=True, text=True, check=True
    )
    for words in (["-S", ".", "-B", "build", f"-Dhomenode_DIR={told.stdout.strip()}"], ["--build", "build"]):
        done = subprocess.run(["cmake", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build/libmine.so"


def test_a_library_keeps_the_contracts(contracts: Path, library: Path) -> None:
    ended = suites_on(contracts, library)
    assert ended.status == 0, ended.stdout + ended.stderr
    assert names_of_tests(suites_on(contracts, library, listing=True).stdout, "cpp_in_turn_9")


@pytest.mark.parametrize("engine", ["flow", "simgrid"])
def test_a_library_is_an_extension(homenode: Run, library: Path, trace_file: Path, engine: str) -> None:
    ended = homenode(
        *(
            "replay",
            trace_file,
            *ON_X5550,
            "--extension",
            library,
            "--engine",
            engine,
            "--json",
            "--mapping",
            "cpp-backwards",
        ),
        *("--distribution", "cpp-in-turn:3", "--heap", "cpp-pages-apart", "--placement", "cpp-picky"),
    )
    assert ended.status == 0, ended.stderr
    refused = homenode(
        "replay",
        trace_file,
        "--machine",
        "opteron-8431-4s",
        "--threads",
        "2",
        "--extension",
        library,
        "--placement",
        "cpp-picky",
    )
    assert (refused.status, refused.stderr) == (2, "homenode: placement 'picky': 4 nodes; allowed: 2\n")


def test_a_library_equals_python(trace: hn.Trace, library: Path) -> None:
    hn.load_extension(library)

    @hn.thread_mapping("python-backwards")
    def backwards(threads: hn.ThreadsToMap) -> np.ndarray:
        return threads.machine.cores - 1 - threads.numbers % threads.machine.cores

    mine, theirs = (report_of(trace, threads=3, mapping=f"{one}-backwards") for one in ("python", "cpp"))
    assert mine.replace("python-", "cpp-") == theirs


def compiled(folder: Path, code: str) -> Path:
    """A shared library of a few lines."""
    (folder / "library.cpp").write_text(code)
    library = folder / "liblines.so"
    subprocess.run(["g++", "-shared", "-fPIC", folder / "library.cpp", "-o", library], check=True)
    return library


def test_a_library_of_another_homenode_is_refused(homenode: Run, tmp_path: Path) -> None:
    library = compiled(
        tmp_path,
        'extern "C" const char* homenode_interface() { return "homenode 0.0.1, GNU 9, headers 0"; }\n'
        'extern "C" void homenode_register(void*) { __builtin_trap(); }\n',
    )
    ended = homenode("policies", "--extension", library)
    assert ended.status == 2
    assert "found 'homenode 0.0.1, GNU 9, headers 0'; allowed: 'homenode 0.1.0, " in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_library_without_policies_is_refused(homenode: Run, tmp_path: Path) -> None:
    ended = homenode("policies", "--extension", compiled(tmp_path, "int nothing;\n"))
    assert ended.status == 2
    assert "registers no policies; allowed: " in ended.stderr
