"""The table of claims as text, Markdown, HTML and CSV, from the claims and the papers' figures."""

import csv
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from homenode.errors import InputError
from validation.page_with_notes import markdown_table, write_with_notes
from validation.published.claims.catalogue import catalogue
from validation.published.claims.figures import Figure, read_figures
from validation.published.claims.outcomes import Outcome, Point, headline, outcomes

PUBLISHED = Path(__file__).parents[1]
PAGE, SHEET, HYPERTEXT = (PUBLISHED / f"claims.{ending}" for ending in ("md", "csv", "html"))
PAPERS_PAGE = Path(__file__).parents[3] / "docs" / "papers.md"
PAPERS = ("S0", "S1", "S2", "S3", "S4")
COLUMNS = ("claim", "title", "class", "printed", "model", "null model", "null says", "verdict", "beats null", "time")
DETAILS = (
    *("claim", "title", "what", "column", "class", "kind", "unit", "printed", "low", "high", "central", "null model"),
    *("null says", "verdict", "null's verdict", "claim's verdict", "beats null", "seconds", "command"),
)
INTRODUCTION = """\
Written by `python -m validation published --write`, down to the table of numbers; [claims.csv](claims.csv) and
[claims.html](claims.html) have the same with every command. The rule, its classes and verdicts: [decision
0032](../../docs/decisions/0032-a-rule-for-claims.md). Claims and null models: [claims/](claims/). A `[blind]` number is printed in the
paper and kept apart. A range is shown as `low … high`, with the member that was declared central before the run in front. *Time*: of the
runs that a claim rests on, which others may share, on two cores."""


def figures_of(paper: str) -> Path:
    """Where the figures of a paper's page stand."""
    return PUBLISHED / paper.lower() / "figures.csv"


def judged(instead: Mapping[str, Path] | None = None) -> list[Outcome]:
    """All claims, judged by the figures of the pages; `instead` names other files by paper."""
    merged: dict[str, Figure] = {}
    for paper in PAPERS:
        found = read_figures((instead or {}).get(paper, figures_of(paper)))
        twice = sorted(set(found) & set(merged))
        if twice:
            raise InputError(f"{paper}: figure '{twice[0]}' is another paper's as well; allowed: once")
        merged |= found
    return outcomes(catalogue(), merged)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _printed(point: Point) -> str:
    if point.printed is None:
        return "[blind]"
    sign = {"at most": "≤ ", "at least": "≥ "}.get(point.series.side or "", "")
    if point.series.kind == "order":
        sign = {"≤ ": "< ", "≥ ": "> "}[sign]
    if point.series.kind == "none":
        return f"{_number(point.printed)} ± {_number(point.series.tolerance)}"
    return sign + _number(point.printed)


def _model(point: Point) -> str:
    if point.figure is None:
        return "not run"
    answer = point.figure.answer
    ends = _number(answer.low), _number(answer.high)
    if ends[0] == ends[1]:
        return ends[0]
    central = "" if answer.central is None else f"{_number(answer.central)}: "
    return f"{central}{ends[0]} … {ends[1]}"


def _joined(texts: Sequence[str]) -> str:
    """One after the other; once, if all are the same."""
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)


def _shown(one: Outcome) -> list[Point]:
    """What decides the verdict, or else all points."""
    return one.judged or list(one.points)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds else "–"


def row(one: Outcome) -> list[str]:
    """The cells of one claim."""
    points = _shown(one)
    if not points:
        said = one.claim.reason or f"held by `{one.claim.held_by}`"
        return [one.claim.name, one.claim.title, one.cls, "–", said, "–", "–", one.verdict, "–", "–"]
    cells = [_joined([write(point) for point in points]) for write in (_printed, _model)]
    names = list(dict.fromkeys(point.series.null_name for point in points))
    nulls = _joined([_number(point.null) for point in points])
    beats = ("yes" if one.beats_null else "no") if one.cls == "predicted" and one.judged else "–"
    start = [one.claim.name, one.claim.title, one.cls, *cells]
    return [*start, "; ".join(names), nulls, one.verdict, beats, _time(one.seconds)]


