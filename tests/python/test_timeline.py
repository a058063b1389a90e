"""The timeline of a run: a Chrome trace, held against the format's JSON Schema (trace_events.schema.json)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import homenode as hn
from support import Ended

Run = Callable[..., Ended]

MACHINE = "xeon-x5550-2s"
LINK = 12.8e9  # bytes/s of each direction of its link


def events_of(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    events = json.loads(text)["traceEvents"]
    assert isinstance(events, list)
    return events


SCHEMA = json.loads((Path(__file__).parent / "trace_events.schema.json").read_text(encoding="utf-8"))


def problems(document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def check_schema(path: Path) -> None:
    """Every event has a phase, a name, a process and a track, and what its phase requires."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    assert problems(json.loads(text)) == []


def check_nesting(events: list[dict[str, Any]]) -> None:
    """Two spans of a thread lie one behind the other, or one within the other."""
    tracks: dict[int, list[tuple[int, int]]] = {}
    for event in events:
        if event["ph"] == "X":
            begin, length = round(1000 * event["ts"]), round(1000 * event["dur"])
            tracks.setdefault(event["tid"], []).append((begin, begin + length))
    assert tracks
    for spans in tracks.values():
        open_ends: list[int] = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


def integral(events: list[dict[str, Any]], name: str) -> float:
    """Seconds of the resource that were in use: each value holds until the next."""
    points = [event for event in events if event["ph"] == "C" and event["name"] == name]
    assert points[-1]["args"]["% in use"] == 0
    return sum(
        before["args"]["% in use"] / 100 * (after["ts"] - before["ts"]) / 1e6 for before, after in pairwise(points)
    )


@pytest.mark.parametrize("engine", ["flow", "line", "simgrid"])
def test_every_report_tells_what_is_in_use_when(engine: str) -> None:
    trace = hn.capture("jacobi2d", n=256)
    run = hn.replay(trace, MACHINE, threads=8, placement="interleave", engine=engine).run
    over = run["use_over_time"]
    interval, count, seconds = over["interval_seconds"], over["intervals"], run["seconds"]
    lengths = [min(interval, seconds - place * interval) for place in range(count)]
    assert 32 < count <= 64
    assert (count - 1) * interval < seconds <= count * interval
    # share x length x threads, over all intervals = busy seconds of all threads; shares are told to 0.01 %
    for region in run["regions"]:
        busy = sum(region["thread_busy_seconds"])
        told = sum(8 * share * length for share, length in zip(over["regions"][region["label"]], lengths, strict=True))
        assert told == pytest.approx(busy, abs=8 * 0.5e-4 * seconds)
    # no more threads work than there are
    assert all(sum(column) <= 1.001 for column in zip(*over["regions"].values(), strict=True))
    # share x length = bytes / bandwidth of the link; what leaves a queue behind the end is left out
    for name, moved in zip(("link 0->1", "link 1->0"), run["link_bytes"], strict=True):
        told = sum(share * length for share, length in zip(over["resources"][name], lengths, strict=True))
        assert told == pytest.approx(moved / LINK, rel=0.02, abs=0.5e-4 * seconds)


def test_a_timeline_beside_it_does_not_move_it(tmp_path: Path) -> None:
    trace = hn.capture("jacobi2d", n=256)
    alone = hn.replay(trace, MACHINE, threads=8)
    beside = hn.replay(trace, MACHINE, threads=8, timeline=tmp_path / "run.json")
    assert beside.run == alone.run


def test_a_bound_has_nothing_over_time(trace: hn.Trace) -> None:
    assert hn.replay(trace, MACHINE, threads=8, placement="optimal").run["use_over_time"] == {}


SPAN = {"ph": "X", "name": "work", "cat": "work", "pid": 0, "tid": 1, "ts": 0.5, "dur": 2}
COUNTER = {"ph": "C", "name": "link 0->1", "pid": 0, "tid": 0, "ts": 1, "args": {"% in use": 50.0}}
NAME = {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "thread 1"}}


