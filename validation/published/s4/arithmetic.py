"""S4's problem in exact arithmetic, independent of the model: sites, updates, footprint, and bytes an update.

The traffic of a blocked sweep comes from a cache of its own here: least recently used rows of the fast direction, exact
in which rows hit. A row is read or written as a whole in one go, so that nothing finer than a row can differ.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache

LINE = 64
WORD = 8


@dataclass(frozen=True)
class Problem:
    """A grid of ni x nj x nk sites, nk fastest, in blocks of bi x bj x bk; the outermost layer is a fixed boundary."""

    ni: int
    nj: int
    nk: int
    bi: int
    bj: int
    bk: int

    @property
    def footprint_bytes(self) -> int:
        """Both grids."""
        return 2 * WORD * self.ni * self.nj * self.nk

    @property
    def updates(self) -> int:
        """Sites that a sweep updates."""
        return (self.ni - 2) * (self.nj - 2) * (self.nk - 2)

    @property
    def blocks(self) -> tuple[int, int]:
        """Blocks in the i and the j direction; a block spans the fast direction."""
        return -(-self.ni // self.bi), -(-self.nj // self.bj)

    def parameters(self) -> dict[str, int]:
        """The kernel's parameters."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def static_share(iterations: int, threads: int, thread: int) -> range:
    """Iterations of a thread under schedule(static): contiguous; the first threads get one more if uneven."""
    least, more = divmod(iterations, threads)
    first = thread * least + min(thread, more)
    return range(first, first + least + (thread < more))


def inner_rows(problem: Problem, block: int) -> Iterator[tuple[int, int]]:
    """The (i, j) of the rows that a block updates, in the kernel's order."""
    ib, jb = divmod(block, problem.blocks[1])
    for i in range(max(1, ib * problem.bi), min(problem.ni - 1, (ib + 1) * problem.bi)):
        for j in range(max(1, jb * problem.bj), min(problem.nj - 1, (jb + 1) * problem.bj)):
            yield i, j


def missed_rows(problem: Problem, blocks: range, cache_bytes: float, allocate_stores: bool) -> tuple[int, int, int]:
    """Rows read, rows of the target fetched before writing, rows updated, by one thread with its own cache."""
    row_bytes = -(-problem.nk * WORD // LINE) * LINE
    capacity = int(cache_bytes // row_bytes)
    cached: OrderedDict[int, None] = OrderedDict()
    rows = problem.ni * problem.nj

    def misses(row: int) -> bool:
        if row in cached:
            cached.move_to_end(row)
            return False
        cached[row] = None
        if len(cached) > capacity:
            cached.popitem(last=False)
        return True

    read = fetched = updated = 0
    for block in blocks:
        for i, j in inner_rows(problem, block):
            row = i * problem.nj + j
            for source in (row - problem.nj, row + problem.nj, row - 1, row + 1, row):
                read += misses(source)
            if allocate_stores:
                fetched += misses(rows + row)
            updated += 1
    return read, fetched, updated


@cache
def bytes_per_update(problem: Problem, threads: int, cache_bytes: float, nontemporal: bool) -> float:
    """Bytes that memory moves for one update, over all threads of a static schedule, each with `cache_bytes`.

    Non-temporal: source rows are read, target rows written. Otherwise target rows are also fetched first.
    """
    if problem.bk < problem.nk:
        raise ValueError("blocks must span the fast direction")
    iterations = problem.blocks[0] * problem.blocks[1]
    read = fetched = updated = 0
    for thread in range(threads):
        counts = missed_rows(problem, static_share(iterations, threads, thread), cache_bytes, not nontemporal)
        read, fetched, updated = read + counts[0], fetched + counts[1], updated + counts[2]
    row_bytes = -(-problem.nk * WORD // LINE) * LINE
    return (read + fetched + updated) * row_bytes / (updated * (problem.nk - 2))


def expected_updates_per_second(stream_copy: float, nontemporal: bool, update_bytes: float) -> float:
    """STREAM copy as reported (16 bytes an element) in updates: elements/s x (its real bytes / bytes an update).

    Copy really moves 16 bytes an element with non-temporal stores, 24 without.
    """
    return stream_copy / 16 * ((16 if nontemporal else 24) / update_bytes)
