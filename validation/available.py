"""What of the policies that a case wants this version of homenode has: a case without them is not compared."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache

import homenode as hn


@dataclass(frozen=True)
class Setting:
    """The policies of one replay."""

    placement: str = "first-touch"
    mapping: str = "compact"
    distribution: str = "static"
    heap: str = ""  # empty: not chosen
    system: str = ""
    seed: int = 0

    def keywords(self) -> dict[str, str]:
        """Return the arguments of hn.replay that name policies."""
        chosen = {"placement": self.placement, "mapping": self.mapping, "distribution": self.distribution}
        chosen |= {name: value for name, value in (("heap", self.heap), ("system", self.system)) if value}
        return chosen

    def options(self) -> str:
        """Return the options of `homenode replay`."""
        seed = [f"--seed {self.seed}"] if self.seed else []
        return " ".join([*(f"--{name} {value}" for name, value in self.keywords().items()), *seed])


@cache
def _names() -> frozenset[tuple[str, str]]:
    return frozenset((str(policy["kind"]), str(policy["name"])) for policy in hn.policies())


def missing(setting: Setting) -> list[str]:
    """Return which of its policies do not exist, as 'placement stencil-aware'."""
    absent = []
    accepted = inspect.signature(hn.replay).parameters
    for kind, value in setting.keywords().items():
        if kind not in accepted:
            absent.append(f"option {kind}")
            continue
        if kind == "system":
            if value not in hn.System.names():
                absent.append(f"system {value}")
            continue
        for part in value.split("+"):
            name = part.partition(":")[0].partition("@")[0]
            if (kind, name) not in _names():
                absent.append(f"{kind} {name}")
    return absent
