"""The words of recommended commands: places of threads, programs and arguments as a shell takes them, what is known of this host."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import homenode as hn
from homenode import host as host_module
from homenode.host import NAME, cpus_of_cores, detected_host, is_this_host
from homenode.recommended_commands import command_line, places, ranges
from recommend_support import CPUS, MACHINE, cpus_of


@given(st.lists(st.integers(0, 300), min_size=1, max_size=70))
def test_places_are_the_cpus_in_their_order(cpus: list[int]) -> None:
    assert cpus_of(places(cpus)) == cpus


def test_places_are_short() -> None:
    assert places(list(range(32))) == "{0}:32"
    assert places([core + 8 * node for core in range(2) for node in range(4)]) == "{0}:4:8,{1}:4:8"
    assert places([5]) == "{5}"
    assert ranges([3, 1, 2, 8]) == "1-3,8"


WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
NAME_OF_FILE = WORD.filter(lambda name: name not in ("", ".", "..") and "/" not in name and len(name.encode()) < 200)


@settings(max_examples=60, deadline=None)
@given(
    NAME_OF_FILE,
    st.lists(WORD, max_size=4),
    st.sampled_from([[], ["OMP_NUM_THREADS=2"], ["taskset", "-c", str(CPUS[0])]]),
)
def test_odd_programs_and_arguments_arrive_as_they_are(name: str, arguments: list[str], before: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, name)
        program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
        program.chmod(0o755)
        line = " ".join([*before, command_line([f"./{name}", *arguments])])
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=True)
    assert done.stdout == b"".join(word.encode() + b"\0" for word in arguments or [""])


@pytest.mark.parametrize("name", ["if", "time", "A=b", "done", "a=b c"])
def test_names_that_mean_something_to_a_shell_are_programs(name: str, tmp_path: Path) -> None:
    program = tmp_path / name
    program.write_text("#!/bin/sh\necho program\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", command_line([name])], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "program\n"


# ---- on this host


def test_this_host_is_known() -> None:
    host = detected_host()
    assert host.name == NAME
    assert is_this_host(host)
    assert not is_this_host(hn.Machine.load(MACHINE))
    cpus = cpus_of_cores(host.cores)
    assert cpus is None or (len(set(cpus)) == host.cores and min(cpus) >= 0)
    assert cpus_of_cores(host.cores + 1) is None


def test_cpus_are_those_of_the_cores_socket_by_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two sockets of two cores with two hardware threads each, numbered as Linux often does: round the sockets, then again.
    def write(file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    for cpu in range(8):
        socket, first = cpu % 2, cpu % 4
        topology = tmp_path / "cpu" / f"cpu{cpu}" / "topology"
        write(topology / "package_cpus_list", ",".join(str(one) for one in range(8) if one % 2 == socket))
        write(topology / "thread_siblings_list", f"{first},{first + 4}")
    for node in range(2):
        write(tmp_path / "node" / f"node{node}" / "cpulist", ",".join(str(one) for one in range(8) if one % 2 == node))
    monkeypatch.setattr(host_module, "_CPUS", tmp_path / "cpu")
    monkeypatch.setattr(host_module, "_NODES", tmp_path / "node")
    assert cpus_of_cores(4) == [0, 2, 1, 3]
    assert cpus_of_cores(8) is None  # its hardware threads are no cores


def test_the_kernels_settings_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HUGE_PAGES", "BALANCING"):
        monkeypatch.setattr(host_module, name, tmp_path / name)
    assert (host_module.huge_pages(), host_module.balances_pages()) == ("never", False)
    (tmp_path / "HUGE_PAGES").write_text("[always] madvise never\n")
    (tmp_path / "BALANCING").write_text("1\n")
    assert (host_module.huge_pages(), host_module.balances_pages()) == ("always", True)
    (tmp_path / "BALANCING").write_text("0\n")
    assert not host_module.balances_pages()
