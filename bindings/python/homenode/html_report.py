"""A report document as a page: what is best, the ranking, how sure it is, and the figures that tell why.

A page has at most 2 MB. Of a report that is too large for that, it shows the fastest choices, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode import report, report_figures, report_matrices, report_objects, report_over_time, unseen
from homenode.confidence import LEVEL
from homenode.errors import InputError
from homenode.html_page import COLOURS, MOST_BYTES, Page
from homenode.machine_drawing import machine_svg
from homenode.machine_views import link_names, machine_views
from homenode.ranking_words import bound_and_found, guessed, measure_first, placed_by_a_pass, ranked_by, settled
from homenode.report_command import TRACE, machine_of, replay_commands
from homenode.report_figures import RankedRuns, rows_axis, rows_height, scale_of, share

if TYPE_CHECKING:
    from homenode.machine import Machine

_AXES = ("placement", "mapping", "distribution", "heap", "pages")
_MOST_IN_MATRIX = 12  # choices
_MOST_IN_OVERVIEW = 64  # rankings


@dataclass(frozen=True)
class _Amount:
    """How much of a report a page has; None: all."""

    choices: int | None = None
    """Of a ranking, the fastest."""
    rankings: int | None = None
    over_time: bool = False
    """Whether with the figure of controllers and links over time, the largest one."""


# What is tried until a page is small enough.
_AMOUNTS = (
    _Amount(over_time=True),
    *(_Amount(choices) for choices in (None, 24, 12, 6, 3)),
    *(_Amount(3, rankings) for rankings in (32, 16, 8)),
    _Amount(1, 4),
)
_MEANINGS = {
    "rank": "Place by time among the runs that can be compared; a bound is what no placement beats, and nobody can run it.",
    "choice": "The choices in which these runs differ: placement of pages, mapping of threads, distribution of work, heap, pages.",
    "time": "Simulated time of the whole program.",
    "90 % interval": "Interval of the time over machines that were sampled within what is known of their numbers.",
    "ranked time": "The part of it in the regions by which the choices are ranked, forks and barriers included.",
    "regret": "Time lost to the best choice of this table.",
    "remote pages": "Share of the pages whose home is another node than that of the thread that first wrote them.",
    "remote traffic": "Share of the bytes at memory controllers that a core of another node asked for.",
    "idle": "Share of the threads' time in which they do not work.",
    "bound by": "The bottleneck of the longest region, and that region; a ? marks one of which too much was not seen.",
}


_CORE_MODELS = {
    "blocks": "Core time is that of the program's own machine code, block by block, on LLVM's model of the machine's core.",
    "anchored": "Core time is that of the program's own machine code on LLVM's model of the machine's core, corrected by core factors: "
    "what the program took on one thread.",
    "classes": "Core time is by classes of instructions, not by the program's own blocks of machine code: there is no model of the "
    "machine's core, the trace has no code, or classes were asked for.",
}


def names_of(runs: list[dict[str, Any]]) -> list[str]:
    """A name for each run: the choices in which they differ, numbered where two are asked for alike."""
    varying = [axis for axis in _AXES if len({run[axis] for run in runs}) > 1] or ["placement", "distribution"]
    names: list[str] = []
    for run in runs:
        name = " · ".join(str(run[axis]) for axis in varying)
        names.append(name if name not in names else f"{name} ({names.count(name) + 1})")
    return names


def _percent(part: float, whole: float) -> str:
    return f"{100 * share(part, whole):.1f} %"


def _remote_share(run: dict[str, Any]) -> float:
    matrix = run["traffic_bytes"]
    every = sum(map(sum, matrix))
    return share(every - sum(row[node] for node, row in enumerate(matrix)), every)


def bound_by(run: dict[str, Any], not_seen: dict[str, Any] | None = None) -> str:
    """The bottleneck of the longest region, and that region; with a ? where too much of that region was `not_seen`."""
    bound = run.get("ranked_bound_by", run.get("bound_by", {"resource": None}))
    if bound["resource"] is None:
        return "–"
    doubt = "?" if bound["region"] in unseen.open_of(not_seen or {}, run) else ""
    return f"{bound['resource']}{doubt} ({bound['region'] or _percent(bound['seconds'], run['seconds'])})"


def _ranking(page: Page, of: RankedRuns, not_seen: dict[str, Any]) -> None:
    intervals = any(run.get("seconds_interval") for run in of.runs)
    by_regions = ["time"] if any("ranked_seconds" in run for run in of.runs) else []
    factor, unit = of.scale
    rows = []
    for place, name, run in zip(of.places, of.names, of.runs, strict=True):
        row = [place, name, f"{factor * report.ranked_seconds(run):.4g} {unit}"]
        if intervals:
            low, high = run.get("ranked_seconds_interval", run["seconds_interval"])
            row.append(f"{factor * low:.4g} … {factor * high:.4g} {unit}")
        row += [f"{factor * run['seconds']:.4g} {unit}" for _ in by_regions]
        waits = sum(thread["idle_seconds"] for thread in run["threads_detail"])
        row += [
            f"{100 * run['regret']:+.1f} %",
            _percent(run["remote_pages"], sum(run["pages_by_node"])),
            f"{100 * _remote_share(run):.1f} %",
            _percent(waits, run["seconds"] * len(run["threads_detail"])),
            bound_by(run, not_seen),
        ]
        rows.append(row)
    sampled = [f"{100 * LEVEL:.0f} % interval"] if intervals else []
    numbers = [
        "rank",
        "ranked time" if by_regions else "time",
        *sampled,
        *by_regions,
        "regret",
        "remote pages",
        "remote traffic",
        "idle",
    ]
    page.table(["rank", "choice", *numbers[1:], "bound by"], rows, right=numbers, meanings=_MEANINGS, group=of.group)


def _certainty(page: Page, document: dict[str, Any], machine: str, order: Sequence[int]) -> None:
    """How much of the machine is guessed, and whether the first place is settled; nothing in reports of before this was told."""
    said = [
        guessed(one["name"], one["assumed"], one["numbers"])
        for one in document.get("machines", [])
        if one["hash"] == machine
    ]
    places = [settled(found, order) for found in document.get("first_places", []) if found["first"] in order]
    labels = document["runs"][order[0]].get("rank_by") if order else None
    said += places or ([ranked_by(labels)] if labels else [])
    if (passes := placed_by_a_pass([document["runs"][run] for run in order])) is not None:
        said.append(passes)
    if said:
        page.text(" ".join(said))


def _confidence(page: Page, document: dict[str, Any], order: Sequence[int], group: str) -> None:
    """How sure each order of two choices is, where machines were sampled; `order`: the runs with a rank that are shown."""
    for ranking in document.get("confidence", {}).get("rankings", []):
        if not set(ranking["runs"]) & set(order) or not ranking["pairs"]:
            continue
        rank = {run: place for place, run in enumerate(order[:_MOST_IN_MATRIX], start=1)}
        report_matrices.order_matrix(page, ranking["pairs"], rank, group)
        page.text(measure_first(ranking))


def _machine(page: Page, of: RankedRuns, machine: Machine | None) -> None:
    """The picture of the machine with what a choice does there, if its description is still the one that ran."""
    name = of.runs[0]["machine"]
    page.subheading(f"On the machine: {name}")
    if machine is None:
        page.meaning(
            "No picture: this installation has no machine of that name with the same numbers; "
            "homenode machines FILE.toml --svg draws a description of your own."
        )
        return
    page.meaning(
        "Sockets with their nodes, the memory of each, shared caches and cores by number; links between sockets below. The filled "
        "part of a core is the share of the run in which its thread works, the rest it waits; a core without a filled part has no "
        "thread. The filled part of a memory, and the width of a link, is its traffic beside the most that any choice has.",
        ("NUMA node", "link, link direction, hop"),
    )
    page.choose(of.menu)
    page.picture(
        machine_svg(machine), f"Picture of {name}, {of.group}", of.group, machine_views(machine, of.runs, of.labels)
    )


def _commands(page: Page, document: dict[str, Any], runs: Sequence[dict[str, Any]]) -> None:
    samples = document["confidence"]["samples"] if "confidence" in document else None
    page.subheading("Make these runs again")
    page.meaning(
        f"{TRACE} stands for the file of the trace {document['trace']['hash']}, whose name the report does not have."
    )
    page.code("\n".join(replay_commands(runs, samples)))


def page_of(document: dict[str, Any], made_by: str | None = None) -> Page:
    """The page of a report document, best runs first; one section for each set of comparable runs. `made_by`: the command.

    Raises `InputError` where not even a few choices fit.
    """
    for amount in _AMOUNTS:
        page = _page(document, made_by, amount)
        if page.fits():
            return page
    raise InputError(
        f"the page would have {page.size:,} bytes; allowed: {MOST_BYTES:,}, of a report with fewer or smaller runs"
    )


def _page(document: dict[str, Any], made_by: str | None, amount: _Amount) -> Page:
    trace = document["trace"]
    page = Page(f"homenode: {' '.join([trace['program'], trace['arguments']]).strip() or 'replay'}")
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, run in enumerate(document["runs"]):
        groups.setdefault(report.comparable(run), []).append(place)
    not_seen = trace.get("unseen", {})
    every = [_Ranking.of(document["runs"], asked) for asked in groups.values()]
    best = sorted(every, key=lambda ranking: report.ranked_seconds(ranking.best))
    shown = [ranking for ranking in every if ranking in best[: amount.rankings]]
    page.lead(_headline(best[0], not_seen, several=len(every) > 1))
    page.meaning(
        "Predicted by homenode: the recorded memory accesses of this program, replayed on a model of the machine. "
        "A click on a row of a table or a figure chooses what all figures of its section show."
    )
    if (told := unseen.sentences(not_seen, document["runs"])) is not None:
        page.text(told)
    if len(every) > 1:
        _overview(page, best, shown, not_seen)
    for ranking in shown:
        _section(page, document, ranking, not_seen, amount)
    page.heading("How this page was made")
    page.text(
        f"Trace {trace['hash']}, {trace['accesses']:,} accesses; report by homenode {document['homenode_version']}."
    )
    if made_by is not None:
        page.meaning("The command that made this page:")
        page.code(made_by)
    return page


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Comparable runs by rank, bounds last."""

    order: Sequence[int]
    """Places in the document's runs; the first `ranked` have a rank, the others are bounds."""
    ranked: int
    asked: Sequence[dict[str, Any]]
    """The runs as they were asked for."""
    runs: Sequence[dict[str, Any]]
    """The runs in that order."""
    names: Sequence[str]

    @staticmethod
    def of(every: Sequence[dict[str, Any]], asked: Sequence[int]) -> _Ranking:
        """`asked`: places in the document's runs, `every`."""
        all_runs = [every[place] for place in asked]
        ranked, bounds = report.by_rank(all_runs)
        order = [asked[place] for place in (*ranked, *bounds)]
        runs = [every[place] for place in order]
        return _Ranking(order, len(ranked), all_runs, runs, names_of(runs))

    @property
    def best(self) -> dict[str, Any]:
        """The fastest run with a rank; where there are bounds alone, the lowest."""
        return self.runs[0]


