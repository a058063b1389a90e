"""What commands print: the documented keys of every --json, and tables that name what was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from support import Ended

Run = Callable[..., Ended]


def document(ended: Ended) -> Any:
    assert ended.status == 0, ended
    return json.loads(ended.stdout)


def test_kernels(homenode: Run) -> None:
    kernels = document(homenode("kernels", "--json"))["kernels"]
    assert {"hotspot", "jacobi3d", "stream", "chase", "gather"} <= {kernel["name"] for kernel in kernels}
    for kernel in kernels:
        assert {"name", "language", "parameters", "paper"} <= set(kernel)
        assert all(isinstance(value, int | str) for value in kernel["parameters"].values())


def test_machines(homenode: Run) -> None:
    machines = document(homenode("machines", "--json"))["machines"]
    names = {machine["name"] for machine in machines}
    assert names >= {
        "opteron-8431-4s",
        "xeon-x5550-2s",
        "xeon-x7560-4s",
        "xeon-l7555-4s",
        "xeon-e5-2697v2-2s",
        "sgi-uv-32s",
    }
    for machine in machines:
        nodes = machine["nodes"]
        for name in ("latency_ns", "bandwidth_bytes_per_s"):
            assert [len(row) for row in machine[name]] == [nodes] * nodes
        for node, cores in enumerate(hn.Machine.load(machine["name"]).topology["cores_of_node"]):
            if cores:  # local is nearest; memory without cores reads nothing
                assert machine["latency_ns"][node][node] == min(machine["latency_ns"][node])


def test_one_machine_is_drawn(homenode: Run) -> None:
    drawn = homenode("machines", "xeon-x5550-2s")
    assert drawn.status == 0
    for text in ("socket 0", "socket 1", "node 1", "Idle latency", "Read bandwidth of all cores of a node\n", "GB/s"):
        assert text in drawn.stdout
    entry = document(homenode("machines", "xeon-x5550-2s", "--json"))["machines"][0]
    assert all(parameter["source"] for parameter in entry["parameters"])
    assumed, numbers = hn.Machine.load("xeon-x5550-2s").assumed
    assert f"{numbers} numbers, {assumed} of them assumed; --sources" in drawn.stdout


def test_many_nodes_are_shown_by_distance(homenode: Run) -> None:
    # S1, Table 2: distances 1.0 to 6.8; a matrix of 32 x 32 would be wider than a screen
    drawn = homenode("machines", "sgi-uv-32s")
    assert drawn.status == 0
    for text in ("Memory of all nodes, seen from node 0\n", "8–31", "918 ns", "6.8", "socket ══ hub"):
        assert text in drawn.stdout
    assert "Idle latency of memory" not in drawn.stdout


def test_help_says_each_command_in_a_whole_line(homenode: Run) -> None:
    for group in ([], ["machine"]):
        listed = homenode(*group, "--help").stdout.partition("Show this message and exit.\n")[2].splitlines()
        assert listed
        assert not any(line.endswith("...") for line in listed)


def test_policies(homenode: Run) -> None:
    policies = document(homenode("policies", "--json"))["policies"]
    known = {(policy["kind"], policy["name"]) for policy in policies}
    assert {("placement", "first-touch"), ("mapping", "scatter"), ("distribution", "guided")} <= known
    only = document(homenode("policies", "mapping", "--json"))["policies"]
    assert only == [policy for policy in policies if policy["kind"] == "mapping"]


def test_policies_lists_the_words_that_a_parameter_takes(homenode: Run) -> None:
    worded = [
        parameter
        for policy in document(homenode("policies", "--json"))["policies"]
        for parameter in policy["parameters"]
        if parameter["words"]
    ]
    assert worded
    shown = " ".join(homenode("policies").stdout.split())
    for parameter in worded:
        assert parameter["default"] in parameter["words"]
        assert parameter["words"][0] in shown


def test_doctor(homenode: Run) -> None:
    found = document(homenode("doctor", "--json"))
    assert found["healthy"] is True
    assert {check["name"] for check in found["checks"]} >= {"gcc", "capture runtime", "engines"}


def test_inspect(homenode: Run, trace_file: Path) -> None:
    # hotspot, n x n cells, t steps (kernels.toml): init writes 2 n^2; sweep reads t (6 n^2 - 4 n), writes t n^2.
    n, t = 128, 2
    found = document(homenode("inspect", trace_file, "--json"))
    keys = {
        "schema",
        "hash",
        "complete",
        "accesses",
        "reads",
        "writes",
        "footprint_bytes",
        "objects",
        "regions",
        "threads",
        "losses",
    }
    assert keys <= set(found)
    assert found["schema"] == "homenode.inspect/1"
    assert found["complete"] is True
    regions = {region["label"]: region for region in found["regions"]}
    assert (regions["init"]["reads"], regions["init"]["writes"]) == (0, 2 * n**2)
    assert (regions["sweep"]["reads"], regions["sweep"]["writes"]) == (t * (6 * n**2 - 4 * n), t * n**2)
    assert regions["sweep"]["executions"] == t
    assert {"label", "kind", "executions", "items", "accesses", "reads", "writes"} <= set(regions["sweep"])
    assert all({"id", "kind", "bytes", "symbol"} <= set(entry) for entry in found["objects"])
    # no class has more than all instructions (one that loads and adds is in both classes); the whole is the sum of its regions
    work = regions["sweep"]["work"]
    assert 0 < work["fp_add"] <= work["instructions"]
    assert max(work.values()) == work["instructions"]
    for name, counted in found["work"].items():
        assert counted == pytest.approx(sum(region["work"][name] for region in found["regions"]))
    table = homenode("inspect", trace_file)
    assert table.status == 0
    for text in ("sweep", "in flight", "Instructions by class", "fp add"):
        assert text in table.stdout


def test_check(homenode: Run, trace_file: Path) -> None:
    assert document(homenode("check", trace_file, "--json"))["problems"] == []
    assert "every rule of the format holds" in homenode("check", trace_file).stdout


GRID = ("--machine", "xeon-x7560-4s", "--machine", "xeon-x5550-2s", "--threads", "4", "--threads", "8")
CHOICES = (
    "--placement",
    "first-touch",
    "--placement",
    "interleave",
    "--distribution",
    "static",
    "--distribution",
    "dynamic:2",
)


def test_replay_report(homenode: Run, trace_file: Path) -> None:
    report = document(homenode("replay", trace_file, *GRID, *CHOICES, "--json"))
    assert report["schema"] == "homenode.report/1"
    assert report["trace"]["hash"]
    # 2 machines x 2 teams x 2 placements x 2 distributions
    assert len(report["runs"]) == 16
    keys = {
        "machine", "machine_hash", "seed", "engine", "threads", "placement", "mapping", "distribution", "heap", "system", "seconds",
        "regret", "regions", "threads_detail", "traffic_bytes", "pages_by_node", "remote_pages", "page_faults", "migrated_pages",
        "cache_hit_rates", "latency_histogram_ns", "energy_joules",
    }  # fmt: skip
    for run in report["runs"]:
        assert keys <= set(run)
        assert run["seconds"] > 0
        assert run["regret"] >= 0
        assert len(run["threads_detail"]) == run["threads"]
        # busy + idle of a thread = the run's time (both rounded to doubles)
        for thread in run["threads_detail"]:
            assert thread["busy_seconds"] + thread["idle_seconds"] == pytest.approx(run["seconds"], rel=1e-9)
        # what threads moved is what controllers moved, but for what is written back at the end for nobody
        assert sum(map(sum, run["traffic_bytes"])) == sum(run["read_bytes_by_node"]) + sum(run["write_bytes_by_node"])
        assert len(run["latency_histogram_ns"]["edges"]) == len(run["latency_histogram_ns"]["counts"]) + 1
        assert {"label", "seconds", "executions", "binding_resource"} <= set(run["regions"][0])
    # in each set of comparable runs the best has no regret
    for machine in ("xeon-x7560-4s", "xeon-x5550-2s"):
        for threads in (4, 8):
            regrets = [
                run["regret"] for run in report["runs"] if (run["machine"], run["threads"]) == (machine, threads)
            ]
            assert min(regrets) == 0


def test_replay_table_ranks(homenode: Run, trace_file: Path) -> None:
    table = homenode("replay", trace_file, *GRID, *CHOICES, "--explain")
    assert table.status == 0
    for text in ("rank", "regret", "xeon-x5550-2s · 8 threads", "bound by: share of the busy time", "sweep"):
        assert text in table.stdout
    assert "choices replayed and " in table.stderr


def test_choices_are_explained_by_their_rank(homenode: Run, trace_file: Path) -> None:
    options = ("replay", trace_file, "--machine", "xeon-x7560-4s", "--threads", "8", *CHOICES, "--no-confidence")
    document_of = document(homenode(*options, "--json"))
    order = sorted(document_of["runs"], key=lambda run: float(run["seconds"]))
    titles = [
        f"rank {rank}: xeon-x7560-4s · 8 · {run['placement']} · compact · {run['distribution']}"
        for rank, run in enumerate(order, start=1)
    ]
    first, everything = homenode(*options, "--explain").stdout, homenode(*options, "--explain-all").stdout
    assert [line for line in first.splitlines() if line.startswith("rank ") and ":" in line] == titles[:3]
    assert [line for line in everything.splitlines() if line.startswith("rank ") and ":" in line] == titles
    assert "1 choice more: --explain-all." in first
    assert "--explain-all" not in everything


def test_a_heading_names_the_core_model_where_two_are_compared(homenode: Run, trace_file: Path) -> None:
    one, two = ("--machine", "xeon-x7560-4s"), ("--machine", "grace-2s")
    told = homenode("replay", trace_file, *one, *two, "--threads", "4").stdout
    models = {
        run["machine"]: run["core"]
        for run in document(homenode("replay", trace_file, *one, *two, "--threads", "4", "--json"))["runs"]
    }
    assert set(models.values()) == {"blocks", "classes"}
    for machine, model in models.items():
        assert re.search(rf"^{machine} · .* · core time by {model}$", told, re.MULTILINE)
    assert "core time by" not in homenode("replay", trace_file, *one, "--threads", "4").stdout


def test_a_page_takes_the_name_of_its_report(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    assert homenode("replay", trace_file, "--machine", "xeon-x5550-2s", "--threads", "2", "-o", "a.json").status == 0
    assert homenode("report", "a.json").stdout.startswith("a.html: ")
    assert (tmp_path / "a.html").is_file()


def test_a_table_in_csv_has_what_it_was_made_from_beside_it(homenode: Run, trace_file: Path, tmp_path: Path) -> None:
    study = f'trace = "{trace_file}"\nmachine = "xeon-x5550-2s"\n[grid]\nthreads = [1, 2]\n'
    (tmp_path / "s.toml").write_text(study)
    done = homenode("sweep", "s.toml", "--no-store", "-o", "runs.csv")
    assert done.status == 0, done.stderr
    assert "what 'runs.csv' was made from is in 'runs.csv.meta.json'" in done.stderr
    assert json.loads((tmp_path / "runs.csv.meta.json").read_text())["command"] == "homenode sweep s.toml"
    assert (tmp_path / "runs.csv").read_text().startswith("run,trace,")


@pytest.mark.parametrize("engine", ["flow", "simgrid", "line"])
def test_same_bytes_for_any_number_of_workers(homenode: Run, tmp_path: Path, trace_file: Path, engine: str) -> None:
    reports = []
    for workers in ("1", "2"):
        name = f"{engine}-{workers}.json"
        ended = homenode("replay", trace_file, *GRID, *CHOICES, "--engine", engine, "--workers", workers, "-o", name)
        assert ended.status == 0, ended.stderr
        reports.append((tmp_path / name).read_bytes())
        cost = json.loads((tmp_path / f"{name}.cost").read_text())
        assert cost["seconds"] > 0
        assert len(cost["runs"]) == 16
    assert reports[0] == reports[1]


def test_every_distribution_gives_the_same_bytes_for_any_number_of_workers(
    homenode: Run, tmp_path: Path, trace_file: Path
) -> None:
    listed = document(homenode("policies", "distribution", "--json"))["policies"]
    names = [policy["name"] for policy in listed if policy["kind"] == "distribution"]
    assert len(names) >= 10
    # The program has no tasks of its own: a loop is named for those that make some.
    of_loop = {"tasks": "sweep@tasks", "locality-queues": "sweep@locality-queues"}
    options = [option for name in names for option in ("--distribution", of_loop.get(name, name))]
    reports = []
    for workers in ("1", "3"):
        file = f"every-{workers}.json"
        place = ("--machine", "xeon-x5550-2s", "--threads", "8", "--workers", workers, "-o", file)
        ended = homenode("replay", trace_file, *place, *options)
        assert ended.status == 0, ended.stderr
        reports.append((tmp_path / file).read_bytes())
    assert reports[0] == reports[1]
    assert len(json.loads(reports[0])["runs"]) == len(names)


def test_oversubscribed(homenode: Run, trace_file: Path) -> None:
    ended = homenode("replay", trace_file, "--machine", "xeon-x5550-2s", "--threads", "12", "--oversubscribe", "--json")
    assert len(document(ended)["runs"][0]["threads_detail"]) == 12


def test_detected_host_can_be_replayed_on(homenode: Run, tmp_path: Path, trace_file: Path) -> None:
    assert homenode("machine", "detect", "-o", "host.toml").status == 0
    ended = homenode("replay", trace_file, "--machine", "./host.toml", "--threads", "1", "--json")
    assert document(ended)["runs"][0]["seconds"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["host.toml"]


def test_help_and_version(homenode: Run) -> None:
    assert homenode("--version").stdout.startswith("homenode ")
    for command in (
        "kernels",
        "capture",
        "inspect",
        "check",
        "machines",
        "machine",
        "policies",
        "replay",
        "validate",
        "doctor",
    ):
        assert homenode(command, "--help").status == 0
        assert command in homenode("--help").stdout
