"""validation/mappings.py and S3's rows, on their small cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation import mappings  # noqa: E402
from validation.__main__ import main  # noqa: E402
from validation.published.s3 import cases as s3  # noqa: E402


def test_every_way_to_put_threads_on_cores_is_tried_once() -> None:
    # 2 threads: on one core, on two of a socket, on two sockets
    assert list(mappings.placements_of(2, 2, 4)) == [(0, 0), (0, 1), (0, 4)]
    # of k used cores over at most 2 sockets: 2^(k - 1) ways; partitions of 4 threads: S(4, k) = 1, 7, 6, 1
    ways = list(mappings.placements_of(4, 2, 4))
    assert len(ways) == len(set(ways)) == 1 + 7 * 2 + 6 * 4 + 1 * 8
    # one core a socket: the partitions of 3 threads into at most 2 parts
    assert len(list(mappings.placements_of(3, 2, 1))) == 1 + 3


@pytest.mark.capture
def test_no_mapping_beats_the_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mappings", "--small", "--json", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    (row,) = json.loads(out[out.index("{\n") :])["rows"]
    assert set(row["mappings"]) == set(mappings.MAPPINGS)
    assert row["searched"] == len(mappings.MAPPINGS) + len(list(mappings.placements_of(row["threads"], 2, 4)))
    for cell in row["mappings"].values():
        assert cell["regret"] >= 0
        assert cell["joules"] > 0
        assert 0 <= cell["local_share"] <= 1
        assert 0 <= cell["private_hit_rate"] <= 1


def test_the_page_has_a_line_for_each_mapping() -> None:
    cells = {name: mappings.Cell(1e-3, 2e-3, 0.5, 0.25, 0.1) for name in mappings.MAPPINGS}
    row = mappings.Row("k", {"n": 1}, next(iter(mappings.MACHINES)), 2, 7, "compact", cells, "")
    assert "| btdm | 1 ms | 2 mJ | 50 % | 25 % | 10 % |" in mappings.page([row])


@pytest.mark.capture
def test_s3_tells_signs_and_counts_what_is_required(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published", "--paper", "S3", "--small", "--json", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    rows = json.loads(out[out.index("{\n") :])["rows"]
    by_claim: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        by_claim.setdefault(str(row["claim"]), []).append(row)
    assert set(by_claim) == {f"C{number}" for number in range(49, 57)}
    for number in range(49, 55):
        assert {row["verdict"] for row in by_claim[f"C{number}"]} == {"not compared"}
    assert [row["verdict"] for row in by_claim["C55"]] == ["agrees"]
    assert [row["class"] for row in by_claim["C55"]] == ["identity"]
    assert {row["verdict"] for row in by_claim["C56"]} == {"agrees"}


def test_what_s3_prints_has_a_source() -> None:
    printed = s3.references()
    assert printed["all", "flops_iops_threads"].value == 2400
    assert printed["all", "cpu_x_numa_gain"].unit == "W"
