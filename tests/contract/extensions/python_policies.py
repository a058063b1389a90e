"""Policies in Python of every kind, for the contract suites: built-in ones written again, and some with state of their own."""

from __future__ import annotations

import numpy as np

import homenode as hn

# ---- placements


@hn.page_placement("python-interleave")
def interleave(faults: hn.PageFaults) -> np.ndarray:
    """Pages round robin over all nodes, by page number."""
    return faults.page // faults.pages % faults.machine.nodes


@hn.page_placement("python-in-turn", examples=["python-in-turn:run=5"])
class InTurn:
    """Pages round robin in the order in which they are touched, some at a time."""

    def __init__(self, run: int = 1) -> None:
        self.run, self.placed = max(run, 1), 0

    def __call__(self, faults: hn.PageFaults) -> np.ndarray:
        turn = self.placed + np.arange(len(faults))
        self.placed += len(faults)
        return turn // self.run % faults.machine.nodes


@hn.page_placement("python-follow", watches="traffic")
class Follow:
    """Each page to the node that has exchanged 16 KiB more with it than its home."""

    def __init__(self) -> None:
        self.bytes: dict[int, np.ndarray] = {}

    def __call__(self, faults: hn.PageFaults) -> np.ndarray:
        return faults.node

    def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
        moved = uses.read_bytes + uses.written_bytes
        for page, home, more in zip(uses.page.tolist(), uses.home.tolist(), moved.tolist(), strict=True):
            counts = self.bytes.setdefault(page, np.zeros(uses.machine.nodes))
            counts[uses.place.node] += more
            if home >= 0 and counts[uses.place.node] > counts[home] + 16384:
                pages.migrate([page], uses.place.node)
                counts[:] = 0


@hn.page_placement("python-balancing", watches="hinting-faults")
class Balancing:
    """First touch; every millisecond the pages of a window are unmapped and go to the node that touches them next."""

    def __init__(self, window: int = 64) -> None:
        self.window, self.at, self.wakeup_ps = window, 0, 0

    def __call__(self, faults: hn.PageFaults) -> np.ndarray:
        return faults.node

    def observe(self, uses: hn.PageUses, pages: hn.MappedPages) -> None:
        pages.migrate(uses.page, uses.place.node)

    def wake(self, place: hn.Place, pages: hn.MappedPages) -> None:
        last = min(self.at + self.window, len(pages))
        pages.unmap(np.arange(self.at, last))
        self.at = last % max(len(pages), 1)
        self.wakeup_ps = place.time_ps + 10**9


# ---- mappings


@hn.thread_mapping("python-compact")
def compact(threads: hn.ThreadsToMap) -> np.ndarray:
    """Thread t on core t."""
    return threads.numbers % threads.machine.cores


@hn.thread_mapping("python-scatter")
def scatter(threads: hn.ThreadsToMap) -> np.ndarray:
    """Threads round robin over the nodes that have cores."""
    node = threads.machine.node_of_core
    cores = np.arange(len(node))
    turn = cores - np.searchsorted(node, node)  # of each core within its node
    order = np.lexsort((node, turn))
    return order[threads.numbers % len(order)]


@hn.thread_mapping("python-free")
def free(threads: hn.ThreadsToMap) -> np.ndarray:
    """Any thread on any core."""
    return np.ones((len(threads), threads.machine.cores), dtype=bool)


@hn.thread_mapping("python-talkative-first", graph=True)
def talkative_first(threads: hn.ThreadsToMap) -> np.ndarray:
    """Threads by the bytes that they exchange, those with most on the first cores."""
    matrix = threads.shared_bytes.astype(np.float64)
    order = np.argsort(-(matrix.sum(axis=0) + matrix.sum(axis=1)), kind="stable")
    cores = np.empty(len(threads), dtype=int)
    cores[order] = threads.numbers % threads.machine.cores
    return cores


# ---- distributions


@hn.work_distribution("python-static")
def static(loop: hn.Loop) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One contiguous block a thread, the first ones an iteration longer."""
    thread = np.arange(loop.threads)
    quotient, remainder = divmod(loop.iterations, loop.threads)
    first = thread * quotient + np.minimum(thread, remainder)
    return first, first + quotient + (thread < remainder), thread


@hn.work_distribution("python-chunks", examples=["python-chunks:chunk=7"])
class Chunks:
    """Chunks round the threads."""

    def __init__(self, chunk: int = 3) -> None:
        self.chunk = max(chunk, 1)

    def __call__(self, loop: hn.Loop) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = np.arange(0, loop.iterations, self.chunk)
        return first, np.minimum(first + self.chunk, loop.iterations), np.arange(len(first)) % loop.threads


@hn.work_distribution("python-on-demand", examples=["python-on-demand:chunk=11"])
class OnDemand:
    """Chunks to whoever asks, each taking 10 ns."""

    def __init__(self, chunk: int = 16) -> None:
        self.chunk = max(chunk, 1)

    def __call__(self, loop: hn.Loop) -> Remaining:
        return Remaining(loop.iterations, self.chunk)


class Remaining:
    """What is left of an execution."""

    def __init__(self, iterations: int, chunk: int) -> None:
        self.next_one, self.iterations, self.chunk = 0, iterations, chunk

    def next(self, thread: int, time_ps: int) -> tuple[int, int, float] | None:
        if self.next_one == self.iterations:
            return None
        first = self.next_one
        self.next_one = min(first + self.chunk, self.iterations)
        return first, self.next_one, 10.0


@hn.work_distribution("python-by-home")
def by_home(loop: hn.Loop) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each iteration to a thread of the node where its data lies, others in turn."""
    homes, thread = loop.homes(), np.arange(loop.iterations) % loop.threads
    for node in np.unique(loop.nodes):
        near = np.flatnonzero(loop.nodes == node)
        thread[homes == node] = near[np.arange((homes == node).sum()) % len(near)]
    first = np.arange(loop.iterations)
    return first, first + 1, thread


