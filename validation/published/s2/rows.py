"""S2's claims against what was replayed: memory blocks near and far on a ring, and an allocator that knows which, on A*."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from validation.published.reference import Reference
from validation.published.s2.cases import MACHINE, NEAR_PERCENT, References
from validation.published.s2.replays import Compared
from validation.rows import Row, agrees, fitted, identity, not_compared, predicted

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def mean_gain(found: Sequence[Compared]) -> float:
    """Over seeds."""
    return float(np.mean([one.gain for one in found]))


def config_rows(printed: References, described: Mapping[str, float], command: str) -> Iterator[Row]:
    """C47: what the description takes from S2."""
    for (machine, quantity), reference in printed.items():
        if quantity in described:
            model, value = described[quantity], reference.value
            yield identity("C47", machine, quantity, value, model, math.isclose(model, value), command, "1 or B")


def ratios(latencies: pd.DataFrame) -> NDArray[np.float64]:
    """Slowest over fastest core of each block."""
    values = latencies.to_numpy()
    return np.asarray(values.max(axis=1) / values.min(axis=1))


def correlations(latencies: pd.DataFrame) -> float:
    """What a block tells about the next one: correlation of subsequent blocks' latencies, mean of cores."""
    by_core = [np.corrcoef(latencies[core].to_numpy()[:-1], latencies[core].to_numpy()[1:])[0, 1] for core in latencies]
    return float(np.mean(by_core))


def ratio_rows(printed: References, latencies: pd.DataFrame, command: str) -> Iterator[Row]:
    """C40: slowest over fastest core of each block."""
    over = ratios(latencies)
    largest = 1 + printed[MACHINE, "largest_difference"].value
    what = f"slowest over fastest core, largest of {len(latencies)} blocks"
    found = float(over.max())
    yield Row("C40", MACHINE, what, "fitted", largest, found, "1", agrees(1.5 <= found <= 1.65), command)
    quartiles = ", ".join(f"{value:.2f}" for value in np.quantile(over, (0.05, 0.25, 0.5, 0.75, 0.95)))
    what = "the same ratio over blocks, at 5, 25, 50, 75, 95 %"
    yield not_compared("C40", MACHINE, what, "-", quartiles, command)


def block_row(hashes: Mapping[str, pd.DataFrame], command: str) -> Row:
    """C40's example: block 0x125080 from cores 45 and 0."""
    shown = {}
    for name, latencies in hashes.items():
        row = latencies.xs(0x125080, level="address").iloc[0]
        shown[name] = float(row[45] / row[0])
    text = ", ".join(f"{name} {value:.2f}" for name, value in shown.items())
    what = "block 0x125080, core 45 over core 0, by hash"
    return not_compared("C40", MACHINE, what, "about 1.6", text, command)


def correlation_row(hashes: Mapping[str, pd.DataFrame], command: str) -> Row:
    """C41: whether a block tells about the next one."""
    found = {name: correlations(latencies) for name, latencies in hashes.items()}
    text = ", ".join(f"{name} {value:+.2f}" for name, value in found.items())
    what = "correlation of subsequent blocks' latencies, mean of cores, by hash"
    return identity("C41", MACHINE, what, "about 0", text, abs(found["scattered"]) < 0.05, command)


def usable_share(latencies: pd.DataFrame, cores: int, near_percent: int = NEAR_PERCENT) -> float:
    """Share of blocks that are near one core at least of the first so many."""
    values = latencies.to_numpy()[:, :cores]
    threshold = np.quantile(values, near_percent / 100, axis=0, method="inverted_cdf")
    return float((values <= threshold).any(axis=1).mean())


def usable_row(latencies: pd.DataFrame, cores: Sequence[int], command: str) -> Row:
    """C46: fewer cores use fewer blocks."""
    shares = {count: usable_share(latencies, count) for count in cores}
    text = ", ".join(f"{count}: {share:.0%}" for count, share in shares.items())
    grows = list(shares.values()) == sorted(shares.values())
    what = f"share of blocks near some core, near = {NEAR_PERCENT} %, by cores"
    return identity("C46", MACHINE, what, "grows with cores", text, grows, command, "of blocks")


def _seeds(found: Sequence[Compared]) -> str:
    gains = [100 * one.gain for one in found]
    return f" (seeds: {min(gains):.1f} to {max(gains):.1f})" if len(gains) > 1 else ""


