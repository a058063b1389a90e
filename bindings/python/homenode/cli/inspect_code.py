"""`homenode inspect --code`: the blocks of machine code that most of the time goes to."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from homenode.cli import console

_SHOWN = 20


def _executions(block: dict[str, Any]) -> float:
    return float(sum(region["executions"] for region in block["regions"]))


def _weight(block: dict[str, Any]) -> float:
    """Cycles where they are known, else instructions, in all executions."""
    each = block["instructions"] if block["cycles"] is None else block["cycles"]
    return _executions(block) * float(each)


def _with_calls(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Code of libraries has run as often as the blocks that call it."""
    regions: dict[int, list[dict[str, Any]]] = {}
    for block in blocks:
        if block["calls"] is not None:
            regions.setdefault(block["calls"], []).extend(block["regions"])
    return [
        {**block, "regions": [{**region, "mispredictions": 0.0} for region in regions[block["block"]]]}
        if block["block"] in regions
        else block
        for block in blocks
    ]


def _where(block: dict[str, Any]) -> str:
    if block["function"]:
        return f"{block['function']} ({block['library'] or 'not instrumented'})"
    return f"{block['file']}:{block['line']}" if block["line"] else "–"


def print_code(screen: Console, blocks: list[dict[str, Any]], cpu: str, every: bool) -> None:
    """The hottest blocks first; with a core's name their cycles and what bounds them."""
    if not blocks:
        screen.print("The trace has no code: it was captured by an older homenode, or imported from another tool.")
        return
    ran = sorted(
        (block for block in _with_calls(blocks) if block["regions"]), key=lambda one: (-_weight(one), one["block"])
    )
    whole = sum(_weight(block) for block in ran)
    shown = ran if every else ran[:_SHOWN]
    numbers = ("executions", "instructions", *(("cycles",) if cpu else ()), "share", "mispredicted")
    title = f"Code that ran{f', cycles on {cpu} by LLVM-MCA' if cpu else ''}"
    table = console.table("code", *numbers, *(("bound by",) if cpu else ()), "region", title=title, right=numbers)
    for block in shown:
        executions = _executions(block)
        wrong = sum(region["mispredictions"] for region in block["regions"])
        most = max(block["regions"], key=lambda region: (region["executions"], region["region"]))
        cycles = "–" if block["cycles"] is None else f"{block['cycles']:.1f}"
        table.add_row(
            console.plain(_where(block)),
            console.count(round(executions)),
            str(block["instructions"]),
            *((cycles,) if cpu else ()),
            f"{100 * _weight(block) / whole:.1f} %" if whole else "–",
            f"{100 * wrong / executions:.2g} %" if wrong else "–",
            *((block["bound"] or "–",) if cpu else ()),
            console.plain(most["region"]),
        )
    screen.print(table)
    if len(shown) < len(ran):
        screen.print(f"… and {len(ran) - len(shown)} blocks that ran less; --all shows them.")
    by = "cycles" if cpu else "instructions"
    console.say(
        screen,
        f"A line for each basic block; executions in all regions, the region that ran it most. share: of all {by}. "
        "Cycles if every access hits the first cache, in the sequences in which the blocks ran.",
    )
