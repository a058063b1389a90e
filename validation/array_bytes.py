"""Bytes of a program's arrays by its own arithmetic, against the objects of a trace and against what papers print."""

from collections import Counter
from collections.abc import Mapping, Sequence

import homenode as hn

# D. Bailey et al., The NAS Parallel Benchmarks: the cube of MG and the box of FT by class.
MULTIGRID_LEVELS = {"S": 5, "W": 7, "A": 8, "B": 8, "C": 9}
TRANSFORM_POINTS = {
    "S": 64 * 64 * 64,
    "W": 128 * 128 * 32,
    "A": 256 * 256 * 128,
    "B": 512 * 256 * 256,
    "C": 512 * 512 * 512,
}


def array_sizes(kernel: str, parameters: Mapping[str, int | str]) -> list[int]:
    """Bytes of each of the kernel's grids; small tables beside them are left out."""
    if kernel == "mg":
        levels = MULTIGRID_LEVELS[str(parameters["class"])]
        hierarchy = 8 * sum((2**level + 2) ** 3 for level in range(1, levels + 1))
        return [hierarchy, hierarchy, 8 * (2**levels + 2) ** 3]  # u, r; v on the finest level alone
    if kernel == "ft":
        points = TRANSFORM_POINTS[str(parameters["class"])]
        return [16 * points, 16 * points, 8 * points]  # two complex arrays, the real factors
    if kernel == "ft_c":
        points = TRANSFORM_POINTS[str(parameters["class"])]
        return [16 * points, 16 * points, 16 * points, 4 * points]  # three complex arrays, an index of each point
    if kernel == "hotspot":
        return [4 * int(parameters["size"]) ** 2] * 3  # temperature, power, result
    if kernel == "srad_v1":  # image, coefficient and four differences in single precision
        return [4 * int(parameters["rows"]) * int(parameters["cols"])] * 6
    if kernel == "srad_v2":  # the same and the random numbers
        return [4 * int(parameters["rows"]) * int(parameters["cols"])] * 7
    if kernel == "advection3d":  # for each patch the field with its border, and fluxes through three kinds of faces
        edge = int(parameters["patch"])
        return [8 * (edge + 2) ** 3, *[8 * (edge + 1) * edge * edge] * 3] * int(parameters["patches"])
    raise ValueError(f"no arithmetic for kernel '{kernel}'")


def traced_array_bytes(trace: hn.Trace, sizes: Sequence[int]) -> int:
    """Bytes of those heap objects of the trace that have the given sizes, each size at most as often as it is given."""
    heap = Counter(int(entry["bytes"]) for entry in trace.inspect()["objects"] if entry["kind"] == "heap")
    return sum(size * min(count, heap[size]) for size, count in Counter(sizes).items())
