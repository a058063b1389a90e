"""Batches of a study's runs: every run once, and each sampled machine made once where runs on several have nothing to share."""

from __future__ import annotations

import pytest

import homenode as hn
from homenode.study.runs import StudyRun

THREADS = [1, 2, 3, 4]
SAMPLES = 10


def batches(study: hn.Study, size: int) -> list[list[StudyRun]]:
    return list(study.plan.batches(study.plan.points(), size))


@pytest.mark.parametrize("parameters", [None, ["core.miss_buffers"], ["links.latency"]])
@pytest.mark.parametrize("size", [1, 3, 8, 1000])
def test_every_run_comes_once(trace: hn.Trace, size: int, parameters: list[str] | None) -> None:
    study = hn.Study(trace, "xeon-x5550-2s", threads=THREADS).sample(SAMPLES, parameters=parameters)
    found = batches(study, size)
    assert max(map(len, found)) <= size
    assert sorted(run.index for batch in found for run in batch) == list(range(len(THREADS) * SAMPLES))
    points = study.plan.points()
    assert all(run.point == points[run.index] for batch in found for run in batch)


def test_sampled_machines_are_made_once_where_runs_share_nothing(trace: hn.Trace) -> None:
    study = hn.Study(trace, "xeon-x5550-2s", threads=THREADS).sample(SAMPLES)
    machines = [{id(run.machine) for run in batch} for batch in batches(study, 8)]
    assert [len(of_batch) for of_batch in machines] == [2] * (SAMPLES // 2)
    # Caches see no link: runs with as many threads share what these do, on all machines.
    shared = hn.Study(trace, "xeon-x5550-2s", threads=THREADS).sample(SAMPLES, parameters=["links.latency"])
    assert [{run.point["threads"] for run in batch} for batch in batches(shared, SAMPLES)] == [{n} for n in THREADS]


def test_studies_that_come_from_one_another_keep_their_machines(trace: hn.Trace) -> None:
    base = hn.Study(trace, "xeon-x5550-2s", threads=4)
    one, other = (base.sample(3, seed=seed).run(store=False) for seed in (1, 2))
    of_one, of_other = ([results[i].run["machine_hash"] for i in range(3)] for results in (one, other))
    assert of_one == list(one.frame["machine_hash"])
    assert of_other == list(other.frame["machine_hash"])
    assert not set(of_one) & set(of_other)