@pytest.mark.parametrize(
    "event",
    [
        {**SPAN, "ph": "Q"},
        {**SPAN, "ts": -1},
        {**SPAN, "dur": 0},
        {**SPAN, "tid": "one"},
        {key: value for key, value in SPAN.items() if key != "cat"},
        {**COUNTER, "args": {"% in use": "much"}},
        {**COUNTER, "args": {}},
        {**NAME, "args": {}},
        {**NAME, "name": "thread_nam"},
    ],
)
def test_the_schema_refuses_what_a_viewer_would_not_draw(event: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert problems({"traceEvents": [SPAN, COUNTER, NAME], "otherData": {}}) == []
    assert len(problems({"traceEvents": [event], "otherData": {}})) == 1


@pytest.mark.parametrize("engine", ["flow", "line", "simgrid"])
def test_timeline_of_a_run(trace: hn.Trace, engine: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    result = hn.replay(trace, MACHINE, threads=8, placement="interleave", engine=engine, timeline=file)
    events = events_of(file)
    check_schema(file)
    check_nesting(events)
    names = {event["name"] for event in events if event["ph"] == "X"}
    regions = {region["label"] for region in result.run["regions"] if region["seconds"] > 1e-9}
    assert names >= {"work", "fork", "wait: barrier"} | regions
    assert max(event["ts"] + event["dur"] for event in events if event["ph"] == "X") <= 1e6 * result.seconds + 1e-3
    # Seconds in use = bytes / bandwidth, up to a message's picoseconds on a link.
    bandwidth = json.loads(file.read_text())["otherData"]["bandwidth_bytes_per_s"]
    for link, carried in zip(("link 0->1", "link 1->0"), result.run["link_bytes"], strict=True):
        assert carried > 0
        assert integral(events, link) * bandwidth[link] == pytest.approx(carried, rel=2e-3)
    # and the run is the one without
    assert result.run == hn.replay(trace, MACHINE, threads=8, placement="interleave", engine=engine).run


def test_same_bytes_each_time_also_compressed(trace: hn.Trace, tmp_path: Path) -> None:
    for name in ("a.json", "b.json", "a.json.gz", "b.json.gz"):
        hn.replay(trace, MACHINE, threads=8, engine="line", timeline=tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.json.gz", "b.json", "b.json.gz"]


def test_a_timeline_is_as_long_as_asked_for_and_says_what_it_left_out(tmp_path: Path) -> None:
    trace = hn.capture("threads_pingpong", turns=1000)
    whole, thinned = tmp_path / "whole.json", tmp_path / "thinned.json"
    for file, most in ((whole, 200_000), (thinned, 1000)):
        hn.replay(trace, MACHINE, threads=3, engine="flow", timeline=file, timeline_events=most)
        check_nesting(events_of(file))
    told = [event for event in events_of(whole) if event["ph"] != "M"]
    assert len(told) > 1000  # or there is nothing to thin
    assert {"wait: signal", "wait: lock"} & {event["name"] for event in told}
    assert len([event for event in events_of(thinned) if event["ph"] != "M"]) <= 1000
    assert json.loads(whole.read_text())["otherData"]["thinned"] == ""
    assert "joined with their like or left out" in json.loads(thinned.read_text())["otherData"]["thinned"]
    assert any(event["name"] == "process_labels" for event in events_of(thinned))


def test_timeline_on_the_command_line(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    replay = ("replay", trace_file, "--machine", MACHINE, "--threads", "8")
    ended = homenode(*replay, "--timeline", "run.json.gz")
    assert ended.status == 0, ended.stderr
    check_schema(tmp_path / "run.json.gz")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--timeline", "run.txt"), "allowed: names that end in .json or .json.gz"),
        (("--timeline", "no/such/folder/run.json"), "no folder 'no/such/folder'"),
        (("--timeline", "run.json", "--placement", "optimal"), "which tells a bound and no run"),
        (("--timeline", "run.json", "--placement", "bind:0", "--placement", "interleave"), "with 2 combinations"),
        (("--timeline", "run.json", "--confidence=4"), "with --confidence; allowed: one combination"),
    ],
)
def test_what_a_timeline_cannot_be(
    homenode: Run, trace_file: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    ended = homenode("replay", trace_file, "--machine", MACHINE, "--threads", "8", *options)
    assert ended.status == 2
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []
