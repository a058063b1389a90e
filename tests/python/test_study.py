"""Studies: axes, conditions, samples, tables, the store; what is killed goes on, what fails is a row."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import homenode as hn
from homenode import errors
from homenode.study.conditions import Condition
from homenode.study.store import StoredRun
from homenode.study.tables import METADATA
from support import SCRIPTS

SMALL, LARGE = "xeon-x5550-2s", "xeon-x7560-4s"


@pytest.fixture
def study(trace: hn.Trace) -> hn.Study:
    """Sixteen runs."""
    changes = {"link_bandwidth": ["3 GB/s", "12.8 GB/s"]}
    return hn.Study(trace, [SMALL, LARGE], threads=[4, 8], placement=["first-touch", "interleave"], change=changes)


def test_every_run_is_the_replay_of_its_row(study: hn.Study, trace: hn.Trace) -> None:
    results = study.run(store=False)
    frame = results.frame
    assert len(study) == len(results) == len(frame) == 16
    assert list(frame["run"]) == list(range(16))
    for index in (0, 5, 10, 15):
        row = frame.iloc[index]
        machine = hn.Machine.load(row["machine"]).with_changes(link_bandwidth=row["link_bandwidth"])
        alone = hn.replay(trace, machine, threads=int(row["threads"]), placement=row["placement"])
        assert row["seconds"] == alone.seconds
        assert row["joules"] == alone.energy["total"]
        assert row["machine_hash"] == machine.hash
        assert results[index].run == alone.run
        # 3 GB/s = 3e9 B/s
        assert row["link_bandwidth_si"] == float(row["link_bandwidth"].split()[0]) * 1e9
        traffic = results.traffic[results.traffic["run"] == index]
        assert traffic["bytes"].sum() == alone.traffic.sum() == row["memory_bytes"]
        regions = results.regions[results.regions["run"] == index]
        assert list(regions["label"]) == list(alone.regions.index)
        threads = results.threads[results.threads["run"] == index]
        assert list(threads["busy_seconds"]) == list(alone.threads["busy_seconds"])


def test_the_last_axis_varies_fastest(study: hn.Study) -> None:
    frame = study.run(store=False).frame
    assert list(frame["link_bandwidth"][:2]) == ["3 GB/s", "12.8 GB/s"]
    assert list(frame["machine"]) == [SMALL] * 8 + [LARGE] * 8


def test_zipped_axes_and_points(trace: hn.Trace) -> None:
    zipped = hn.Study(trace, SMALL).zip(threads=[4, 8], mapping=["compact", "scatter"]).run(store=False).frame
    assert list(zip(zipped["threads"], zipped["mapping"], strict=True)) == [(4, "compact"), (8, "scatter")]
    points = [{"threads": 2, "machine": LARGE}, {"threads": 8, "machine": SMALL}]
    listed = hn.Study(trace, SMALL).points(points).run(store=False).frame
    assert list(zip(listed["threads"], listed["machine"], strict=True)) == [(2, LARGE), (8, SMALL)]


def test_conditions_leave_points_out(trace: hn.Trace) -> None:
    study = hn.Study(trace, [SMALL, LARGE], threads=[8, 16, 32])
    # 8 and 32 cores: one number of threads fits the first machine, all three the second
    assert len(study.where("threads <= cores")) == 4
    assert len(study.where(lambda point: point["threads"] == 2 * point["sockets"] * 4)) == 2
    links = hn.Study(trace, LARGE, threads=8, change={"link_bandwidth": ["6 GB/s", "25 GB/s"], "sockets": ["2", "8"]})
    assert len(links.where("link_bandwidth > '10 GB/s'")) == 2
    assert len(links.where("link_bandwidth > '10 GB/s' and nodes == 8 and cores / sockets == 8")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "threads.real",
        "threads[0]",
        "lambda: 1",
        "(threads := 3)",
        "[x for x in (1, 2)]",
        "'a' * 1000000000 == 1",
        "threads is 8",
        "threads 8",
        "",
        "threads ** 9 ** 9 ** 9",
        "threads / 0",
        "f'{threads}' == '8'",
        "nonsense == 1",
        "threads < 'many'",
        "-" * 990 + "1",
        "9" * 400 + " / 1.5 > 1",
    ],
)
def test_conditions_run_nothing(text: str) -> None:
    with pytest.raises(errors.UsageError, match="condition"):
        Condition(text)({"threads": 8})


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_conditions_say_what_python_says(a: int, b: int, c: int) -> None:
    values = {"a": a, "b": b, "c": c}
    for text in (
        "a < b <= c",
        "not a == b or c in [1, a]",
        "(a + b) * c % 7 // 2 - 1 >= -b / c",
        "a not in (b, c) and True",
    ):
        assert Condition(text)(values) == eval(text, {}, values)


def test_a_failing_run_is_a_row_with_its_error(trace: hn.Trace) -> None:
    results = hn.Study(
        trace,
        SMALL,
        threads=[4, 400],
        placement=["first-touch", "nonsense"],
        change={"link_bandwidth": ["12.8 GB/s", "much"]},
    ).run(store=False)
    frame = results.frame
    assert results.failed == frame["error"].notna().sum() == 7
    assert ", 7 failed: " in repr(results) and "'much'" in repr(results)
    good = frame[frame["error"].isna()]
    assert list(good["seconds"].notna()) == [True]
    assert frame["error"].str.contains("unknown placement 'nonsense'").sum() == 3 - 1
    assert frame["error"].str.contains("'much'").sum() == 4
    with pytest.raises(errors.UsageError, match=r"run 1 failed: .*much"):
        results[1]


def test_estimates_stand_beside_replays(trace: hn.Trace) -> None:
    frame = hn.Study(trace, SMALL, threads=8, heap="plain", engine=["flow", "closed-form"]).run(store=False).frame
    assert list(frame["engine"]) == ["flow", "closed-form"]
    assert frame["seconds"][1] == hn.estimate(trace, SMALL, threads=8).seconds
    assert frame["seconds"][0] == hn.replay(trace, SMALL, threads=8, heap="plain").seconds


def test_samples_are_those_of_the_machine(trace: hn.Trace) -> None:
    results = hn.Study(trace, SMALL, threads=4).sample(3, seed=5, method="sobol").run(store=False)
    machines = hn.Machine.load(SMALL).sample(3, seed=5, method="sobol")
    assert list(results.frame["machine_hash"]) == [machine.hash for machine in machines]
    assert list(results.frame["sample"]) == [1, 2, 3]


@pytest.mark.parametrize("method", ["latin-hypercube", "sobol"])
def test_samples_lie_within_the_intervals(method: str) -> None:
    machine = hn.Machine.load(SMALL)
    bounds = {one["name"]: one for one in machine.uncertainties}
    names = ["core_time", "links.bandwidth", "tlb.miss_penalty"]
    for sample in machine.sample(16, method=method, parameters=names):
        assert set(sample.changes) == set(names)
        for name, text in sample.changes.items():
            assert bounds[name]["low_factor"] * 0.999 <= float(text[1:]) <= bounds[name]["high_factor"] * 1.001
    again, other = (machine.sample(2, seed=seed, method=method) for seed in (3, 4))
    assert again == machine.sample(2, seed=3, method=method) != other


def test_nothing_is_run_twice(study: hn.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study.run(store=tmp_path / "runs")
    assert len(hn.Store(tmp_path / "runs")) == 16
    monkeypatch.setattr("homenode.study.executing.replay_all", _never)
    again = study.run(store=tmp_path / "runs")
    assert again.to_json() == first.to_json()
    # the same runs in another study, where they come in another order
    other = hn.Study(study.plan.traces, LARGE, placement="interleave", threads=8, change={"link_bandwidth": "3 GB/s"})
    assert other.run(store=tmp_path / "runs").frame["seconds"][0] in set(first.frame["seconds"])
    assert again[3].run == first[3].run


def _never(*_: Any) -> None:
    raise AssertionError("a run that is kept was run again")


def test_runs_with_policies_of_extensions_are_not_kept(trace: hn.Trace, tmp_path: Path) -> None:
    ran = []

    @hn.page_placement("study-odd")
    def odd(faults: hn.PageFaults) -> Any:
        ran.append(len(faults))
        return (faults.page // 3) % faults.machine.nodes

    study = hn.Study(trace, SMALL, threads=4, placement=["first-touch", "study-odd"])
    first, again = (study.run(store=tmp_path / "runs", workers=1) for _ in range(2))
    assert len(hn.Store(tmp_path / "runs")) == 1
    assert first.to_json() == again.to_json()
    assert sum(ran) == 2 * first.frame["page_faults"][1] > 0
    assert again[1].run == hn.replay(trace, SMALL, threads=4, placement="study-odd").run


def test_what_decides_a_run_is_in_its_key(trace: hn.Trace, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    text = hn.System.load("default").path.read_text(encoding="utf-8")
    own.write_text(text, encoding="utf-8")
    base: dict[str, Any] = {"threads": 4, "system": str(own)}
    keys = set()
    others = [{"seed": 1}, {"placement": "interleave"}, {"engine": "line"}, {"energy": "default"}, {"pages": "2MiB"}]
    for more in ({}, *others):
        plan = hn.Study(trace, SMALL, **{**base, **more}).plan
        keys.add(plan.run(0, plan.points()[0]).key)
    assert len(keys) == 1 + len(others) - 1  # the energy model is the default's
    plan = hn.Study(trace, SMALL, **base).plan
    before = plan.run(0, plan.points()[0]).key
    own.write_text(text + "\n# another text\n", encoding="utf-8")
    os.utime(own, ns=(1, 1))
    assert plan.run(0, plan.points()[0]).key != before


def test_a_killed_study_goes_on(study: hn.Study, trace_file: Path, tmp_path: Path) -> None:
    script = f"""
