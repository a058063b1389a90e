"""Wrong answers and exceptions of policies in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import homenode as hn
from extension_support import MACHINE
from homenode import errors


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
