"""A report document as a page: ranking, idle time by core, traffic matrix, latency by source."""

from collections.abc import Sequence
from typing import Any

from homenode import report, unseen
from homenode.html_page import Page
from homenode.ranking_words import bound_and_found, guessed, settled

_AXES = ("placement", "mapping", "distribution", "heap", "pages")


def names_of(runs: list[dict[str, Any]]) -> list[str]:
    """A name for each run: the choices in which they differ, numbered where two are asked for alike."""
    varying = [axis for axis in _AXES if len({run[axis] for run in runs}) > 1] or ["placement", "distribution"]
    names: list[str] = []
    for run in runs:
        name = " · ".join(str(run[axis]) for axis in varying)
        names.append(name if name not in names else f"{name} ({names.count(name) + 1})")
    return names


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.4g} ms"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _remote_share(run: dict[str, Any]) -> float:
    traffic = run["traffic_bytes"]
    every = sum(map(sum, traffic))
    return _share(every - sum(row[node] for node, row in enumerate(traffic)), every)


def _ranking(page: Page, names: list[str], runs: list[dict[str, Any]]) -> None:
    intervals = any(run.get("seconds_interval") for run in runs)
    rows = []
    for rank, (name, run) in enumerate(zip(names, runs, strict=True), start=1):
        row = ["bound" if report.is_bound(run) else rank, name, _milliseconds(run["seconds"])]
        if intervals:
            low, high = run["seconds_interval"]
            row.append(f"{_milliseconds(low)} … {_milliseconds(high)}")
        waits = sum(thread["idle_seconds"] for thread in run["threads_detail"])
        row += [
            f"{100 * run['regret']:+.1f} %",
            f"{100 * _remote_share(run):.1f} %",
            f"{100 * _share(waits, run['seconds'] * len(run['threads_detail'])):.1f} %",
        ]
        rows.append(row)
    sampled = ["90 % interval"] if intervals else []
    columns = ["rank", "choice", "time", *sampled, "regret", "remote traffic", "idle"]
    page.table(columns, rows, right=[column for column in columns if column != "choice"])


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


def _menu(choices: Sequence[str], choice_of: Sequence[int]) -> list[dict[str, Any]]:
    """A list to choose from; `choice_of` says of each part of the figure under which choice it is seen."""
    buttons = [
        {"label": name, "method": "update", "args": [{"visible": [other == place for other in choice_of]}]}
        for place, name in enumerate(choices)
    ]
    return [{"buttons": buttons, "x": 1.0, "xanchor": "right", "y": 1.16}]