def markdown(found: Sequence[Outcome]) -> str:
    """The page: the headline, a row for each claim, and a row for each number."""
    lines = ["# The papers' claims, C1 to C81", "", INTRODUCTION, "", f"**{headline(found).text()}**", ""]
    lines += markdown_table(COLUMNS, [[_cell(text) for text in row(one)] for one in found])
    lines += ["", "Each number:", ""]
    head = ("claim", "what", "column", "class", "kind", "printed", "model", "null says", "unit", "verdict")
    numbers = [
        [
            *(one.claim.name, _cell(point.series.what), point.column, point.series.cls, point.series.kind),
            *(_printed(point), _model(point), _number(point.null), point.series.unit, point.verdict),
        ]
        for one in found
        for point in one.points
    ]
    lines += markdown_table(head, numbers)
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def sheet(found: Sequence[Outcome]) -> str:
    """All numbers as CSV; of a claim without numbers, why."""
    out = io.StringIO()
    writer = csv.DictWriter(out, DETAILS, restval="", lineterminator="\n")
    writer.writeheader()
    for one in found:
        claim = {"claim": one.claim.name, "title": one.claim.title, "claim's verdict": one.verdict}
        if not one.points:
            writer.writerow({**claim, "what": one.claim.reason or f"held by {one.claim.held_by}", "class": one.cls})
        for point in one.points:
            writer.writerow({**claim, "beats null": "yes" if one.beats_null else "no", **_details(point)})
    return out.getvalue()


def _details(point: Point) -> dict[str, str]:
    series, found = point.series, point.figure
    said = {"what": series.what, "column": point.column, "class": series.cls, "kind": series.kind, "unit": series.unit}
    said |= {"printed": _printed(point), "null model": series.null_name, "null says": f"{point.null:.6g}"}
    said |= {"verdict": point.verdict, "null's verdict": point.null_verdict}
    if found is None:
        return said
    answer = found.answer
    central = "" if answer.central is None else f"{answer.central:.6g}"
    said |= {"low": f"{answer.low:.6g}", "high": f"{answer.high:.6g}", "central": central}
    return said | {"seconds": f"{found.seconds:.0f}", "command": found.command}


def hypertext(found: Sequence[Outcome]) -> str:
    """A page that needs no other file: a row for each claim, with the command of its first number."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in (*COLUMNS, "command"))
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in (*row(one), one.command)) + "</tr>"
        for one in found
    )
    style = "body{font-family:sans-serif}table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .5em;text-align:left}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>homenode: the papers\' claims</title>'
        f"<style>{style}</style></head><body>\n<h1>The papers' claims, C1 to C81</h1>\n"
        f"<p><b>{html.escape(headline(found).text())}</b></p>\n<table>\n<tr>{head}</tr>\n{body}\n</table>\n</body></html>\n"
    )


def text(instead: Mapping[str, Path] | None = None) -> str:
    """For a terminal: claim, class, verdict, what is printed and what the models say, cut to a line each."""
    found = judged(instead)
    lines = ["", headline(found).text(), ""]
    for one in found:
        name, title, cls, printed, model, null, nulls, said, beats, took = row(one)
        told = f"printed {_cut(printed)}  model {_cut(model)}  {null}: {_cut(nulls)}  {took}"
        lines.append(f"{name:<4}{cls:<10}{said:<19}{'beats null' if beats == 'yes' else '':<11}{title}  {told}")
    return "\n".join(lines)


def _cut(cell: str, most: int = 40) -> str:
    return cell if len(cell) <= most else f"{cell[: most - 2]} …"


def with_verdicts(page: str, found: Sequence[Outcome]) -> str:
    """docs/papers.md with the verdict of each claim in the last cell of its row."""
    verdicts = {one.claim.name: one.verdict for one in found}

    def renewed(line: str) -> str:
        cells = line.split(" | ")
        name = cells[0].removeprefix("| ")
        return " | ".join([*cells[:-1], f"{verdicts[name]} |"]) if name in verdicts else line

    return "\n".join(renewed(line) for line in page.split("\n"))


def write() -> None:
    """Renew the page, the sheet and the hypertext, and the verdicts in docs/papers.md."""
    found = judged()
    PAPERS_PAGE.write_text(with_verdicts(PAPERS_PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    write_with_notes(PAGE, markdown(found))
    SHEET.write_text(sheet(found), encoding="utf-8")
    HYPERTEXT.write_text(hypertext(found), encoding="utf-8")
