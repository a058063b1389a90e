"""S0: the rows, from figures that somebody replayed."""

from collections.abc import Iterator, Sequence

from validation.array_bytes import array_sizes
from validation.published.s0 import balancing, gains, imbalance
from validation.published.s0.cases import Case, parameters_of
from validation.published.s0.figures import Found, Printed
from validation.rows import Row, identity


def rows(found: Found, printed: Printed) -> Iterator[Row]:
    """Yield C1 to C15, C17 and C18, and what figures 6 and 7 would show."""
    yield from gains.rows(found, printed)
    yield from balancing.rows(found, printed)
    yield from imbalance.rows(found)
    yield from footprint_rows(printed, found.cases)


def footprint_rows(printed: Printed, cases: Sequence[Case]) -> Iterator[Row]:
    """C18: arrays by the kernels' own arithmetic are not larger than the printed footprints of whole processes."""
    for case in cases:
        reference = printed.get(("all", case.name))
        if reference is None:
            continue
        bytes_of_arrays = sum(array_sizes(case.kernel, parameters_of(case)))
        what = f"{case.name}: computed arrays, not above the printed footprint of the process"
        fits = bytes_of_arrays <= reference.value
        model = bytes_of_arrays / 1024**2
        yield identity("C18", "all", what, reference.printed, model, fits, "", "MiB")