def _idle(page: Page, names: list[str], runs: list[dict[str, Any]]) -> None:
    """Idle time core by core, of the whole run or of one region, chosen from a list (Metzger et al. 2018, figure 8)."""
    shares = [report.idle_shares(run) for run in runs]
    regions = list(dict.fromkeys(label for of_run in shares for label in of_run))
    data: list[dict[str, Any]] = []
    for label in [None, *regions]:
        for name, run, of_run in zip(names, runs, shares, strict=True):
            threads = run["threads_detail"]
            whole = [_share(thread["idle_seconds"], run["seconds"]) for thread in threads]
            values = whole if label is None else of_run.get(label, [])
            order = sorted(range(len(values)), key=lambda place: (threads[place]["core"], place))
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": name,
                    "visible": label is None,
                    "x": [str(threads[place]["core"]) for place in order],
                    "y": [100 * values[place] for place in order],
                    "text": [f"thread {threads[place]['thread']}, node {threads[place]['node']}" for place in order],
                    "hovertemplate": "core %{x}, %{text}: %{y:.2f} %",
                }
            )
    layout = {
        "title": {"text": "Idle time by core"},
        "xaxis": {"title": {"text": "core"}, "type": "category"},
        "yaxis": {"title": {"text": "idle, %"}, "rangemode": "tozero"},
        "showlegend": True,
        "updatemenus": _menu(["the whole run", *regions], [entry // len(runs) for entry in range(len(data))]),
    }
    page.plot(data, layout)


def _traffic(page: Page, names: list[str], runs: list[dict[str, Any]]) -> None:
    """One matrix at a time, chosen from a list; the best run's first."""
    data = []
    for place, run in enumerate(runs):
        nodes = [f"node {node}" for node in range(len(run["traffic_bytes"]))]
        data.append(
            {
                "type": "heatmap",
                "x": nodes,
                "y": nodes,
                "z": [[moved / 1e6 for moved in row] for row in run["traffic_bytes"]],
                "visible": place == 0,
                "colorscale": "Viridis",
                "colorbar": {"title": {"text": "MB"}},
                "hovertemplate": "from %{y} to %{x}: %{z:.4g} MB<extra></extra>",
            }
        )
    layout = {
        "title": {"text": "Traffic at memory controllers"},
        "xaxis": {"title": {"text": "home of the memory"}},
        "yaxis": {"title": {"text": "node of the core"}, "autorange": "reversed"},
        "updatemenus": _menu(names, range(len(runs))),
    }
    page.plot(data, layout)


def _latencies(page: Page, names: list[str], runs: list[dict[str, Any]]) -> None:
    """Latency of L1 misses by source; one run at a time, chosen from a list."""
    data: list[dict[str, Any]] = []
    of_run = []
    for place, run in enumerate(runs):
        histogram = run["latency_histogram_ns"]
        edges = histogram["edges"]
        for source, counts in histogram["by_source"].items():
            bins = [(low, high, lines) for low, high, lines in zip(edges, edges[1:], counts, strict=False) if lines]
            total = sum(lines for _, _, lines in bins)
            if total == 0:
                continue
            mean = sum((low + high) / 2 * lines for low, high, lines in bins) / total
            of_run.append(place)
            data.append(
                {
                    "type": "bar",
                    "name": f"{source}: {total:,} lines, {mean:.0f} ns",
                    "x": [(low + high) / 2 for low, high, _ in bins],
                    "y": [lines for _, _, lines in bins],
                    "width": edges[1] - edges[0],
                    "visible": place == 0,
                    "hovertemplate": f"{source}, %{{x:.0f}} ns: %{{y:,}} lines<extra></extra>",
                }
            )
    if not data:
        return
    layout = {
        "title": {"text": "L1 misses by latency and source"},
        "barmode": "overlay",
        "bargap": 0,
        "xaxis": {"title": {"text": "latency, ns"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "lines"}, "type": "log"},
        "showlegend": True,
        "updatemenus": _menu(names, of_run),
    }
    page.plot(data, layout)


def page_of(document: dict[str, Any]) -> Page:
    """The page of a report document, best runs first; one section for each set of comparable runs."""
    trace = document["trace"]
    page = Page(f"homenode: {' '.join([trace['program'], trace['arguments']]).strip() or 'replay'}")
    page.text(
        f"Trace {trace['hash']}, {trace['accesses']:,} accesses; made by homenode {document['homenode_version']}."
    )
    by_blocks = all(run.get("core", "classes") != "classes" for run in document["runs"])
    if (told := unseen.sentence(trace.get("unseen", {}), by_blocks=by_blocks)) is not None:
        page.text(told)
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in document["runs"]:
        groups.setdefault(report.comparable(run), []).append(run)
    for asked in groups.values():
        ranked, bounds = report.by_rank(asked)
        runs = [asked[place] for place in (*ranked, *bounds)]
        first, names = runs[0], names_of(runs)
        changed = "".join(f", {key}={value}" for key, value in first["machine_changes"].items())
        threads = f"{first['threads']} thread{'' if first['threads'] == 1 else 's'}"
        page.heading(f"{first['machine']}{changed} · {threads} · {first['engine']} engine")
        _ranking(page, names, runs)
        for name, run in zip(names[len(ranked) :], runs[len(ranked) :], strict=True):
            page.text(bound_and_found(run, name, _milliseconds))
        _certainty(page, document, first["machine_hash"], [document["runs"].index(asked[place]) for place in ranked])
        _idle(page, names, runs)
        _traffic(page, names, runs)
        _latencies(page, names, runs)
    return page
