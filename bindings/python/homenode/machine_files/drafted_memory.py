"""Nodes, their controllers and the links between sockets, out of matrices, peaks, curves and distances."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from homenode.machine_files.described_value import (
    Described,
    bandwidth_text,
    bytes_per_second,
    from_donor,
    nanoseconds,
    size_in_bytes,
    time_text,
)
from homenode.machine_files.drafting import Draft
from homenode.machine_files.facts import NodeSeen
from homenode.machine_files.merging import From

MOST_SOCKETS_IN_PAIRS = 64  # 2016 links of at most 2048 (sim/machine/machine.cpp)
_LOCAL = 10.0  # SLIT's distance to a node's own memory
_HMAT = "the firmware's table (HMAT), not measured"
_NO_LATENCY = "guessed from distances (SLIT), which are no latencies: local latency x (distance / 10 - 1)"


def node_tables(draft: Draft) -> str:
    """The [[nodes]] of a description; neighbours that are alike share an entry, each socket once in it."""
    entries: list[tuple[list[int], str]] = []
    for place, node in enumerate(draft.nodes):
        body = "\n".join(_node_lines(draft, place, node))
        if entries and entries[-1][1] == body and entries[-1][0][-1] < node.socket:
            entries[-1][0].append(node.socket)
        else:
            entries.append(([node.socket], body))
    return "\n\n".join(f"[[nodes]]\nsockets = {sockets}\n{body}" for sockets, body in entries)


def _node_lines(draft: Draft, place: int, node: NodeSeen) -> Iterator[str]:
    layout = draft.merged.layout
    yield f"cores = {draft.counted(len(node.cores), layout is None or layout.sure).toml()}"
    of_donor = draft.donor["nodes"][0]
    if node.memory is not None:
        yield f"memory = {draft.counted(f'{node.memory} B').toml()}"
    else:
        yield f"memory = {from_donor(of_donor['memory']['value']).toml()}"
    yield f"latency = {latency_of(draft, node).toml()}"
    if node.side_cache:
        yield f"memory_side_cache = {draft.counted(f'{node.side_cache} B').toml()}"
    if not node.cores:
        yield from _own_link(draft, node)
    yield "\n[[nodes.controllers]]"
    count = len(of_donor["controllers"])
    if count > 1:
        yield f"count = {count}"
    read, both = _bandwidths(draft, place, node)
    yield f"read_only = {_share(read, count).toml()}"
    yield f"one_to_one = {_share(both, count).toml()}"
    if (curve := _curve(draft, node)) is not None:
        yield f"loaded_latency = {curve.toml()}"


def _own_link(draft: Draft, node: NodeSeen) -> Iterator[str]:
    """Of a node without cores, where a file tells what its reads and its writes get: those with the headers of the messages."""
    merged = draft.merged
    here = (node.os_index, node.os_index)
    if here not in merged.bandwidth or here not in merged.write_bandwidth:
        file = merged.sources.get(merged.layout_key, "").partition(":")[0]
        unknown = "no file says what its reads and its writes get, so no link of its own is described"
        draft.left_out.append(f"{file}: what joins {node.joined or f'node {node.os_index}'}: {unknown}")
        return
    line = size_in_bytes(draft.donor["caches"][-1]["line"]["value"])
    header = size_in_bytes(draft.of_donor("messages", "data")) / line
    for name, matrix, key, firmware in (
        ("link_read", merged.bandwidth, merged.bandwidth_key, merged.bandwidth_of_firmware),
        ("link_write", merged.write_bandwidth, merged.write_bandwidth_key, merged.write_bandwidth_of_firmware),
    ):
        note = "what is got x (line and header) / line; whether the link or the memory binds it, no file says"
        source, text = f"{key}, DONOR", bandwidth_text(matrix[here] * header)
        yield f"{name} = {Described(text, source, 'C' if firmware else 'D', note=note).toml()}"


def _share(value: Described, count: int) -> Described:
    text = bandwidth_text(bytes_per_second(value.value) / count)
    note = f"{value.note}; " if value.note and count > 1 else value.note
    shared = f"{note}one of {count} controllers, as the donor has them" if count > 1 else note
    return Described(text, value.source, value.confidence, value.assumed, note=shared)


# ---- latencies


def latency_of(draft: Draft, node: NodeSeen) -> Described:
    """Idle latency of a node's memory for its own cores; without cores, for those of its socket."""
    merged = draft.merged
    low_high: tuple[str | None, str | None] = (None, None)
    if (node.os_index, node.os_index) in merged.idle:
        values = [merged.idle[node.os_index, node.os_index]]
    else:
        near = [one.os_index for one in draft.nodes if one.socket == node.socket and one.cores]
        values = [merged.idle[one, node.os_index] for one in near if (one, node.os_index) in merged.idle]
    if values:
        mean = sum(values) / len(values)
        if len(values) > 1:
            low_high = time_text(min(values)), time_text(max(values))
        confidence, note = ("C", _HMAT) if merged.idle_of_firmware else ("A", "")
        return Described(time_text(mean), merged.idle_key, confidence, False, *low_high, note=note)
    if merged.curve is not None and node.cores:
        note = "the curve's lowest latency, where some load runs beside it"
        return Described(time_text(min(ns for _, ns in merged.curve.value)), merged.curve.key, "D", note=note)
    return from_donor(draft.donor["nodes"][0]["latency"]["value"])


