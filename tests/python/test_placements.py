"""validation/placements.py: regrets of placements, on its small cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation import placements  # noqa: E402
from validation.__main__ import main  # noqa: E402
from validation.page_with_notes import notes_of, write_with_notes  # noqa: E402

ROW = placements.Row(
    "k",
    {"n": 1},
    "m",
    2,
    2e-3,
    0.01,
    True,
    {name: placements.Placed(0.0, "core, a") for name in placements.PLACEMENTS},
    "",
)


def test_cells_name_what_binds_from_half_on() -> None:
    far = {**ROW.placements, "bind:0": placements.Placed(1.5, "controller 0, sweep")}
    row = placements.Row("k", {}, "m", 2, 2e-3, 0.01, True, far, "")
    line = list(placements.table([row]))[2]
    assert "| 2 ms | 1 %, exact | 0 % |" in line
    assert "150 % (controller 0, sweep)" in line
    assert line.count("(") == 1


def test_the_page_keeps_what_is_written_below_its_table(tmp_path: Path) -> None:
    page = tmp_path / "placements.md"
    assert notes_of(page) == ""
    page.write_text("old\n\n## Reading\n\nas it was\n", encoding="utf-8")
    write_with_notes(page, placements.page([ROW]))
    assert page.read_text(encoding="utf-8") == placements.page([ROW]) + "\n## Reading\n\nas it was\n"


@pytest.mark.capture
def test_no_placement_beats_the_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["placements", "--small", "--json", "--folder", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out.partition("{\n")[2].join(["{\n", ""]))["rows"]
    assert [row["kernel"] for row in rows] == [case.kernel for case in placements.SMALL]
    for row in rows:
        assert set(row["placements"]) == set(placements.PLACEMENTS)
        # regret = time / bound - 1, in every case; the best placement found lies between the bound and first touch
        assert all(placed["regret"] >= 0 for placed in row["placements"].values())
        assert 0 <= row["gap"] <= row["placements"]["first-touch"]["regret"]
        # all pages on node 0 of two: the other node's threads wait for them
        assert row["placements"]["bind:0"]["regret"] > row["placements"]["first-touch"]["regret"]
