"""Bytes of S0's programs by version, in exact arithmetic, against the footprints that S0 prints (Table 2).

S0 does not say how it measured. Tools tell a process's largest resident set in units of 1024 B; its "MB" is read as 1000 of these, as
the kernel's VmHWM and GNU time print them without a division. A footprint is the program's arrays, its tables, what each thread of
machine A has for itself, and what a heap manager adds to each block; the rest of the process is S0's own.
"""

from collections.abc import Iterator, Mapping

from validation.array_bytes import MULTIGRID_LEVELS, TRANSFORM_POINTS
from validation.published.reference import Reference
from validation.rows import Row, identity, not_compared

MEGABYTE = 1024 * 1000
THREADS = 32  # machine A
TRANSFORM_EDGES = {  # nx, ny, nz and iterations (RNR-94-007, section 3.5)
    "S": (64, 64, 64, 6),
    "A": (256, 256, 128, 6),
    "B": (512, 256, 256, 20),
    "C": (512, 512, 512, 20),
}
# Of ft in C the footprint has to lie within 5 % below what is printed, and not above it: the rest of a process is some 10 MB
# (what S0 prints for hotspot 64, whose arrays are 48 KiB).
LEAST, MOST = 0.95, 1.0


def chunk_bytes(asked: int) -> int:
    """What glibc's heap manager takes for a block: a header of 8 B, in steps of 16 B, 32 at least (malloc/malloc.c, request2size)."""
    return max(32, (asked + 8 + 15) // 16 * 16)


def transform_bytes(size: str) -> int:
    """ft in Fortran, NPB 3.3: two complex arrays and the factors."""
    return TRANSFORM_POINTS[size] * (16 + 16 + 8)


def transform_in_c_bytes(size: str) -> int:
    """ft in C, NPB 2.3 and 3.0: three complex arrays, an index each, exponentials, a plane of random numbers, private lines."""
    nx, ny, nz, iterations = TRANSFORM_EDGES[size]
    exponentials = 8 * (iterations * (nx**2 + ny**2 + nz**2) // 4 + 1)
    private = THREADS * 2 * nx * 18 * 16  # two arrays of 16 lines, 18 apart, of nx complex numbers
    return TRANSFORM_POINTS[size] * (3 * 16 + 4) + exponentials + 16 * nx * ny + private


def grid_of_rows_bytes(level: int) -> int:
    """A grid of one level whose rows are blocks of their own, with the arrays of their addresses."""
    edge = (1 << level) + 2
    return (edge * edge + edge + 1) * chunk_bytes(8 * edge)


def multigrid_in_rows_bytes(size: str, multilevel: int = 2) -> int:
    """mg in C, NPB 3.0: `multilevel` grids of all levels (u and r), and v of the finest."""
    levels = MULTIGRID_LEVELS[size]
    hierarchy: int = sum(grid_of_rows_bytes(level) for level in range(1, levels + 1))
    return multilevel * hierarchy + grid_of_rows_bytes(levels)


def rows(printed: Mapping[tuple[str, str], Reference]) -> Iterator[Row]:
    """C18 by version."""
    command = "arithmetic"
    for size in ("A", "B", "C"):
        known = float(printed["all", f"ft {size}"].printed)
        fortran, in_c = (count(size) / MEGABYTE for count in (transform_bytes, transform_in_c_bytes))
        what = (
            f"ft {size}, program as in NPB 3.3 in Fortran (ft): arrays, {fortran / known:.2f} of the printed footprint"
        )
        yield not_compared("C18", "all", what, known, fortran, command, "MB")
        what = f"ft {size}, program as in NPB 2.3 and 3.0 in C (ft_c): {in_c / known:.3f} of the printed one ({LEAST} to {MOST:g})"
        yield identity("C18", "all", what, known, in_c, LEAST <= in_c / known <= MOST, command, "MB")
    for size in ("A", "C"):
        known = float(printed["all", f"mg {size}"].printed)
        for multilevel, named in (
            (2, "u, r and v as in NPB 3.0 in C (mg_rows)"),
            (3, "a third grid of all levels, which that has not"),
        ):
            found = multigrid_in_rows_bytes(size, multilevel) / MEGABYTE
            what = f"mg {size}, rows from single mallocs, {named}: {found / known:.3f} of the printed footprint"
            yield not_compared("C18", "all", what, known, found, command, "MB")