import os, signal
import homenode as hn
study = hn.Study({str(trace_file)!r}, [{SMALL!r}, {LARGE!r}], threads=[4, 8], placement=["first-touch", "interleave"],
                 change={{"link_bandwidth": ["3 GB/s", "12.8 GB/s"]}})
study.run(store="killed", workers=1, progress=lambda done, total: os.kill(os.getpid(), signal.SIGKILL) if done == 7 else None)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    kept = hn.Store(tmp_path / "killed")
    assert len(kept) == 7
    ran: list[int] = []
    resumed = study.run(store=kept, progress=lambda number, total: ran.append(number))
    whole = study.run(store=False, workers=1)
    resumed.to_parquet(tmp_path / "resumed.parquet")
    whole.to_parquet(tmp_path / "whole.parquet")
    assert (tmp_path / "resumed.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert resumed.to_json() == whole.to_json()
    assert len(kept) == 16


def test_results_do_not_depend_on_the_number_of_workers(study: hn.Study) -> None:
    one, several = (study.run(store=False, workers=workers) for workers in (1, 3))
    assert one.to_json() == several.to_json()
    assert [entry for _, entry in one.entries()] == [entry for _, entry in several.entries()]


def test_files_carry_what_they_were_made_from(study: hn.Study, trace: hn.Trace, tmp_path: Path) -> None:
    results = study.run(store=False, command="homenode sweep here.toml")
    results.to_parquet(tmp_path / "a.parquet")
    results.to_csv(tmp_path / "a.csv")
    told = json.loads(pyarrow.parquet.read_schema(tmp_path / "a.parquet").metadata[METADATA])
    assert told == results.provenance == json.loads((tmp_path / "a.csv.meta.json").read_text())
    assert told["traces"] == {"hotspot": {"hash": trace.hash, "digest": trace.digest}}
    assert told["command"] == "homenode sweep here.toml"
    assert told["machines"][SMALL]["hash"] == hn.Machine.load(SMALL).hash
    assert told["homenode"] == hn.__version__
    for frame in (pd.read_parquet(tmp_path / "a.parquet"), pd.read_csv(tmp_path / "a.csv")):
        assert list(frame.columns) == list(results.frame.columns)
        assert list(frame["seconds"]) == list(results.frame["seconds"])
        assert list(frame["placement"]) == list(results.frame["placement"])


def test_as_a_dataset(study: hn.Study) -> None:
    results = study.run(store=False)
    data = results.to_xarray()
    assert dict(data.sizes) == {"machine": 2, "threads": 2, "placement": 2, "link_bandwidth": 2}
    row = results.frame.iloc[6]
    place = {"machine": SMALL, "threads": 8, "placement": "interleave", "link_bandwidth": 3e9}
    assert float(data["seconds"].sel(place)) == row["seconds"]
    assert json.loads(data.attrs["homenode"]) == results.provenance


def test_a_store_is_refused_that_is_none(tmp_path: Path, study: hn.Study) -> None:
    (tmp_path / "text").write_text("no store, and long enough to be looked at as one " * 4)
    with pytest.raises(errors.InputError, match="is no store of runs"):
        study.run(store=tmp_path / "text")
    with pytest.raises(errors.InputError, match="is no store of runs"):
        study.run(store=tmp_path / "missing" / "store")
    import sqlite3

    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE things (name TEXT)")
    other.close()
    with pytest.raises(errors.InputError, match="of this version"):
        hn.Store(tmp_path / "other")


def test_the_best_run_may_be_that_of_a_region(trace: hn.Trace) -> None:
    results = hn.Study(trace, "xeon-x5550-2s", threads=8, placement=["bind:0", "interleave"]).run()
    label = results.regions["label"].iloc[0]
    seconds = results.regions[results.regions["label"] == label].set_index("run")["seconds"]
    best = results.best(by=label)
    assert best["run"].tolist() == [seconds.idxmin()]
    assert best[label].tolist() == [seconds.min()]
    with pytest.raises(errors.UsageError, match="unknown column 'no-such-region'"):
        results.best(by="no-such-region")


def test_the_first_run_under_a_key_stays() -> None:
    store = hn.Store()
    store.put("a", StoredRun.of({"seconds": 1.0}, {"x": 1}))
    store.put("a", StoredRun.of({"seconds": 2.0}, {"x": 2}))
    found = store.get("a")
    assert found is not None
    assert (found.measured_values(), found.entry_values()) == ({"seconds": 1.0}, {"x": 1})
    assert store.get("b") is None


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"thread": 8}, r"unknown axis 'thread'; .*did you mean 'threads'"),
        ({"threads": []}, r"axis 'threads' is empty"),
        ({"threads": "many"}, r"argument 'threads' is 'many'; allowed: a whole number"),
        ({"threads": True}, r"argument 'threads' is True"),
        ({"threads": 10**30}, r"argument 'threads' is 1000"),
        ({"seed": -1}, r"argument 'seed' is -1"),
        ({"oversubscribe": "false"}, r"axis 'oversubscribe' has the value 'false'"),
        ({"heap": 3}, r"axis 'heap' has the value 3; allowed: texts"),
        ({"change": {"link_bandwidth": ["1 GB/s", "x2"]}}, r"has factors and quantities"),
        ({"change": 3}, r"axis 'change' is int"),
    ],
)
def test_axes_that_are_none(axes: dict[str, Any], words: str, trace: hn.Trace) -> None:
    with pytest.raises(errors.UsageError, match=words):
        hn.Study(trace, SMALL, **axes)


