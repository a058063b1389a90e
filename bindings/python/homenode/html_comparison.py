"""Two report documents as one page: what differs, each choice in both, whose rank is another one, and where the time went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from homenode.errors import InputError
from homenode.html_page import COLOURS, LEGEND, MOST_BYTES, Choices, Menu, Page
from homenode.html_report import bound_by, names_of, title_of
from homenode.ranking_words import ranked_by
from homenode.report_figures import OUTSIDE, plain_text, rows_axis, rows_height, scale_of
from homenode.report_pairs import Pair, Pairs, pair_up

_SIDES = ("first report", "second report")
_PATTERNS = ("", "/")
_MOST_ROWS = 10  # regions of a figure; smaller ones are one
_MOST_NAMED = 12  # choices that only one report has; of more, their number
_AMOUNTS = (None, 24, 12, 6, 3, 1)  # choices of a ranking, until the page is small enough
_MEANINGS = {
    "choice": "The choices in which these runs differ: placement of pages, mapping of threads, distribution of work, heap, pages.",
    "first rank": "Place by time in the first report, among the choices that both have; a bound has none.",
    "second rank": "Place by time in the second report, among the same choices.",
    "first time": "Simulated time of the whole program in the first report.",
    "second time": "Simulated time of the whole program in the second report.",
    "first ranked time": "In the first report the time of the regions by which the choices are ranked, forks and barriers included.",
    "second ranked time": "In the second report the time of these regions.",
    "second / first": "Time in the second report over that in the first, of what both are ranked by: below 1 the second is faster.",
    "first bound by": "The bottleneck of the longest region in the first report, and that region.",
    "second bound by": "The bottleneck of the longest region in the second report, and that region.",
}


def page_of_two(
    first: dict[str, Any], second: dict[str, Any], files: tuple[str, str], made_by: str | None = None
) -> tuple[Page, int]:
    """The page, and how many choices both reports have: where it is 0, there is nothing to show. `made_by`: the command.

    Raises `InputError` where not even one choice of each ranking fits.
    """
    pairs = pair_up(first, second)
    for most in _AMOUNTS:
        page = _page(first, second, pairs, files, made_by, most)
        if page.fits():
            return page, sum(map(len, pairs.rankings))
    raise InputError(f"the page would have {page.size:,} bytes; allowed: {MOST_BYTES:,}, of reports with fewer runs")


def _page(
    first: dict[str, Any],
    second: dict[str, Any],
    pairs: Pairs,
    files: tuple[str, str],
    made_by: str | None,
    most: int | None,
) -> Page:
    programs = [" ".join([one["trace"]["program"], one["trace"]["arguments"]]).strip() for one in (first, second)]
    told = programs[0] if programs[0] == programs[1] else " against ".join(programs)
    page = Page(f"homenode: two reports of {told or 'a trace'}")
    page.text(
        "Predicted times of the same choices in two reports. A choice is a combination of placement, mapping, distribution, heap "
        "and pages; ranks are among the choices that both reports have."
    )
    _differences(page, pairs, files)
    if _labels_may_shift(first, second):
        page.text(
            "The reports are of two traces. Labels such as main#0 count the loops of a function: a loop that was added or removed "
            "shifts the labels behind it, so that rows of one label may be two loops. Labels that the program marks itself do not shift."
        )
    for ranking in pairs.rankings:
        _section(page, ranking, most)
    if made_by is not None:
        page.heading("How this page was made")
        page.meaning("The command that made this page:")
        page.code(made_by)
    return page


def _labels_may_shift(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether the traces are two and have regions that are named by their number in a function."""
    labels = {region["label"] for one in (first, second) for run in one["runs"] for region in run["regions"]}
    return first["trace"]["hash"] != second["trace"]["hash"] and any("#" in label for label in labels)