def _local(draft: Draft, node: NodeSeen) -> float:
    return nanoseconds(latency_of(draft, node).value)


def _extra(draft: Draft, one: NodeSeen, other: NodeSeen) -> float | None:
    """What `one` waits for memory of `other` beyond that node's own latency; None where no file measured it."""
    found = draft.merged.idle.get((one.os_index, other.os_index))
    return None if found is None else found - _local(draft, other)


def _guessed(draft: Draft, pairs: list[tuple[NodeSeen, NodeSeen]]) -> float | None:
    """By distances: local latency x (distance / 10 - 1), the mean of the pairs; as `homenode machine detect` does it."""
    slit = draft.merged.slit
    found = [slit[one.os_index, other.os_index] for one, other in pairs if (one.os_index, other.os_index) in slit]
    if not found:
        return None
    return _local(draft, draft.nodes[0]) * max(0.0, sum(found) / len(found) / _LOCAL - 1)


def between_nodes_of_socket(draft: Draft) -> Described:
    """What is added when a core reaches another node of its own socket."""
    pairs = [
        (one, other)
        for one in draft.nodes
        for other in draft.nodes
        if one is not other and one.socket == other.socket and one.cores and other.cores
    ]
    if not pairs:
        return Described("0 ns", draft.counted(0).source, draft.counted(0).confidence, draft.layout_is_the_donors)
    values = [extra for one, other in pairs if (extra := _extra(draft, one, other)) is not None]
    if values:
        mean = max(0.0, sum(values) / len(values))
        low, high = (time_text(max(0.0, end)) for end in (min(values), max(values)))
        if max(values) - min(values) > 0.05 * _local(draft, draft.nodes[0]):
            draft.left_out.append("different latencies between nodes of a socket: their mean stands for all")
        return Described(time_text(mean), draft.merged.idle_key, "D", False, low, high)
    guess = _guessed(draft, pairs)
    if guess is not None:
        return Described(time_text(guess), draft.merged.slit_key, "C", True, note=_NO_LATENCY)
    return from_donor("0 ns", "no file says what another node of the socket costs")


# ---- bandwidths


