"""S2's numbers by name, as validation/published/claims/s2.toml refers to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from validation.published.claims.figures import Figure, figure, spread
from validation.published.s2.replays import Compared
from validation.published.s2.rows import correlations, mean_gain, ratios, usable_share

if TYPE_CHECKING:
    import pandas as pd

MAP, SEARCH = "S2 latency map", "S2 searches"


def map_figures(
    described: Mapping[str, float], latencies: pd.DataFrame, cores: Sequence[int], command: str
) -> Iterator[Figure]:
    """C40, C41, C46 and C47."""
    for name, value in described.items():
        yield figure(f"s2 configuration@{name}", value, MAP, command)
    yield figure("s2 latency ratio", float(ratios(latencies).max()), MAP, command)
    yield figure("s2 correlation", correlations(latencies), MAP, command)
    shares = [usable_share(latencies, count) for count in (max(cores), min(cores))]
    yield figure("s2 usable", shares[0] / shares[1], MAP, command)


def search_figures(by_cores: Mapping[int, Sequence[Compared]]) -> Iterator[Figure]:
    """C42 to C45 and C48, over numbers of cores; gains are means over the seeds."""
    command = next(iter(by_cores.values()))[0].aware.command
    gains = [mean_gain(found) for found in by_cores.values()]
    yield figure("s2 gain@least", min(gains), SEARCH, command)
    yield figure("s2 gain@most", max(gains), SEARCH, command)
    yield figure("s2 gain spread", max(gains) - min(gains), SEARCH, command)
    every = [one for found in by_cores.values() for one in found]
    misses = [one.aware.first_thread_lines / one.regular.first_thread_lines for one in every]
    yield spread("s2 misses", misses, None, SEARCH, command)
    yield spread("s2 walks", [1000 * one.aware.walks_per_access for one in every], None, SEARCH, command)
    yield spread("s2 law less run", [law_less_run(one) for one in every], None, SEARCH, command)


def law_less_run(one: Compared) -> float:
    """1 / (1 - f r) - 1 less the gain of the whole run."""
    share = one.regular.memory_seconds / one.regular.busy_seconds
    cut = 1 - one.aware.latency / one.regular.latency
    return 1 / (1 - share * cut) - one.regular.busy_seconds / one.aware.busy_seconds
