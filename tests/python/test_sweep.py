"""`homenode sweep`: studies in TOML, their tables and files; what is wrong with them is said in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import homenode as hn
from support import Ended

Run = Callable[..., Ended]

STUDY = """
trace = "hotspot.hnt"
machine = ["xeon-x5550-2s", "xeon-x7560-4s"]
where = ["threads <= cores", "placement != 'bind:0' or threads < 8"]

[grid]
placement = ["first-touch", "interleave", "bind:0"]
change.link_bandwidth = ["2 GB/s", "12.8 GB/s"]

[[zip]]
threads = [4, 8, 16]
mapping = ["compact", "scatter", "scatter"]
"""


@pytest.fixture
def folder(tmp_path: Path, trace_file: Path) -> Path:
    (tmp_path / "hotspot.hnt").write_bytes(trace_file.read_bytes())
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def test_a_study_in_toml_is_that_in_python(folder: Path, trace: hn.Trace, homenode: Run) -> None:
    shown = homenode("sweep", "study.toml", "-o", "runs.parquet", "--store", "kept", "--json")
    assert shown.status == 0, shown.stderr
    document = json.loads(shown.stdout)
    same = (
        hn.Study(
            trace,
            ["xeon-x5550-2s", "xeon-x7560-4s"],
            placement=["first-touch", "interleave", "bind:0"],
            change={"link_bandwidth": ["2 GB/s", "12.8 GB/s"]},
        )
        .zip(threads=[4, 8, 16], mapping=["compact", "scatter", "scatter"])
        .where("threads <= cores")
        .where("placement != 'bind:0' or threads < 8")
        .run(store=False)
    )
    # points: 2 bandwidths x (3 placements of 4 threads + 2 of 8 on both machines, 2 of 16 on the larger one)
    assert len(document["runs"]) == len(same) == 2 * (2 * 3 + 2 * 2 + 2)
    assert document["runs"] == json.loads(same.to_json())["runs"]
    assert document["provenance"]["command"] == "homenode sweep study.toml"
    assert list(pd.read_parquet(folder / "runs.parquet")["seconds"]) == list(same.frame["seconds"])
    assert len(hn.Store(folder / "kept")) == len(same)


def test_tables_and_questions(folder: Path, homenode: Run) -> None:
    shown = homenode(
        *(
            "sweep",
            "study.toml",
            "--no-store",
            "--best",
            "1",
            "--pareto",
            "seconds,joules",
            "--break-even",
            "link_bandwidth",
        ),
        *("--compare", "machine", "--sensitivity", "2"),
    )
    assert shown.status == 0, shown.stderr
    assert shown.stdout.startswith(
        "24 runs over machine (2), placement (3), link_bandwidth (2), threads (3), mapping (2)."
    )
    for title in (
        "Fastest, by trace and machine",
        "no other one beats in seconds and joules",
        "change places",
        "depends on",
    ):
        assert title in shown.stdout
    assert not (folder / "kept").exists()


def test_samples_in_toml(folder: Path, homenode: Run) -> None:
    text = 'trace = "hotspot.hnt"\nmachine = "xeon-x5550-2s"\ngrid.threads = 4\n'
    (folder / "samples.toml").write_text(text + '[sample]\ncount = 3\nmethod = "sobol"\nparameters = ["core_time"]\n')
    shown = homenode("sweep", "samples.toml", "--no-store", "--json")
    machines = hn.Machine.load("xeon-x5550-2s").sample(3, method="sobol", parameters=["core_time"])
    assert [run["machine_hash"] for run in json.loads(shown.stdout)["runs"]] == [machine.hash for machine in machines]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trace = 3", "key 'machine' is missing"),
        ("trace = 3\nmachine = 'xeon-x5550-2s'", "key 'trace' is a number; allowed: names and paths"),
        ("tracs = 3", "unknown key 'tracs'"),
        ("trace = [", "study.toml: "),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon'", "xeon"),
        ("trace = 'none.hnt'\nmachine = 'xeon-x5550-2s'", "none.hnt"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\ngrid.thread = 4", "unknown axis 'thread'"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\ngrid.machine = 4", "key 'grid.machine' is none"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\nsample.number = 4", "unknown key 'sample.number'"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\nwhere = 'threads('", "condition 'threads('"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\nwhere = [3]", "a condition is int"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\nwhere = 3", "key 'where' is a number"),
        (
            "trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\nsample = {count = 2, parameters = 3}",
            "argument 'parameters' has 3",
        ),
        ("trace = " + "[" * 3000, "study.toml"),
        ("trace = 'hotspot.hnt'\nmachine = 'xeon-x5550-2s'\npoints = 3", "key 'points' is a number"),
    ],
)
def test_studies_that_are_refused(text: str, words: str, folder: Path, homenode: Run) -> None:
    (folder / "study.toml").write_text(text)
    shown = homenode("sweep", "study.toml", "-o", "runs.csv")
    assert shown.status == 2
    assert words in shown.stderr
    assert len(shown.stderr.splitlines()) == 1
    assert not (folder / "runs.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "runs.txt"], "allowed: a name that ends in .parquet, .csv, .json"),
        (["--store", "kept", "--no-store"], "--store and --no-store"),
        (["--break-even", "threads"], "--break-even without --compare"),
        (["--break-even", "thread", "--compare", "machine"], "unknown axis 'thread'"),
        (
            ["--break-even", "threads", "--compare", "placement=first-touch,none", "--no-store"],
            "unknown value of axis 'placement' 'none'",
        ),
        (["--workers", "0"], "argument 'workers' is 0"),
        (["--pareto", "price", "--no-store"], "unknown objective 'price'"),
    ],
)
def test_options_that_are_refused(arguments: list[str], words: str, folder: Path, homenode: Run) -> None:
    shown = homenode("sweep", "study.toml", *arguments)
    assert (shown.status, words in shown.stderr) == (2, True), shown.stderr


def test_labels_and_dotted_changes_in_toml(folder: Path, homenode: Run) -> None:
    (folder / "sub").mkdir()
    (folder / "hotspot.hnt").rename(folder / "sub" / "hotspot.hnt")
    text = 'machine = "xeon-x5550-2s"\n[trace]\na = "hotspot.hnt"\nb = "hotspot.hnt"\n'
    text += '[grid]\nchange.links.bandwidth = ["1 GB/s", "2 GB/s"]\n'
    (folder / "sub" / "study.toml").write_text(text + '[[zip]]\ntrace = ["a", "b"]\nthreads = [2, 4]\n')
    shown = homenode(
        "sweep", "sub/study.toml", "--no-store", "--json", "--break-even", "links.bandwidth", "--compare", "threads"
    )
    assert shown.status == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert [(run["trace"], run["links.bandwidth"]) for run in document["runs"]] == [
        (trace, bandwidth) for bandwidth in ("1 GB/s", "2 GB/s") for trace in ("a", "b")
    ]
    assert len(document["answers"]) == 1


def test_a_sweep_of_which_nothing_ran_failed(folder: Path, homenode: Run) -> None:
    (folder / "study.toml").write_text('trace = "hotspot.hnt"\nmachine = "xeon-x5550-2s"\n')
    shown = homenode("sweep", "study.toml", "--no-store")
    assert shown.status == 2
    assert "all 1 run failed; the first: UsageError: axis 'threads' is missing" in shown.stderr


def test_failures_are_counted(folder: Path, homenode: Run) -> None:
    text = 'trace = "hotspot.hnt"\nmachine = "xeon-x5550-2s"\n[grid]\nthreads = 4\nplacement = ["first-touch", "none", "nothing"]\n'
    (folder / "study.toml").write_text(text)
    shown = homenode("sweep", "study.toml", "--no-store")
    assert shown.status == 0
    assert "3 runs over placement (3), 2 runs failed." in shown.stdout
    assert "note: 1 run: UsageError: unknown placement 'none'" in shown.stderr
