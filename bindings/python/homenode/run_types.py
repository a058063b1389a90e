"""The types of a run's options, for type checkers. tests/python/test_run_types.py holds them to models/run/run_fields.cpp."""

from collections.abc import Iterable
from os import PathLike
from typing import Literal, Required, TypedDict

Engine = Literal["flow", "simgrid", "line"]
Stores = Literal["machine", "regular", "nt"]
Core = Literal["auto", "blocks", "classes"]
Pages = Literal["4KiB", "64KiB", "2MiB", "thp", "mthp-16KiB", "mthp-64KiB"]


class _Same(TypedDict, total=False):
    """What a grid does not vary."""

    engine: Engine
    stores: Stores
    core: Core
    core_factors: str
    caches: str
    system: str | PathLike[str]
    pages: Pages
    energy: str | PathLike[str]
    seed: int
    oversubscribe: bool
    warp: bool


class _Policies(_Same, total=False):
    placement: str
    mapping: str
    distribution: str
    heap: str


class Options(_Policies, total=False):
    """Of a run."""

    threads: int


class RunOptions(_Policies, total=False):
    """Of a run that is about to start."""

    threads: Required[int]


class GridOptions(_Same, total=False):
    """Of a grid: one value or several of what it may vary."""

    placement: str | Iterable[str]
    mapping: str | Iterable[str]
    distribution: str | Iterable[str]
    heap: str | Iterable[str]


class AdviceOptions(TypedDict, total=False):
    """What the closed form depends on, but for the distribution."""

    threads: Required[int]
    placement: str
    mapping: str
    stores: Stores
    core: Core
    core_factors: str
    system: str | PathLike[str]
    pages: Pages
    seed: int


class EstimateOptions(AdviceOptions, total=False):
    """What the closed form depends on."""

    distribution: str