def test_studies_that_are_none(trace: hn.Trace, trace_file: Path) -> None:
    study = hn.Study(trace, SMALL, threads=[2, 4])
    with pytest.raises(errors.UsageError, match="axis 'threads' comes twice"):
        study.zip(threads=[1, 2], mapping=["compact", "scatter"])
    with pytest.raises(errors.UsageError, match="2 of 'seed', 1 of 'mapping'; allowed: as many of each"):
        study.zip(seed=[1, 2], mapping="compact")
    with pytest.raises(errors.UsageError, match="comes twice; allowed: each once, or labels"):
        hn.Study([trace, trace_file], SMALL)
    with pytest.raises(errors.UsageError, match="unknown uncertain parameter 'nothing'"):
        study.sample(4, parameters=["nothing"])
    with pytest.raises(errors.UsageError, match="unknown method 'random'"):
        study.sample(4, method="random")
    with pytest.raises(errors.UsageError, match="a condition is int"):
        study.where(3)  # type: ignore[arg-type]
    with pytest.raises(errors.UsageError, match="axes threads, another one mapping"):
        hn.Study(trace, SMALL).points([{"mapping": "compact"}, {"threads": 8}])
    with pytest.raises(errors.UsageError, match="workers and a scheduler"):
        study.run(store=False, workers=1, scheduler="tcp://127.0.0.1:1")


