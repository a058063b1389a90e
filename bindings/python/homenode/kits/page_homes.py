"""The nodes of pages, block by block: as the machine's kernel had placed them, and as a replay places them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from homenode.kits.returned import Block, Choice, PagesRun
from homenode.result import Result
from homenode.trace import Trace

_LARGE = 65536  # bytes of a block that pages.c looks at
_BLOCKS = (
    64  # that are compared, in the order of their allocation: programs with more are no matter of where arrays lie
)
_PAGES = 50_000_000  # of one run


@dataclass(frozen=True)
class PagesRow:
    """One run's large blocks together."""

    choice: Choice
    pages: int
    """That are there in both."""
    same: int
    """Of these, how many lie on the node that was predicted."""
    measured: tuple[int, ...]
    """Pages by node."""
    predicted: tuple[int, ...]
    blocks: int


def compared(run: PagesRun, trace: Trace, result: Result, nodes: int, in_order: bool = True) -> PagesRow | str | None:
    """The row, or why there is none; None for a program without large blocks. `result` was replayed with its log.

    Not `in_order`: threads allocate side by side, so that any of their blocks may come first; blocks of a size are paired by their nodes.

    An interleaved block begins on any node: it is compared from the node on that its first page came to, block by block.
    """
    if run.ended != "exit 0":
        return f"the run for pages ended with {run.ended}"
    blocks = sorted(run.blocks, key=lambda block: block.number)[:_BLOCKS]
    objects = [entry for entry in trace.inspect()["objects"] if entry["kind"] == "heap" and entry["bytes"] >= _LARGE]
    if not blocks and not objects:
        return None
    if not blocks or len(objects) < len(blocks):
        return f"{len(blocks)} large blocks were seen, {len(objects)} are in the trace"
    objects = objects[: len(blocks)]
    if sum(block.bytes for block in blocks) // 4096 > _PAGES:
        return f"more than {_PAGES} pages"
    homes = [_homes(result, int(entry["id"])) for entry in objects]
    sizes = [int(entry["bytes"]) for entry in objects]
    if not in_order:
        blocks = sorted(blocks, key=lambda block: (block.bytes, block.nodes()))
        order = sorted(
            range(len(sizes)), key=lambda one: (sizes[one], [node for _, node in sorted(homes[one].items())])
        )
        homes, sizes = [homes[one] for one in order], [sizes[one] for one in order]
    if [block.bytes for block in blocks] != sizes:
        return "the large blocks have other sizes than those of the trace"
    found = [_block(block, of, run.choice, nodes) for block, of in zip(blocks, homes, strict=True)]
    return PagesRow(
        run.choice,
        sum(one[0] for one in found),
        sum(one[1] for one in found),
        tuple(sum(one[2][node] for one in found) for node in range(nodes)),
        tuple(sum(one[3][node] for one in found) for node in range(nodes)),
        len(found),
    )


def _homes(result: Result, of: int) -> dict[int, int]:
    """The last home of each page of an object, by its number in the object."""
    assert result.pages is not None
    return {page: node for placed, page, node in result.pages[result.pages[:, 0] == of].tolist()}


def _block(
    block: Block, homes: dict[int, int], choice: Choice, nodes: int
) -> tuple[int, int, Sequence[int], Sequence[int]]:
    measured = block.nodes()
    turn = _turn(measured, homes, nodes) if choice.placement == "interleave" else 0
    placed = {page: (node + turn) % nodes for page, node in homes.items()}
    both = [(node, placed[page]) for page, node in enumerate(measured) if 0 <= node < nodes and page in placed]
    counts: Any = [[0] * nodes, [0] * nodes]
    for there, here in both:
        counts[0][there] += 1
        counts[1][here] += 1
    return len(both), sum(there == here for there, here in both), counts[0], counts[1]


def _turn(measured: Sequence[int], homes: dict[int, int], nodes: int) -> int:
    for page, node in enumerate(measured):
        if node >= 0 and page in homes:
            return (node - homes[page]) % nodes
    return 0
