"""What is run: five kernels in three sizes, from within the private caches to far beyond them."""

from typing import NamedTuple


class Case(NamedTuple):
    """A kernel with its parameters."""

    kernel: str
    parameters: dict[str, int | str]


def _hotspot(size: int) -> Case:
    return Case("hotspot", {"size": size, "steps": 4, "check": 0})


def _jacobi3d(edge: int) -> Case:
    return Case("jacobi3d", {"ni": edge, "nj": edge, "nk": edge, "bi": 8, "bj": 8, "bk": edge, "sweeps": 3, "check": 0})


def _stream(n: int) -> Case:
    return Case("stream", {"n": n, "repeats": 4, "check": 0})


def _chase(nodes: int) -> Case:
    return Case("chase", {"nodes": nodes, "steps": 1_000_000, "walks": 2, "check": 0})


def _gather(n: int) -> Case:
    return Case("gather", {"n": n, "reads": 4_000_000, "repeats": 1, "check": 0})


CASES = (
    *map(_hotspot, (512, 1024, 2048)),  # 3, 13, 50 MB
    *map(_jacobi3d, (64, 128, 256)),  # 4, 34, 268 MB
    *map(_stream, (50_000, 500_000, 8_000_000)),  # 1, 12, 192 MB
    *map(_chase, (8_192, 262_144, 2_097_152)),  # 0.5, 17, 134 MB
    *map(_gather, (50_000, 1_000_000, 16_000_000)),  # 0.4, 8, 128 MB of x
)
SMALLEST = CASES[::3]
