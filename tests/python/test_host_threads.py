"""A replay on several threads of this machine: the report is that of one thread, byte for byte."""

import pytest

import homenode as hn
from homenode import replaying, workers
from homenode.run_spec import RunSpec

RUNS = [
    ("spmv", {"rows": 20_000, "matrix": "skewed"}, {"caches": "lines", "threads": 8}),
    ("spmv", {"rows": 20_000}, {"caches": "lines:sample=8", "threads": 4, "placement": "interleave"}),
    ("histogram", {"bins": 4096, "keys": 200_000}, {"caches": "lines", "threads": 6}),
    ("gather", {"n": 200_000, "reads": 200_000}, {"caches": "lines", "threads": 8, "pages": "thp", "system": "linux-6.1"}),
    ("bfs", {"vertices": 20_000}, {"caches": "lines", "threads": 8, "distribution": "dynamic:64"}),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "settings", "options"), RUNS, ids=[f"{run[0]}-{run[2]['caches']}" for run in RUNS])
def test_a_report_does_not_depend_on_host_threads(monkeypatch, kernel, settings, options):
    monkeypatch.setattr(workers, "cpus", lambda: 3)
    trace = hn.capture(kernel, **settings)
    for machine in ("xeon-x5550-2s", "opteron-8431-4s"):
        spec = RunSpec(machine, **options)
        alone = replaying.replay_one(trace, spec, host_threads=1).to_json()
        assert replaying.replay_one(trace, spec, host_threads=3).to_json() == alone


def test_runs_share_the_cpus(monkeypatch):
    """Fewer runs than CPUs have several threads each; `workers` is how many CPUs all of them may use."""
    told = []
    here = workers.replay_here

    def replay_here(trace, spec, **extras):
        told.append(extras["host_threads"])
        return here(trace, spec, **extras)

    monkeypatch.setattr(workers, "cpus", lambda: 8)
    monkeypatch.setattr(workers, "replay_here", replay_here)
    trace = hn.capture("stream", n=1000)
    machine = hn.Machine.load("xeon-x5550-2s")
    for runs, asked, threads in ((1, None, 8), (1, 1, 1), (3, None, 2), (2, 4, 2), (20, None, 1), (1, 16, 8)):
        told.clear()
        specs = [RunSpec(machine, threads=2, seed=seed) for seed in range(runs)]
        hn.replay_grid(trace, specs, workers=asked)
        assert told == [threads] * runs
