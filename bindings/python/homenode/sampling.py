"""Machines drawn within what is known of their numbers (`Machine.uncertainties`).

A value comes from a triangular density between low and high whose mode is the stated value (JCGM 100:2008, 4.3.9: values near the
bounds are less likely than near the estimate), on the logarithm of the value unless low is zero. Together the values are a Latin
hypercube (McKay, Beckman, Conover, Technometrics 21, 1979) or a Sobol sequence (scrambled; Sobol, USSR Comput. Math. 7, 1967).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from homenode import _core
from homenode.arguments import whole_number
from homenode.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Described(Protocol):
    """What is sampled: an hn.Machine."""

    @property
    def uncertainties(self) -> list[dict[str, Any]]:
        """As of hn.Machine."""
        ...

    def with_changes(self, changes: dict[str, str], /) -> Self:
        """As of hn.Machine."""
        ...


Sampled = TypeVar("Sampled", bound=Described)

METHODS = ("latin-hypercube", "sobol")


def quantile(uncertain: dict[str, Any], probability: float) -> float:
    """The factor on the stated value below which the value lies with this probability."""
    low, high = uncertain["low_factor"], uncertain["high_factor"]
    if low <= 0:  # no logarithm: the triangle stands on the value itself
        return _triangular(low, 1.0, high, probability)
    return math.exp(_triangular(math.log(low), 0.0, math.log(high), probability))


def _triangular(low: float, mode: float, high: float, probability: float) -> float:
    """Inverse of the triangular distribution's F: F(mode) = (mode - low) / (high - low), a parabola on each side."""
    if probability * (high - low) < mode - low:
        return low + math.sqrt(probability * (high - low) * (mode - low))
    return high - math.sqrt((1 - probability) * (high - low) * (high - mode))


def latin_hypercube(samples: int, values: int, seed: int) -> NDArray[np.float64]:
    """Probabilities, sample by value: each value's strata of equal probability are hit once each, in a random order of its own."""
    import numpy

    generator = numpy.random.Generator(numpy.random.PCG64(seed))
    columns = [(generator.permutation(samples) + generator.random(samples)) / samples for _ in range(values)]
    return numpy.asarray(columns, dtype=numpy.float64).reshape(values, samples).T


def sobol(samples: int, values: int, seed: int) -> NDArray[np.float64]:
    """Probabilities, sample by value, of a scrambled Sobol sequence: most even for powers of two."""
    import numpy
    from scipy.stats import qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of numbers that are no power of two
        points = qmc.Sobol(values, rng=numpy.random.Generator(numpy.random.PCG64(seed))).random(samples)
    return numpy.asarray(points, dtype=numpy.float64)


def factors_at(uncertainties: Sequence[dict[str, Any]], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors on the stated values, sample by value, where these probabilities lie."""
    import numpy

    rows = [
        [quantile(one, float(probability)) for one, probability in zip(uncertainties, row, strict=True)]
        for row in probabilities
    ]
    return numpy.asarray(rows, dtype=numpy.float64).reshape(len(probabilities), len(uncertainties))


def sampled_factors(uncertainties: Sequence[dict[str, Any]], samples: int, seed: int) -> NDArray[np.float64]:
    """Factors by sample and value, by a Latin hypercube."""
    return factors_at(uncertainties, latin_hypercube(samples, len(uncertainties), seed))


def changed(machine: Sampled, uncertainties: Sequence[dict[str, Any]], factors: Sequence[float]) -> Sampled:
    """The machine with each uncertain value multiplied by its factor.

    Values are drawn one by one, so that together they may be no machine (lines of another socket nearer than the own's): then all
    factors are drawn to 1 by halves, on the logarithm, until they are one. The stated machine is.
    """
    closeness = 1.0
    while True:
        changes = {}
        for uncertain, factor in zip(uncertainties, factors, strict=True):
            changes.update(dict.fromkeys(uncertain["paths"], f"x{factor**closeness:.9g}"))
        try:
            return machine.with_changes(changes)
        except UsageError:
            if closeness < 1e-3:
                raise
            closeness /= 2


def uncertain_among(machine: Described, names: Iterable[str] | None) -> list[dict[str, Any]]:
    """The machine's uncertainties, or those that are named; UsageError for a name that has no interval."""
    found = machine.uncertainties
    if names is None:
        return found
    by_name = {one["name"]: one for one in found}
    for name in names:
        if name not in by_name:
            raise UsageError(_core.unknown_name("uncertain parameter", name, list(by_name)))
    return [by_name[name] for name in dict.fromkeys(names)]


def probabilities(method: str, samples: int, values: int, seed: int) -> NDArray[np.float64]:
    """Of `samples` points by one of METHODS, sample by value."""
    if method not in METHODS:
        raise UsageError(_core.unknown_name("method", method, list(METHODS)))
    draw = latin_hypercube if method == "latin-hypercube" else sobol
    return draw(samples, values, whole_number("seed", seed, 0, 2**64 - 1))
