"""What is run: every kernel with OpenMP loops in four sizes, from within the private caches to far beyond them."""

from collections.abc import Iterator
from typing import NamedTuple


class Case(NamedTuple):
    """A kernel with its parameters."""

    kernel: str
    parameters: dict[str, int | str]
    chunk: int = (
        0  # of dynamic distributions; 0: static alone, as loops differ too much in length or divide by thread number
    )
    by_thread: bool = False  # its code divides the work by thread number: a trace for each number of threads

    def distributions(self, threads: int) -> tuple[str, ...]:
        """One thread runs everything, whatever the distribution."""
        if threads == 1 or self.chunk == 0:
            return ("static",)
        return ("static", f"dynamic:{self.chunk}", f"guided:{self.chunk}")


PARTS = 64  # chunks of a loop


def _chunk(items: int) -> int:
    return max(1, items // PARTS)


def _hotspot(size: int) -> Case:
    return Case("hotspot", {"size": size, "steps": 4, "check": 0}, _chunk((size // 16) ** 2))


def _jacobi3d(edge: int) -> Case:
    parameters: dict[str, int | str] = {"ni": edge, "nj": edge, "nk": edge, "bi": 8, "bj": 8, "bk": edge}
    return Case("jacobi3d", {**parameters, "sweeps": 3, "check": 0}, _chunk((edge // 8) ** 2))


def _stream(n: int) -> Case:
    return Case("stream", {"n": n, "repeats": 4, "check": 0}, _chunk(n))


def _chase(nodes: int) -> Case:
    return Case("chase", {"nodes": nodes, "steps": 1_000_000, "walks": 2, "check": 0})


def _gather(n: int) -> Case:
    return Case("gather", {"n": n, "reads": 4_000_000, "repeats": 1, "check": 0}, _chunk(4_000_000))


def _jacobi2d(n: int) -> Case:
    return Case("jacobi2d", {"n": n, "sweeps": 4, "check": 0}, _chunk(n))


def _srad_v1(edge: int) -> Case:
    return Case("srad_v1", {"rows": edge, "cols": edge, "steps": 2, "check": 0}, _chunk(edge))


def _srad_v2(edge: int) -> Case:
    return Case("srad_v2", {"rows": edge, "cols": edge, "roi": 128, "steps": 2, "check": 0}, _chunk(edge))


def _nas(kernel: str, size: tuple[str, int]) -> Case:
    return Case(kernel, {"class": size[0], "iterations": size[1], "check": 0})


def _patches(kernel: str, patch: int) -> Case:
    return Case(kernel, {"patch": patch, "patches": 4, "steps": 4, "check": 0}, by_thread=True)


def _heap_list1(size: int) -> Case:
    return Case("heap_list1", {"blocks": 64, "bytes": size, "passes": 6, "check": 0}, by_thread=True)


def _all() -> Iterator[Case]:
    yield from map(_hotspot, (512, 1024, 2048, 4096))  # 3, 13, 50, 201 MB
    yield from map(_jacobi3d, (64, 128, 192, 256))  # 4, 34, 113, 268 MB
    yield from map(_stream, (50_000, 500_000, 2_000_000, 8_000_000))  # 1, 12, 48, 192 MB
    yield from map(_chase, (8_192, 65_536, 262_144, 2_097_152))  # 0.5, 4, 17, 134 MB
    yield from map(_gather, (50_000, 1_000_000, 4_000_000, 16_000_000))  # 0.4, 8, 32, 128 MB of x
    yield from map(_jacobi2d, (256, 1024, 2048, 4096))  # 1, 17, 67, 268 MB
    yield from map(_srad_v1, (256, 512, 1024, 2048))  # 2, 6, 25, 100 MB
    yield from map(_srad_v2, (256, 512, 1024, 2048))
    yield from (_nas("mg", size) for size in (("S", 4), ("W", 1), ("W", 4), ("A", 1)))  # 1, 58, 58, 450 MB
    yield from (_nas("ft", size) for size in (("S", 1), ("S", 6), ("W", 2), ("A", 1)))  # 14, 14, 28, 450 MB
    yield from (_patches("advection2d", patch) for patch in (32, 128, 512, 1024))
    yield from (_patches("advection3d", patch) for patch in (12, 32, 64, 96))
    yield from (_patches("fdtd3d", patch) for patch in (12, 32, 64, 96))
    yield from map(_heap_list1, (16_384, 131_072, 524_288, 1_048_576))  # 1, 8, 34, 67 MB a thread


CASES = tuple(_all())
SMALLEST = CASES[::4]
