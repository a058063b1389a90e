"""Latency under load, predicted from idle figures and DIMMs, against published curves: `python -m validation loaded-latency`.

Each system of loaded_latency.toml is described by its idle latency, its cores and its DIMMs; its controllers are bounded by the DIMMs' peak
alone, so that no measured bandwidth goes in. One node is simulated: under the curves' load every node's cores read their own memory.
"""

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import homenode as hn
from validation.page_with_notes import markdown_table
from validation.rows import AnyRow
from validation.study import Options, Study

SYSTEMS = Path(__file__).with_name("loaded_latency.toml")
PAGE = Path(__file__).with_name("loaded_latency.md")
COMMAND = "python -m validation loaded-latency --write"
SHARES = (0.5, 0.75, 0.9)  # of the published peak
WITHIN = 0.10
# Lines that a core has outstanding when its prefetchers run ahead: the queue of the second level of Intel's cores of these years.
OUTSTANDING = 16
LINE = 64

# Beside what a system is known by: nothing of it moves the curve. Three levels, so that the vectors are beyond all; a core that its
# instructions do not bound.
MACHINE = """
schema = "homenode.machine/1"
name = "{name}"
sockets = {{ value = 1, source = "MLC" }}
clock = {{ value = "{clock}", source = "MLC" }}

[sources]
MLC = "{source}"
JEDEC = "JEDEC's timings by speed bin and density: {memory}"
CHOICE = "of no weight here"

[[nodes]]
sockets = [0]
cores = {{ value = {cores}, source = "MLC" }}
memory = {{ value = "64 GiB", source = "CHOICE" }}
latency = {{ value = "{idle_ns} ns", source = "MLC" }}
[[nodes.controllers]]
read_only = {{ value = "{peak} GB/s", source = "JEDEC" }}
one_to_one = {{ value = "{peak} GB/s", source = "JEDEC" }}

[[caches]]
level = 1
size = {{ value = "32 KiB", source = "CHOICE" }}
ways = {{ value = 8, source = "CHOICE" }}
cores_per_cache = {{ value = 1, source = "CHOICE" }}
inclusion = {{ value = "non_inclusive", source = "CHOICE" }}
latency = {{ value = "4 cycles", source = "CHOICE" }}
[[caches]]
level = 2
size = {{ value = "256 KiB", source = "CHOICE" }}
ways = {{ value = 8, source = "CHOICE" }}
cores_per_cache = {{ value = 1, source = "CHOICE" }}
inclusion = {{ value = "non_inclusive", source = "CHOICE" }}
latency = {{ value = "12 cycles", source = "CHOICE" }}
[[caches]]
level = 3
size = {{ value = "{last_level}", source = "MLC" }}
ways = {{ value = {ways}, source = "MLC" }}
cores_per_cache = {{ value = {cores}, source = "MLC" }}
inclusion = {{ value = "non_inclusive", source = "CHOICE" }}
latency = {{ value = "40 cycles", source = "CHOICE" }}

[core]
issue = {{ value = 4.0, source = "CHOICE" }}
integer = {{ value = 4.0, source = "CHOICE" }}
fp_add = {{ value = 1.0, source = "CHOICE" }}
fp_multiply = {{ value = 1.0, source = "CHOICE" }}
fp_fma = {{ value = 1.0, source = "CHOICE" }}
divide = {{ value = 0.05, source = "CHOICE" }}
load = {{ value = 2.0, source = "CHOICE" }}
store = {{ value = 1.0, source = "CHOICE" }}
branch = {{ value = 1.0, source = "CHOICE" }}
overlap = {{ value = "full", source = "CHOICE" }}
streamable_stores = {{ value = "nontemporal", source = "CHOICE" }}
miss_buffers = {{ value = 10, source = "CHOICE" }}
prefetched_lines = {{ value = {outstanding}, source = "CHOICE" }}

[coherence]
snoop = {{ value = "source", source = "CHOICE" }}
core_to_core_local = {{ value = "40 ns", source = "CHOICE" }}
core_to_core_remote = {{ value = "80 ns", source = "CHOICE" }}

[dram]
{dram}
"""


@dataclass(frozen=True)
class Row(AnyRow):
    """One load of one system; GB/s are of a node. `error`: predicted over published, less one. `md1_ns`: the null model with a queue."""

    system: str
    share: float  # of the published peak
    bandwidth: float
    published_ns: float
    predicted_ns: float
    error: float
    idle_ns: float  # the null model without one
    md1_ns: float
    published_peak: float
    predicted_peak: float
    dimms_peak: float


def systems() -> list[dict[str, Any]]:
    """What loaded_latency.toml says."""
    found: list[dict[str, Any]] = tomllib.loads(SYSTEMS.read_text(encoding="utf-8"))["systems"]
    return found


def peak_of(system: dict[str, Any]) -> float:
    """GB/s of a node's DIMMs."""
    return float(system["channels"]) * LINE / float(system["dram"]["burst"].removesuffix(" ns"))


