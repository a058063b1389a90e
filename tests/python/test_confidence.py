"""Rankings with confidence: intervals, paired samples, what to measure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import homenode as hn
from homenode.confidence import explained, probability
from homenode.sampling import changed, quantile, sampled_factors
from support import Ended

Run = Callable[..., Ended]
MACHINE = "xeon-x7560-4s"


def value(low: float, high: float) -> dict[str, Any]:
    return {"name": "v", "paths": ["nodes.latency"], "low_factor": low, "high_factor": high}


@given(st.floats(0.05, 1), st.floats(1, 20), st.floats(0, 1), st.floats(0, 1))
def test_quantiles_rise_from_low_to_high(low: float, high: float, one: float, other: float) -> None:
    uncertain = value(low, high)
    assert quantile(uncertain, 0) == pytest.approx(low)
    assert quantile(uncertain, 1) == pytest.approx(high)
    smaller, larger = sorted((one, other))
    assert quantile(uncertain, smaller) <= quantile(uncertain, larger) * (1 + 1e-12)


def test_quantiles_are_those_of_the_triangle() -> None:
    # F(mode) = (mode - low) / (high - low), on the logarithm: ln 1/2, 0, ln 4 -> 1/3
    assert quantile(value(0.5, 4), 1 / 3) == pytest.approx(1)
    # symmetric: the median is the mode; F(low / 2) on the logarithm = (1/2)^2 / 2 = 1/8
    assert quantile(value(0.5, 2), 0.5) == pytest.approx(1)
    assert quantile(value(0.5, 2), 1 / 8) == pytest.approx(math.sqrt(0.5))
    # low = 0 has no logarithm: F(x) = x^2 / (high x mode) below the mode, here x^2 / 2
    assert quantile(value(0, 2), 1 / 8) == pytest.approx(0.5)


@given(st.integers(2, 60), st.integers(0, 2**64 - 1))
def test_each_stratum_is_sampled_once(samples: int, seed: int) -> None:
    uncertain = [value(0.5, 2), value(0.8, 1.1)]
    factors = sampled_factors(uncertain, samples, seed)
    assert factors.shape == (samples, 2)
    for one, column in zip(uncertain, factors.T, strict=True):
        edges = [quantile(one, stratum / samples) for stratum in range(samples + 1)]
        inside = np.searchsorted(edges, column, side="right") - 1
        assert sorted(np.clip(inside, 0, samples - 1)) == list(range(samples))


def test_equal_times_are_half_a_win() -> None:
    # wins in 1 of 4, equal in 2 of 4: 0.25 + 0.5 x 0.5
    assert probability(np.array([1.0, 2, 3, 4]), np.array([2.0, 2, 3, 3])) == 0.5
    assert probability(np.array([1.0, 1]), np.array([2.0, 2])) == 1


def test_explained_variance_is_adjusted_for_chance() -> None:
    generator = np.random.default_rng(1)
    x, noise = generator.normal(size=400), generator.normal(size=400)
    assert explained(x, 3 * x + 1) == pytest.approx(1)
    # var(x + noise) = 2 var(x): half of it is explained
    assert explained(x, x + noise) == pytest.approx(0.5, abs=0.1)
    assert explained(x, noise) < 0.02
    assert explained(x, np.zeros(400)) == 0
    # of 3 points chance alone gives r^2 = 1/2 on average; adjusted: 1 - (1 - r^2) x 2 / 1
    three = np.array([0.0, 1, 2]), np.array([0.0, 2, 1])
    assert explained(*three) == pytest.approx(max(0, 1 - (1 - 0.25) * 2))


def test_a_machine_lists_what_may_be_off() -> None:
    machine = hn.Machine.load(MACHINE)
    listed = {one["name"]: one for one in machine.uncertainties}
    assert listed["core_time"]["low_factor"] == 0.5
    assert listed["memory_time"]["high_factor"] == 1.35
    # stated: 135 ns, low 135 ns, high 160 ns
    latency = listed["nodes.latency"]
    assert latency["low_factor"] == 1
    assert latency["high_factor"] == pytest.approx(160 / 135)
    assert latency["basis"] == "stated"
    assert "caches.3.size" not in listed
    # what is asked for is not sampled
    asked = machine.with_changes(memory_latency="150 ns", core_time="x2")
    assert {"nodes.latency", "core_time"}.isdisjoint(one["name"] for one in asked.uncertainties)
    left = {one["name"].split(".")[0] for one in machine.with_changes(core_time="x1", memory_time="x1").uncertainties}
    assert left == {"core", "threads"}  # miss buffers, prefetched lines; forks and barriers


@pytest.mark.parametrize("name", hn.Machine.names())
def test_a_changed_machine_is_read_back_from_its_text(name: str) -> None:
    """Also where the change lies beyond the stated low and high, which hold no longer."""
    machine = hn.Machine.load(name)
    changes = {"memory_latency": "x4", "core_time": "x2", "memory_time": "x1.1"}
    if machine.sockets > 1:
        changes["link_latency"] = "x3"
    changed = machine.with_changes(changes)
    assert hn.Machine.from_toml(changed.to_toml()).hash == changed.hash


def test_samples_are_machines() -> None:
    """Lines of another socket may not be nearer than the own's: drawn apart, opteron's 30 to 80 ns and 60 to 130 ns may cross."""
    machine = hn.Machine.load("opteron-8431-4s")
    uncertain = [one for one in machine.uncertainties if one["name"].startswith("coherence.core_to_core")]
    assert [one["name"] for one in uncertain] == ["coherence.core_to_core_local", "coherence.core_to_core_remote"]
    # 54 ns x 1.4 = 76 ns above 79 ns x 0.8 = 63 ns; at half the logarithm 64 ns below 71 ns
    near = changed(machine, uncertain, [1.4, 0.8])
    assert near.changes["coherence.core_to_core_local"] == f"x{1.4**0.5:.9g}"
    assert near.changes["coherence.core_to_core_remote"] == f"x{0.8**0.5:.9g}"
    assert changed(machine, uncertain, [1.4, 1.0]).changes["coherence.core_to_core_local"] == "x1.4"


@pytest.fixture(scope="module")
def ranking(trace: hn.Trace) -> hn.Ranking:
    choices = hn.grid([hn.Machine.load(MACHINE)], [16], placement=["first-touch", "interleave", "first-touch"])
    return hn.rank(trace, choices, samples=12, workers=1)


def test_samples_change_the_machine_equally_for_all_choices(ranking: hn.Ranking) -> None:
    # the first and the last choice are the same: with the same machines drawn for both, no sample tells them apart
    one, _, two = ranking.results
    assert one.seconds == two.seconds
    assert one.interval == two.interval
    pair = next(
        pair for pair in ranking.confidence["rankings"][0]["pairs"] if {pair["faster"], pair["slower"]} == {0, 2}
    )
    assert pair["probability"] == 0.5
    assert not pair["flips_with_core_time"]


def test_a_ranking_says_how_sure_it_is(ranking: hn.Ranking) -> None:
    confidence = ranking.confidence
    assert confidence["samples"] == 12
    group = confidence["rankings"][0]
    seconds = [ranking.results[run].seconds for run in group["runs"]]
    assert seconds == sorted(seconds)
    assert len(group["pairs"]) == 3  # 3 x 2 / 2
    for pair in group["pairs"]:
        assert 0 <= pair["probability"] <= 1
    for result in ranking.results:
        assert result.interval is not None
        low, high = result.interval
        assert low < high
    shares = [parameter["share"] for parameter in group["parameters"]]
    assert shares == sorted(shares, reverse=True)
    # twice the time of instructions never makes a run faster
    by_core = group["seconds_by_core_time"]
    for half, whole, twice in zip(by_core["0.5"], seconds, by_core["2"], strict=True):
        assert half <= whole <= twice
    assert list(ranking.pairs.columns) == ["faster", "slower", "probability", "flips_with_core_time"]
    assert ranking.parameters["share"].is_monotonic_decreasing
    assert json.loads(ranking.to_json())["confidence"] == confidence


def test_the_number_of_workers_changes_nothing(trace: hn.Trace, ranking: hn.Ranking) -> None:
    choices = hn.grid([hn.Machine.load(MACHINE)], [16], placement=["first-touch", "interleave", "first-touch"])
    again = hn.rank(trace, choices, samples=12, workers=3)
    assert again.to_json() == ranking.to_json()


def test_one_known_number_decides(trace: hn.Trace, tmp_path: Path) -> None:
    """Where one number alone is open, it is the one to measure, and it explains all."""
    text = hn.Machine.load("opteron-8431-4s").to_toml()
    lines = []
    for line in text.splitlines():
        # every value exact but the link's bandwidth, which is anywhere from hardly any to plenty
        if " = { value = " in line:
            value = line.partition("{ value = ")[2].partition(", source")[0]
            bounds = f"low = {value}, high = {value}" if not value.startswith("[") else ""
            if line.startswith("bandwidth = "):
                bounds = 'low = "0.1 GB/s", high = "90 GB/s"'
            line = f'{line.partition(" = ")[0]} = {{ value = {value}, source = "T"{", " + bounds if bounds else ""} }}'
        lines.append(line)
    file = tmp_path / "open-link.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    machine = hn.Machine.load(file).with_changes(core_time="x1", loaded_latency="x1", core_to_core_local="x1")
    open_names = {one["name"].split(" ")[0] for one in machine.uncertainties}
    assert open_names == {"links.bandwidth", "memory_time"}  # the second is no number of the machine
    choices = hn.grid([machine], [24], placement=["interleave", "first-touch"], mapping=["compact", "scatter"])
    group = hn.rank(trace, choices, samples=12).confidence["rankings"][0]
    if any(0 < pair["probability"] < 1 for pair in group["pairs"]):
        assert group["measure_first"]["name"].startswith("links.bandwidth")
    else:
        assert group["measure_first"] is None


def test_one_run_has_an_interval(trace: hn.Trace) -> None:
    result = hn.replay(trace, MACHINE, threads=8, confidence=4)
    assert result.interval is not None
    assert hn.replay(trace, MACHINE, threads=8).interval is None
    with pytest.raises(hn.errors.UsageError, match="one or the other"):
        hn.replay(trace, MACHINE, threads=8, confidence=4, keep_log=True)
    with pytest.raises(hn.errors.UsageError, match="argument 'confidence' is 1; allowed: a whole number, at least 2"):
        hn.replay(trace, MACHINE, threads=8, confidence=1)
    with pytest.raises(hn.errors.UsageError, match="no choices"):
        hn.rank(trace, [])


def test_the_command_prints_confidence(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    options = ("--machine", MACHINE, "--threads", "16", "--placement", "first-touch", "--placement", "interleave")
    done = homenode("replay", trace_file, *options, "--confidence=6", "-o", "sampled.json")
    assert done.status == 0, done.stderr
    for text in ("90 % interval", "6 sampled machines", "P(rank … beats …)", " … "):
        assert text in done.stdout
    assert (
        ("Measuring " in done.stdout)
        or ("No measurement would settle" in done.stdout)
        or ("nothing to measure first" in done.stdout)
    )
    written = json.loads((tmp_path / "sampled.json").read_text(encoding="utf-8"))
    assert written["confidence"]["samples"] == 6
    assert all(len(run["seconds_interval"]) == 2 for run in written["runs"])
    # keys are only added: without the option the runs are the same but for the interval
    plain = json.loads(homenode("replay", trace_file, *options, "--json").stdout)
    for run in written["runs"]:
        del run["seconds_interval"]
    assert plain["runs"] == written["runs"]
    assert "confidence" not in plain


def test_confidence_without_a_number_takes_the_usual(homenode: Run, trace_file: Path) -> None:
    done = homenode("replay", trace_file, "--machine", MACHINE, "--threads", "4", "--confidence", "--json")
    assert json.loads(done.stdout)["confidence"]["samples"] == 40


def test_many_choices_are_compared_with_their_neighbours(homenode: Run, trace_file: Path) -> None:
    many = [word for chunk in range(1, 14) for word in ("--distribution", f"dynamic:{chunk}")]
    done = homenode("replay", trace_file, "--machine", MACHINE, "--threads", "4", *many, "--confidence=2")
    assert done.status == 0, done.stderr
    assert "beats" in done.stdout
    assert "P(rank" not in done.stdout


@pytest.mark.parametrize("text", ["1", "some", "0"])
def test_bad_numbers_of_samples_are_refused(homenode: Run, trace_file: Path, text: str) -> None:
    done = homenode("replay", trace_file, "--machine", MACHINE, "--threads", "4", f"--confidence={text}")
    assert done.status == 2
    assert done.stderr.count("\n") == 1
    assert "--confidence" in done.stderr
    assert done.stdout == ""
