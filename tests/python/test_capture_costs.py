"""The table of what capturing costs: computed array sizes, and what it takes from a trace."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.array_bytes import array_sizes  # noqa: E402
from validation.capture_costs import CASES, SMALLEST, Cost, cost, document, table  # noqa: E402


@pytest.mark.parametrize(
    ("kernel", "parameters", "size"),
    [
        # claims: 451, 3570, 336, 5369 and 12.6 MB; 8 B x (2 x sum over levels of (2^k + 2)^3 + (n + 2)^3)
        ("mg", {"class": "A"}, 452_658_880),
        ("mg", {"class": "C"}, 3_574_392_640),
        ("ft", {"class": "A"}, 335_544_320),  # 40 B x 256 x 256 x 128
        ("ft", {"class": "C"}, 5_368_709_120),  # 40 B x 512^3
        ("ft_c", {"class": "A"}, 436_207_616),  # 52 B x 256 x 256 x 128
        ("hotspot", {"size": 1024}, 12_582_912),  # 3 x 4 B x 1024^2
    ],
)
def test_array_bytes_follow_from_the_parameters(kernel: str, parameters: dict[str, int | str], size: int) -> None:
    assert sum(array_sizes(kernel, parameters)) == size


def test_a_kernel_without_arithmetic_is_refused() -> None:
    with pytest.raises(ValueError, match="no arithmetic for kernel 'sliding_tile'"):
        array_sizes("sliding_tile", {})


@pytest.mark.parametrize("kernel", ["mg", "srad_v2", "sliding_tile"])
def test_traces_have_arrays_of_the_computed_size(kernel: str, tmp_path: Path) -> None:
    found = cost(kernel, dict(SMALLEST)[kernel], tmp_path, repeats=1)
    assert found.array_bytes == found.computed_bytes
    assert (found.computed_bytes is None) == (kernel == "sliding_tile")
    assert found.accesses > 0
    assert found.trace_bytes > 0


def test_the_table_tells_what_differs() -> None:
    # slowdown 50 / 2 = 25; 400 B of trace for 400,000 accesses: 0.001 each
    row = Cost("mg", "class=A", 400_000, 2.0, 50.0, 400, 96, 100)
    line = table([row]).splitlines()[-1]
    assert line == "| mg | class=A | 400,000 | 2 s | 50 s | 25.0 | 400 B | 0.001 | 96 | 100 **differs** |"


def test_the_page_lists_what_cannot_be_captured_here() -> None:
    page = document([], "python -m validation capture-costs --write", 3)
    assert "| mg | class=C | 3,574,392,640 B | 4,736 |" in page
    assert {kernel for kernel, _ in CASES} == {"mg", "ft", "hotspot", "srad_v2", "sliding_tile", "advection3d"}
