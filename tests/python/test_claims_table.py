"""The claims as data, what becomes of them, and the table; on figures made up for it, and on those of the committed pages."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.page_with_notes import notes_of  # noqa: E402
from validation.published.claims import table  # noqa: E402
from validation.published.claims.catalogue import Claim, Series, catalogue, figures_needed, read_claims  # noqa: E402
from validation.published.claims.figures import Figure, figure, read_figures, spread, write_figures  # noqa: E402
from validation.published.claims.outcomes import Outcome, headline, outcome  # noqa: E402
from validation.published.s0 import cases as s0  # noqa: E402
from validation.published.s0 import claim_figures as s0_figures  # noqa: E402
from validation.published.s0.cases import Balancing, Timing  # noqa: E402
from validation.published.s0.figures import Found  # noqa: E402
from validation.published.s0.latency import Latencies  # noqa: E402
from validation.published.s1 import cases as s1  # noqa: E402
from validation.published.s1 import claim_figures as s1_figures  # noqa: E402
from validation.published.s1.replays import Pages, Seconds  # noqa: E402
from validation.published.s4 import cases as s4  # noqa: E402
from validation.published.s4 import claim_figures as s4_figures  # noqa: E402
from validation.published.s4.replays import Line, MachineFigures, TaskFigures  # noqa: E402

from homenode.errors import InputError  # noqa: E402

GAIN = Series(
    "gain",
    "g",
    ("8", "16"),
    "predicted",
    "effect",
    (2.0, None),
    1.0,
    None,
    0.0,
    None,
    0.01,
    "1",
    "no effect",
    "none",
    "",
)
CLAIM = Claim("C1", "S0", "a gain", "here", (GAIN,))


def figures(*values: float) -> dict[str, Figure]:
    found = [figure(f"g@{at}", value, "runs", "command") for at, value in zip(GAIN.at, values, strict=False)]
    return {one.name: one for one in found}


def judged(claim: Claim, *values: float) -> Outcome:
    return outcome(claim, figures(*values))


def test_all_claims_stand_there_once() -> None:
    assert [claim.name for claim in catalogue()] == [f"C{number}" for number in range(1, 82)]


def test_every_number_has_a_null_model_and_every_null_model_says_something() -> None:
    for claim in catalogue():
        assert bool(claim.series) + bool(claim.reason) + bool(claim.held_by) == 1, claim.name
        for series in claim.series:
            assert series.null_name, claim.name
            assert len(series.null_values()) == len(series.printed) == len(series.names()), claim.name


def test_a_blind_column_is_predicted_and_compared_with_nothing() -> None:
    found = judged(CLAIM, 2.0, 99.0)
    assert [point.verdict for point in found.points] == ["reproduced", "not checkable here"]
    assert found.verdict == "reproduced"
    blind = replace(CLAIM, series=(replace(GAIN, printed=(None, None)),))
    assert judged(blind, 2.0, 99.0).verdict == "not checkable here"
    assert "99" in table.row(judged(blind, 2.0, 99.0))[4]


def test_a_part_that_was_not_run_is_not_passed_over() -> None:
    whole = replace(CLAIM, series=(replace(GAIN, printed=(2.0, 3.0)),))
    assert judged(whole, 2.0, 3.0).verdict == "reproduced"
    assert judged(whole, 2.0).verdict == "not checkable here"


def test_a_claim_is_judged_by_its_numbers_of_the_strongest_class() -> None:
    fitted = replace(GAIN, cls="fitted", at=("16",), printed=(2.0,))
    predicted = replace(GAIN, at=("8",), printed=(2.0,))
    both = replace(CLAIM, series=(fitted, predicted))
    found = judged(both, 1.0, 2.0)  # the fitted one is met, the predicted one is not
    assert (found.cls, found.verdict) == ("predicted", "deviates")
    found = judged(both, 2.0, 1.0)
    assert (found.cls, found.verdict, found.beats_null) == ("predicted", "reproduced", True)
    # a fitted number says nothing of a prediction that was not compared
    blind = replace(CLAIM, series=(fitted, replace(predicted, printed=(None,))))
    assert judged(blind, 1.0, 2.0).cls == "fitted"
    assert headline([judged(blind, 1.0, 2.0)]).predicted == 0


def test_the_headline_counts_predicted_claims_that_beat_their_null_model() -> None:
    right, wrong = judged(CLAIM, 2.0), judged(CLAIM, 1.0)
    bound = replace(GAIN, kind="bound", side="at most")
    met = judged(replace(CLAIM, series=(bound,)), 1.5)
    identity = judged(replace(CLAIM, series=(replace(GAIN, cls="identity"),)), 2.0)
    assert (met.verdict, met.beats_null) == ("within bound", False)  # no effect meets it, too
    counted = headline([right, wrong, met, identity])
    assert (counted.claims, counted.passing, counted.predicted, counted.predicted_passing, counted.beating) == (
        4,
        3,
        3,
        2,
        1,
    )


def test_runs_that_several_numbers_share_are_timed_once() -> None:
    pair = replace(CLAIM, series=(replace(GAIN, printed=(2.0, 2.0)),))
    found = {name: replace(one, seconds=7.0) for name, one in figures(2.0, 2.0).items()}
    assert outcome(pair, found).seconds == 7


def test_figures_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "figures.csv"
    given = [
        figure("a@8", 1.5, "r", "homenode replay --x 'y, z'"),
        spread("b", [1, 3, 2], 2, "r", ""),
        spread("c", [1, 3], None, "r", ""),
    ]
    write_figures(path, given)
    assert list(read_figures(path).values()) == given
    assert read_figures(tmp_path / "none.csv") == {}
    write_figures(path, [given[0], given[0]])
    with pytest.raises(InputError, match=r"figures\.csv:3: figure 'a@8' stands there twice"):
        read_figures(path)
    path.write_text("name,low,high,central,runs,seconds,command\nx,many,2,,r,1,\n")
    with pytest.raises(InputError, match=r"figures\.csv:2: figure 'x'.*'many'"):
        read_figures(path)


WORDS = """
paper = "S9"
noise = 0.01
[[claim]]
id = "C1"
title = "t"
where = "w"
[[claim.series]]
what = "w"
figure = "f"
class = "predicted"
kind = "value"
printed = 1
null = "constant"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "value"', 'kind = "vaule"', "kind 'vaule'; allowed: value, effect"),
        ('class = "predicted"', 'class = "guessed"', "class 'guessed'; allowed: predicted, anchored"),
        ('null = "constant"', 'null = "nothing"', "null model 'nothing'; allowed: no effect"),
        ('null = "constant"', "", "no 'null'"),
        ('kind = "value"', 'kind = "order"', "kind 'order' without a side; allowed: at most, at least"),
        ("printed = 1", "printed = [1, 2]", "2 printed and 0 columns"),
        ('what = "w"', 'what = "w"\ncolour = 1', "unknown key 'colour'"),
        ('title = "t"', 'title = "t"\nreason = "r"', "2 of series, reason and held_by; allowed: one"),
    ],
)
def test_a_wrong_claim_is_refused_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "s9.toml"
    path.write_text(WORDS)
    assert [claim.name for claim in read_claims(path)] == ["C1"]
    path.write_text(WORDS.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_claims(path)
    assert str(refused.value).startswith("s9.toml, C1")
    assert said in str(refused.value)


def test_s4_yields_every_figure_that_its_claims_need() -> None:
    printed = s4.references()
    line, bars = Line(1e9, "", "command"), dict.fromkeys(s4.COMBINATIONS, Line(1e9, "", "command"))
    lines = dict.fromkeys(s4.PLACEMENTS, line)
    tasks = TaskFigures(bars, bars, {}, bars, line, bars, [line] * 3, [line])
    machines = {name: MachineFigures(lines, 1e9, 1e9, "command") for name in s4.MACHINES}
    problem = s4.paper_problem(printed)
    found = [*s4_figures.comparison_figures(machines), *s4_figures.arithmetic_figures(problem, 1, 6.0, "")]
    found.append(s4_figures.one_domain_figure(lines))
    for name, one in machines.items():
        found += [
            *s4_figures.machine_figures(printed, name, one, problem),
            *s4_figures.task_figures(name, lines, tasks),
        ]
    assert figures_needed(catalogue())["S4"] <= {one.name for one in found}
    assert len({one.name for one in found}) == len(found)


def test_s1_yields_every_figure_that_its_claims_need() -> None:
    heaps = {(heap, team): Seconds(1.0, "") for heap in s1.WRITE_ORDER for team in s1.WRITE_TEAMS}
    columns = {(column, team): Seconds(1.0, "") for column in s1.ADVECTION_HEAPS for team in s1.ADVECTION_TEAMS}
    pages = {team: dict.fromkeys(s1.TABLE_3, Pages((1.0,), "")) for team in (*s1.WHOLE_TEAMS, *s1.REDUCED_TEAMS)}
    found = [
        *(*s1_figures.fragmentation_figures(), *s1_figures.page_figures(pages)),
        *(*s1_figures.distance_figures([[1.0, 6.8]]), *s1_figures.write_figures(heaps)),
        *s1_figures.advection_figures(s1.references(), columns),
        *(
            one
            for kernel in ("advection2d", "advection3d", "fdtd3d")
            for one in s1_figures.patch_figures(kernel, columns)
        ),
    ]
    assert figures_needed(catalogue())["S1"] <= {one.name for one in found}
    assert len({one.name for one in found}) == len(found)


def s0_found(step: float) -> Found:
    """Every case of S0: stencil-aware takes a second an iteration, weighted chunks 1 / 1.1 of it, all else `step`."""
    timings, balancing = {}, {}
    for case in s0.CASES:
        for machine in case.machines:
            for setting in case.settings:
                seconds = {s0.AWARE: 1.0, s0.WEIGHTED: 1 / 1.1}.get(setting, step)
                idle = (0.1,) * s0.MACHINES[machine]
                timings[machine, case.name, setting] = Timing(0.0, seconds, 0.5, idle, "core, sweep", "command")
            for setting in case.balanced:
                balancing[machine, case.name, setting] = Balancing(1.0, 1.5, 0.1, 10, 1, "command")
    return Found(timings, balancing, s0.CASES)


def test_s0_yields_every_figure_that_its_claims_need() -> None:
    lines = {"local": {100.0: 90, 1000.0: 10}, "1 hop": {200.0: 5, 2000.0: 5}}
    latencies = {
        one.placement: Latencies(one.placement, 1.0, lines, "") for one in (s0.AWARE, s0.INTERLEAVE, s0.PINNED)
    }
    found = [*s0_figures.figures(s0_found(12.0)), *s0_figures.footprint_figures()]
    found += [one for machine in s0.MACHINES for one in s0_figures.latency_figures(machine, latencies)]
    by_name = {one.name: one for one in found}
    needed = figures_needed(catalogue())
    missing = {name for name in needed["S0"] | needed["orders"] if name.startswith("s0")} - set(by_name)
    assert missing == set()
    assert len(by_name) == len(found)
    claims = {claim.name: outcome(claim, by_name) for claim in catalogue()}
    # a gain of 12 as printed, and at every size: not the larger the smaller
    assert [claims[name].verdict for name in ("C1", "C16", "C10")] == ["deviates", "reproduced", "within bound"]
    # with balancing a second takes 1.5 s, in 10 times as long a program 1.05 s
    assert by_name[f"s0 mg C balancing@{s0.A}"].answer.central == pytest.approx(1 / 1.05)


def test_the_committed_table_is_what_the_committed_figures_give() -> None:
    found = table.judged()
    assert table.PAGE.read_text(encoding="utf-8") == table.markdown(found) + notes_of(table.PAGE)
    assert table.SHEET.read_text(encoding="utf-8") == table.sheet(found)
    assert table.HYPERTEXT.read_text(encoding="utf-8") == table.hypertext(found)


def test_text_sheet_and_hypertext_have_every_claim() -> None:
    found = table.judged()
    rows = list(csv.DictReader(io.StringIO(table.sheet(found))))
    names = [f"C{number}" for number in range(1, 82)]
    assert list(dict.fromkeys(row["claim"] for row in rows)) == names
    assert all(None not in row and None not in row.values() for row in rows)  # as many cells as columns
    assert [line.split()[0] for line in table.text().splitlines()[3:]] == names
    assert table.hypertext(found).count("<tr>") == 82
    assert headline(found).text() in table.text()


def test_the_papers_page_repeats_the_verdicts() -> None:
    page = table.PAPERS_PAGE.read_text(encoding="utf-8")
    assert page == table.with_verdicts(page, table.judged())
    made_up = "| C1 | a title | what | predicted | old |\n| C999 | another | what | predicted | stays |"
    verdict = next(one.verdict for one in table.judged() if one.claim.name == "C1")
    assert table.with_verdicts(made_up, table.judged()).split("\n") == [
        f"| C1 | a title | what | predicted | {verdict} |",
        "| C999 | another | what | predicted | stays |",
    ]
