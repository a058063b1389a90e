"""`hn.balanced` on a small program, and what it refuses. The arithmetic is tested in tests/unit/models/run."""

import pytest

import homenode as hn
from homenode.errors import UsageError


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    return hn.capture("jacobi2d", n=256, sweeps=4, output=tmp_path_factory.mktemp("balanced") / "j.hnt")


def test_scans_cost_time_and_without_them_none_passes(trace: hn.Trace) -> None:
    options = {"threads": 8, "system": "linux-4.4"}
    never = hn.balanced(trace, "xeon-x5550-2s", seconds=0.05, placement="first-touch+autonuma", **options)
    assert never.scans == 0
    assert never.kept == 1
    assert never.seconds_alone >= 0.05
    often = hn.balanced(
        trace,
        "xeon-x5550-2s",
        seconds=0.05,
        placement="first-touch+autonuma:scan_delay=1ms,scan_period_min=1ms",
        **options,
    )
    assert often.scans > 0
    assert often.hinting_faults > 0
    assert often.kept < 1
    assert often.seconds_alone == never.seconds_alone


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"placement": "first-touch"}, "allowed: placements with automatic balancing"),
        ({"placement": "first-touch+autonuma", "seconds": 0}, "'seconds' is 0; allowed: a number above 0"),
        ({"placement": "first-touch+autonuma", "seconds": True}, "'seconds' is True"),
    ],
)
def test_refuses(trace: hn.Trace, given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        hn.balanced(trace, "xeon-x5550-2s", threads=8, **given)