def gain_rows(printed: References, by_cores: Mapping[int, Sequence[Compared]]) -> Iterator[Row]:
    """C42 to C45 over numbers of cores."""
    gains = {cores: mean_gain(found) for cores, found in by_cores.items()}
    command = next(iter(by_cores.values()))[0].aware.command
    least, most = printed[MACHINE, "least_gain"].value, printed[MACHINE, "most_gain"].value
    shown = ", ".join(f"{cores}: {100 * gain:.1f} %{_seeds(by_cores[cores])}" for cores, gain in gains.items())
    inside = least - 0.005 <= min(gains.values()) and max(gains.values()) <= most + 0.005
    published = f"{100 * least:.0f} to {100 * most:.0f} %"
    what = "gain of latency-aware by cores, mean of the seeds"
    yield fitted("C42", MACHINE, what, published, shown, inside, command, "of nodes in unit time")
    lowest, highest = min(gains, key=lambda cores: gains[cores]), max(gains, key=lambda cores: gains[cores])
    ordered = list(gains.values())
    monotone = ordered in (sorted(ordered), sorted(ordered, reverse=True))
    text = f"lowest at {lowest}, highest at {highest}; {'monotone' if monotone else 'not monotone'}"
    published = "lowest at 12 and 20, highest at 56; no direct relation"
    yield not_compared("C43", MACHINE, "where the gain is lowest and highest", published, text, command, "cores")
    misses = [
        one.aware.first_thread_lines / one.regular.first_thread_lines for found in by_cores.values() for one in found
    ]
    text = f"{min(misses):.3f} to {max(misses):.3f}"
    alike = min(misses) >= 0.95 and max(misses) <= 1.05
    what = "lines of core 0, latency-aware over regular"
    yield fitted("C44", MACHINE, what, "about equal", text, alike, command)
    walks = {cores: max(one.aware.walks_per_access for one in found) for cores, found in by_cores.items()}
    covered = {cores: max(one.aware.reserved_bytes for one in found) <= 128 << 20 for cores, found in by_cores.items()}
    text = ", ".join(
        f"{cores}: {1000 * share:.2g}{'' if covered[cores] else ' (memory above 128 MiB)'}"
        for cores, share in walks.items()
    )
    what = "page walks of latency-aware in 1000 accesses, by cores"
    fits = all(share < 1e-3 for share in walks.values())
    yield predicted("C45", MACHINE, what, "covered by the TLB", text, fits, command, "1/1000")


def explanation_rows(printed: References, by_cores: Mapping[int, Sequence[Compared]]) -> Iterator[Row]:
    """C48: share of time in memory times cut of latency."""
    for cores, found in by_cores.items():
        one = found[0]
        share = one.regular.memory_seconds / one.regular.busy_seconds
        cut = 1 - one.aware.latency / one.regular.latency
        law, run = 1 / (1 - share * cut) - 1, one.regular.busy_seconds / one.aware.busy_seconds - 1
        text = f"f {share:.2f}, r {cut:.3f}: {100 * law:.1f} %; whole run {100 * run:.1f} %"
        what = f"1 / (1 - f r) - 1, {cores} cores"
        command = one.aware.command
        yield identity("C48", MACHINE, what, "-", text, abs(law - run) < 0.03, command, "of time")
    least, most = (printed[MACHINE, name].value for name in ("least_gain", "most_gain"))
    needed = tuple(1 - 1 / (1 + gain) for gain in (least, most))
    cut = max(1 - one.aware.latency / one.regular.latency for found in by_cores.values() for one in found)
    shares = f"{needed[0] / cut:.2f} to {needed[1] / cut:.2f}"
    text = f"f r = {needed[0]:.3f} to {needed[1]:.3f}; with the r of {cut:.2f} found here f = {shares}"
    what = "what 17 to 28 % take"
    yield Row("C48", MACHINE, what, "identity", "-", text, "1", "not compared", "arithmetic")


def sensitivity_row(what: str, found: Sequence[Compared]) -> Row:
    """One choice of ours changed."""
    one = found[0]
    cut = 1 - one.aware.latency / one.regular.latency
    share = one.regular.memory_seconds / one.regular.busy_seconds
    text = f"{100 * mean_gain(found):.1f} % (f {share:.2f}, r {cut:.3f})"
    return not_compared("C42", MACHINE, f"sensitivity: {what}", "17 to 28 %", text, one.aware.command, "gain")


def triad_rows(rates: Mapping[tuple[int, int], float], published: Reference, command: str) -> Iterator[Row]:
    """CHR: address and acknowledge rings doubled; `rates`: STREAM triad in bytes/s by cores and rings of each kind."""
    most = max(cores for cores, _ in rates)
    shown = ", ".join(f"{cores} cores {rate / 1e9:.0f}" for (cores, rings), rate in rates.items() if rings == 1)
    doubled = ", ".join(f"{cores} cores {rate / 1e9:.0f}" for (cores, rings), rate in rates.items() if rings == 2)
    gain = rates[most, 2] / rates[most, 1] - 1
    what = f"CHR: triad on {most} cores, two address and two acknowledge rings over one each"
    text = f"+{100 * gain:.0f} % (GB/s with one: {shown}; with two: {doubled})"
    published_text = f"above +{100 * published.value:.0f} %"
    yield predicted("CHR", MACHINE, what, published_text, text, gain > published.value, command)