def _headline(ranking: _Ranking, not_seen: dict[str, Any], *, several: bool) -> str:
    """The best choice, how much faster it is than what it is measured by, and what binds it."""
    run, ranked = ranking.best, ranking.runs[: ranking.ranked]
    factor, unit = scale_of([{"seconds": report.ranked_seconds(run)}])
    threads = f"{run['threads']} thread{'' if run['threads'] == 1 else 's'}"
    changed = "".join(f", {key}={value}" for key, value in run["machine_changes"].items())
    what = "Fastest of all" if several else "Best"
    said = (
        f"{what}: {ranking.names[0]} on {run['machine']}{changed} with {threads}, {factor * report.ranked_seconds(run):.4g} {unit}"
        + (f" in {', '.join(run['rank_by'])}" if "rank_by" in run else "")
    )
    if other := _measure(ranked):
        said += _lead_over(ranking.names[ranked.index(other)], report.ranked_seconds(other), report.ranked_seconds(run))
    bound = bound_by(run, not_seen)
    return f"{said}." if bound == "–" else f"{said}. Bound by {bound}."


def _lead_over(name: str, slower: float, faster: float) -> str:
    """Small leads in percent, larger ones as a factor."""
    ratio = slower / faster if faster > 0 else 1.0
    if ratio < 1.001:
        return f"; {name} takes the same time"
    return (
        f"; {name} takes {100 * (ratio - 1):.1f} % longer" if ratio < 1.1 else f", {ratio:.2f} times as fast as {name}"
    )