def _differences(page: Page, pairs: Pairs, files: tuple[str, str]) -> None:
    page.heading("What differs")
    meanings = {
        "what": "The file, the recorded program, the machine, or an option of the runs.",
        "first": "Its value in the first report.",
        "second": "Its value in the second report.",
    }
    page.table(("what", "first", "second"), [("file", *files), *pairs.differences], meanings=meanings)
    if not pairs.differences:
        page.text("Both reports are of one trace, on machines and with options that do not differ.")
    for side, runs in zip(_SIDES, pairs.alone, strict=True):
        if runs:
            named = [f"{run['machine']}, {run['threads']} threads, {name}" for run, name in _named(runs)]
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            page.text(f"Only in the {side}: {'; '.join(named[:_MOST_NAMED])}{more}.")


def _named(runs: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    return list(zip(runs, names_of(list(runs)), strict=True))


def _section(page: Page, whole: Sequence[Pair], most: int | None) -> None:
    """One set of choices that compete with each other, in both reports: the first `most` of them."""
    every = names_of([pair.first for pair in whole])
    ranking, names = whole[:most], every[:most]
    titles = list(dict.fromkeys((title_of(ranking[0].first), title_of(ranking[0].second))))
    title = " against ".join(titles)
    factor, unit = scale_of([run for pair in ranking for run in (pair.first, pair.second)])
    page.heading(title)
    page.lead(_summary(whole, every))
    labels_of_rank = ranking[0].by_regions
    if labels_of_rank:
        page.text(ranked_by(labels_of_rank))
    if len(ranking) < len(whole):
        page.text(
            f"The first {len(ranking)} of {len(whole)} choices are shown: a page has at most {MOST_BYTES // 1_000_000} MB."
        )
    group = f"section {page.sections}"
    by_regions = ("first ranked time", "second ranked time") if labels_of_rank else ()
    times = ("first time", "second time", *by_regions)
    page.table(
        ("choice", "first rank", "second rank", *times, "second / first", "first bound by", "second bound by"),
        [
            (
                name,
                *("bound" if rank is None else rank for rank in pair.ranks),
                *(f"{factor * run['seconds']:.4g} {unit}" for run in (pair.first, pair.second)),
                *(f"{factor * seconds:.4g} {unit}" for seconds in pair.seconds[: len(by_regions)]),
                "–" if pair.ratio is None else f"{pair.ratio:.3f}",
                *(bound_by(run) for run in (pair.first, pair.second)),
            )
            for name, pair in zip(names, ranking, strict=True)
        ],
        right=("first rank", "second rank", *times, "second / first"),
        meanings=_MEANINGS,
        group=group,
    )
    labels = [f"{place} {name}" for place, name in zip(_places(ranking), names, strict=True)]
    _times(page, ranking, labels, group, (factor, unit))
    _regions(page, ranking, labels, group)


def _summary(ranking: Sequence[Pair], names: Sequence[str]) -> str:
    """Whether the best choice is the same one, and which ranks are others."""
    ranked = [(pair, name) for pair, name in zip(ranking, names, strict=True) if None not in pair.ranks]
    if not ranked:
        return "Both reports have bounds alone; a bound has no rank."
    best = [min(ranked, key=lambda one: one[0].ranks[side] or 0)[1] for side in (0, 1)]
    said = f"Rank 1 in both: {best[0]}." if best[0] == best[1] else f"Rank 1 changes from {best[0]} to {best[1]}."
    moved = [
        f"{name} from {pair.ranks[0]} to {pair.ranks[1]}" for pair, name in ranked if pair.ranks[0] != pair.ranks[1]
    ]
    if not moved:
        return f"{said} No rank changes."
    return f"{said} {len(moved)} of {len(ranked)} ranks change: {'; '.join(moved)}."


def _places(ranking: Sequence[Pair]) -> list[str]:
    """What a choice is called on an axis: its rank in the first report; bounds are numbered."""
    bounds = 0
    places = []
    for pair in ranking:
        bounds += pair.ranks[0] is None
        places.append(f"bound {bounds}" if pair.ranks[0] is None else str(pair.ranks[0]))
    return places


def _look(side: int) -> dict[str, Any]:
    pattern = {"shape": _PATTERNS[side], "fillmode": "overlay", "fgcolor": "#ffffff", "size": 7}
    return {"color": COLOURS[side], "pattern": pattern}


def _times(page: Page, ranking: Sequence[Pair], labels: Sequence[str], group: str, scale: tuple[float, str]) -> None:
    """Both times of each choice."""
    factor, unit = scale
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": side,
            "x": [factor * pair.seconds[number] for pair in ranking],
            "y": list(range(len(labels))),
            "customdata": [plain_text(label) for label in labels],
            "marker": _look(number),
            "hovertemplate": f"%{{customdata}}<br>{side}: %{{x:.4g}} {unit}<extra></extra>",
        }
        for number, side in enumerate(_SIDES)
    ]
    layout = {
        "title": {"text": "Time in both reports"},
        "barmode": "group",
        "xaxis": {"title": {"text": f"time, {unit}"}, "rangemode": "tozero"},
        "yaxis": rows_axis(labels),
        "showlegend": True,
        "legend": {**LEGEND, "traceorder": "normal"},
    }
    of = f"of {', '.join(ranking[0].by_regions)} in" if ranking[0].by_regions else "of"
    note = f"Simulated time {of} each choice that both reports have, by its rank in the first one."
    height = 150 + 2 * rows_height(labels)
    page.plot(data, layout, height, meaning=note, words=("time",), choices=Choices(group, marked="rows"))


