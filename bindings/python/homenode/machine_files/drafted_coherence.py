"""Latencies between cores of a description: from MLC's cache-to-cache figures or from a table of hardware threads."""

from __future__ import annotations

from dataclasses import dataclass

from homenode.errors import UsageError
from homenode.machine_files.described_value import Described, from_donor, nanoseconds, time_text
from homenode.machine_files.drafting import Draft
from homenode.machine_files.tables import typical

_MODIFIED = "a modified line in another core's second level"
_TABLE = "the median of all pairs"
_GROUPS_DIFFER = 1.15  # from which ratio on groups of cores within a socket have a latency of their own


@dataclass(frozen=True)
class BetweenCores:
    """Of two cores of a last level, if a socket has several and a file tells them apart; of a socket; of two sockets."""

    shared: Described | None
    local: Described
    remote: Described


def core_to_core(draft: Draft) -> BetweenCores:
    """The three latencies; what no file says is as far from the others as on the donor."""
    local, remote = _of_caches(draft)
    shared: Described | None = None
    if draft.merged.core_table is not None:
        of_table = _of_table(draft)
        both = bool(local and of_table.local) or bool(remote and of_table.remote)
        if both:
            draft.left_out.append(
                "the table of latencies between cores, but for what the figures between caches leave open"
            )
        shared = of_table.shared if local is None else None
        local, remote = local or of_table.local, remote or of_table.remote
    donors = [nanoseconds(draft.of_donor("coherence", name)) for name in ("core_to_core_local", "core_to_core_remote")]
    if local is None and remote is None:
        near = draft.donor["coherence"].get("core_to_core_shared_cache")
        return BetweenCores(
            None if near is None else from_donor(near["value"]),
            from_donor(time_text(donors[0])),
            from_donor(time_text(donors[1])),
        )
    note = "as far from the other as on the donor"
    if local is None:
        assert remote is not None
        value = nanoseconds(remote.value) * donors[0] / donors[1]
        local = Described(time_text(value), f"{remote.source}, DONOR", "D", True, note=note)
    if remote is None:
        value = nanoseconds(local.value) * donors[1] / donors[0]
        remote = Described(time_text(value), f"{local.source}, DONOR", "D", True, note=note)
    return BetweenCores(shared, local, remote)


def _of_caches(draft: Draft) -> tuple[Described | None, Described | None]:
    found = draft.merged.core_to_core
    if found is None:
        return None, None
    key = draft.merged.core_to_core_key
    local = None
    if found.local is not None:
        clean = found.local_low is not None and found.local_low < found.local
        low, high = (time_text(found.local_low or 0), time_text(found.local)) if clean else (None, None)
        local = Described(
            time_text(found.local), key, "A", False, low, high, _MODIFIED + ("; low: a clean one" if clean else "")
        )
    socket_of = {node.os_index: node.socket for node in draft.nodes}
    values = []
    near = False
    for matrix in (found.remote, found.remote_other):
        for (one, other), value in matrix.items():
            ends = (socket_of[one], socket_of[other]) if found.by_node else (one, other)
            if ends[0] != ends[1]:
                values.append(value)
            else:
                near = near or one != other
    if near:
        draft.left_out.append(f"{draft.merged.sources[key]}: latencies between caches of two nodes of a socket")
    if not values:
        return local, None
    low, high = time_text(min(values)), time_text(max(values))
    note = f"{_MODIFIED}; low to high: all pairs, the line's home with the writer or the reader"
    return local, Described(time_text(sum(values) / len(values)), key, "A", False, low, high, note)


@dataclass(frozen=True)
class _OfTable:
    shared: Described | None
    local: Described | None
    remote: Described | None


def _of_table(draft: Draft) -> _OfTable:
    table, key = draft.merged.core_table, draft.merged.core_table_key
    assert table is not None
    places = _places(draft, table.thread_count)
    if not draft.layout.numbered:
        rows = (
            "whose times the rows are: the topology has no numbers of hardware threads, so rows are taken in its order"
        )
        draft.left_out.append(f"{draft.merged.sources[key]}: {rows}")
    near: list[float] = []
    far: list[float] = []
    groups: dict[bool, list[float]] = {True: [], False: []}
    shared = draft.merged.caches[-1].cores if draft.merged.caches else 0
    for (one, other), value in table.threads.items():
        (socket, core), (other_socket, other_core) = places[one], places[other]
        if socket != other_socket:
            far.append(value)
        elif core != other_core:
            near.append(value)
            if shared:
                groups[core // shared == other_core // shared].append(value)
    if groups[True] and groups[False] and typical(groups[False]) > _GROUPS_DIFFER * typical(groups[True]):
        return _OfTable(_figure(groups[True], key), _figure(groups[False], key), _figure(far, key))
    return _OfTable(None, _figure(near, key), _figure(far, key))


def _figure(values: list[float], key: str) -> Described | None:
    if not values:
        return None
    return Described(
        time_text(typical(values)), key, "A", False, time_text(min(values)), time_text(max(values)), _TABLE
    )


def _places(draft: Draft, count: int) -> list[tuple[int, int]]:
    """Socket and core of each row: rows are hardware threads in the order of their numbers, or cores."""
    cores = [(node.socket, threads) for node in draft.nodes for threads in node.cores]
    by_thread = {thread: (socket, core) for core, (socket, threads) in enumerate(cores) for thread in threads}
    if len(by_thread) == count:
        return [by_thread[thread] for thread in sorted(by_thread)]
    if len(cores) == count:
        order = sorted(range(count), key=lambda core: min(cores[core][1]))
        return [(cores[core][0], core) for core in order]
    name = draft.merged.sources[draft.merged.core_table_key]
    raise UsageError(
        f"{name} has {count} rows; the machine has {len(cores)} cores and {len(by_thread)} hardware threads; "
        "allowed: a row for each, with a topology of that machine"
    )
