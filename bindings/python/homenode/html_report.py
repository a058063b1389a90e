"""A report document as a page: ranking, how sure it is, the machine, and the figures that tell why."""

from collections.abc import Collection, Sequence
from typing import Any

from homenode import report, report_figures, unseen
from homenode.confidence import LEVEL
from homenode.html_page import Page
from homenode.machine_drawing import machine_svg
from homenode.ranking_words import bound_and_found, guessed, measure_first, settled
from homenode.report_command import TRACE, machine_of, replay_commands
from homenode.report_figures import RankedRuns, share

_AXES = ("placement", "mapping", "distribution", "heap", "pages")
_MOST_PAIRS = 12  # choices of which all pairs are shown; of more, neighbours in rank
_MEANINGS = {
    "rank": "Place by time among the runs that can be compared; a bound is what no placement beats, and nobody can run it.",
    "choice": "The choices in which these runs differ: placement of pages, mapping of threads, distribution of work, heap, pages.",
    "time": "Simulated time of the whole program.",
    "90 % interval": "Interval of the time over machines that were sampled within what is known of their numbers.",
    "regret": "Time lost to the best choice of this table.",
    "remote pages": "Share of the pages whose home is another node than that of the thread that first wrote them.",
    "remote traffic": "Share of the bytes at memory controllers that a core of another node asked for.",
    "idle": "Share of the threads' time in which they do not work.",
    "bound by": "The bottleneck of the longest region, and that region; a ? marks one of which too much was not seen.",
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


def bound_by(run: dict[str, Any], open_regions: Collection[str] = ()) -> str:
    """The bottleneck of the longest region, and that region; with a ? in `open_regions`, of which too much was not seen."""
    bound = run.get("bound_by", {"resource": None})
    if bound["resource"] is None:
        return "–"
    doubt = "?" if bound["region"] in open_regions else ""
    return f"{bound['resource']}{doubt} ({bound['region'] or _percent(bound['seconds'], run['seconds'])})"


def _ranking(page: Page, of: RankedRuns, open_regions: set[str]) -> None:
    intervals = any(run.get("seconds_interval") for run in of.runs)
    factor, unit = of.scale
    rows = []
    for place, name, run in zip(of.places, of.names, of.runs, strict=True):
        row = [place, name, f"{factor * run['seconds']:.4g} {unit}"]
        if intervals:
            low, high = run["seconds_interval"]
            row.append(f"{factor * low:.4g} … {factor * high:.4g} {unit}")
        waits = sum(thread["idle_seconds"] for thread in run["threads_detail"])
        row += [
            f"{100 * run['regret']:+.1f} %",
            _percent(run["remote_pages"], sum(run["pages_by_node"])),
            f"{100 * _remote_share(run):.1f} %",
            _percent(waits, run["seconds"] * len(run["threads_detail"])),
            bound_by(run, open_regions),
        ]
        rows.append(row)
    sampled = [f"{100 * LEVEL:.0f} % interval"] if intervals else []
    numbers = ["rank", "time", *sampled, "regret", "remote pages", "remote traffic", "idle"]
    page.table(["rank", "choice", *numbers[1:], "bound by"], rows, right=numbers, meanings=_MEANINGS)


def _certainty(page: Page, document: dict[str, Any], machine: str, order: Sequence[int]) -> None:
    """How much of the machine is guessed, and whether the first place is settled; nothing in reports of before this was told."""
    said = [
        guessed(one["name"], one["assumed"], one["numbers"])
        for one in document.get("machines", [])
        if one["hash"] == machine
    ]
    said += [settled(found, order) for found in document.get("first_places", []) if found["first"] in order]
    if said:
        page.text(" ".join(said))


def _confidence(page: Page, document: dict[str, Any], order: Sequence[int]) -> None:
    """How sure each order of two choices is, where machines were sampled."""
    for group in document.get("confidence", {}).get("rankings", []):
        if not set(group["runs"]) & set(order) or not group["pairs"]:
            continue
        rank = {run: place for place, run in enumerate(group["runs"], start=1)}
        pairs = [
            (rank[pair["faster"]], rank[pair["slower"]], pair)
            for pair in group["pairs"]
            if len(rank) <= _MOST_PAIRS or rank[pair["slower"]] - rank[pair["faster"]] == 1
        ]
        rows = [
            (first, second, f"{100 * pair['probability']:.0f} %", "yes" if pair["flips_with_core_time"] else "no")
            for first, second, pair in pairs
        ]
        page.subheading("How sure the order is")
        columns = ("rank", "beats rank", "probability", "flips with core time")
        meanings = {
            "rank": "The choice that is faster on the machine as it is described.",
            "beats rank": "The choice that it is compared with.",
            "probability": "Share of the sampled machines on which it is the faster one.",
            "flips with core time": "Whether the order is another one if instructions take half or twice as long as modelled.",
        }
        page.table(columns, rows, right=columns[:3], meanings=meanings)
        page.text(measure_first(group))


def _machine(page: Page, run: dict[str, Any]) -> None:
    """The picture of the machine, if its description is still the one that ran."""
    page.subheading(f"The machine: {run['machine']}")
    machine = machine_of(run)
    if machine is None:
        page.meaning(
            "No picture: this installation has no machine of that name with the same numbers; "
            "homenode machines FILE.toml --svg draws a description of your own."
        )
        return
    meaning = "Sockets with their nodes, the memory of each, shared caches and cores by number; the links between sockets below."
    page.picture(machine_svg(machine), meaning)


def _commands(page: Page, document: dict[str, Any], runs: Sequence[dict[str, Any]]) -> None:
    samples = document["confidence"]["samples"] if "confidence" in document else None
    page.subheading("Make these runs again")
    page.meaning(
        f"{TRACE} stands for the file of the trace {document['trace']['hash']}, whose name the report does not have."
    )
    page.code("\n".join(replay_commands(runs, samples)))


def page_of(document: dict[str, Any], made_by: str | None = None) -> Page:
    """The page of a report document, best runs first; one section for each set of comparable runs. `made_by`: the command."""
    trace = document["trace"]
    page = Page(f"homenode: {' '.join([trace['program'], trace['arguments']]).strip() or 'replay'}")
    page.text(
        f"Predicted times of this program on simulated machines. Trace {trace['hash']}, {trace['accesses']:,} accesses; "
        f"made by homenode {document['homenode_version']}."
    )
    if made_by is not None:
        page.meaning("The command that made this page:")
        page.code(made_by)
    by_blocks = all(run.get("core", "classes") != "classes" for run in document["runs"])
    not_seen = trace.get("unseen", {})
    if (told := unseen.sentence(not_seen, by_blocks=by_blocks)) is not None:
        page.text(told)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, run in enumerate(document["runs"]):
        groups.setdefault(report.comparable(run), []).append(place)
    for places in groups.values():
        _section(page, document, places, unseen.open_regions(not_seen, by_blocks))
    return page


def title_of(run: dict[str, Any]) -> str:
    """What comparable runs have in common, as a heading."""
    changed = "".join(f", {key}={value}" for key, value in run["machine_changes"].items())
    threads = f"{run['threads']} thread{'' if run['threads'] == 1 else 's'}"
    return f"{run['machine']}{changed} · {threads} · {run['engine']} engine"


def _section(page: Page, document: dict[str, Any], asked: Sequence[int], open_regions: set[str]) -> None:
    """One ranking and why it is so; `asked`: its runs, by their places in the document."""
    all_runs = [document["runs"][place] for place in asked]
    ranked, bounds = report.by_rank(all_runs)
    runs = [all_runs[place] for place in (*ranked, *bounds)]
    places = [*map(str, range(1, len(ranked) + 1)), *["bound"] * len(bounds)]
    if len(bounds) > 1:
        places[len(ranked) :] = [f"bound {number}" for number in range(1, len(bounds) + 1)]
    first = runs[0]
    title = title_of(first)
    of = RankedRuns(runs, names_of(runs), places, title)
    factor, unit = of.scale
    page.heading(title)
    _ranking(page, of, open_regions)
    for name, run in zip(of.names[len(ranked) :], runs[len(ranked) :], strict=True):
        page.text(bound_and_found(run, name, lambda seconds: f"{factor * seconds:.4g} {unit}"))
    order = [asked[place] for place in ranked]
    _certainty(page, document, first["machine_hash"], order)
    _confidence(page, document, order)
    report_figures.time_by_region(page, of)
    report_figures.idle_by_core(page, of)
    report_figures.traffic(page, of)
    report_figures.pages_by_home(page, of)
    report_figures.latencies(page, of)
    report_figures.energy(page, of)
    _machine(page, first)
    _commands(page, document, all_runs)