def _measure(ranked: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What the best of several is measured by: the first choice with first touch, which is what systems do unasked, else the next."""
    others = [run for run in ranked[1:] if run["placement"] == "first-touch"] if ranked else []
    if len(ranked) < 2:
        return None
    return others[0] if others and ranked[0]["placement"] != "first-touch" else ranked[1]


def _overview(page: Page, best: Sequence[_Ranking], shown: Sequence[_Ranking], not_seen: dict[str, Any]) -> None:
    """The best choice of each machine and team, fastest first."""
    listed = best[:_MOST_IN_OVERVIEW]
    factor, unit = scale_of([{"seconds": report.ranked_seconds(ranking.best)} for ranking in listed])
    titles = [_machine_and_team(ranking.best) for ranking in listed]
    times = [report.ranked_seconds(ranking.best) for ranking in listed]
    page.heading("Machines and teams")
    meanings = {
        "machine and team": "A machine with its changes, and the number of threads; the link leads to its section.",
        "best choice": "The fastest choice of that section.",
        "time": "Simulated time of the whole program with that choice, or of the regions by which it is ranked.",
        "over the fastest": "That time over the least of all rows.",
        "choices": "How many were compared there.",
        "bound by": _MEANINGS["bound by"],
    }
    rows = [
        (
            title,
            ranking.names[0],
            f"{factor * seconds:.4g} {unit}",
            f"{seconds / times[0]:.2f}" if times[0] else "–",
            ranking.ranked,
            bound_by(ranking.best, not_seen),
        )
        for title, ranking, seconds in zip(titles, listed, times, strict=True)
    ]
    first = page.sections
    links = [f"#section-{first + shown.index(one)}" if one in shown else "#section-0" for one in listed]
    page.table(tuple(meanings), rows, ("time", "over the fastest", "choices"), meanings, links=links)
    if len(listed) < len(best) or len(shown) < len(best):
        page.text(
            f"Of {len(best)} rankings the fastest {len(listed)} are listed and the fastest {len(shown)} have a section: "
            f"a page has at most {MOST_BYTES // 1_000_000} MB. The report has all."
        )
    data = {
        "type": "bar",
        "orientation": "h",
        "x": [factor * seconds for seconds in times],
        "y": list(range(len(listed))),
        "text": [report_figures.plain_text(ranking.names[0]) for ranking in listed],
        "textposition": "inside",  # beside a short bar it would leave a narrow page
        "marker": {"color": COLOURS[0]},
        "hovertemplate": f"%{{text}}: %{{x:.4g}} {unit}<extra></extra>",
    }
    layout = {
        "title": {"text": "Best time by machine and team"},
        "xaxis": {"title": {"text": f"time, {unit}"}, "rangemode": "tozero"},
        "yaxis": rows_axis(titles),
        "showlegend": False,
    }
    note = "The time of the best choice of each section, which stands in its bar."
    page.plot([data], layout, 110 + rows_height(titles), meaning=note, words=("rank",))


def title_of(run: dict[str, Any]) -> str:
    """What comparable runs have in common, as a heading; reports of before it was told name no core model."""
    core = f" · core time by {run['core']}" if "core" in run else ""
    return f"{_machine_and_team(run)} · {run['engine']} engine{core}"


def _machine_and_team(run: dict[str, Any]) -> str:
    changed = "".join(f", {key}={value}" for key, value in run["machine_changes"].items())
    threads = f"{run['threads']} thread{'' if run['threads'] == 1 else 's'}"
    return f"{run['machine']}{changed} · {threads}"


def _section(
    page: Page, document: dict[str, Any], ranking: _Ranking, not_seen: dict[str, Any], amount: _Amount
) -> None:
    """One ranking and why it is so."""
    places = [*map(str, range(1, ranking.ranked + 1)), *["bound"] * (len(ranking.order) - ranking.ranked)]
    if places.count("bound") > 1:
        places[ranking.ranked :] = [f"bound {number}" for number in range(1, places.count("bound") + 1)]
    kept = [*range(ranking.ranked)[: amount.choices], *range(ranking.ranked, len(places))[: amount.choices]]
    runs = [ranking.runs[place] for place in kept]
    of = RankedRuns(
        runs,
        [ranking.names[place] for place in kept],
        [places[place] for place in kept],
        f"section {page.sections}",
    )
    factor, unit = of.scale
    first = runs[0]
    order = list(ranking.order[: ranking.ranked])
    page.heading(title_of(first))
    if (told := _CORE_MODELS.get(first.get("core"))) is not None:
        page.meaning(told, ("core time",))
    if page.sections > 1:
        page.lead(_headline(ranking, not_seen, several=False))
    _ranking(page, of, not_seen)
    if len(kept) < len(places):
        page.text(
            f"The fastest {len(kept)} of {len(places)} choices are shown: a page has at most {MOST_BYTES // 1_000_000} MB. "
            "The report has all."
        )
    for name, run, place in zip(of.names, runs, kept, strict=True):
        if place >= ranking.ranked:
            page.text(bound_and_found(run, name, lambda seconds: f"{factor * seconds:.4g} {unit}"))
    _certainty(page, document, first["machine_hash"], order)
    machine = machine_of(first)
    report_figures.time_by_region(page, of)
    report_figures.time_by_resource(page, of)
    report_figures.resources_by_region(page, of)
    if amount.over_time:
        report_over_time.controllers_and_links_over_time(page, of)
    elif any(run.get("use_over_time") for run in runs):
        page.text(
            "Controllers and links over time are not drawn: the page would be too large. A report of fewer runs has them."
        )
    report_matrices.idle_by_core(page, of)
    _machine(page, of, machine)
    report_matrices.traffic_on_links(page, of, link_names(machine, len(first["link_bytes"])))
    report_matrices.traffic(page, of)
    report_figures.pages_by_home(page, of)
    report_objects.pages_by_object(page, of)
    report_matrices.latencies(page, of)
    report_figures.energy(page, of)
    _confidence(page, document, [ranking.order[place] for place in kept if place < ranking.ranked], of.group)
    _commands(page, document, ranking.asked)
