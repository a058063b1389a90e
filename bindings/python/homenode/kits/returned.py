"""The file that comes back from a kit (homenode.kit/1): lines of JSON, as traces/kit writes them.

In order: the kit with its manifest, the host, the machine's description, a line for each run, and the end with the number of lines and
their CRC-32. Whatever is wrong is refused by one InputError with the line. Nothing of it is run, and no name of it becomes a path.
"""

from __future__ import annotations

import re
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from homenode.errors import Error, InputError
from homenode.kernel_sources import kernels
from homenode.kits.making import MANIFEST_SCHEMA
from homenode.kits.plan import Case
from homenode.kits.returned_fields import Line, parsed_line
from homenode.visible import visible

SCHEMA = "homenode.kit/1"
MOST_BYTES = 256 << 20
MOST_LINES = 200_000
MOST_NODES, MOST_CPUS = 1024, 8192
_MOST_SECONDS = 1e6
_SCHEDULE = r"static|(dynamic|guided):[1-9][0-9]{0,8}"
_PLACEMENT = r"first-touch|interleave|bind:(0|[1-9][0-9]{0,3})"
_BLOCK = re.compile(r"number=([0-9]{1,9}) bytes=([0-9]{1,15})((?: (?:[0-9]{1,4}|-)\*[0-9]{1,12})+)")


@dataclass(frozen=True)
class Choice:
    """What a run was asked to do, in homenode's words."""

    case: str
    threads: int
    placement: str
    pinning: str
    schedule: str


@dataclass(frozen=True)
class Run:
    """A native run: seconds by region label, counters by name."""

    choice: Choice
    ended: str
    """``exit 0``, ``exit N``, ``signal N`` or ``timeout``."""
    seconds: float
    others_seconds: float
    regions: dict[str, float]
    counters: dict[str, float]


@dataclass(frozen=True)
class Block:
    """A large block of the heap: the nodes of its pages in runs, in order; -1 for pages that are not there."""

    number: int
    bytes: int
    runs: tuple[tuple[int, int], ...]

    def nodes(self) -> list[int]:
        """The node of each page."""
        return [node for node, pages in self.runs for _ in range(pages)]


@dataclass(frozen=True)
class PagesRun:
    """Where the pages of a run's large blocks were."""

    choice: Choice
    ended: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Host:
    """What the machine said of itself."""

    name: str
    system: str
    architecture: str
    cpu: dict[str, str]
    huge_pages: str
    """``always``, ``madvise`` or ``never``."""
    balancing: bool
    counters: tuple[str, ...]
    refused: dict[str, str]
    """Counters, and ``bind N`` and ``pin``, that the system does not allow, with its word for it."""
    cpus_allowed: int


@dataclass(frozen=True)
class Returned:
    """All of it."""

    path: str
    host: Host
    homenode_version: str
    cases: dict[str, Case]
    sources: dict[str, str]
    """SHA-256 of each kernel's source."""
    toml: str
    planned: int
    runs: list[Run] = field(default_factory=list)
    pages: list[PagesRun] = field(default_factory=list)


def read_returned(path: Path) -> Returned:
    """The file, checked. InputError says what is wrong where."""
    shown = visible(str(path))
    content = _content(path, shown)
    lines = content.split(b"\n")
    if lines[-1] != b"":
        _cut(shown, len(lines))
    lines.pop()
    if len(lines) > MOST_LINES:
        raise InputError(f"{shown}: {len(lines)} lines; allowed: at most {MOST_LINES}")
    found = [_line(shown, number, line) for number, line in enumerate(lines, 1)]
    if found[0].value.get("schema") != SCHEMA:
        found[0].refuse("schema", found[0].value.get("schema"), f'"{SCHEMA}"')
    _check_end(shown, content, found)
    if len(found) < 4:
        _cut(shown, len(found))
    for line, kind in zip(found, ("kit", "host", "machine"), strict=False):
        line.choice("kind", kind, f'"{kind}" here')
    returned = _head(str(path), *found[:3])
    for line in found[3:-1]:
        if line.choice("kind", "run|pages", '"run", "pages"') == "run":
            returned.runs.append(_run(line, returned))
        else:
            returned.pages.append(_pages(line, returned))
    return returned


def _content(path: Path, shown: str) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{shown}: is no regular file; allowed: the file that run.sh of a kit wrote")
        if found.st_size > MOST_BYTES:
            raise InputError(f"{shown}: {found.st_size} bytes; allowed: at most {MOST_BYTES}")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{shown}: cannot be read ({error.strerror}); allowed: the file that run.sh of a kit wrote"
        ) from None
    if content.startswith(b"\x1f\x8b"):
        raise InputError(f"{shown}: is packed; allowed: the file that run.sh of a kit wrote, unpacked")
    if not content.startswith(b'{"kind": "kit"'):
        raise InputError(f"{shown}:1: does not begin as what run.sh of a kit wrote; allowed: homenode-kit-NAME.jsonl")
    return content


def _cut(shown: str, lines: int) -> NoReturn:
    raise InputError(
        f"{shown}:{lines}: the file is cut off here; allowed: the whole file, which ends with a line of kind 'end'"
    )