def _bandwidths(draft: Draft, place: int, node: NodeSeen) -> tuple[Described, Described]:
    """Reads alone, and reads and writes one to one, of all of a node's controllers."""
    merged = draft.merged
    controllers = draft.donor["nodes"][0]["controllers"]
    donors = [sum(bytes_per_second(one[name]["value"]) for one in controllers) for name in ("read_only", "one_to_one")]
    sharing = 1 if merged.peaks_are_of_a_node else len([one for one in draft.nodes if one.cores])
    read = _reads(draft, node, sharing)
    both: Described | None = None
    if merged.peak_one_to_one is not None and node.cores:
        both = Described(
            bandwidth_text(merged.peak_one_to_one.value / sharing), *_of_peak(merged.peak_one_to_one, sharing)
        )
    if read is None and both is None:
        return from_donor(bandwidth_text(donors[0])), from_donor(bandwidth_text(donors[1]))
    proportion = "as far from the other as on the donor"
    if read is None and both is not None:
        scaled = bytes_per_second(both.value) * donors[0] / donors[1]
        return Described(bandwidth_text(scaled), f"{both.source}, DONOR", "D", True, note=proportion), both
    assert read is not None
    if both is None:
        scaled = bytes_per_second(read.value) * donors[1] / donors[0]
        return read, Described(bandwidth_text(scaled), f"{read.source}, DONOR", "D", True, note=proportion)
    return read, both


def _of_peak(peak: From, sharing: int) -> tuple[str, str, bool, None, None, str]:
    note = f"of the system / {sharing} nodes with cores" if sharing > 1 else ""
    return peak.key, "A" if sharing == 1 else "D", False, None, None, note


def _reads(draft: Draft, node: NodeSeen, sharing: int) -> Described | None:
    merged = draft.merged
    near = [one.os_index for one in draft.nodes if one.socket == node.socket and one.cores]
    known = [merged.bandwidth[one, node.os_index] for one in near if (one, node.os_index) in merged.bandwidth]
    own = merged.bandwidth.get((node.os_index, node.os_index))
    if own is not None or (known and not node.cores):
        confidence, note = ("C", _HMAT) if merged.bandwidth_of_firmware else ("A", "")
        return Described(bandwidth_text(own or max(known)), merged.bandwidth_key, confidence, note=note)
    if merged.peak_reads is not None and node.cores:
        return Described(bandwidth_text(merged.peak_reads.value / sharing), *_of_peak(merged.peak_reads, sharing))
    return None


