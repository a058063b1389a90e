"""What the guest printed: lines that begin with @@, and the kernel's /proc/zoneinfo."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


class BadLog(Exception):
    """The guest's output lacks something, or says what it cannot say."""


@dataclass(frozen=True)
class PagesLine:
    """The nodes of an area's pages."""

    first_page: int  # virtual page number of the first
    nodes: list[int]


@dataclass(frozen=True)
class RemoteLine:
    """Remote pages of each pass of List. 1."""

    pages: int  # of a pass
    remote: list[int]


@dataclass(frozen=True)
class BalanceLine:
    """Where balancing left the pages, and when the first one was seen away from where it was touched."""

    first_milliseconds: int | None
    nodes: list[int]


@dataclass(frozen=True)
class PsmLine:
    """Where the blocks of psm's own test lie."""

    bound: bool
    blocks: int
    pages: int
    remote: int


@dataclass(frozen=True)
class GuestLog:
    """All of it."""

    kernel: str
    distances: list[list[int]]
    pages: dict[str, PagesLine]
    remote: dict[str, list[RemoteLine]]  # by heap, run after run
    balance: dict[str, list[BalanceLine]]  # by case, run after run
    psm: PsmLine
    free_pages: list[int]  # by node, that the kernel gives before it turns to another node


def _words(text: str, kind: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["@@", kind]:
            yield words[2:]


def _value(words: list[str], name: str) -> int:
    for word in words:
        key, equals, value = word.partition("=")
        if key == name and equals:
            return int(value)
    raise BadLog(f"no {name}= in '{' '.join(words)}'")


def pages_line(words: list[str]) -> PagesLine:
    """`first=PAGE NODE*COUNT NODE*COUNT …`; a page without a node is refused."""
    nodes: list[int] = []
    for word in words[1:]:
        found = re.fullmatch(r"(\d+)\*(\d+)", word)
        if found is None:
            raise BadLog(f"'{word}' says no node of a page; allowed: NODE*COUNT")
        nodes += [int(found[1])] * int(found[2])
    return PagesLine(_value(words, "first"), nodes)


def balance_line(words: list[str]) -> BalanceLine:
    """`first=MILLISECONDS NODE*COUNT …`; -1 ms: never."""
    first = _value(words, "first")
    return BalanceLine(None if first < 0 else first, pages_line(words).nodes)


_MOVABLE = 3  # ZONE_MOVABLE: user pages leave each zone this reserve (lowmem_reserve)


def free_pages(zoneinfo: str) -> list[int]:
    """Pages by node that are free beyond the low watermark and the reserve that user pages leave (mm/page_alloc.c, zone_watermark_ok)."""
    by_node: dict[int, int] = {}
    for zone in re.split(r"(?m)^(?=Node \d+, zone)", zoneinfo):
        head = re.match(r"Node (\d+), zone", zone)
        if head is None:
            continue
        figures = {name: re.search(rf"(?m)^\s+(?:pages )?{name}\s+(\d+)", zone) for name in ("free", "low")}
        protection = re.search(r"protection: \(([\d, ]+)\)", zone)
        if figures["free"] is None or figures["low"] is None or protection is None:
            raise BadLog(f"zoneinfo of node {head[1]} lacks free, low or protection")
        reserve = [int(number) for number in protection[1].split(",")][_MOVABLE]
        available = int(figures["free"][1]) - int(figures["low"][1]) - reserve
        by_node[int(head[1])] = by_node.get(int(head[1]), 0) + max(available, 0)
    return [by_node[node] for node in sorted(by_node)]


def parse(text: str) -> GuestLog:
    """Read the guest's whole output; what is missing is named."""
    kernel = next(_words(text, "kernel"), None)
    psm = next(_words(text, "psm"), None)
    zones = re.search(r"(?ms)^@@ zones\s*$(.*?)^@@ zones end\s*$", text)
    if kernel is None or psm is None or zones is None:
        missing = "kernel" if kernel is None else "psm" if psm is None else "zones"
        raise BadLog(f"no line '@@ {missing}' in the guest's output")
    remote: dict[str, list[RemoteLine]] = {}
    for words in _words(text, "remote"):
        remote.setdefault(words[0], []).append(RemoteLine(_value(words, "of"), [int(word) for word in words[2:]]))
    balance: dict[str, list[BalanceLine]] = {}
    for words in _words(text, "balance"):
        balance.setdefault(words[0], []).append(balance_line(words[1:]))
    return GuestLog(
        kernel=" ".join(kernel),
        distances=[[int(word) for word in words[1:]] for words in _words(text, "distances")],
        pages={words[0]: pages_line(words[1:]) for words in _words(text, "pages")},
        remote=remote,
        balance=balance,
        psm=PsmLine(_value(psm, "binding") == 1, _value(psm, "blocks"), _value(psm, "pages"), _value(psm, "remote")),
        free_pages=free_pages(zones[1]),
    )
