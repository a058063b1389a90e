"""The papers' figures: they say what the pages say, and are drawn as PNG and SVG with equal bytes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

sys.path.insert(0, str(ROOT))

from validation.__main__ import main
from validation.published.drawings import canvas, s0, s1, s4
from validation.published.drawings.results import Results, interval, named_numbers, number
from validation.published.drawings.study import DRAWINGS, PICTURES, STUDY
from validation.study import BadOptions, Options

from homenode.errors import InputError

EVERY = [drawing for drawings in DRAWINGS.values() for drawing in drawings]


@pytest.mark.parametrize("drawing", EVERY, ids=lambda drawing: drawing.name)
def test_a_figure_is_drawn_from_its_page(drawing: canvas.Drawing, tmp_path: Path) -> None:
    printed, (png, svg) = canvas.write(drawing, tmp_path / "once")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text(encoding="utf-8")
    assert re.search(r">S[0-4], (figure|table)", text)
    # equal numbers give equal bytes
    again, files = canvas.write(drawing, tmp_path / "again")
    assert (again, [file.read_bytes() for file in files]) == (printed, [png.read_bytes(), svg.read_bytes()])
    assert ("printed" in text.replace("the printed values are kept apart", "").replace("printed STREAM", "")) == (
        printed > 0 and drawing.name != "paper-s4-figure-3"
    )
    assert (PICTURES / f"{drawing.name}.png").is_file()


def drawn(drawing: canvas.Drawing) -> Any:
    """The figure itself, as Matplotlib has it."""
    figure = pytest.importorskip("matplotlib.figure").Figure()
    drawing.draw(figure)
    return figure


def test_curves_have_the_pages_values() -> None:
    """S1's table 4: 128 threads with glibc take 5.121 s as printed (s1/printed.csv), and what the page says of the model."""
    table = next(drawing for drawing in s1.DRAWINGS if drawing.name == "paper-s1-table-4")
    lines = {line.get_label(): dict(zip(*line.get_data(), strict=True)) for line in drawn(table).axes[0].get_lines()}
    assert lines["glibc, printed"][128] == 5.121
    page = (ROOT / "validation/published/s1/results.md").read_text(encoding="utf-8")
    row = re.search(r"writing with glibc, 128 threads [^|]*\| 5.121 \| ([\d.]+) \|", page)
    assert row is not None
    assert lines["glibc"][128] == float(row[1])
    # blind columns have the model's value alone
    assert 256 in lines["glibc"]
    assert 256 not in lines["glibc, printed"]


@pytest.mark.parametrize("drawing", EVERY, ids=lambda drawing: drawing.name)
def test_what_is_drawn_lies_inside_its_axes(drawing: canvas.Drawing) -> None:
    for axes in drawn(drawing).axes:
        inside, ends = axes.dataLim, axes.viewLim
        for low, high, least, most in (
            (inside.x0, inside.x1, ends.x0, ends.x1),
            (inside.y0, inside.y1, ends.y0, ends.y1),
        ):
            slack = 1e-6 * abs(most - least)
            assert min(least, most) - slack <= min(low, high), axes.get_title()
            assert max(low, high) <= max(least, most) + slack, axes.get_title()


def test_bars_have_the_pages_values() -> None:
    page = (ROOT / "validation/published/s4/results.md").read_text(encoding="utf-8")
    rows = re.findall(r"xeon-x5550-2s \| locality queues with kji [^|]*\| [^|]* \| s/ijk (\d+), s/kji (\d+),", page)
    axes = drawn(s4.DRAWINGS[0]).axes[0]
    assert axes.get_title() == "xeon-x5550-2s"
    queues = next(bars for bars in axes.containers if bars.get_label() == "locality queues")
    assert [(f"{queues[0].get_height():.0f}", f"{queues[1].get_height():.0f}")] == rows


def test_idle_times_are_drawn_core_by_core() -> None:
    page = (ROOT / "validation/published/s0/results_distribution.md").read_text(encoding="utf-8")
    first = re.search(r"^\| 0 \| ([\d.]+) \| ([\d.]+) \|", page, re.MULTILINE)
    assert first is not None
    idle = next(drawing for drawing in s0.DRAWINGS if drawing.name == "paper-s0-figure-8")
    bars = drawn(idle).axes[0].containers[0]
    assert [bars[0].get_height(), bars[1].get_height()] == [float(first[1]), float(first[2])]


def test_what_a_page_says_is_read(tmp_path: Path) -> None:
    page = tmp_path / "page"
    head = (
        "| claim | class | machine | what | published | model | unit | verdict |\n|---|---|---|---|---|---|---|---|\n"
    )
    page.write_text(
        f"# P\n\n{head}| C1, C2 | predicted | m | w: 8 threads | 2 | 3 | s | agrees |\n\nAbove:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    results = Results(page)
    ((line, found),) = results.lines("C2", r"w: (\d+)")
    assert (line.published, line.model, found[1]) == ("2", "3", "8")
    assert results.tables(["a"]) == [("Above:", [{"a": "1", "b": "2"}])]
    with pytest.raises(InputError, match=r"no row of C3 .*; allowed: "):
        results.lines("C3", "w")
    with pytest.raises(InputError, match="no table of x; allowed: "):
        results.tables(["x"])
    with pytest.raises(InputError, match=r"no page .*; allowed: "):
        Results(tmp_path / "none").lines("C1", "")


def test_numbers_are_read() -> None:
    assert number("1.964e+05 pages") == 196400
    assert (interval("1.01 to 1.05"), interval("0.998")) == ((1.01, 1.05), (0.998, 0.998))
    assert named_numbers("serial 553 < round robin 2130; x") == {"serial": 553, "round robin": 2130}
    with pytest.raises(InputError, match="has no number"):
        number("figure")


def test_the_study_draws_one_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr("validation.published.drawings.study.PICTURES", tmp_path / "pictures")
    (tmp_path / "pictures").mkdir()
    assert main(["figures", "--paper", "S4", "--folder", str(tmp_path), "--write"]) == 0
    assert "paper-s4-figure-3" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "paper-s4-figure-3.png",
        "paper-s4-figure-3.svg",
    ]
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["paper-s4-figure-3.png"]
    with pytest.raises(BadOptions, match="--paper S3 has no figure to draw; allowed: S0, S1, S2, S4"):
        next(iter(STUDY.rows(Options(tmp_path, paper="S3"))))


def test_every_figure_stands_on_the_page() -> None:
    page = (ROOT / "docs/paper_figures.md").read_text(encoding="utf-8")
    assert re.findall(r"\(pictures/([\w-]+)\.png\)", page) == [drawing.name for drawing in EVERY]
