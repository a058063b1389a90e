"""validation/published/s2: its arithmetic on made-up runs, and its small cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from validation.__main__ import main
from validation.published.s2 import rows as s2
from validation.published.s2.cases import references
from validation.published.s2.replays import Compared, Searched


def searched(rate: float, busy: float, memory: float, lines: float) -> Searched:
    return Searched(rate, busy, memory, lines, lines, 0, 0.0, "homenode replay")


def test_the_law_of_c48_is_exact_where_only_latency_changes() -> None:
    # 10 s, 8 of them in memory; latencies cut by a quarter: 8 s left, gain 10 / 8 - 1
    regular, aware = searched(1.0, 10.0, 8.0, 100.0), searched(1.25, 8.0, 6.0, 100.0)
    rows = list(s2.explanation_rows(references(), {12: [Compared(regular, aware)]}))
    assert rows[0].verdict == "agrees"
    assert rows[0].model == "f 0.80, r 0.250: 25.0 %; whole run 25.0 %"
    # C48 (derived from S2, section 5.2): gains of 17 to 28 % take f r = 0.145 to 0.219
    assert "f r = 0.145 to 0.219" in str(rows[1].model)


def test_a_gain_outside_of_the_published_range_deviates() -> None:
    def verdict(gain: float) -> str:
        found = [Compared(searched(1.0, 1, 1, 1), searched(1 + gain, 1, 1, 1))]
        return next(iter(s2.gain_rows(references(), {4: found}))).verdict

    assert [verdict(gain) for gain in (0.1, 0.2, 0.4)] == ["deviates", "agrees", "deviates"]


def test_usable_share_counts_blocks_near_any_core() -> None:
    # ten blocks; the nearest of core 0 is block 0, of core 1 block 9
    latencies = pd.DataFrame({0: np.arange(10.0), 1: np.arange(10.0)[::-1]})
    assert s2.usable_share(latencies, 1) == pytest.approx(0.1)
    assert s2.usable_share(latencies, 2) == pytest.approx(0.2)


@pytest.mark.capture
def test_s2_on_its_small_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published", "--paper", "S2", "--small", "--json", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    rows = json.loads(out[out.index("{\n") :])["rows"]
    by_claim: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        by_claim.setdefault(str(row["claim"]), []).append(row)
    assert set(by_claim) == {*(f"C{number}" for number in range(40, 49)), "CHR"}
    assert {row["class"] for row in by_claim["C47"]} == {"identity"}
    for claim in ("C44", "C45", "C46", "C47"):
        assert {row["verdict"] for row in by_claim[claim]} == {"agrees"}, claim
    assert [row["verdict"] for row in by_claim["C48"]] == ["agrees", "not compared"]
