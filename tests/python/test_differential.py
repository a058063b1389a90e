"""validation/differential.py: the engines `flow` and `line` against each other, on its small cases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from validation import differential


def test_kendall_tau() -> None:
    # six pairs, one of them in the other order: (5 - 1) / 6
    assert differential.kendall_tau([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0]) == pytest.approx(4 / 6)
    assert differential.kendall_tau([1.0, 2.0], [2.0, 1.0]) == -1
    # who finds no difference agrees by half, whatever the order
    assert differential.kendall_tau([1.0, 1.0], [1.0, 2.0]) == differential.kendall_tau([1.0, 1.0], [2.0, 1.0]) == 0
    # what the reference does not hold apart is no pair
    assert differential.kendall_tau([1.0, 2.0], [1.0, 1.01]) is None
    assert differential.kendall_tau([1.0, 2.0, 3.0], [1.0, 1.01, 5.0]) == 1


def test_engines_agree_on_the_small_cases(tmp_path: Path) -> None:
    found = list(differential.rows(tmp_path, small=True))
    assert [row.kernel for row in found] == ["jacobi2d", "heap_list1"][: len(found)]
    assert found
    for row in found:
        for name, timed in row.placements.items():
            assert abs(timed.difference) < 0.5, (row.kernel, name)
        assert list(differential.table([row]))[2].startswith(f"| {row.kernel} | xeon-x5550-2s")
    assert "mean tau" in differential.page(found)
