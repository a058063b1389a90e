"""What a traced object does to memory without telling: nothing is lost silently."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from homenode.compiler.instrumentation import COPY, copies, uninstrumented

_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.+)>:$")
_CALLED = re.compile(r"R_X86_64_(?:PLT32|PC32|GOTPCREL\w*)\s+(?P<name>[\w.]+)-0x")
_COPIES = re.compile(r"mem(?:cpy|move|set|pcpy)$")
# Functions of libc and libgfortran that read or write as much of the program's memory as they are asked to; those of
# stand_ins.py are recorded.
_LIBRARY = re.compile(
    r"(?:lfind|lsearch|memcmp|bcmp|memchr|memmem|memccpy|str(?:n?cpy|n?cat|chr|rchr|str|n?cmp|len)|stpn?cpy"
    r"|f?write|pwrite(?:64)?|writev|fwrite_unlocked|f?gets|getline|getdelim|recv(?:from|msg)?|send(?:to|msg)?|swab"
    r"|_gfortran_(?:matmul|transpose|reshape|pack|unpack|spread|cshift|eoshift|internal_(?:un)?pack|transfer_array|m?s?(?:max|min)(?:loc|val)"
    r"|m?s?sum|m?s?product|norm2|findloc|count|any|all|dot_product|arandom)\w*)$"
)


def losses_of(instrumented: Path, source: str, after_tsan: Path, optimized: Path) -> list[dict[str, Any]]:
    """One entry a function and reason, with the number of places; the two dumps are gcc's of the same compilation."""
    found = uninstrumented(after_tsan, optimized)
    if not after_tsan.is_file() and ".gnu.lto_" in _said("objdump", "-h", instrumented):
        found["all functions", "compiled when linked (-flto): what gcc leaves out was not looked for"] += 1
    calls = _calls_of(instrumented)
    found.update(_calls_into_libraries(calls))
    for name, count in copies(optimized).items():
        called = sum(1 for callee in calls.get(name, []) if _COPIES.match(callee))
        if called < count:
            found[name, COPY] += count - called
    return [
        {
            "function": os.fsencode(name).decode("utf-8", "backslashreplace"),
            "file": source,
            "reason": reason,
            "count": count,
        }
        for (name, reason), count in sorted(found.items())
    ]


def _said(*words: str | Path) -> str:
    return os.fsdecode(subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout)


def _calls_of(instrumented: Path) -> dict[str, list[str]]:
    """By function, what it calls, as often as it does."""
    text = _said("objdump", "-dr", "--no-show-raw-insn", instrumented)
    calls: dict[str, list[str]] = {}
    function = "?"
    for line in text.splitlines():
        if (header := _FUNCTION.match(line)) is not None:
            function = header["name"]
        elif (called := _CALLED.search(line)) is not None:
            calls.setdefault(function, []).append(called["name"])
    return calls


def _calls_into_libraries(calls: dict[str, list[str]]) -> Counter[tuple[str, str]]:
    """Calls from instrumented functions; what the program asks not to instrument is its own choice."""
    found: Counter[tuple[str, str]] = Counter()
    for name, names in calls.items():
        if any(called.startswith("__tsan_") for called in names):
            found.update(
                (name, f"what {called} does to memory is not recorded") for called in names if _LIBRARY.match(called)
            )
    return found