def test_more_points_than_anybody_can_run_are_refused(trace: hn.Trace) -> None:
    study = hn.Study(
        trace, SMALL, threads=list(range(1, 1001)), seed=list(range(1000)), change={"clock": ["x1"] * 1000}
    )
    with pytest.raises(errors.UsageError, match="a study of 1,000,000,000 points"):
        len(study)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two programs with the same loads and stores, so with one content hash; one of them divides."""
    folder = tmp_path_factory.mktemp("twins")
    found = {}
    for name, value in (("light", "a[i] + 1"), ("heavy", "1 / (1 + 1 / (2 + 1 / (3 + 1 / (4 + a[i]))))")):
        text = f"static double a[100000];\nint main(void) {{ for (int i = 0; i < 100000; i++) a[i] = {value}; return 0; }}\n"
        (folder / name).mkdir()
        (folder / name / "program.c").write_text(text)
        words = [str(SCRIPTS / "homenode"), "cc", "-O2", "program.c", "-o", "program"]
        subprocess.run(words, cwd=folder / name, check=True)
        hn.capture(command=[folder / name / "program"], output=folder / f"{name}.hnt")
        found[name] = folder / f"{name}.hnt"
    return found


@pytest.mark.capture
def test_traces_of_one_hash_are_not_taken_for_each_other(twins: dict[str, Path], tmp_path: Path) -> None:
    traces = {name: hn.Trace.open(path) for name, path in twins.items()}
    assert traces["light"].hash == traces["heavy"].hash
    assert traces["light"].digest != traces["heavy"].digest
    alone = {name: hn.replay(trace, SMALL, threads=1).seconds for name, trace in traces.items()}
    assert alone["heavy"] > 2 * alone["light"]
    for store in (tmp_path / "runs", tmp_path / "runs", False):
        frame = hn.Study(traces, SMALL, threads=1).run(store=store).frame
        assert dict(zip(frame["trace"], frame["seconds"], strict=True)) == alone


@pytest.mark.capture
def test_a_trace_that_was_replaced_is_refused(twins: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "current.hnt"
    path.write_bytes(twins["light"].read_bytes())
    trace = hn.Trace.open(path)
    (tmp_path / "new.hnt").write_bytes(twins["heavy"].read_bytes())
    (tmp_path / "new.hnt").replace(path)
    with pytest.raises(errors.InputError, match="was replaced after it was opened"):
        hn.Study(trace, SMALL, threads=1, engine="simgrid").run(store=False)


def test_one_wrong_description_or_machine_is_one_row(trace: hn.Trace) -> None:
    frame = hn.Study(trace, SMALL, threads=4, system=["default", "/nope.toml", "nope"]).run(store=False).frame
    assert list(frame["error"].isna()) == [True, False, False]
    links = hn.Study(trace, SMALL, threads=4, change={"link_bandwidth": ["much", "1 GB/s"]}).where("threads <= cores")
    frame = links.run(store=False).frame
    assert list(frame["error"].isna()) == [False, True]
    assert frame["error"].str.contains("'much'")[0]
    # types of columns do not depend on which runs failed
    whole = links.where("link_bandwidth == 1e9").run(store=False).frame
    assert list(frame.dtypes) == list(whole.dtypes)


def test_samples_of_a_machine_do_not_depend_on_others(trace: hn.Trace) -> None:
    machine = hn.Machine.load(SMALL)
    fixed = machine.with_changes(link_bandwidth="12.8 GB/s")  # its own value, but asked for: not drawn
    alone = hn.Study(trace, {"b": fixed}, threads=4).sample(3).run(store=False).frame
    both = hn.Study(trace, {"a": machine, "b": fixed}, threads=4).sample(3).run(store=False).frame
    assert list(both[both["machine"] == "b"]["machine_hash"]) == list(alone["machine_hash"])


def test_what_is_kept_comes_back_under_the_names_that_ask(trace: hn.Trace, tmp_path: Path) -> None:
    hn.Study(trace, SMALL, threads=4, change={"link_bandwidth": "12.8 GB/s"}).run(store=tmp_path / "runs")
    again = hn.Study(trace, SMALL, threads=4, change={"link_bandwidth": "12800 MB/s"}).run(store=tmp_path / "runs")
    assert again[0].run["machine_changes"] == {"link_bandwidth": "12800 MB/s"}
    twin = hn.Machine.from_toml(hn.Machine.load(SMALL).to_toml().replace(f'name = "{SMALL}"', 'name = "twin"', 1))
    hn.Study(trace, SMALL, threads=4).run(store=tmp_path / "runs")
    assert hn.Study(trace, twin, threads=4).run(store=tmp_path / "runs")[0].run["machine"] == "twin"


def test_zip_takes_machines_and_traces_as_they_are_given(trace: hn.Trace, trace_file: Path) -> None:
    machine = hn.Machine.load(SMALL)
    two = [machine.with_changes(link_bandwidth=text) for text in ("1 GB/s", "2 GB/s")]
    frame = hn.Study(trace, machine).zip(machine=two, threads=[4, 8]).run(store=False).frame
    assert list(frame["machine_hash"]) == [one.hash for one in two]
    assert frame["machine"].nunique() == 2
    again = hn.Study([trace_file], SMALL).zip(trace=[trace_file, trace_file], threads=[4, 8])
    assert list(again.run(store=False).frame["trace"]) == ["hotspot", "hotspot"]
    # of a factor with one point only the axes that are set anew give way
    points = hn.Study(trace, SMALL).zip(threads=[8], mapping=["scatter"]).points([{"threads": 4}])
    assert list(points.run(store=False).frame["mapping"]) == ["scatter"]


def test_stores_are_opened_by_several_processes_at_a_time(tmp_path: Path) -> None:
    script = "import homenode as hn, sys\nfor n in range(40): hn.Store(f'{n}.store')"
    running = [subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(3)]
    for one in running:
        _, err = one.communicate()
        assert one.returncode == 0, err.decode()


def test_a_closed_store_is_said(study: hn.Study) -> None:
    store = hn.Store()
    results = study.run(store=store)
    store.close()
    with pytest.raises(errors.InputError, match="the store of runs"):
        results[0]


def test_names_of_axes_run_nothing_in_a_page(trace: hn.Trace) -> None:
    name = "<img src=x onerror=alert(1)>"
    results = hn.Study(trace, SMALL, threads=4, change={name: ["1", "2"]}).run(store=False)
    assert "<img" not in results._repr_html_()


def test_labels_tell_alike_machines_apart(trace: hn.Trace) -> None:
    machine = hn.Machine.load(SMALL)
    changed = machine.with_changes(link_bandwidth="25 GB/s")
    assert list(hn.Study(trace, [machine, changed]).plan.machines) == [SMALL, f"{SMALL} (link_bandwidth=25 GB/s)"]
    named = hn.Study({"a": trace}, {"now": machine, "then": changed}, threads=8).run(store=False).frame
    assert list(named["machine"]) == ["now", "then"]


def test_values_pickle(trace: hn.Trace, tmp_path: Path) -> None:
    machine = hn.Machine.load(SMALL).with_changes(link_bandwidth="25 GB/s", sockets="4")
    spec = hn.RunSpec(machine, threads=4, placement="interleave")
    result = hn.replay(trace, machine, threads=4)
    for value in (machine, spec):
        assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(trace)).hash == trace.hash
    assert pickle.loads(pickle.dumps(hn.System.load("default"))).parameters == hn.System.load("default").parameters
    assert pickle.loads(pickle.dumps(hn.EnergyModel.load("default"))).name == "default"
    copy = pickle.loads(pickle.dumps(result))
    assert (copy.run, copy.trace.hash) == (result.run, trace.hash)
    gone = tmp_path / "gone.hnt"
    gone.write_bytes(trace.path.read_bytes())
    pickled = pickle.dumps(hn.Trace.open(gone))
    hn.capture("stream", n=1000, output=gone)
    with pytest.raises(errors.InputError, match="is another trace"):
        pickle.loads(pickled)
    gone.unlink()
    with pytest.raises(errors.InputError, match="no trace"):
        pickle.loads(pickled)


def test_replays_in_processes_of_a_pool(trace: hn.Trace) -> None:
    """What joblib, Ray and the pool of Python's own need: arguments and results go through pickle."""
    machines = hn.Machine.load(SMALL).sample(2)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = pool.map(partial(hn.replay, trace, threads=4), machines)
        assert [result.run for result in there] == [hn.replay(trace, machine, threads=4).run for machine in machines]


