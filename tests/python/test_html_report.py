"""Idle time by thread, and the page that `homenode report` makes of a replay."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.html_page import Page
from homenode.html_report import names_of, page_of
from homenode.machine_drawing import machine_svg
from homenode.report_command import replay_commands
from support import Ended

Run = Callable[..., Ended]
OPTIONS = ("--machine", "xeon-x7560-4s", "--threads", "16", "--placement", "first-touch", "--placement", "interleave")


@pytest.fixture(scope="module")
def document(trace: hn.Trace) -> dict[str, Any]:
    choices = hn.grid([hn.Machine.load("xeon-x7560-4s")], [16], placement=["first-touch", "interleave"])
    ranking = hn.rank(trace, choices, samples=2)
    whole: dict[str, Any] = json.loads(ranking.to_json())
    return whole


def test_idle_time_by_thread(homenode: Run, trace_file: Path) -> None:
    done = homenode("replay", trace_file, *OPTIONS, "--idle")
    assert done.status == 0, done.stderr
    header = re.compile(r"^ *thread +core +node +busy +idle +share +in sweep$", re.MULTILINE)
    assert len(header.findall(done.stdout)) == 2  # a table for each run
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) +\S+ \S+ +\S+ \S+ +([\d.]+) %.*$", done.stdout, re.MULTILINE)
    assert [int(row[0]) for row in rows] == 2 * list(range(16))
    # one thread initialises: it waits least
    shares = [float(row[3]) for row in rows[:16]]
    assert min(shares) == shares[0]


def test_busy_and_idle_are_the_run(trace: hn.Trace) -> None:
    result = hn.replay(trace, "xeon-x7560-4s", threads=16)
    threads = result.threads
    # busy + idle = time of the run, for each thread; a thread's busy time is that in all regions together
    assert (threads["busy_seconds"] + threads["idle_seconds"]).tolist() == pytest.approx(
        [result.seconds] * 16, rel=1e-9
    )
    by_region = [region["thread_busy_seconds"] for region in result.run["regions"]]
    assert [sum(column) for column in zip(*by_region, strict=True)] == pytest.approx(
        threads["busy_seconds"].tolist(), rel=1e-9
    )
    # idle share in a region = 1 - busy seconds in it / its seconds
    sweep = next(region for region in result.run["regions"] if region["label"] == "sweep")
    assert result.idle["sweep"].tolist() == [1 - busy / sweep["seconds"] for busy in sweep["thread_busy_seconds"]]
    assert result.idle["run"].tolist() == pytest.approx((threads["idle_seconds"] / result.seconds).tolist())
    # one thread initialises: no team, no column
    assert "init" not in result.idle.columns
    assert list(result.idle.columns[:2]) == ["core", "run"]


def test_a_pass_in_front_counts_as_the_threads_work(trace: hn.Trace) -> None:
    result = hn.replay(trace, "xeon-x7560-4s", threads=16, placement="stencil-aware")
    by_region = [region["thread_busy_seconds"] for region in result.run["regions"]]
    busy = result.threads["busy_seconds"].tolist()
    assert [sum(column) for column in zip(*by_region, strict=True)] == pytest.approx(busy, rel=1e-9)


def test_page_needs_no_network_and_repeats(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    assert homenode("replay", trace_file, *OPTIONS, "-o", "report.json").status == 0
    done = homenode("report", "report.json", "-o", "page.html")
    assert done.status == 0, done.stderr
    assert "6 figures" in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "src=" not in page.partition("<body>")[2]
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert "<figure " in page.partition("<body>")[2]
    assert "first-touch" in page
    first = page
    assert homenode("report", "report.json", "-o", "page.html", "--json").status == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == first


def test_figures_are_what_plotly_takes(document: dict[str, Any]) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    figures = page_of(document).figures
    assert len(figures) == 6
    for figure in figures:
        graph_objects.Figure(figure)  # raises ValueError at a property that Plotly does not know
    times, idle, traffic, pages, latencies, energy = figures
    best = min(document["runs"], key=lambda run: run["seconds"])
    # idle share of thread t = idle seconds / seconds of the run; the best run comes first
    shares = [100 * thread["idle_seconds"] / best["seconds"] for thread in best["threads_detail"]]
    assert idle["data"][0]["y"] == pytest.approx(shares)
    # whole run and sweep, two runs each; only the first two are shown
    assert [one["visible"] for one in idle["data"]] == [True, True, False, False]
    assert traffic["data"][0]["z"] == [[moved / 1e6 for moved in row] for row in best["traffic_bytes"]]
    assert [trace["visible"] for trace in traffic["data"]] == [True, False]
    # regions, and what is in none, sum to the time of each run; the best run comes first
    seconds = sorted(run["seconds"] for run in document["runs"])
    sums = [sum(column) for column in zip(*(part["x"] for part in times["data"]), strict=True)]
    unit = {"s": 1.0, "ms": 1e3, "µs": 1e6}[times["layout"]["xaxis"]["title"]["text"].rpartition(", ")[2]]
    assert sums == pytest.approx([unit * value for value in seconds])
    assert [part["x"][0] for part in pages["data"]] == [count for count in best["pages_by_node"] if count]
    # the parts of the energy are its total, in mJ
    assert sum(part["x"][0] for part in energy["data"]) == pytest.approx(1e3 * best["energy_joules"]["total"])
    # every line that the first level did not have is in one bar, by its source
    histogram = best["latency_histogram_ns"]
    shown = [bar for bar in latencies["data"] if bar["visible"]]
    assert [sum(bar["y"]) for bar in shown] == [sum(lines) for lines in histogram["by_source"].values()]
    assert sum(sum(bar["y"]) for bar in shown) == sum(histogram["counts"]) > 0
    assert {bar["name"].partition(":")[0] for bar in shown} == set(histogram["by_source"])


def test_latencies_by_source(trace: hn.Trace) -> None:
    result = hn.replay(trace, "xeon-x7560-4s", threads=16, placement="interleave", engine="line")
    latencies = result.latencies
    assert latencies.sum().to_dict() == {
        source: sum(lines) for source, lines in result.run["latency_histogram_ns"]["by_source"].items()
    }
    # nothing from a neighbour's memory comes sooner than an idle read there, but for an open row
    fastest = latencies.index[latencies["1 hop"] > 0].min()
    assert fastest >= hn.Machine.load("xeon-x7560-4s").latency_ns.max() - 30


def test_intervals_are_on_the_page(document: dict[str, Any]) -> None:
    text = page_of(document).to_html()
    assert "90 % interval" in text
    # the unit in which the shortest run has one to three digits before the point
    least = min(run["seconds"] for run in document["runs"])
    factor, unit = (1e3, "ms") if least >= 1e-3 else (1e6, "µs")
    for run in document["runs"]:
        low, high = run["seconds_interval"]
        assert f"{factor * low:.4g} … {factor * high:.4g} {unit}" in text


def test_every_column_and_figure_has_its_sentence(document: dict[str, Any]) -> None:
    text = page_of(document).to_html()
    columns = set(re.findall(r'<button type="button">([^<]+)</button>', text))
    assert columns == set(re.findall(r"<dt>([^<]+)</dt>", text))
    # a figure is its title, a sentence, perhaps a list to choose from, and the drawing
    figure = r'<h3>[^<]+</h3>\n<p class="meaning">[^<]+\.</p>\n(<label.*</label>\n)?<figure'
    assert len(re.findall(figure, text)) == text.count("<figure") == 6
    assert (
        "no single number explains it" in text or "would settle the order best" in text or "all samples agree" in text
    )


def test_the_page_has_the_machine_as_it_ran(document: dict[str, Any]) -> None:
    assert text_of_machine("xeon-x7560-4s") in page_of(document).to_html()
    changed = json.loads(json.dumps(document))
    for run in changed["runs"]:
        run["machine_hash"] = "0" * 16  # a description that is no longer the same
    text = page_of(changed).to_html()
    assert '<svg xmlns="http://www.w3.org/2000/svg"' not in text
    assert "No picture" in text


def text_of_machine(name: str) -> str:
    return machine_svg(hn.Machine.load(name))


@pytest.mark.parametrize(
    "words",
    [
        "--placement first-touch --placement interleave --distribution static --distribution dynamic:4 --confidence=2",
        "--threads 4 --engine line --change link_latency=x2 --seed 3 --stores nt --no-confidence",
        "--threads 12 --oversubscribe --pages 2MiB --system linux-6.1 --heap jarena --caches lines --no-confidence",
    ],
)
def test_the_printed_command_makes_the_runs_again(homenode: Run, trace_file: Path, tmp_path: Path, words: str) -> None:
    threads = [] if "--threads" in words else ["--threads", "8"]
    asked = ["replay", trace_file, "--machine", "xeon-x5550-2s", *threads, *words.split()]
    assert homenode(*asked, "-o", "first.json").status == 0
    assert homenode("report", "first.json", "-o", "page.html").status == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<pre>homenode report first.json -o page.html</pre>" in page
    found = re.search(r"<pre>(homenode replay [^<]*)</pre>", page)
    assert found is not None
    repeated = shlex.split(html.unescape(found[1]))[2:]
    assert repeated[0] == "TRACE.hnt"
    assert homenode("replay", trace_file, *repeated[1:], "-o", "second.json").status == 0
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("first.json", "second.json"))
    assert first["runs"] == second["runs"]


def test_runs_that_are_no_grid_have_a_command_each(trace: hn.Trace) -> None:
    choices = hn.grid("xeon-x5550-2s", 8, placement=["first-touch", "interleave"], mapping=["compact", "scatter"])
    runs = [result.run for result in hn.replay_grid(trace, [choices[0], choices[3]])]
    lines = replay_commands(runs, None)
    assert [("interleave" in line, "scatter" in line) for line in lines] == [(False, False), (True, True)]
    assert len(replay_commands([result.run for result in hn.replay_grid(trace, choices)], None)) == 1


def test_runs_are_told_apart() -> None:
    run = {"placement": "p", "mapping": "m", "distribution": "d", "heap": "h", "pages": "4KiB"}
    assert names_of([run]) == ["p · d"]
    assert names_of([run, {**run, "heap": "g"}]) == ["h", "g"]
    assert names_of([run, run]) == ["p · d", "p · d (2)"]


def test_text_of_the_user_ends_no_element() -> None:
    page = Page("<b>")
    page.text("</p><script>")
    page.table(["a"], [["</td>"]])
    page.plot([{"type": "bar", "name": "</script>"}], {})
    made = page.to_html()
    assert "<b>" not in made
    assert "</p><script>" not in made
    assert made.count("</script>") == made.count("<script") == 3  # figures, library, and what the page does


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is not JSON"),
        ("[]", "has schema 'None'"),
        ('{"schema": "homenode.inspect/1"}', "has schema 'homenode.inspect/1'"),
        ('{"schema": "homenode.report/1", "runs": []}', "has no runs"),
        ('{"schema": "homenode.report/1", "runs": [{}]}', "lacks or damages"),
    ],
)
def test_what_is_no_report_is_refused(homenode: Run, tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    done = homenode("report", "bad.json", "-o", "page.html")
    assert done.status == 2
    assert expected in done.stderr
    assert "allowed: a report" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_a_missing_report_is_refused(homenode: Run, tmp_path: Path) -> None:
    done = homenode("report", "missing.json", "-o", "page.html")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "no report 'missing.json'" in done.stderr
    assert homenode("report", "missing.json").status == 2  # --output
