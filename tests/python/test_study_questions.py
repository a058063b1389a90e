"""What is asked of a study: break-even, sensitivity, search, Pareto front."""

from __future__ import annotations

import math
from typing import Any

import pytest

import homenode as hn
from homenode import errors
from homenode.study.break_even import _crossings
from homenode.study.pareto import Pareto

MACHINE = "xeon-x7560-4s"


@pytest.fixture(scope="module")
def stream(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Three arrays of 24 MB, each part initialised by the thread that uses it; two sockets' caches hold less, their controllers bind."""
    path = tmp_path_factory.mktemp("traces") / "stream.hnt"
    return hn.capture("stream", output=path, n=3000000)


@pytest.fixture(scope="module")
def links(stream: hn.Trace) -> hn.Study:
    """Few threads fill one socket: over fast links the other sockets' controllers help them, over slow ones they do not."""
    bandwidths = ["1 GB/s", "4 GB/s", "25 GB/s"]
    return hn.Study(
        stream, MACHINE, threads=[8, 16], placement=["first-touch", "interleave"], change={"link_bandwidth": bandwidths}
    )


def test_break_even_lies_where_the_two_change_places(links: hn.Study, stream: hn.Trace) -> None:
    found = links.break_even("link_bandwidth", compare="placement", refine=3, store=False)
    assert found.values == ("first-touch", "interleave")
    assert found.table["at_si"].notna().all()
    for _, row in found.table.iterrows():
        gains = []
        for bandwidth in (row["low"], row["high"]):
            machine = hn.Machine.load(MACHINE).with_changes(link_bandwidth=bandwidth)
            first, second = (
                hn.replay(stream, machine, threads=int(row["threads"]), placement=placement).seconds
                for placement in found.values
            )
            gains.append(second / first)
        assert (gains[0] > 1) != (gains[1] > 1)
        assert row["below"] == ("first-touch" if gains[0] > 1 else "interleave") != row["above"]
        low, high = (float(row[name].split()[0]) * 1e9 for name in ("low", "high"))
        assert low <= row["at_si"] <= high
    assert set(found.table["threads"]) == {8, 16}
    assert found.plot().data


def test_one_that_is_better_everywhere_has_no_break_even(stream: hn.Trace) -> None:
    """All pages on a node without threads, over the slowest links, is never better."""
    changes = {"link_bandwidth": ["1 GB/s", "2 GB/s"]}
    study = hn.Study(stream, MACHINE, threads=8, placement=["bind:3", "first-touch"], change=changes)
    (row,) = study.break_even("link_bandwidth", compare="placement", store=False).table.to_dict("records")
    assert row["below"] == row["above"] == "first-touch"
    assert math.isnan(row["at_si"])
    assert row["at"] is None or row["at"] != row["at"]


def test_refining_halves_the_stretch(stream: hn.Trace) -> None:
    changes = {"link_bandwidth": ["1 GB/s", "64 GB/s"]}
    study = hn.Study(stream, MACHINE, threads=8, placement=["first-touch", "interleave"], change=changes)
    widths = []
    for refine in (0, 1, 2):
        (row,) = study.break_even("link_bandwidth", compare="placement", refine=refine, store=False).table.to_dict(
            "records"
        )
        low, high = (float(row[name].split()[0]) for name in ("low", "high"))
        widths.append(math.log(high / low))
    # ln 64, its half, its quarter; values are written with six digits
    assert widths == pytest.approx([math.log(64), math.log(8), math.log(64) / 4], rel=1e-5)


def test_axes_that_go_along_do_not_split_the_axis(stream: hn.Trace) -> None:
    """Of 8, 16 and 32 threads with a mapping each: one line, not one for each mapping."""
    study = hn.Study(stream, MACHINE, placement=["first-touch", "interleave"], change={"link_bandwidth": "25 GB/s"})
    study = study.zip(threads=[2, 8, 16, 32], mapping=["compact", "compact", "scatter", "scatter"])
    found = study.break_even("threads", compare="placement", store=False)
    assert list(found.gains["threads"]) == [2, 8, 16, 32]
    with pytest.raises(errors.UsageError, match="goes along with other axes"):
        study.break_even("threads", compare="placement", refine=1, store=False)
    heaps = hn.Study(stream, MACHINE, threads=[2, 8]).zip(
        placement=["first-touch", "interleave"], heap=["plain", "glibc"]
    )
    assert len(heaps.break_even("threads", compare="placement", store=False).table) == 1


def test_break_even_along_the_number_of_sockets(stream: hn.Trace) -> None:
    changes = {"sockets": ["1", "2", "8"], "topology": "ring"}
    study = hn.Study(stream, MACHINE, threads=8, placement=["first-touch", "interleave"], change=changes)
    found = study.break_even("sockets", compare="placement", refine=2, store=False)
    assert set(found.gains["sockets"]) >= {"1", "2", "8"}
    assert found.plot().data


def test_ties_are_on_neither_side() -> None:
    found = _crossings("threads", {2.0: (2, 0.5), 4.0: (4, 0.0), 8.0: (8, -0.6)}, ["a", "b"])
    assert [(row["below"], row["above"], row["low"], row["high"]) for row in found] == [("a", "b", 2, 8)]


def test_of_equal_times_none_is_better() -> None:
    # less than a thousandth apart everywhere, or not at all
    for gains in (
        (0.0, 0.0),
        (
            0.0009,
            -0.0,
        ),
    ):
        along = {float(place): (place, gain) for place, gain in enumerate(gains, start=1)}
        (row,) = _crossings("threads", along, ["a", "b"])
        assert (row["below"], row["above"], row["low"]) == ("equal", "equal", None)
    (row,) = _crossings("threads", {1.0: (1, 0.0), 2.0: (2, 0.002)}, ["a", "b"])
    assert (row["below"], row["above"]) == ("a", "a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"axis": "nothing", "compare": "placement"}, "unknown axis 'nothing'"),
        (
            {"axis": "placement", "compare": "link_bandwidth"},
            r"'link_bandwidth' is compared at .* allowed: two of .* by values=\[A, B\] \(--compare link_bandwidth=A,B\)",
        ),
        ({"axis": "mapping", "compare": "placement"}, "unknown axis 'mapping'"),
        ({"axis": "link_bandwidth", "compare": "placement", "of": "minutes"}, "unknown column 'minutes'"),
        (
            {"axis": "placement", "compare": "threads"},
            "axis 'placement' has the value 'first-touch'; allowed here: numbers",
        ),
    ],
)
def test_questions_that_are_none(links: hn.Study, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(errors.UsageError, match=words):
        links.break_even(**arguments, store=False)


def test_sensitivity_finds_what_binds(trace: hn.Trace) -> None:
    """On one thread no link is crossed: link numbers explain nothing, and core and memory together nearly all."""
    study = hn.Study(trace, "xeon-x5550-2s", threads=1)
    names = ["core_time", "memory_time", "links.bandwidth"]
    found = study.sensitivity(32, parameters=names, store=False)
    total = found.table.set_index("parameter")["total"]
    assert set(total.index) == set(names)
    assert total["links.bandwidth"] == pytest.approx(0, abs=1e-9)
    assert total["core_time"] + total["memory_time"] > 0.8
    assert found.table["total"].is_monotonic_decreasing
    assert study.sensitivity(32, parameters=names, store=False).table.equals(found.table)
    assert found.plot().data


def test_sensitivity_needs_all_runs(trace: hn.Trace) -> None:
    with pytest.raises(errors.UsageError, match="failed, and the indices need all"):
        hn.Study(trace, MACHINE, threads=8, placement="nonsense").sensitivity(2, store=False)
    with pytest.raises(errors.UsageError, match="as it draws its own"):
        hn.Study(trace, MACHINE, threads=8).sample(2).sensitivity(2, store=False)


def test_sensitivity_says_where_it_has_no_numbers(trace: hn.Trace) -> None:
    estimates = hn.Study(trace, MACHINE, threads=8, engine="closed-form")
    with pytest.raises(errors.UsageError, match="column 'joules' has no number"):
        estimates.sensitivity(2, of="joules", parameters="core_time", store=False)
    with pytest.raises(errors.UsageError, match="no uncertain parameter"):
        estimates.sensitivity(2, parameters=[], store=False)
    with pytest.raises(errors.UsageError, match="a study without points"):
        estimates.where("threads > 8").sensitivity(2, store=False)


def test_trials_that_lack_runs_do_not_win(stream: hn.Trace, trace: hn.Trace) -> None:
    """hotspot, which is small, alone: its mean with the stream would be larger."""
    both = hn.Study({"small": trace, "large": stream}, MACHINE, threads=[4, 32])
    found = both.where("trace == 'small' or threads < 32").optimise(store=False)
    assert found.best == {"threads": 4}
    assert list(found.trials["objective"] == math.inf) == [False, True]
    with pytest.raises(errors.UsageError, match="no trial ran for all values of 'trace'"):
        hn.Study({"small": trace, "large": stream}, MACHINE).zip(trace=["small", "large"], threads=[4, 8]).optimise(
            store=False
        )


def test_conditions_hold_in_trials(stream: hn.Trace) -> None:
    seen: list[Any] = []

    def objective(frame: Any) -> float:
        seen.append((list(frame["sample"]), frame["link_bandwidth_si"].iloc[0]))
        return float(frame["seconds"].max())

    study = hn.Study(stream, MACHINE, threads=8).sample(3, parameters=["core_time"])
    study = study.where("sample > 1").where("link_bandwidth > '4 GB/s'")
    study.optimise(objective, budget=8, between={"link_bandwidth": ("1 GB/s", "16 GB/s")}, store=False)
    assert 0 < len(seen) < 8
    assert all(samples == [2, 3] and bandwidth > 4e9 for samples, bandwidth in seen)


def test_search_finds_the_least(links: hn.Study) -> None:
    found = links.optimise(budget=100, store=False)
    frame = links.run(store=False).frame
    assert found.exhaustive
    assert found.value == pytest.approx(frame["seconds"].min(), rel=1e-12)
    row = frame.loc[frame["seconds"].idxmin()]
    assert found.best == {name: row[name] for name in ("threads", "placement", "link_bandwidth")}
    assert len(found.trials) == 12
    assert found.plot().data


def test_search_in_fewer_trials_is_reproducible(links: hn.Study) -> None:
    runs = [links.optimise(budget=6, seed=3, store=False) for _ in range(2)]
    assert not runs[0].exhaustive
    assert runs[0].trials.equals(runs[1].trials)
    assert len(runs[0].trials) == 6
    assert runs[0].value == runs[0].trials["objective"].min() == runs[0].trials["best"].iloc[-1]


def test_the_cheapest_machine_on_which_a_policy_pays_off(stream: hn.Trace) -> None:
    """Price is the links' bandwidth; allowed is where interleaving is faster than first touch."""
    study = hn.Study(stream, MACHINE, threads=8, placement=["first-touch", "interleave"])

    def price(frame: Any) -> float:
        seconds = frame.set_index("placement")["seconds"]
        allowed = seconds["interleave"] < seconds["first-touch"]
        return float(frame["link_bandwidth_si"].iloc[0]) if allowed else math.inf

    found = study.optimise(
        price, budget=20, each=["trace", "placement"], between={"link_bandwidth": ("0.5 GB/s", "50 GB/s")}, store=False
    )
    assert 1e9 < found.value < 10e9  # the break-even above lies at 3.9 GB/s
    assert set(found.best) == {"link_bandwidth"}
    # the price is that of the machine which is named, in B/s
    assert found.value == pytest.approx(float(found.best["link_bandwidth"].split()[0]) * 1e9)
    assert found.trials["objective"].min() == found.value


def test_search_refuses(links: hn.Study) -> None:
    with pytest.raises(errors.UsageError, match="unknown objective 'minutes'"):
        links.optimise("minutes", store=False)
    with pytest.raises(errors.UsageError, match="cannot vary continuously"):
        links.optimise(between={"threads": ("1", "8")}, store=False)
    with pytest.raises(errors.UsageError, match="the lesser one first"):
        links.optimise(between={"memory_latency": ("90 ns", "60 ns")}, store=False)


def test_the_front_is_what_nobody_beats(links: hn.Study) -> None:
    frame = links.run(store=False).frame
    front = Pareto.of(frame, ["seconds", "joules"], ["threads"])
    points = frame[["seconds", "joules"]].to_numpy()
    for _, row in front.table.iterrows():
        assert not any(
            (a <= row["seconds"] and b <= row["joules"]) and (a < row["seconds"] or b < row["joules"])
            for a, b in points
        )
    for _, row in front.others.iterrows():
        assert any(
            (a <= row["seconds"] and b <= row["joules"]) and (a < row["seconds"] or b < row["joules"])
            for a, b in points
        )
    assert len(front.table) + len(front.others) == len(frame)
    assert len(front.plot().data) == 2
    with pytest.raises(errors.UsageError, match="unknown objective"):
        links.pareto(["seconds", "price"], store=False)