def rising(curve: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """The part of a curve in which more load brings more bandwidth: by latency, each point above all before it."""
    points: list[tuple[float, float]] = []
    for bandwidth, latency in sorted(curve, key=lambda point: (point[1], point[0])):
        if not points or bandwidth > points[-1][0]:
            points.append((bandwidth, latency))
    return points


def _curve(draft: Draft, node: NodeSeen) -> Described | None:
    """Extra latency by utilisation."""
    merged = draft.merged
    if merged.curve is None or not node.cores:
        donors = draft.donor["nodes"][0]["controllers"][0].get("loaded_latency")
        if donors is None or not donors["value"]:
            return None
        factor = _local(draft, node) / nanoseconds(draft.donor["nodes"][0]["latency"]["value"])
        points = [[share, time_text(nanoseconds(extra) * factor)] for share, extra in donors["value"]]
        note = "" if abs(factor - 1) < 1e-9 else "in proportion to the idle latency"
        return from_donor(points, note)
    points_kept = rising(merged.curve.value)
    # Another file's peak may be of other nodes or other reads.
    of_this_file = merged.peak_reads is not None and merged.peak_reads.key == merged.curve.key
    peak = merged.peak_reads.value if merged.peak_reads is not None and of_this_file else 0.0
    full = max(peak, points_kept[-1][0])
    idle = points_kept[0][1]
    chosen: list[list[object]] = []
    for bandwidth, latency in points_kept:
        share = round(bandwidth / full, 4)
        if share > (float(str(chosen[-1][0])) if chosen else 0.0):
            chosen.append([share, time_text(latency - idle)])
    note = f"of {len(merged.curve.value)} points {len(chosen)}, to the peak; utilisation of {full / 1e9:.4g} GB/s"
    return Described(chosen, merged.curve.key, "A", note=note)


# ---- links


def link_tables(draft: Draft) -> tuple[str, str]:
    """What stands at the top (hubs), and the [[links]]: each pair of sockets is joined, alike pairs share an entry."""
    sockets = draft.layout.sockets
    if sockets == 1:
        return "", ""
    if sockets > MOST_SOCKETS_IN_PAIRS:
        draft.left_out.append(f"distances among {sockets} sockets: all are joined by one hub, half a hop away each")
        hop = _pair_latency(draft, list(combinations(range(sockets), 2))[:1])
        half = Described(time_text(nanoseconds(hop.value) / 2), hop.source, hop.confidence, True, note=hop.note)
        body = _link(f"{[[socket, sockets] for socket in range(sockets)]}", _pair_bandwidth(draft, []), half)
        return f"hubs = {from_donor(1, 'one switch joins all sockets').toml()}\n", body
    kinds: dict[tuple[Described, Described], list[list[int]]] = {}
    for pair in combinations(range(sockets), 2):
        kind = _pair_bandwidth(draft, [pair]), _pair_latency(draft, [pair])
        kinds.setdefault(kind, []).append(list(pair))
    if sockets > 2:
        draft.left_out.append("which sockets are joined directly: no file says it, each pair is described as joined")
    return "", "\n\n".join(_link(str(pairs), bandwidth, latency) for (bandwidth, latency), pairs in kinds.items())


def _link(pairs: str, bandwidth: Described, latency: Described) -> str:
    between = '{ value = PAIRS, source = "DONOR", confidence = "M", assumed = true, note = "each pair" }'
    return f"[[links]]\nbetween = {between.replace('PAIRS', pairs)}\nbandwidth = {bandwidth.toml()}\nlatency = {latency.toml()}"


def _nodes_of(draft: Draft, pairs: list[tuple[int, int]]) -> list[tuple[NodeSeen, NodeSeen]]:
    ways = {way for one, other in pairs for way in ((one, other), (other, one))}
    return [
        (reader, home)
        for reader in draft.nodes
        for home in draft.nodes
        if (reader.socket, home.socket) in ways and reader.cores
    ]


def _pair_latency(draft: Draft, pairs: list[tuple[int, int]]) -> Described:
    """What one hop adds to a round trip: remote less local latency, both ways."""
    nodes = _nodes_of(draft, pairs)
    values = [extra for one, other in nodes if (extra := _extra(draft, one, other)) is not None]
    if values and sum(values) > 0:
        low, high = (time_text(max(0.001, end)) for end in (min(values), max(values)))
        note = "remote less local latency"
        return Described(time_text(sum(values) / len(values)), draft.merged.idle_key, "D", False, low, high, note)
    if values:
        draft.left_out.append(f"that sockets {pairs[0][0]} and {pairs[0][1]} are no farther than a node's own memory")
    guess = _guessed(draft, nodes)
    if guess:
        return Described(time_text(guess), draft.merged.slit_key, "C", True, note=_NO_LATENCY)
    return from_donor(_link_of_donor(draft, "latency", "60 ns"))


def _pair_bandwidth(draft: Draft, pairs: list[tuple[int, int]]) -> Described:
    """Raw, in each direction: what readers got of remote nodes, with the headers of the messages."""
    matrix = draft.merged.bandwidth
    found = [
        matrix[one.os_index, other.os_index]
        for one, other in _nodes_of(draft, pairs)
        if (one.os_index, other.os_index) in matrix
    ]
    if not found:
        return from_donor(_link_of_donor(draft, "bandwidth", "20 GB/s"))
    line = size_in_bytes(draft.donor["caches"][-1]["line"]["value"])
    raw = max(found) * size_in_bytes(draft.of_donor("messages", "data")) / line
    own = [matrix[node.os_index, node.os_index] for node in draft.nodes if (node.os_index, node.os_index) in matrix]
    bound = bool(own) and max(found) >= 0.95 * min(own)
    note = "remote reads x (line and header) / line" + (
        "; memory bound these reads, the link may carry more" if bound else ""
    )
    return Described(bandwidth_text(raw), f"{draft.merged.bandwidth_key}, DONOR", "D", note=note)


def _link_of_donor(draft: Draft, name: str, without: str) -> str:
    """The donor's first link; a donor of one socket has none: as `homenode machine detect` guesses."""
    links = draft.donor.get("links", [])
    return str(links[0][name]["value"]) if links else without
