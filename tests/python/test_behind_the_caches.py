"""Memory-side caches, directories in memory, ports of chiplets and snoop filters as a user sees them (decision 0053)."""

from __future__ import annotations

from pathlib import Path

import pytest

import homenode as hn


@pytest.fixture(scope="module")
def gather(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """Scattered reads of 512 KiB, twice: within a second level of today."""
    path = tmp_path_factory.mktemp("behind") / "gather.hnt"
    hn.capture("gather", output=path, n=1 << 16, reads=1 << 15, repeats=4)
    return hn.Trace.open(path)


def with_filter(size: str, ways: str) -> hn.Machine:
    changes = {"caches.3.snoop_filter": size, "caches.3.snoop_filter_ways": ways}
    return hn.Machine.load("xeon-8380-2s").with_changes(changes)


def test_runs_of_a_grid_share_nothing_that_a_snoop_filter_changes(gather: hn.Trace) -> None:
    machines = [with_filter("0 B", "0"), with_filter("80 MiB", "16"), with_filter("80 MiB", "1")]
    specs = [hn.RunSpec(machine, threads=8, caches="lines") for machine in machines]
    together = [result.run["hit_lines"] for result in hn.replay_grid(gather, specs, workers=1)]
    assert together == [hn.replay(gather, spec.machine, threads=8, caches="lines").run["hit_lines"] for spec in specs]
    # Sets of sixteen do not bind here, sets of one do: lines go from the second level to the third.
    none, wide, narrow = together
    assert wide == none
    assert narrow[1] < none[1] and narrow[2] > none[2]


# Small pages are zeroed in the caches, where a small program then finds all of its lines.
FROM_MEMORY = "thp"


def test_a_report_has_what_memory_side_caches_served(trace: hn.Trace) -> None:
    machine = hn.Machine.load("xeon-max-9480-2s-cache")
    for size in ("64 GiB", "4 KiB"):
        changed = machine.with_changes({"nodes.memory_side_cache": size})
        run = hn.replay(trace, changed, threads=8, placement="bind:0", pages=FROM_MEMORY).run
        first, second = run["memory_side_caches"]
        assert (first["node"], second) == (0, {"node": 1, "hits": 0, "misses": 0})
        assert 64 * (first["hits"] + first["misses"]) == run["read_bytes_by_node"][0] > 0
    assert "memory_side_caches" not in hn.replay(trace, "xeon-max-9480-2s-flat", threads=8).run


def test_a_directory_in_memory_is_written_for_the_other_socket_alone(trace: hn.Trace) -> None:
    machine = hn.Machine.load("xeon-8480-2s")

    def noted(machine: hn.Machine, cores: str) -> int:
        run = hn.replay(trace, machine, threads=2, mapping=cores, placement="bind:0", pages=FROM_MEMORY).run
        return int(run.get("directory_bytes", 0))

    assert noted(machine, "cores:0:1") == 0
    assert noted(machine, "cores:56:57") > 0
    assert noted(machine.with_changes({"coherence.directory_in": "cache"}), "cores:56:57") == 0


def test_a_port_is_named_where_it_binds(trace: hn.Trace) -> None:
    machine = hn.Machine.load("epyc-9654-2s").with_changes(
        {"caches.3.port_read": "0.1 GB/s", "caches.3.port_write": "0.1 GB/s"}
    )
    run = hn.replay(trace, machine, threads=8, pages=FROM_MEMORY).run
    assert run["bound_by"]["resource"].startswith("port of cache 0, ")


def test_a_port_or_a_filter_of_nothing_is_none(trace: hn.Trace) -> None:
    machine = hn.Machine.load("epyc-9654-2s").with_changes(
        {"caches.3.port_read": "0 B/s", "caches.3.port_write": "0 B/s"}
    )
    wide = machine.with_changes({"caches.3.port_read": "1e6 GB/s", "caches.3.port_write": "1e6 GB/s"})
    assert hn.replay(trace, machine, threads=8).seconds == pytest.approx(hn.replay(trace, wide, threads=8).seconds)
    with pytest.raises(hn.errors.UsageError, match="without port_write"):
        hn.Machine.load("xeon-x5550-2s").with_changes({"caches.3.port_read": "10 GB/s"})


def test_a_smaller_cache_than_its_pages_misses(own_cache: None, tmp_path: Path) -> None:
    path = tmp_path / "stream.hnt"
    hn.capture("stream", output=path, n=1 << 20, check=0)
    stream = hn.Trace.open(path)
    small = {"caches.2.size": "256 KiB", "caches.3.size": "3360 KiB"}
    machine = hn.Machine.load("xeon-max-9480-2s-cache").with_changes(small)
    misses = {}
    for size in ("64 MiB", "16 MiB", "4 MiB"):
        changed = machine.with_changes({"nodes.memory_side_cache": size})
        run = hn.replay(stream, changed, threads=4, placement="bind:0", caches="lines").run
        misses[size] = run["memory_side_caches"][0]["misses"]
    assert misses["64 MiB"] == 0 < misses["16 MiB"] < misses["4 MiB"]
