"""The table of studies: every page exists, rows have the declared columns, and all lists of names are the same."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.__main__ import main  # noqa: E402
from validation.page_with_notes import notes_of  # noqa: E402
from validation.published import papers  # noqa: E402
from validation.published.claims.figures import Figure, figure, read_figures  # noqa: E402
from validation.rows import Row  # noqa: E402
from validation.studies import STUDIES, UNNAMED  # noqa: E402
from validation.study import Options, Study  # noqa: E402

from homenode.cli.validate import command as validate  # noqa: E402

# What takes seconds on its smallest form; the others' columns are held against the rows of their own tests.
CHEAP = (
    "placements",
    "mappings",
    "closed-form",
    "differential",
    "advisor",
    "advisor-cases",
    "classification",
    "sampling",
)


def table_of_the_readme() -> dict[str, str]:
    """Cells of the first table by study."""
    page = (ROOT / "validation" / "README.md").read_text(encoding="utf-8").partition("\n\n| path |")[0]
    return {name: row for row, name in re.findall(r"^(\| ([\w-]+) \|.*)$", page, re.MULTILINE) if name != "study"}


def test_every_page_of_the_table_exists() -> None:
    for study in STUDIES.values():
        assert [page for page in study.pages if not page.is_file()] == [], study.name


def test_the_readme_lists_the_studies_as_the_table_does() -> None:
    listed = table_of_the_readme()
    assert list(listed) == list(STUDIES)
    for name, study in STUDIES.items():
        assert f"| {study.what} | {study.takes} |" in listed[name]
        for page in study.pages:
            assert f"]({os.path.relpath(page.resolve(), ROOT / 'validation')})" in listed[name]


def test_help_lists_the_studies_inside_the_source_tree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "validation")
    listed = CliRunner().invoke(validate, ["--help"]).output.partition("Studies:\n")[2]
    assert re.findall(r"^  ([\w-]+)  ", listed, re.MULTILINE) == list(STUDIES)
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(STUDIES)
    assert set(UNNAMED) <= set(STUDIES)
    refused = CliRunner().invoke(validate, ["natvie"], standalone_mode=False)
    assert "unknown kind of validation 'natvie'; allowed: native, " in str(refused.exception)
    monkeypatch.chdir(tmp_path)
    assert "source tree" in CliRunner().invoke(validate, ["--help"]).output


@pytest.mark.parametrize("name", CHEAP)
def test_rows_have_the_declared_columns(name: str, tmp_path: Path) -> None:
    row = next(iter(STUDIES[name].rows(Options(tmp_path, small=True))))
    assert tuple(row.as_json()) == STUDIES[name].columns


def test_rows_of_papers_have_the_declared_columns() -> None:
    row = Row("C57", "m", "w", "fitted", 1.0, 2.0, "GB/s", "agrees", "c").as_json()
    assert set(row) == set(papers.STUDY.columns)


def test_papers_pages_and_the_table_of_claims_are_renewed_but_not_from_the_small_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(folder: Path, small: bool) -> Iterator[Row | Figure]:
        yield Row("C0", "m", "w", "predicted", 1.0, 2.5, "s", "deviates", "how")
        yield figure("a", 2.5, "one", "how")
        yield figure("b", 3.5, "one", "how")

    renewed: list[str] = []
    monkeypatch.setattr(papers, "PAPERS", {"S8": papers.Paper("n", rows), "S9": papers.Paper("n", rows)})
    monkeypatch.setattr(papers, "_LONGEST_FIRST", ("S9", "S8"))
    monkeypatch.setattr(papers, "_side_by_side", ThreadPoolExecutor)  # another process would not know these papers
    monkeypatch.setattr(papers.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(papers, "page_of", lambda paper: tmp_path / f"{paper}.page")
    monkeypatch.setattr(papers.table, "figures_of", lambda paper: tmp_path / f"{paper}.csv")
    monkeypatch.setattr(papers.table, "write", lambda: renewed.append("claims"))
    monkeypatch.setattr(papers.table, "text", lambda instead: f"claims of {', '.join(instead)}")
    assert [row.paper for row in papers.rows(Options(tmp_path, small=True))] == ["S8", "S9"]
    assert papers.STUDY.run(Options(tmp_path, small=True, write=True)) == 0
    assert (sorted(path.name for path in tmp_path.glob("*.csv")), renewed) == ([], [])
    assert papers.STUDY.run(Options(tmp_path, write=True)) == 0
    assert [(tmp_path / f"{name}.page").is_file() for name in ("S8", "S9")] == [True, True]
    figures = read_figures(tmp_path / "S9.csv")
    assert [one.answer.low for one in figures.values()] == [2.5, 3.5]
    assert len({one.seconds for one in figures.values()}) == 1  # the same runs
    assert renewed == ["claims"]
    (tmp_path / "S8.page").unlink()
    assert papers.STUDY.run(Options(tmp_path, write=True, paper="S9")) == 0
    assert not (tmp_path / "S8.page").exists()


def test_a_study_shows_rows_and_renews_its_page_but_not_from_its_small_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(options: Options) -> Iterator[Row]:
        yield Row("C0", "m", "w", "predicted", 1.0, 2.5, "s", "deviates", "how")

    page = tmp_path / "results.md"
    page.write_text("old\n\n## Reading\n\nkept\n", encoding="utf-8")
    study = Study("made-up", "nothing", "no time", (), rows, (page,), tables=lambda found: f"{len(found)} row\n")
    assert study.run(Options(tmp_path, small=True, write=True)) == 0
    assert page.read_text(encoding="utf-8").startswith("old\n")
    assert study.run(Options(tmp_path, write=True)) == 0
    assert page.read_text(encoding="utf-8") == "1 row\n" + notes_of(page)
    assert notes_of(page) == "\n## Reading\n\nkept\n"
    assert capsys.readouterr().out.splitlines() == ["C0  m  w  1  2.5  s  deviates  predicted"] * 2
    assert study.run(Options(tmp_path, as_json=True)) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "homenode.validation/1"
    assert [row["class"] for row in document["rows"]] == ["predicted"]


def test_every_claim_has_a_title_and_every_result_page_names_claims_that_have_one() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    titled = re.findall(r"^\| (C\w+) \| [^|]+ \| [^|]+ \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
    assert sorted(titled, key=lambda claim: (len(claim), claim)) == sorted(
        ["CHR", *(f"C{number}" for number in range(1, 88))], key=lambda claim: (len(claim), claim)
    )
    pages = [*papers.STUDY.pages, *STUDIES["s0-latency"].pages, *STUDIES["s0-distribution"].pages]
    pages += [*STUDIES["s5-diffusion"].pages, *STUDIES["s6-buffers"].pages]
    for page in pages:
        cells = re.findall(r"^\| ((?:C[\dH]\w*)(?:, C\d+)*) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert cells, page
        assert {claim for cell in cells for claim in cell.split(", ")} <= set(titled), page


def test_the_cells_of_deviations_are_short() -> None:
    lines = (ROOT / "validation" / "DEVIATIONS.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert [cell for row in rows for cell in row.strip("|").split(" | ") if len(cell.split()) > 40] == []
    assert [line for line in lines if not line.startswith("|") and len(line) > 100] == []
