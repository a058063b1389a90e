"""Tables of numbers: distances of numactl (SLIT), latencies between cores (CSV), curves of latency over bandwidth (two columns)."""

from __future__ import annotations

import re
from statistics import median

from homenode.machine_files.facts import CoreToCore, Facts, Layout, NodeSeen
from homenode.machine_files.source_text import MOST_ENTRIES, SourceText, quoted

MOST_NODES = 254
MOST_NANOSECONDS = 1e6
MOST_BYTES_PER_SECOND = 1e15
_BANDWIDTHS = {"b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6, "mb/sec": 1e6, "gb/s": 1e9, "gb/sec": 1e9, "tb/s": 1e12}
_BANDWIDTHS |= {"mib/s": 2.0**20, "gib/s": 2.0**30, "gbps": 1e9, "mbps": 1e6}
_CURVE_WITHOUT_UNIT = 10_000.0  # GB/s; beyond it the column is in MB/s


def numeric_rows(source: SourceText) -> list[tuple[int, list[str]]]:
    """Number of the line and its cells, of lines that are no comment; commas or semicolons, else spaces, stand between cells."""
    rows = []
    for number, line in enumerate(source.lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        mark = "," if "," in text else ";" if ";" in text else None
        rows.append((number, [cell.strip() for cell in text.split(mark)]))
    return rows


def is_number(cell: str) -> bool:
    """Whether a cell is meant as one, be it a good one or not."""
    return re.fullmatch(r"[+-]?([0-9.]+([eE][+-]?[0-9]+)?|nan|inf|infinity)", cell, re.IGNORECASE) is not None


# ---- distances


def read_numactl(source: SourceText) -> Facts:
    """`numactl --hardware`: nodes with their hardware threads and memory, and the table of distances (relative, no latency)."""
    cpus: dict[int, tuple[int, ...]] = {}
    sizes: dict[int, int] = {}
    distances_at = None
    for number, line in enumerate(source.lines, 1):
        if found := re.fullmatch(r"\s*node (\d{1,4}) cpus:((?: +\d{1,6})*)\s*", line):
            node = int(found[1])
            if node in cpus:
                source.refuse(number, f"node {node} has hardware threads twice", "each node once")
            cpus[node] = tuple(map(int, found[2].split()))
        elif found := re.fullmatch(r"\s*node (\d{1,4}) size: (\d{1,12}) MB\s*", line):
            sizes[int(found[1])] = int(found[2]) << 20
        elif line.strip() == "node distances:":
            distances_at = number
    if not cpus or distances_at is None:
        missing = "'node 0 cpus:'" if not cpus else "'node distances:'"
        source.refuse(None, f"has no {missing}", "the whole of what `numactl --hardware` prints")
    if len(cpus) > MOST_NODES:
        source.refuse(None, f"has {len(cpus)} nodes", f"at most {MOST_NODES}")
    slit = _numactl_distances(source, distances_at, sorted(cpus))
    nodes = tuple(
        NodeSeen(socket, node, tuple((cpu,) for cpu in cpus[node]), sizes.get(node) or None)
        for socket, node in enumerate(sorted(cpus))
    )
    if not any(node.cores for node in nodes):
        source.refuse(None, "has no hardware thread", "the whole of what `numactl --hardware` prints")
    kind = "`numactl --hardware`"
    return Facts(source.name, kind, layout=Layout(len(nodes), nodes, sure=False), slit=slit)


def _numactl_distances(source: SourceText, begin: int, nodes: list[int]) -> dict[tuple[int, int], float]:
    head = source.lines[begin].split() if begin < len(source.lines) else []
    if head[:1] != ["node"] or head[1:] != [str(node) for node in nodes]:
        found = quoted(source.lines[begin].strip()) if head else "the end"
        source.refuse(begin + 1, f"the distances begin with {found}", f"'node {' '.join(map(str, nodes))}'")
    slit = {}
    for row, node in enumerate(nodes):
        number = begin + 2 + row
        cells = source.lines[number - 1].split() if number <= len(source.lines) else []
        if cells[:1] != [f"{node}:"] or len(cells) != len(nodes) + 1:
            source.refuse(
                min(number, len(source.lines)), f"node {node} has no row of {len(nodes)} distances", "one row a node"
            )
        for column, cell in zip(nodes, cells[1:], strict=True):
            slit[node, column] = source.number(number, cell, "a distance", 10, 255)
    return slit


def read_distances(source: SourceText) -> Facts:
    """A square of relative distances, 10 on its diagonal."""
    slit = {}
    rows = numeric_rows(source)
    if len(rows) > MOST_NODES:
        source.refuse(None, f"has {len(rows)} nodes", f"at most {MOST_NODES}")
    for row, (number, cells) in enumerate(rows):
        for column, cell in enumerate(cells):
            slit[row, column] = source.number(number, cell, "a distance", 10, 255)
    return Facts(source.name, "a table of distances (SLIT)", slit=slit)


# ---- latencies between cores


def read_core_latencies(source: SourceText) -> Facts:
    """A square of times in ns between hardware threads; the diagonal and one triangle may be empty. The reverse of a pair is its mean."""
    rows = [(number, cells) for number, cells in numeric_rows(source)]
    if rows and not any(is_number(cell) for cell in rows[0][1] if cell) and any(rows[0][1]):
        rows = rows[1:]  # names of columns
    count = len(rows)
    if not 2 <= count <= MOST_ENTRIES:
        source.refuse(None, f"has {count} rows", f"a square of 2 to {MOST_ENTRIES} rows")
    times: dict[tuple[int, int], float] = {}
    for row, (number, cells) in enumerate(rows):
        if len(cells) != count:
            source.refuse(number, f"has {len(cells)} cells", f"{count} cells, as many as there are rows")
        for column, cell in enumerate(cells):
            if row != column and cell:
                times[row, column] = source.number(number, cell, "a latency in ns", 0.01, MOST_NANOSECONDS)
    for row in range(count):
        for column in range(row):
            if (row, column) not in times and (column, row) not in times:
                source.refuse(
                    rows[row][0], f"no time stands between threads {row} and {column}", "a time for each pair"
                )
    between = CoreToCore(threads=times, thread_count=count)
    return Facts(source.name, "a table of latencies between cores", core_to_core=between)


# ---- curves


def read_curve(source: SourceText) -> Facts:
    """Bandwidth and latency under it, a point a line: GB/s and ns, or as the first line names them (`MB/s, ns`)."""
    rows = numeric_rows(source)
    factor, said = 1e9, ["that the curve has no units: taken as GB/s and ns"]
    order = (0, 1)
    if not any(is_number(cell) for cell in rows[0][1]):
        number, head = rows.pop(0)
        factor, order = _units(source, number, head)
        said = []
    points = []
    for number, cells in rows:
        if len(cells) != 2:
            source.refuse(number, f"has {len(cells)} columns", "two columns: bandwidth and latency")
        most = MOST_BYTES_PER_SECOND / factor if not said else _CURVE_WITHOUT_UNIT
        bandwidth = source.number(number, cells[order[0]], "a bandwidth", 1e-6, most)
        latency = source.number(number, cells[order[1]], "a latency in ns", 0.01, MOST_NANOSECONDS)
        points.append((bandwidth * factor, latency))
    if len(points) < 2:
        source.refuse(None, f"has {len(points)} points", "a curve of at least 2")
    kind = "a curve of latency over bandwidth"
    return Facts(source.name, kind, curve=tuple(points), left_out=tuple(said))


def _units(source: SourceText, number: int, head: list[str]) -> tuple[float, tuple[int, int]]:
    words = [re.findall(r"[a-z]+(?:/[a-z]+)?", cell.lower()) for cell in head]
    if len(head) == 2:
        for bandwidth in (0, 1):
            factors = [_BANDWIDTHS[word] for word in words[bandwidth] if word in _BANDWIDTHS]
            if factors and "ns" in words[1 - bandwidth]:
                return factors[0], (bandwidth, 1 - bandwidth)
    source.refuse(
        number,
        f"the columns are {quoted(', '.join(head))}",
        "a bandwidth with its unit and a latency in ns: 'GB/s, ns'",
    )


def typical(values: list[float]) -> float:
    """The median, which a pair that was disturbed does not move."""
    return float(median(values))
