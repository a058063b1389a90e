"""The study of latency under load: what it predicts of two systems, and that it predicts it from idle figures."""

import pytest
from validation import loaded_latency


def _system(name: str) -> dict[str, object]:
    return next(system for system in loaded_latency.systems() if system["name"] == name)


def test_ivy_bridge_is_within_a_tenth() -> None:
    rows = list(loaded_latency.rows_of(_system("xeon-e5-2680v2")))
    assert [row.share for row in rows] == list(loaded_latency.SHARES)
    for row in rows:
        assert abs(row.error) <= loaded_latency.WITHIN
        # better than both null models, and never under the idle latency
        assert abs(row.error) < abs(row.md1_ns / row.published_ns - 1) < abs(row.idle_ns / row.published_ns - 1)
        assert row.predicted_ns >= row.idle_ns
    assert rows[0].predicted_ns < rows[1].predicted_ns < rows[2].predicted_ns
    # 8 transfers of 64 bits in 4.287 ns on four channels: 59.7 GB/s; 55.3 were measured
    assert rows[0].dimms_peak == pytest.approx(4 * 64 / 4.287)
    assert rows[0].predicted_peak == pytest.approx(rows[0].published_peak, rel=0.03)
    assert rows[0].predicted_peak < rows[0].dimms_peak


def test_cluster_on_die_is_a_known_deviation() -> None:
    """DEVIATIONS.md: -9, -13 and -29 %."""
    errors = [row.error for row in loaded_latency.rows_of(_system("xeon-e5-2680v4-cod"))]
    assert errors == pytest.approx([-0.09, -0.13, -0.29], abs=0.02)


def test_no_measured_bandwidth_goes_in() -> None:
    for system in loaded_latency.systems():
        machine = loaded_latency.machine_of(system)
        peak = loaded_latency.peak_of(system)
        # what it is bounded by is the DIMMs' peak, above all of the curve
        assert machine.bandwidth[0, 0] / 1e9 == pytest.approx(peak, rel=1e-4)
        assert peak > max(bandwidth for bandwidth, _ in system["curve"]) / system["nodes"]
        assert machine.latency_ns[0, 0] == pytest.approx(system["idle_ns"])
