"""A study on a Dask cluster of this host: the same bytes as without, also when a worker is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import homenode as hn
from homenode import errors

SCRIPT = """
import os, signal, sys
from distributed import LocalCluster
import homenode as hn

def main():
    study = hn.Study(sys.argv[1], ["xeon-x5550-2s", "xeon-x7560-4s"], threads=[4, 8], placement=["first-touch", "interleave", "none"],
                     engine=["flow", "closed-form"], heap="plain", system=sys.argv[2]).sample(4)
    hn.load_extension("own.py")
    own = hn.Study(sys.argv[1], "xeon-x5550-2s", threads=[2, 4, 8], placement=["first-touch", "odd"])
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        killed = []
        def kill(done, total):
            if sys.argv[3] == "kill" and not killed:
                killed.append(os.kill(victim, signal.SIGKILL))
        results = study.run(store=False, scheduler=cluster.scheduler_address, progress=kill)
        others = own.run(store=False, scheduler=cluster.scheduler_address)
    assert others.failed == 0 and others.to_json() == own.run(store=False).to_json()
    results.to_parquet("cluster.parquet")
    study.run(store=False).to_parquet("here.parquet")

if __name__ == "__main__":
    main()
"""

OWN = """
import homenode as hn

@hn.page_placement("odd")
def odd(faults):
    return (faults.page // 3) % faults.machine.nodes
"""


@pytest.mark.parametrize("how", ["leave", "kill"])
def test_a_cluster_gives_the_same_bytes(how: str, trace_file: Path, tmp_path: Path) -> None:
    system = tmp_path / "own.toml"  # a description of the user's own goes to the workers, too
    system.write_bytes(hn.System.load("default").path.read_bytes())
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [sys.executable, "script.py", str(trace_file), str(system), how]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    there, here = ((tmp_path / f"{name}.parquet").read_bytes() for name in ("cluster", "here"))
    assert there == here


def test_no_scheduler_is_said(trace: hn.Trace) -> None:
    study = hn.Study(trace, "xeon-x5550-2s", threads=4)
    with pytest.raises(errors.UsageError, match="no Dask scheduler at 'nonsense"):
        study.run(store=False, scheduler="nonsense://here")
