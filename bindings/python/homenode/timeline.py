"""What happened when in one run, as a Chrome trace (JSON) that ui.perfetto.dev and chrome://tracing open.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ("Trace Event Format"). One process has a track for
each thread: executions of regions, in them the slices that the thread ran and what it waited for. Another has a counter for each
controller, link direction and other shared resource: the share of it that was in use, by equal intervals.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.errors import UsageError
from homenode.outputs import check_output, written_whole

EVENTS = 200_000  # of a file, about 20 MB of text
_THREADS, _RESOURCES = 1, 2  # process numbers


def check_target(path: Path) -> None:
    """Refuse what cannot be written before anything runs."""
    if not path.name.endswith((".json", ".json.gz")):
        raise UsageError(f"timeline '{path}'; allowed: names that end in .json or .json.gz")
    check_output(path, "timeline")


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1000


def _nanoseconds(picoseconds: int) -> int:
    return (int(picoseconds) + 500) // 1000


def _complete(thread: int, begin: int, end: int, name: str, category: str, args: dict[str, Any]) -> dict[str, Any]:
    """A span, from and to whole nanoseconds, so that spans that meet in the simulation meet here."""
    return {
        "ph": "X",
        "pid": _THREADS,
        "tid": thread,
        "ts": _microseconds(begin),
        "dur": _microseconds(end - begin),
        "name": name,
        "cat": category,
        "args": args,
    }


def _span_events(timeline: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Executions of regions around what lies in them, thread by thread."""
    spans = timeline["spans"].tolist()
    first = 0
    while first < len(spans):
        thread, _, label, execution = spans[first][:4]
        last = first
        while last < len(spans) and [spans[last][0], *spans[last][2:4]] == [thread, label, execution]:
            last += 1
        inside = [(_nanoseconds(span[4]), _nanoseconds(span[5]), span) for span in spans[first:last]]
        begin, end = inside[0][0], max(span_end for _, span_end, _ in inside)
        if end > begin:
            yield _complete(thread, begin, end, timeline["labels"][label], "region", {"execution": execution})
        within = end  # of the work that page work belongs to
        for span_begin, span_end, (_, doing, _, _, _, _, low, high, joined) in inside:
            name = timeline["doings"][doing]
            if name == "page work":
                span_end = min(span_end, within)
            else:
                within = span_end
            if span_end <= span_begin:
                continue
            args: dict[str, Any] = {"first": low, "last": high} if name == "work" else {}
            if joined > 1:
                args["joined"] = joined
            yield _complete(thread, span_begin, span_end, name, name.partition(":")[0], args)
        first = last


def _counter_events(timeline: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A value holds until the next one: only changes are told."""
    interval = timeline["interval_ps"]
    for number, name in enumerate(timeline["resources"]):
        use = timeline["use_seconds"][number].tolist()
        before = 0.0
        for place, seconds in enumerate([*use, 0.0] if use else []):
            percent = float(f"{100 * seconds / (interval * 1e-12):.7g}")
            if percent == before and place > 0:
                continue
            before = percent
            yield {
                "ph": "C",
                "pid": _RESOURCES,
                "tid": 0,
                "ts": place * interval / 1e6,
                "name": name,
                "args": {"% in use": percent},
            }


def _names(run: dict[str, Any], thinned: str) -> Iterator[dict[str, Any]]:
    def told(process: int, thread: int, what: str, args: dict[str, Any]) -> dict[str, Any]:
        return {"ph": "M", "pid": process, "tid": thread, "ts": 0, "name": what, "args": args}

    for process, name in ((_THREADS, "threads"), (_RESOURCES, "shared resources")):
        yield told(process, 0, "process_name", {"name": name})
        yield told(process, 0, "process_sort_index", {"sort_index": process})
    if thinned:
        yield told(_THREADS, 0, "process_labels", {"labels": thinned})
    for thread in run["threads_detail"]:
        name = f"thread {thread['thread']} (core {thread['core']}, node {thread['node']})"
        yield told(_THREADS, thread["thread"], "thread_name", {"name": name})
        yield told(_THREADS, thread["thread"], "thread_sort_index", {"sort_index": thread["thread"]})


def _thinned(timeline: dict[str, Any]) -> str:
    if timeline["least_ps"] == 0:
        return ""
    return (
        f"thinned: spans shorter than {timeline['least_ps'] / 1e6:g} us are joined with their like or left out "
        f"({timeline['left_out']} of them)"
    )


def document(trace: Any, run: dict[str, Any], timeline: dict[str, Any]) -> dict[str, Any]:
    """The whole file: `run` is the report's entry, `timeline` what the extension recorded."""
    thinned = _thinned(timeline)
    resources = zip(timeline["resources"], timeline["bandwidths"], strict=True)
    asked = ("machine", "machine_hash", "threads", "placement", "mapping", "distribution", "heap", "system", "engine")
    return {
        "displayTimeUnit": "ns",
        "otherData": {
            "schema": "homenode.timeline/1",
            "homenode_version": _core.version,
            "trace_hash": trace.hash,
            **{key: run[key] for key in asked},
            "seed": run["seed"],
            "seconds": run["seconds"],
            "counter_interval_us": timeline["interval_ps"] / 1e6,
            "bandwidth_bytes_per_s": {name: bandwidth for name, bandwidth in resources if bandwidth > 0},
            "thinned": thinned,
        },
        "traceEvents": [*_names(run, thinned), *_span_events(timeline), *_counter_events(timeline)],
    }


def write(path: Path, trace: Any, run: dict[str, Any], timeline: dict[str, Any]) -> None:
    """Write it whole or not at all; the same run gives the same bytes."""
    contents = document(trace, run, timeline)
    events = contents.pop("traceEvents")
    head = json.dumps(contents, indent=1)[:-2]
    lines = ",\n".join(json.dumps(event, separators=(",", ":"), allow_nan=False) for event in events)
    data = f'{head},\n "traceEvents": [\n{lines}\n]}}\n'.encode()
    if path.name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with written_whole(path) as temporary:
        temporary.write_bytes(data)
