"""Zero fills that gcc merges into `calloc`.

From -O2 on gcc replaces a `malloc` and the zero fill behind it by one `calloc`. It does not in the traced build, where each store
of the fill calls the recording runtime. gcc's assembly of the program without tracing shows which fills are gone: it calls
`calloc` on the line of the `malloc`, and no instruction stores on the line of the fill (decision 0060).
"""

import re
from collections import defaultdict
from typing import Any

from homenode.compiler.instruction_classes import classify
from homenode.compiler.source_places import SourcePlaces

_CALL = re.compile(r"(?:call|jmp)q?\s+\*?(?P<name>[A-Za-z_]\w*)(?:@PLT|@GOTPCREL\(%rip\))?")
_FILLS = ("memset", "__memset_chk")


def _stores(statement: str) -> bool:
    """Whether an instruction writes to memory other than the stack's end."""
    mnemonic, _, text = statement.partition("\t")
    if mnemonic.startswith(("rep", "stos")):
        return "stos" in statement
    return (
        not mnemonic.startswith(("push", "call", "j"))
        and "(%rsp" not in text
        and classify(mnemonic, text.strip())["store"] > 0
    )


def zeroed_lines(assembly: str) -> list[dict[str, Any]]:
    """By file: the lines that call `calloc`, and those that store or call `memset`. Empty where nothing calls `calloc`."""
    if "calloc" not in assembly:
        return []
    places = SourcePlaces()
    callocs: defaultdict[str, set[int]] = defaultdict(set)
    stores: defaultdict[str, set[int]] = defaultdict(set)
    for line in assembly.splitlines():
        statement = line.strip()
        if places.take(statement):
            continue
        file = (places.file or "").rpartition("/")[2]
        if call := _CALL.fullmatch(statement):
            if call["name"] == "calloc":
                callocs[file].add(places.line)
            elif call["name"] in _FILLS:
                stores[file].add(places.line)
        elif line.startswith("\t") and statement and statement[0] not in ".#" and _stores(statement):
            stores[file].add(places.line)
    return [
        {"file": file, "calloc": sorted(callocs[file]), "stores": sorted(stores[file])}
        for file in sorted({*callocs, *stores})
        if callocs
    ]
