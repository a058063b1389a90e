"""Idle time by thread, and the page that `homenode report` makes of a replay."""

from __future__ import annotations

import copy
import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import html_page, report
from homenode.errors import InputError
from homenode.html_page import COLOURS, MOST_BYTES, Page
from homenode.html_report import bound_by, names_of, page_of
from homenode.machine_drawing import machine_svg
from homenode.machine_views import link_names, machine_views
from homenode.report_command import replay_commands
from homenode.report_figures import RankedRuns, marker, time_by_region
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
    assert "11 figures" in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "src=" not in page.partition("<body>")[2]
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert "<figure " in page.partition("<body>")[2]
    assert "first-touch" in page
    first = page
    assert homenode("report", "report.json", "-o", "page.html", "--json").status == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == first


def by_title(page: Page) -> dict[str, dict[str, Any]]:
    """The figures of a page with one section."""
    return dict(zip(page.titles, page.figures, strict=True))


def unit_of(figure: dict[str, Any]) -> float:
    """How many of the axis' unit a second is."""
    return {"s": 1.0, "ms": 1e3, "µs": 1e6}[figure["layout"]["xaxis"]["title"]["text"].rpartition(", ")[2]]


def ranked(document: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(document["runs"], key=lambda run: float(run["seconds"]))


def test_figures_are_what_plotly_takes(document: dict[str, Any]) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    page = page_of(document)
    for figure in page.figures:
        graph_objects.Figure(figure)  # raises ValueError at a property that Plotly does not know
    assert list(by_title(page)) == [
        "Where the time goes",
        "What the threads' time goes to",
        "What each region's work goes to",
        "Controllers and links over time",
        "Idle time by core",
        "Traffic on links",
        "Traffic at memory controllers",
        "Pages by home node",
        "Pages of each object by home node",
        "L1 misses by latency and source",
        "Energy",
        "How sure the order is",
    ]


def test_bars_sum_to_what_they_are_parts_of(document: dict[str, Any]) -> None:
    figures, runs = by_title(page_of(document)), ranked(document)
    # regions, and what is in none, sum to the time of each run; the best run comes first
    times = figures["Where the time goes"]
    sums = [sum(column) for column in zip(*(part["x"] for part in times["data"]), strict=True)]
    assert sums == pytest.approx([unit_of(times) * run["seconds"] for run in runs])
    # so do a thread's mean work by resource and its mean idle time
    resources = figures["What the threads' time goes to"]
    sums = [sum(column) for column in zip(*(part["x"] for part in resources["data"]), strict=True)]
    assert sums == pytest.approx([unit_of(resources) * run["seconds"] for run in runs])
    assert resources["data"][-1]["name"] == "(idle)"
    # of one choice: work of all regions = work by resource
    regions = figures["What each region's work goes to"]
    for choice in (0, 1):
        busy = sum(thread["busy_seconds"] for thread in runs[choice]["threads_detail"]) / 16
        own = len(regions["data"]) // 2
        shown = regions["data"][choice * own : (choice + 1) * own]
        assert sum(sum(part["x"]) for part in shown) == pytest.approx(unit_of(regions) * busy, rel=1e-4)
        assert {part["visible"] for part in shown} == {choice == 0}
    pages, energy = figures["Pages by home node"], figures["Energy"]
    assert [part["x"][0] for part in pages["data"]] == [count for count in runs[0]["pages_by_node"] if count]
    # the parts of the energy are its total, in mJ
    assert sum(part["x"][0] for part in energy["data"]) == pytest.approx(1e3 * runs[0]["energy_joules"]["total"])


def test_matrices_and_lines_are_the_reports_numbers(document: dict[str, Any]) -> None:
    figures, runs = by_title(page_of(document)), ranked(document)
    # idle share of thread t = idle seconds / seconds of the run, in percent to a tenth; threads are compact: core t has thread t
    idle = figures["Idle time by core"]["data"]
    shares = [100 * thread["idle_seconds"] / runs[0]["seconds"] for thread in runs[0]["threads_detail"]]
    assert idle[0]["z"][0] == pytest.approx(shares, abs=0.05)
    assert [one["visible"] for one in idle] == [True, *[False] * (len(idle) - 1)]
    # a line between the cores of two nodes, of which the Xeon's have eight
    assert [line["x0"] for line in figures["Idle time by core"]["layout"]["shapes"]] == [7.5]
    traffic = figures["Traffic at memory controllers"]["data"]
    assert traffic[0]["z"] == [[moved / 1e6 for moved in row] for row in runs[0]["traffic_bytes"]]
    assert [one["visible"] for one in traffic] == [True, False]
    links = figures["Traffic on links"]
    labels = links["layout"]["yaxis"]["ticktext"]
    directions = [f"{one}-&gt;{other}" for a in range(4) for b in range(a + 1, 4) for one, other in ((a, b), (b, a))]
    for run, bars in zip(runs, links["data"], strict=True):
        carried = dict(zip((f"link {name}" for name in directions), run["link_bytes"], strict=True))
        assert bars["x"] == [carried[label] / 1e6 for label in labels]
    # every line that the first level did not have is in one mark, by its source
    histogram = runs[0]["latency_histogram_ns"]
    shown = [bar for bar in figures["L1 misses by latency and source"]["data"] if bar["visible"]]
    assert [sum(bar["y"]) for bar in shown] == [sum(lines) for lines in histogram["by_source"].values()]
    assert sum(sum(bar["y"]) for bar in shown) == sum(histogram["counts"]) > 0
    assert {bar["name"].partition(":")[0] for bar in shown} == set(histogram["by_source"])
    # P(row beats column) of the pair, and 1 - P the other way round
    (pair,) = document["confidence"]["rankings"][0]["pairs"]
    (matrix,) = figures["How sure the order is"]["data"]
    assert matrix["z"] == [[None, 100 * pair["probability"]], [100 - 100 * pair["probability"], None]]


@pytest.mark.parametrize(
    ("core", "told"),
    [("blocks", "block by block"), ("classes", "not by the program's own blocks"), ("anchored", "core factors")],
)
def test_the_heading_names_the_core_model(document: dict[str, Any], core: str, told: str) -> None:
    changed = copy.deepcopy(document)
    for run in changed["runs"]:
        run["core"] = core
    text = html.unescape(page_of(changed).to_html())
    heading = re.search(r"<h2[^>]*>(xeon-x7560-4s[^<]*)</h2>", text)
    assert heading is not None
    assert heading[1] == f"xeon-x7560-4s · 16 threads · flow engine · core time by {core}"
    assert told in text
    for run in changed["runs"]:
        del run["core"]  # reports of before it was told
    assert "16 threads · flow engine</h2>" in page_of(changed).to_html()


def test_no_two_parts_of_a_bar_look_alike() -> None:
    looks = [(marker(place)["color"], marker(place)["pattern"]["shape"]) for place in range(len(COLOURS))]
    assert len(set(looks)) == len(COLOURS)
    run = {"seconds": 1.0, "regions": [{"label": f"r{n}", "exclusive_seconds": 1.0 + n} for n in range(20)]}
    run["time_detail"] = dict.fromkeys(("fork", "barrier", "runtime", "page_work", "waiting"), 0.0)
    page = Page("many regions")
    time_by_region(page, RankedRuns([run], ["a"], ["1"], "g"))
    parts = page.figures[0]["data"]
    assert parts[-1]["name"] == "13 others"
    assert len({str(part["marker"]) for part in parts}) == len(parts) == len(COLOURS)
    # 1 + 2 + ... + 20
    assert sum(part["x"][0] for part in parts) == 210


def test_the_headline_comes_first(document: dict[str, Any]) -> None:
    text = page_of(document).to_html()
    best, other = ranked(document)
    first = text.partition("<h1>")[2].partition("</h1>\n")[2].splitlines()[0]
    said = re.fullmatch(r'<p class="lead">Best: (\S+) on xeon-x7560-4s with 16 threads, ([\d.]+) (\S+)[,;] .*', first)
    assert said is not None
    assert said[1] == best["placement"]
    assert float(said[2]) == pytest.approx({"ms": 1e3, "µs": 1e6}[said[3]] * best["seconds"], rel=1e-3)
    assert other["placement"] in first
    assert first.endswith(f"Bound by {bound_by(best, document['trace']['unseen'])}.</p>")
    # how the page was made comes last
    assert text.index(document["trace"]["hash"]) > text.rindex("<figure")


@pytest.mark.parametrize(
    ("slower", "told"),
    [
        (1.0005, "; first-touch takes the same time"),
        (1.05, "; first-touch takes 5.0 % longer"),
        (2.5, ", 2.50 times as fast as first-touch"),
    ],
)
def test_small_leads_are_percents_and_large_ones_factors(document: dict[str, Any], slower: float, told: str) -> None:
    changed = json.loads(json.dumps(document))
    best = ranked(changed)[0]
    for run in changed["runs"]:
        run["placement"] = "interleave" if run is best else "first-touch"
        run["seconds"] = best["seconds"] * (1 if run is best else slower)
    assert told in page_of(changed).to_html().partition('class="lead">')[2].partition("</p>")[0]


def test_a_ranking_by_regions_is_told_by_their_time(trace: hn.Trace) -> None:
    choices = hn.grid("xeon-x7560-4s", 16, placement=["first-touch", "interleave"])
    whole: dict[str, Any] = json.loads(hn.rank(trace, choices, rank_by="sweep", samples=2).to_json())
    page = page_of(whole)
    best, other = sorted(whole["runs"], key=lambda run: float(run["ranked_seconds"]))
    lead = page.to_html().partition('class="lead">')[2].partition("</p>")[0]
    said = re.search(r"Best: (\S+) on .* threads, ([\d.]+) (\S+) in sweep[,;] ", lead)
    assert said is not None
    assert said[1] == best["placement"]
    assert float(said[2]) == pytest.approx({"ms": 1e3, "µs": 1e6}[said[3]] * best["ranked_seconds"], rel=1e-3)
    assert f"Bound by {best['ranked_bound_by']['resource']} (sweep)" in lead
    row = re.search(r'data-choice="1">.*?</tr>', page.to_html())
    assert row is not None
    assert f"{1e6 * other['ranked_seconds']:.4g} µs" in row[0] or f"{1e3 * other['ranked_seconds']:.4g} ms" in row[0]
    assert "Ranked by the time of sweep." in page.to_html()


def test_the_picture_shows_work_and_traffic(document: dict[str, Any]) -> None:
    machine, runs = hn.Machine.load("xeon-x7560-4s"), ranked(document)
    views = machine_views(machine, runs, ["1 a", "2 b"])
    for run, view in zip(runs, views, strict=True):
        busy = [thread["busy_seconds"] / run["seconds"] for thread in run["threads_detail"]]
        assert [part for _, part, _ in view["cores"]] == pytest.approx(busy, abs=1e-3)
        assert [threads for _, _, threads in view["cores"]] == [[thread] for thread in range(16)]
        at_memory = [sum(column) / 1e6 for column in zip(*run["traffic_bytes"], strict=True)]
        assert [moved for _, moved in view["memories"]] == pytest.approx(at_memory, rel=1e-3)
        both = [there + back for _, _, there, back in view["links"]]
        assert sum(both) == pytest.approx(sum(run["link_bytes"]) / 1e6, rel=1e-3)
    # the full width is the most that any choice has
    assert max(part for view in views for part, _ in view["memories"]) == 1
    assert max(part for view in views for _, part, *_ in view["links"]) == 1


def test_directions_of_links_are_named_as_bottlenecks_are() -> None:
    assert link_names(hn.Machine.load("xeon-x5550-2s"), 2) == ["link 0->1", "link 1->0"]
    assert link_names(None, 2) == ["link direction 0", "link direction 1"]
    # both directions of the link between the sockets, then reads and writes of each node's own
    cxl = hn.Machine.load("xeon-8480-2s-cxl")
    run = hn.replay(hn.capture("stream", n=2000, check=0), cxl, threads=2, placement="bind:2").run
    names = link_names(cxl, len(run["link_bytes"]))
    assert names == ["link 0->1", "link 1->0", "link node 2->0", "link 0->node 2", "link node 3->1", "link 1->node 3"]
    carried = {name for name, moved in zip(names, run["link_bytes"], strict=True) if moved}
    assert carried == {"link node 2->0", "link 0->node 2"}


@pytest.fixture(scope="module")
def large(trace: hn.Trace) -> dict[str, Any]:
    """Four machines, four teams, twelve choices: 192 runs."""
    machines = ["xeon-x7560-4s", "opteron-8431-4s", "xeon-8480-2s-snc4", "epyc-7763-2s-nps4"]
    choices = hn.grid(
        machines,
        [4, 8, 16, 24],
        placement=["first-touch", "interleave", "bind:0"],
        mapping=["compact", "scatter"],
        distribution=["static", "dynamic:4"],
    )
    runs = [result.run for result in hn.replay_grid(trace, choices)]
    report.fill_regrets(runs)
    whole: dict[str, Any] = json.loads(report.to_text(report.document(trace, runs)))
    return whole


def test_a_page_of_a_large_grid_keeps_to_its_size(large: dict[str, Any]) -> None:
    page = page_of(large, "homenode report large.json -o large.html")
    assert len(page.to_html().encode()) <= MOST_BYTES == 2_000_000
    # all of it: a machine is there once, and each section has its figures (no matrix of the order: nothing was sampled)
    assert len(page.pictures) == 4
    assert len(page.views) == 16
    assert [len(view["choices"]) for view in page.views] == [12] * 16
    text = page.to_html()
    assert "choices are shown" not in text
    # but for the largest figure, and the page says so
    assert "Controllers and links over time" not in page.titles
    assert text.count("Controllers and links over time are not drawn") + page.packs_sections >= 1
    assert "Machines and teams" in text
    # the overview has the least time of each machine and team, least first
    least: dict[tuple[str, int], float] = {}
    for run in large["runs"]:
        key = run["machine"], run["threads"]
        least[key] = min(least.get(key, run["seconds"]), run["seconds"])
    overview = page.figures[0]
    factor = {"ms": 1e3, "µs": 1e6}[overview["layout"]["xaxis"]["title"]["text"].rpartition(", ")[2]]
    assert overview["data"][0]["x"] == pytest.approx(sorted(factor * seconds for seconds in least.values()))
    assert overview["layout"]["yaxis"]["ticktext"][0] == "{} · {} threads".format(
        *min(least, key=lambda key: least[key])
    )


def test_a_page_that_would_be_too_large_shows_the_fastest(
    large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    most = page_of(large).size - 20_000
    monkeypatch.setattr(html_page, "MOST_BYTES", most)
    page = page_of(large)
    assert page.size <= most
    text = page.to_html()
    page.packs_sections = False
    shown = re.findall(r"The fastest (\d+) of 12 choices are shown", page.to_html())
    assert len(shown) == 16
    assert set(shown) == {"6"}
    assert [len(view["choices"]) for view in page.views] == [6] * 16
    assert "The fastest 6" not in text  # packed with its section
    monkeypatch.setattr(html_page, "MOST_BYTES", 1_000_000)
    with pytest.raises(InputError, match=r"the page would have [\d,]+ bytes; allowed: "):
        page_of({**large, "runs": large["runs"][:1]})


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


def test_the_page_has_the_machine_as_it_ran(document: dict[str, Any]) -> None:
    assert page_of(document).pictures == [text_of_machine("xeon-x7560-4s")]
    changed = json.loads(json.dumps(document))
    for run in changed["runs"]:
        run["machine_hash"] = "0" * 16  # a description that is no longer the same
    page = page_of(changed)
    assert (page.pictures, page.views) == ([], [])
    assert "No picture" in page.to_html()


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
    found = re.search(r"<pre>(homenode replay [^<]*)</pre>", re.sub(r'<span class="whole">([^<]*)</span>', r"\1", page))
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
    page = Page("<u>")
    page.text("</p><script>")
    page.table(["a"], [["</td>"]])
    page.plot([{"type": "bar", "name": "</script>"}], {})
    made = page.to_html()
    assert "<u>" not in made
    assert "</p><script>" not in made
    assert made.count("</script>") == made.count("<script") == 3  # figures, library, and what the page does


def test_a_trace_is_told_from_a_report(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    done = homenode("report", trace_file, "-o", "page.html")
    assert done.status == 2
    assert "is a trace; allowed: a report of schema" in done.stderr
    assert f"homenode replay {trace_file} --machine NAME -o" in done.stderr
    assert not (tmp_path / "page.html").exists()


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


def test_pages_of_objects_show_migrations(document: dict[str, Any]) -> None:
    def rows_of(pages: dict[str, Any]) -> list[str]:
        return list(by_title(page_of(pages))["Pages of each object by home node"]["layout"]["yaxis"]["ticktext"])

    still = rows_of(document)
    assert not any(row.endswith("when placed") for row in still)
    moved = copy.deepcopy(document)
    moved["runs"][0]["migrated_pages"] = 1
    assert rows_of(moved) == [text for row in still for text in (row, f"{row}, when placed")]
    figure = by_title(page_of(document))["Pages of each object by home node"]
    best = ranked(document)[0]
    shown = [trace for trace in figure["data"] if trace["visible"]]
    assert [sum(trace["x"]) for trace in shown] == [
        sum(entry["pages_by_node"][node] for entry in best["pages_by_object"]) for node in range(len(shown))
    ]
