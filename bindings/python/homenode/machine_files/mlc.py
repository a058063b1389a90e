"""What Intel's Memory Latency Checker prints: idle latencies, peak and pairwise bandwidths, loaded latencies, cache to cache.

Sections are found by their headings; text around them is passed over. MLC's MB is 10^6 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homenode.machine_files.facts import CoreToCore, Facts
from homenode.machine_files.source_text import SourceText, quoted
from homenode.machine_files.tables import MOST_BYTES_PER_SECOND, MOST_NANOSECONDS

_MOST_NODE = 253
_PEAKS = {
    "ALL Reads": "reads",
    "3:1 Reads-Writes": "",
    "2:1 Reads-Writes": "",
    "1:1 Reads-Writes": "one to one",
    "Stream-triad like": "",
}


def is_mlc(text: str) -> bool:
    """Whether it has MLC's name or one of its headings."""
    return (
        re.search(r"Intel\(R\) Memory Latency Checker|Measuring (idle|Peak|Memory Band|Loaded|cache-to)", text)
        is not None
    )


def read_mlc(source: SourceText) -> Facts:
    """Every section that is there; InputError for a section that ends in its middle."""
    return _Mlc(source).read()


class _Mlc:
    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._idle: dict[tuple[int, int], float] = {}
        self._bandwidth: dict[tuple[int, int], float] = {}
        self._peaks: dict[str, float] = {}
        self._curve: list[tuple[float, float]] = []
        self._local: dict[str, float] = {}
        self._remote: dict[str, dict[tuple[int, int], float]] = {}
        self._by_node = False
        self._left_out: list[str] = []

    def read(self) -> Facts:
        lines = self._source.lines
        for place, line in enumerate(lines):
            if re.search(r"Measuring idle latencies", line):
                self._once("idle latencies", place, bool(self._idle))
                self._idle = self._matrix(place, "an idle latency in ns", MOST_NANOSECONDS)
            elif re.search(r"Measuring Memory Bandwidths between nodes", line):
                self._once("bandwidths between nodes", place, bool(self._bandwidth))
                found = self._matrix(place, "a bandwidth in MB/s", MOST_BYTES_PER_SECOND / 1e6)
                self._bandwidth = {pair: value * 1e6 for pair, value in found.items()}
            elif re.search(r"Measuring Loaded Latencies", line):
                self._once("loaded latencies", place, bool(self._curve))
                self._loaded(place)
            elif found_peak := re.match(r"\s*(ALL Reads|[123]:1 Reads-Writes|Stream-triad like)\s*:\s*(.*)$", line):
                self._peak(place + 1, found_peak[1], found_peak[2])
            elif found_hit := re.match(r"\s*Local Socket L2->L2 (HITM?)\s+latency\s*(.*)$", line):
                self._local[found_hit[1]] = self._nanoseconds(place + 1, found_hit[2])
            elif found_far := re.match(r"\s*Remote Socket L2->L2 HITM latency \(data address homed in (\w+)", line):
                self._remote[found_far[1]] = self._matrix(place, "a latency in ns", MOST_NANOSECONDS)
        return self._facts()

    def _once(self, what: str, place: int, there: bool) -> None:
        if there:
            self._source.refuse(place + 1, f"has {what} twice", "what one run of MLC prints")

    def _nanoseconds(self, line: int, text: str) -> float:
        return self._source.number(line, text, "a latency in ns", 0.01, MOST_NANOSECONDS)

    def _peak(self, line: int, name: str, text: str) -> None:
        value = self._source.number(line, text, f"'{name}' in MB/s", 1e-3, MOST_BYTES_PER_SECOND / 1e6)
        if kind := _PEAKS[name]:
            self._peaks[kind] = value * 1e6
        else:
            self._left_out.append(f"the peak bandwidth of '{name}': a description has reads alone and one to one")

    def _matrix(self, heading: int, what: str, most: float) -> dict[tuple[int, int], float]:
        """Rows of a node's number and its figures, below a row of the columns' numbers."""
        rows = self._cells_below(heading)
        columns: list[int] = []
        found: dict[tuple[int, int], float] = {}
        for number, cells in rows:
            if not columns:
                columns = [self._node(number, cell) for cell in cells]
                if len(set(columns)) != len(columns):
                    self._source.refuse(number, "names a node twice", "a column for each node")
                continue
            row = self._node(number, cells[0])
            if len(cells) != len(columns) + 1:
                self._source.refuse(number, f"node {row} has {len(cells) - 1} figures", f"{len(columns)}, one a column")
            if any((row, column) in found for column in columns):
                self._source.refuse(number, f"node {row} has two rows", "a row for each node")
            for column, cell in zip(columns, cells[1:], strict=True):
                if cell not in ("-", "N/A"):
                    found[row, column] = self._source.number(number, cell, what, 0.01, most)
        if not found:
            self._source.refuse(heading + 1, "no figures follow this heading", "the whole of what MLC prints")
        rows_seen = {row for row, _ in found}
        absent = [column for column in columns if column not in rows_seen]
        if absent and any(row > min(absent) for row in rows_seen):
            self._source.refuse(heading + 1, f"node {absent[0]} has no row", "a row for each node with cores")
        return found

    def _node(self, line: int, cell: str) -> int:
        return self._source.whole(line, cell, "the number of a node", 0, _MOST_NODE)

    def _cells_below(self, heading: int) -> Iterator[tuple[int, list[str]]]:
        """The columns' line and the rows; words before the columns' numbers are dropped."""
        columns_seen = False
        for place in range(heading + 1, len(self._source.lines)):
            text = self._source.lines[place].strip()
            head = re.fullmatch(r"(?:Numa node|Writer (?:Socket|Numa Node))\s+((?:\d+\s*)+)", text)
            if not columns_seen:
                if head:
                    columns_seen = True
                    self._by_node = self._by_node or text.startswith("Writer Numa")
                    yield place + 1, head[1].split()
                elif text.startswith(("Measuring", "Remote Socket", "Local Socket")):
                    return
                continue
            if not re.match(r"\d+\s", text) and not re.fullmatch(r"\d+", text):
                return
            yield place + 1, text.split()

    def _loaded(self, heading: int) -> None:
        for place in range(heading + 1, len(self._source.lines)):
            cells = self._source.lines[place].split()
            if self._curve and not (cells and re.fullmatch(r"\d{5,}", cells[0])):
                break
            if cells and re.fullmatch(r"\d{5,}", cells[0]):
                if len(cells) != 3:
                    self._source.refuse(
                        place + 1, f"has {len(cells)} columns", "delay, latency in ns, bandwidth in MB/s"
                    )
                latency = self._nanoseconds(place + 1, cells[1])
                most = MOST_BYTES_PER_SECOND / 1e6
                bandwidth = self._source.number(place + 1, cells[2], "a bandwidth in MB/s", 1e-3, most)
                self._curve.append((bandwidth * 1e6, latency))
            elif cells and cells[0] == "Measuring":
                break
        if len(self._curve) < 2:
            self._source.refuse(heading + 1, f"has {len(self._curve)} loads", "at least 2")

    def _facts(self) -> Facts:
        between = None
        if self._local or self._remote:
            between = CoreToCore(
                local=self._local.get("HITM", self._local.get("HIT")),
                local_low=self._local.get("HIT") if "HITM" in self._local else None,
                remote=self._remote.get("writer", {}),
                remote_other=self._remote.get("reader", {}),
                by_node=self._by_node,
            )
        facts = Facts(
            self._source.name,
            "Intel MLC",
            idle=self._idle,
            bandwidth=self._bandwidth,
            peak_reads=self._peaks.get("reads"),
            peak_one_to_one=self._peaks.get("one to one"),
            curve=tuple(self._curve),
            core_to_core=between,
            left_out=tuple(self._left_out),
        )
        if not (facts.idle or facts.bandwidth or self._peaks or facts.curve or between):
            first = quoted(next(line.strip() for line in self._source.lines if line.strip()))
            self._source.refuse(None, f"no figure of MLC follows {first}", "the whole of what MLC prints")
        return facts