def _parts(run: dict[str, Any]) -> dict[str, float]:
    """Exclusive seconds by region, and by what is in no region."""
    parts: dict[str, float] = {}
    for region in run["regions"]:
        parts[region["label"]] = parts.get(region["label"], 0.0) + region["exclusive_seconds"]
    return parts | {f"({key.replace('_', ' ')})": run["time_detail"][key] for key in OUTSIDE}


def _regions(page: Page, ranking: Sequence[Pair], choices: Sequence[str], group: str) -> None:
    """Of one choice at a time the time of each region in both; nothing where a report is of before these times were told."""
    if not all("time_detail" in run for pair in ranking for run in (pair.first, pair.second)):
        return
    parts = [(_parts(pair.first), _parts(pair.second)) for pair in ranking]
    most: dict[str, float] = {}
    for of_run in (of_run for both in parts for of_run in both):
        for label, value in of_run.items():
            most[label] = max(most.get(label, 0.0), value)
    shown = sorted((label for label, value in most.items() if value > 0), key=lambda label: -most[label])
    small = shown[_MOST_ROWS - 1 :] if len(shown) > _MOST_ROWS else []
    shown = [label for label in shown if label not in small]
    if not shown:
        return
    factor, unit = scale_of([{"seconds": most[shown[0]]}])
    data: list[dict[str, Any]] = []
    for number, both in enumerate(parts):
        for side, of_run in enumerate(both):
            values = [of_run.get(label, 0.0) for label in shown]
            values += [sum(of_run.get(label, 0.0) for label in small)] if small else []
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": _SIDES[side],
                    "x": [factor * value for value in values],
                    "y": list(range(len(values))),
                    "visible": number == 0,
                    "marker": _look(side),
                    "hovertemplate": f"{_SIDES[side]}: %{{x:.4g}} {unit}<extra></extra>",
                }
            )
    rows = [*shown, *([f"{len(small)} others"] if small else [])]
    layout = {
        "title": {"text": "Where the time goes in both reports"},
        "barmode": "group",
        "xaxis": {"title": {"text": f"time, {unit}"}, "rangemode": "tozero"},
        "yaxis": rows_axis(rows),
        "showlegend": True,
        "legend": {**LEGEND, "traceorder": "normal"},
    }
    note = "Simulated time of one choice by region in both reports; in parentheses what is in no region."
    menu = Menu("Choice", choices, group=group)
    seen = Choices(group, [entry // 2 for entry in range(len(data))])
    page.plot(data, layout, 150 + 2 * rows_height(rows), meaning=note, words=("region",), menu=menu, choices=seen)