def test_import_loads_nothing_heavy() -> None:
    heavy = [
        "pandas",
        "numpy",
        "xarray",
        "plotly",
        "dask",
        "distributed",
        "optuna",
        "SALib",
        "pyarrow",
        "scipy",
        "sqlite3",
    ]
    script = f"import sys, homenode; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_progress_is_told(study: hn.Study) -> None:
    said: list[tuple[int, int]] = []
    study.run(store=False, workers=2, progress=lambda done, total: said.append((done, total)))
    assert said == [(number, 16) for number in range(1, 17)]


def test_values_in_notebooks(trace: hn.Trace) -> None:
    machine = hn.Machine.load(SMALL).with_changes(link_bandwidth="25 GB/s")
    ranking = hn.rank(trace, hn.grid(machine, 4, placement=["first-touch", "interleave"]), samples=2)
    for value, words in (
        (trace, trace.hash),
        (machine, "25 GB/s"),
        (ranking.results[0], "first-touch"),
        (ranking, "interleave"),
    ):
        page = value._repr_html_()
        assert words in page
        assert page.count("<table>") == page.count("</table>") >= 1
    named = hn.Machine.from_toml(machine.to_toml().replace("Xeon", "<script>alert(1)</script>"))
    assert "<script>" not in named._repr_html_()


def test_words_for_notebooks(study: hn.Study) -> None:
    assert "threads" in study._repr_html_()
    results = study.run(store=False)
    assert results._repr_html_().count("<tr") == 1 + 16
    assert repr(results) == "StudyResults(16 runs over machine, threads, placement, link_bandwidth)"
