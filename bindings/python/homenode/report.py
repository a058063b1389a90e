"""The report document: what `homenode replay --json` prints and `Result.to_json` gives. Keys are only ever added."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from homenode import _core
from homenode.resources import REPORT_SCHEMA
from homenode.use_over_time import use_over_time

SCHEMA = "homenode.report/1"
_MOST_OBJECTS = 20  # entries of pages by object
REPLICATION = ("replicated_pages", "collapsed_pages", "unreplicated_pages")  # where the placement replicates pages


def report_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `homenode.report/1`: each key with its type, unit and meaning."""
    schema: dict[str, Any] = json.loads(REPORT_SCHEMA.read_text(encoding="utf-8"))
    return schema


def _matrix(flat: Sequence[int], nodes: int) -> list[list[int]]:
    return [list(flat[row * nodes : (row + 1) * nodes]) for row in range(nodes)]


def _hit_rates(counts: dict[str, Any]) -> dict[str, float]:
    """Share of the lines arriving at each level that it serves; what it does not serve arrives at the next."""
    arriving = sum(counts["hit_lines"]) + counts["memory_lines"] + counts["transfer_lines"]
    rates = {}
    for level, hits in enumerate(counts["hit_lines"], start=1):
        rates[f"L{level}"] = hits / arriving if arriving else 0.0
        arriving -= hits
    return rates


def _remembered(counts: dict[str, Any]) -> dict[str, Any]:
    """What memory-side caches and a directory in memory did: keys that are there only where the machine has them, and it wrote any."""
    pairs = zip(counts["side_cache_hits"], counts["side_cache_misses"], strict=True)
    nodes = [{"node": node, "hits": hits, "misses": misses} for node, (hits, misses) in enumerate(pairs)]
    remembered: dict[str, Any] = {"memory_side_caches": nodes} if nodes else {}
    if counts["directory_bytes"]:
        remembered["directory_bytes"] = counts["directory_bytes"]
    return remembered