@hn.work_distribution("python-weighted", estimates=True)
class Weighted:
    """Blocks as long as threads are fast, by the time of equal ones."""

    def __call__(self, loop: hn.Loop) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, last, thread = static(loop)
        speed = (last - first + 1) / (loop.seconds(first, last, thread) + 1e-12)
        bounds = np.rint(np.cumsum(speed) / speed.sum() * loop.iterations).astype(int)
        return np.concatenate([[0], bounds[:-1]]), bounds, thread


@hn.work_distribution("python-task-stack", tasks=True)
class TaskStack:
    """Tasks from a stack of limited size, youngest first; loops on demand."""

    def __init__(self, most: int = 40) -> None:
        self.most = most

    def __call__(self, loop: hn.Loop) -> Remaining | Stack:
        return Stack(self.most) if loop.tasks else Remaining(loop.iterations, 1)


class Stack:
    """The tasks that are ready, in the order in which they came."""

    def __init__(self, most: int) -> None:
        self.ready: dict[int, int] = {}
        self.most = most

    def submit(self, task: int, thread: int, time_ps: int) -> tuple[bool, float]:
        if len(self.ready) >= self.most:
            return False, 0.0
        self.ready[task] = thread
        return True, 15.0

    def queue(self, task: int, thread: int, time_ps: int) -> None:
        self.ready[task] = thread

    def withdraw(self, task: int, thread: int) -> bool:
        del self.ready[task]
        return True

    def next(self, thread: int, time_ps: int) -> tuple[int, int, float] | None:
        if not self.ready:
            return None
        task, _ = self.ready.popitem()
        return task, task + 1, 15.0


# ---- heaps


@hn.heap_manager("python-bump")
class Bump:
    """Blocks one behind the other in chunks; an empty chunk goes back to the system."""

    def __init__(self, chunk: int = 1 << 20) -> None:
        self.chunk = chunk
        self.at, self.end = 0, 0
        self.chunk_of: dict[int, int] = {}
        self.bytes_of: dict[int, int] = {}
        self.blocks_of: dict[int, int] = {}

    def prepare(self, heap: hn.Heap) -> None:
        self.heap = heap

    def allocate(self, call: hn.Allocation) -> tuple[int, float]:
        alignment = max(call.alignment, 16)
        self.at = -(-self.at // alignment) * alignment
        if self.at + call.bytes > self.end:
            size = -(-max(call.bytes, self.chunk) // self.heap.page_bytes) * self.heap.page_bytes
            self.at = self.heap.reserve(size, alignment)
            self.end = self.at + size
            self.begin = self.at
            self.bytes_of[self.begin] = size
            self.blocks_of[self.begin] = 0
        address, self.at = self.at, self.at + call.bytes
        self.chunk_of[address] = self.begin
        self.blocks_of[self.begin] += 1
        return address, 20.0

    def release(self, call: hn.Release) -> float:
        begin = self.chunk_of.pop(call.address)
        self.blocks_of[begin] -= 1
        if self.blocks_of[begin] == 0:
            self.heap.unmap(begin, self.bytes_of.pop(begin))
            if begin == self.begin:
                self.at = self.end = 0
        return 10.0


@hn.heap_manager("python-powers-of-two")
class PowersOfTwo:
    """Lists of free blocks by size, a lock for each, on the node of who asks; blocks of a page and more have pages of their own."""

    def prepare(self, heap: hn.Heap) -> None:
        self.heap = heap
        self.free: dict[tuple[int, int], list[int]] = {}
        self.list_of: dict[int, tuple[int, int]] = {}
        self.own: dict[int, int] = {}

    def size(self, call: hn.Allocation) -> int:
        return 1 << (max(call.bytes, call.alignment, 16) - 1).bit_length()

    def lock_to_allocate(self, call: hn.Allocation) -> int | None:
        return None if self.size(call) >= self.heap.page_bytes else 64 * call.node + self.size(call).bit_length()

    def lock_to_release(self, call: hn.Release) -> int | None:
        if call.address in self.own:
            return None
        node, size = self.list_of[call.address]
        return 64 * node + size.bit_length()

    def allocate(self, call: hn.Allocation) -> tuple[int, float, float]:
        size, page = self.size(call), self.heap.page_bytes
        if size >= page:
            bytes = -(-call.bytes // page) * page
            address = self.heap.reserve(bytes, call.alignment)
            self.own[address] = bytes
            return address, 500.0, 0.0
        free = self.free.setdefault((call.node, size), [])
        if not free:
            first = self.heap.reserve(page)
            self.heap.bind(first, page, call.node)
            free.extend(range(first, first + page, size))
        address = free.pop()
        self.list_of[address] = (call.node, size)
        return address, 5.0, 30.0

    def release(self, call: hn.Release) -> tuple[float, float] | None:
        if call.address in self.own:
            self.heap.unmap(call.address, self.own.pop(call.address))
            return None
        self.free[self.list_of.pop(call.address)].append(call.address)
        return 5.0, 30.0