def _line(shown: str, number: int, line: bytes) -> Line:
    place = f"{shown}:{number}"
    try:
        return parsed_line(place, line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: byte {line[error.start]:#04x} is no UTF-8; allowed: text in UTF-8") from None


def _check_end(shown: str, content: bytes, found: Sequence[Line]) -> None:
    end = found[-1]
    if end.value.get("kind") != "end":
        _cut(shown, len(found))
    before = content[: content.rindex(b"\n", 0, len(content) - 1) + 1]
    if end.whole("lines", 0, MOST_LINES) != len(found) - 1:
        end.refuse("lines", end.value["lines"], f"{len(found) - 1}, the number of lines before; the file was changed")
    told = end.choice("crc32", "[0-9a-f]{8}", "8 hexadecimal digits")
    if told != f"{zlib.crc32(before):08x}":
        end.refuse(
            "crc32", told, f"{zlib.crc32(before):08x}, that of the lines before; the file was changed on its way"
        )


def _head(path: str, kit: Line, host: Line, machine: Line) -> Returned:
    manifest = kit.part("manifest")
    manifest.choice("schema", re.escape(MANIFEST_SCHEMA), f'"{MANIFEST_SCHEMA}"')
    entries = [
        Line(kit.place, entry, "manifest.cases.") for entry in manifest.items("cases", 1000) if isinstance(entry, dict)
    ]
    planned = [_case(entry) for entry in entries]
    sources = manifest.part("kernels")
    return Returned(
        path,
        _host(host),
        manifest.text("homenode_version", 40),
        {case.name: case for case in planned},
        {name: sources.part(name).choice("source", "[0-9a-f]{64}", "a SHA-256") for name in sources.value},
        machine.lines("toml", 16 << 20),
        kit.whole("planned", 0, 1_000_000),
    )


def _case(entry: Line) -> Case:
    name, of = entry.name("case"), entry.name("kernel")
    if of not in kernels():
        entry.refuse("kernel", of, f"a kernel of this homenode ({', '.join(kernels())})")
    try:
        parameters = kernels()[of].settings(entry.part("parameters").value)
    except Error as error:
        raise InputError(f"{entry.place}: case '{name}': {error}") from None
    return Case(name, of, parameters, entry.whole("chunk", 0, 10**9), entry.flag("quick"), entry.flag("by_thread"))


def _host(line: Line) -> Host:
    modes = re.search(r"\[(always|madvise|never)\]", line.text("huge_pages"))
    bound, counters = line.part("bound"), line.part("counters_refused")
    names = [
        name for name in line.items("counters", 100) if isinstance(name, str) and len(name) < 64 and name.isprintable()
    ]
    refused = {name: counters.text(name) for name in list(counters.value)[:100] if name.isprintable()}
    refused |= {
        f"bind {int(node)}": bound.text(node)
        for node in list(bound.value)[:MOST_NODES]
        if re.fullmatch(r"[0-9]{1,4}", node) and bound.value[node] != "yes"
    }
    if (pinned := line.text("pinned")) != "yes":
        refused["pin"] = pinned
    cpu = line.part("cpu")
    return Host(
        line.name("name"),
        line.text("system"),
        line.name("architecture"),
        {key: cpu.text(key) for key in ("vendor", "family", "model", "stepping", "name")},
        modes[1] if modes else "never",
        line.text("balancing") not in ("", "0"),
        tuple(names),
        refused,
        line.whole("cpus_allowed", 0, MOST_CPUS),
    )


def _choice(line: Line, cases: dict[str, Case]) -> Choice:
    case = line.text("case", 100)
    if case not in cases:
        line.refuse("case", case, f"a case of the manifest ({', '.join(cases)})")
    return Choice(
        case,
        line.whole("threads", 1, MOST_CPUS),
        line.choice("placement", _PLACEMENT, "first-touch, interleave, bind:NODE"),
        line.choice("pinning", "compact|scatter|unpinned", "compact, scatter, unpinned"),
        line.choice("schedule", _SCHEDULE, "static, dynamic:CHUNK, guided:CHUNK"),
    )


def _ended(line: Line) -> str:
    return line.choice("ended", r"timeout|(exit|signal) [0-9]{1,3}", "exit N, signal N, timeout")


def _run(line: Line, returned: Returned) -> Run:
    line.whole("repeat", 1, 1000)
    return Run(
        _choice(line, returned.cases),
        _ended(line),
        line.number("seconds", 0, _MOST_SECONDS),
        line.number("others_seconds", 0, _MOST_SECONDS * MOST_CPUS),
        line.numbers("regions", 0, _MOST_SECONDS),
        line.numbers("counters", 0, 1e20),
    )


def _pages(line: Line, returned: Returned) -> PagesRun:
    blocks = []
    for text in line.items("blocks", 100_000):
        match = _BLOCK.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            line.refuse("blocks", text, "number=N bytes=B NODE*PAGES ...")
        runs = [one.split("*") for one in match[3].split()]
        block = Block(
            int(match[1]), int(match[2]), tuple((-1 if node == "-" else int(node), int(pages)) for node, pages in runs)
        )
        if sum(pages for _, pages in block.runs) > block.bytes // 4096 + 2:  # no page is smaller
            line.refuse("blocks", text, f"at most {block.bytes // 4096 + 2} pages of {block.bytes} bytes")
        blocks.append(block)
    return PagesRun(_choice(line, returned.cases), _ended(line), tuple(blocks))