def machine_of(system: dict[str, Any]) -> hn.Machine:
    """One node of it."""
    dram = {"channels": system["channels"], **system["dram"]}
    lines = [f'{key} = {{ value = {json.dumps(value)}, source = "JEDEC" }}' for key, value in dram.items()]
    text = {**system, "dram": "\n".join(lines), "peak": f"{peak_of(system):.4f}", "outstanding": OUTSTANDING}
    return hn.Machine.from_toml(MACHINE.format(**text), SYSTEMS.name)


def _queued(system: dict[str, Any], bandwidth: float, peak: float) -> float:
    """M/D/1: each channel serves a line in the time that it takes at the published peak."""
    load = bandwidth / peak
    if load >= 1:
        return float("inf")
    return float(system["idle_ns"]) + load / (2 * (1 - load)) * LINE / (peak / float(system["channels"]))


def rows_of(system: dict[str, Any]) -> Iterator[Row]:
    """At the shares of its published peak."""
    curve = np.array(sorted(system["curve"]))
    published = curve[:, 0] / system["nodes"]
    peak = float(published.max())
    predicted = machine_of(system).loaded_latency(0)
    drawn = predicted["bandwidth_bytes_per_s"].to_numpy() / 1e9
    for share in SHARES:
        bandwidth = share * peak
        printed = float(np.interp(bandwidth, published, curve[:, 1]))
        found = float(np.interp(bandwidth, drawn, predicted["latency_ns"].to_numpy()))
        yield Row(
            system["name"],
            share,
            bandwidth,
            printed,
            found,
            found / printed - 1,
            float(system["idle_ns"]),
            _queued(system, bandwidth, peak),
            peak,
            float(drawn.max()),
            peak_of(system),
        )


def rows(options: Options) -> Iterator[Row]:
    """All systems; the small form has the one of fewest cores."""
    chosen = systems()
    if options.small:
        chosen = [min(chosen, key=lambda system: int(system["cores"]))]
    for system in chosen:
        yield from rows_of(system)


def _summary(found: Sequence[Row]) -> str:
    names = dict.fromkeys(row.system for row in found)
    within = [name for name in names if all(abs(row.error) <= WITHIN for row in found if row.system == name)]
    errors = sorted(abs(row.error) for row in found)
    null = sorted(abs(row.md1_ns / row.published_ns - 1) for row in found)
    idle = sorted(abs(row.idle_ns / row.published_ns - 1) for row in found)
    return (
        f"{len(within)} of {len(names)} systems are within {WITHIN:.0%} at all of their points. "
        f"Of {len(found)} points the median error is\n"
        f"{np.median(errors):.0%} and the largest {errors[-1]:.0%}; with queues of one server a channel (M/D/1) {np.median(null):.0%} and "
        f"{null[-1]:.0%}; with the idle latency {np.median(idle):.0%} and {idle[-1]:.0%}."
    )


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    lines = [
        "# Latency under load",
        "",
        f"Written by `{COMMAND}`, down to the notes. Published curves of Intel's Memory",
        "Latency Checker against the engine `line`, which knows of each system its idle latency, its cores and",
        "its DIMMs ([loaded_latency.toml](loaded_latency.toml)). Nothing is fitted.",
        "",
        _summary(found),
        "",
        *markdown_table(
            ("system", "share of the peak", "GB/s of a node", "published", "predicted", "error", "M/D/1", "idle"),
            [
                (
                    row.system,
                    f"{row.share:.0%}",
                    f"{row.bandwidth:.1f}",
                    f"{row.published_ns:.0f} ns",
                    f"{row.predicted_ns:.0f} ns",
                    f"{row.error:+.0%}",
                    f"{row.md1_ns:.0f} ns",
                    f"{row.idle_ns:.0f} ns",
                )
                for row in found
            ],
        ),
        "",
        "What a node's readers get at the most, GB/s: no measured bandwidth was put in.",
        "",
        *markdown_table(
            ("system", "DIMMs' peak", "published", "predicted", "error"),
            [
                (
                    row.system,
                    f"{row.dimms_peak:.1f}",
                    f"{row.published_peak:.1f}",
                    f"{row.predicted_peak:.1f}",
                    f"{row.predicted_peak / row.published_peak - 1:+.1%}",
                )
                for row in found
                if row.share == SHARES[0]
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    return (
        f"{row.system}  {row.share:.0%} of the peak, {row.bandwidth:.1f} GB/s  published {row.published_ns:.1f} ns  "
        f"predicted {row.predicted_ns:.1f} ns  {row.error:+.1%}  (M/D/1 {row.md1_ns:.1f}, idle {row.idle_ns:.1f}; "
        f"peak {row.published_peak:.1f} GB/s, predicted {row.predicted_peak:.1f})"
    )


STUDY = Study(
    "loaded-latency",
    "published latencies under load against the engine `line`, from idle figures and DIMMs, and null models",
    "a minute",
    (
        *("system", "share", "bandwidth", "published_ns", "predicted_ns", "error", "idle_ns", "md1_ns"),
        *("published_peak", "predicted_peak", "dimms_peak"),
    ),
    rows,
    (PAGE,),
    line=_line,
    tables=page,
    closing=lambda found, options: _summary(found),
)