def _histogram(by_source: dict[str, dict[int, int]]) -> dict[str, Any]:
    """Lines by latency in equal bins of 10 ns, or of the power-of-two multiple of it that keeps them under 1000."""
    latencies = [latency for lines in by_source.values() for latency in lines]
    if not latencies:
        return {"edges": [0, 10], "counts": [0], "by_source": {}}
    width = 10
    while max(latencies) // width >= 1000:
        width *= 2
    bins = max(latencies) // width + 1
    columns = {}
    for source, lines in by_source.items():
        column = [0] * bins
        for latency, number in lines.items():
            column[latency // width] += number
        columns[source] = column
    totals = [sum(row) for row in zip(*columns.values(), strict=True)]
    return {"edges": [width * index for index in range(bins + 1)], "counts": totals, "by_source": columns}


def _pages_by_object(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects with most pages, those of one symbol together, and all others as one entry."""
    if len(entries) <= _MOST_OBJECTS:
        return entries
    rest = entries[_MOST_OBJECTS - 1 :]
    others: dict[str, Any] = {"kind": "others", "symbol": "", "objects": sum(entry["objects"] for entry in rest)}
    for key in ("placed_by_node", "pages_by_node"):
        others[key] = [sum(pages) for pages in zip(*(entry[key] for entry in rest), strict=True)]
    return [*entries[: _MOST_OBJECTS - 1], others]


def run_entry(choice: dict[str, Any], raw: dict[str, Any]) -> dict[str, Any]:
    """One run: `choice` is what was asked for, in the report's keys; `raw` is what the extension returned."""
    counts = raw["counts"]
    energy = raw.get("energy")  # none of a run that was told of no energy description
    regions = [
        {
            "label": region["label"],
            "seconds": region["seconds"],
            "executions": region["executions"],
            "binding_resource": region["binding"][0]["resource"] if region["binding"] else None,
            "binding": region["binding"],
            "thread_busy_seconds": region["thread_busy_seconds"],
            "exclusive_seconds": region["exclusive_seconds"],
            "ranks": region["ranks"],
            "fork_and_barrier_seconds": region["fork_and_barrier_seconds"],
        }
        for region in raw["regions"]
    ]
    time_detail = {"regions": math.fsum(region["exclusive_seconds"] for region in regions), **raw["overheads"]}
    return {
        **choice,
        "heap": raw["heap_name"],
        "seconds": raw["seconds"],
        "regret": 0.0,
        "regions": regions,
        "threads_detail": raw["threads"],
        "traffic_bytes": _matrix(counts["traffic_bytes"], counts["nodes"]),
        "pages_by_node": raw["pages_by_node"],
        "pages_by_object": _pages_by_object(raw["pages_by_symbol"]),
        "remote_pages": raw["remote_pages"],
        "page_faults": raw["page_faults"],
        "migrated_pages": raw["migrated_pages"],
        **{key: raw[key] for key in REPLICATION if key in raw},
        "hinting_faults": raw["hinting_faults"],
        "thread_moves": raw["thread_moves"],
        "huge_pages": raw["huge_pages"],
        "overflowed_pages": raw["overflowed_pages"],
        "zeroed_bytes": counts["zeroed_bytes"],
        **_remembered(counts),
        "cache_hit_rates": _hit_rates(counts),
        "latency_histogram_ns": _histogram(counts["latency_ns"]),
        "energy_joules": energy["joules"] if energy else {},
        "read_bytes_by_node": counts["read_bytes"],
        "write_bytes_by_node": counts["write_bytes"],
        "link_bytes": counts["link_bytes"],
        "rings": counts["rings"],
        "hit_lines": counts["hit_lines"],
        "memory_lines": counts["memory_lines"],
        "transfer_lines": counts["transfer_lines"],
        "upgrade_lines": counts["upgrade_lines"],
        "tlb_misses": counts["tlb_misses"],
        "accesses": counts["accesses"],
        "caches": raw["caches"],
        "core": raw["core"],
        "caches_reason": {
            "region": raw["caches_region"],
            "lines_per_touch": raw["caches_lines_per_touch"],
            "sampling_error": counts["sampling_error"],
        },
        "heap_detail": raw["heap"],
        "best_placement": raw["best_placement"],
        "energy_detail": _energy_detail(energy, raw["seconds"]) if energy else {},
        "time_detail": time_detail,
        "use_over_time": use_over_time(raw["over_time"], raw["seconds"], len(raw["threads"])),
        "bound_by": bound_by(regions, time_detail),
        "threads_at_once": raw["threads_at_once"] or choice["threads"],
    }


def bound_by(regions: list[dict[str, Any]], time_detail: dict[str, float]) -> dict[str, Any]:
    """What the most time goes to: a region, with its bottleneck, or what is in no region; forks and barriers are one.

    An empty `time_detail`: of these regions alone.
    """
    shares = [(region["binding_resource"], region["label"], region["exclusive_seconds"]) for region in regions]
    if time_detail:
        team = {"fork and barrier": time_detail["fork"] + time_detail["barrier"]}
        others = team | {name.replace("_", " "): time_detail[name] for name in ("runtime", "page_work", "waiting")}
        shares += [(name, None, seconds) for name, seconds in others.items()]
    resource, label, seconds = max(shares, key=lambda share: share[2], default=(None, None, 0.0))
    if seconds <= 0:
        resource = label = None
    return {"resource": resource, "region": label, "seconds": seconds}


def _energy_detail(energy: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The mean power by component, the parts of cores and of what is static, the total at both ends of each parameter's interval."""
    watts = {name: joules / seconds if seconds > 0 else 0.0 for name, joules in energy["joules"].items()}
    return {"model": energy["model"], "watts": watts} | {
        key: value for key, value in energy.items() if key not in ("model", "joules")
    }


def idle_shares(run: dict[str, Any]) -> dict[str, list[float]]:
    """By region that more than one thread works in: the share of its time that each thread does not work; longest regions first."""
    shares: dict[str, list[float]] = {}
    for region in sorted(run["regions"], key=lambda region: -float(region["seconds"])):
        busy = region.get("thread_busy_seconds", [])
        if region["seconds"] > 0 and sum(seconds > 0 for seconds in busy) > 1:
            shares[region["label"]] = [max(0.0, 1 - seconds / region["seconds"]) for seconds in busy]
    return shares


def comparable(run: dict[str, Any]) -> tuple[Any, ...]:
    """Runs with the same key compete with each other; regret is the time lost to the best of them.

    Placement, mapping, distribution, heap manager and page size are choices; the operating system is a circumstance.
    """
    return (
        run["machine_hash"],
        run["threads"],
        run["engine"],
        run["seed"],
        run["stores"],
        run["caches"],
        run["system"],
    )


def is_bound(run: dict[str, Any]) -> bool:
    """Whether it is placement `optimal`: a bound on what a placement can reach, which nobody can run."""
    return bool(run.get("best_placement"))


def ranked_seconds(run: dict[str, Any]) -> float:
    """What a run is ranked by: its time, or that of the regions that were asked for (`rank_by`)."""
    return float(run.get("ranked_seconds", run["seconds"]))


def by_rank(runs: Sequence[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """Of comparable runs those that have a rank, fastest first, and bounds; equal times keep the order in which they were asked for."""
    order = sorted(range(len(runs)), key=lambda place: ranked_seconds(runs[place]))
    return [place for place in order if not is_bound(runs[place])], [place for place in order if is_bound(runs[place])]


def fill_regrets(runs: Iterable[dict[str, Any]]) -> None:
    """regret = seconds / (seconds of the best comparable run) - 1, of bounds below 0; `found_seconds` of bounds, by those runs as well.

    The seconds are those that the runs are ranked by.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault(comparable(run), []).append(run)
    for group in groups.values():
        ranked, bounds = by_rank(group)
        least = ranked_seconds(group[(ranked or bounds)[0]])
        for run in group:
            run["regret"] = ranked_seconds(run) / least - 1 if least > 0 else 0.0
        for bound in bounds:
            _find(group[bound], [group[place] for place in ranked])


_BESIDE_PLACEMENT = ("mapping", "distribution", "heap", "pages")


def _find(bound: dict[str, Any], ranked: Iterable[dict[str, Any]]) -> None:
    """A placement of the grid that is faster than what the search found is the best one found: of runs that differ in nothing else."""
    best = bound["best_placement"]
    best.setdefault("found_placement", None)
    for run in ranked:
        if run["seconds"] < best["found_seconds"] and all(run[key] == bound[key] for key in _BESIDE_PLACEMENT):
            best["found_seconds"], best["found_placement"] = run["seconds"], run["placement"]
            best["gap"] = run["seconds"] / best["bound_seconds"] - 1 if best["bound_seconds"] > 0 else 0.0


def document(
    trace: Any,
    runs: list[dict[str, Any]],
    confidence: dict[str, Any] | None = None,
    *,
    machines: list[dict[str, Any]] | None = None,
    first_places: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The whole report; `confidence` and `first_places` are what sampling the machines said (confidence.py)."""
    return {
        "schema": SCHEMA,
        "homenode_version": _core.version,
        "trace": {
            "hash": trace.hash,
            "program": trace.program,
            "arguments": trace.arguments,
            "complete": trace.complete,
            "accesses": trace.accesses,
            "unseen": trace.unseen,
        },
        "runs": runs,
        **({"machines": machines} if machines is not None else {}),
        **({"first_places": first_places} if first_places is not None else {}),
        **({"confidence": confidence} if confidence is not None else {}),
    }


def to_text(document: dict[str, Any]) -> str:
    """The bytes of a report: the same inputs and seed give the same ones."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
