"""Blocks that the program gets zeroed from `calloc` though its source fills them.

From -O2 on gcc makes one `calloc` of a `malloc` and the zero fill behind it. In the traced build it does not, for there the
sanitizer tells every store of the fill. Which fills are gone, gcc's assembly of the program itself tells: `calloc` is called on
the line of the `malloc`, and no instruction stores on the line of the fill (decision 0060).
"""

import re
from collections import defaultdict
from typing import Any

from homenode.compiler.instruction_classes import classify

_LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
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
    names: dict[str, str] = {}
    place: tuple[str, int] = ("", 0)
    callocs: defaultdict[str, set[int]] = defaultdict(set)
    stores: defaultdict[str, set[int]] = defaultdict(set)
    for line in assembly.splitlines():
        statement = line.strip()
        if location := _LOCATION.match(statement):
            place = (names.get(location[1], ""), int(location[2]))
        elif file := _FILE.match(statement):
            names[file[1]] = (file[3] if file[3] is not None else file[2]).rpartition("/")[2]
        elif call := _CALL.fullmatch(statement):
            if call["name"] == "calloc":
                callocs[place[0]].add(place[1])
            elif call["name"] in _FILLS:
                stores[place[0]].add(place[1])
        elif line.startswith("\t") and statement and statement[0] not in ".#" and _stores(statement):
            stores[place[0]].add(place[1])
    return [
        {"file": file, "calloc": sorted(callocs[file]), "stores": sorted(stores[file])}
        for file in sorted({*callocs, *stores})
        if callocs
    ]
