"""The tree of a machine's parts as hwloc has it: from its XML or from a synthetic string, the same for both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_PARTS = 300_000
MOST_DEPTH = 64


@dataclass
class Part:
    """An object of hwloc; `line` of the file, `below` it in the file's order."""

    kind: str  # "Package", "NUMANode", "L3Cache", "Core", "PU"
    line: int
    os_index: int | None = None
    subtype: str = ""
    size: int | None = None  # bytes of a cache or of a node's memory
    ways: int | None = None
    cache_line: int | None = None
    inclusive: bool | None = None
    cpuset: str = ""
    gp_index: str = ""
    infos: dict[str, str] = field(default_factory=dict)
    below: list[Part] = field(default_factory=list)

    def every(self) -> Iterator[Part]:
        """This part and all below it, in order."""
        todo = [self]
        while todo:
            part = todo.pop()
            yield part
            todo.extend(reversed(part.below))

    @property
    def cache_level(self) -> int | None:
        """The level of a data or unified cache; None for other parts."""
        kind = self.kind
        of_data = len(kind) == 7 and kind[0] == "L" and kind.endswith("Cache") and kind[1] in "12345"
        return int(kind[1]) if of_data else None
