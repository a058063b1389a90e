"""SimGrid is linked to one library, which is loaded when the engine `simgrid` is asked for; without it that engine says what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import homenode._core
from homenode.resources import PROGRAMS, simgrid_module
from support import SCRIPTS

LOADED = """import sys
from pathlib import Path
import homenode as hn
def loaded():
    return "libsimgrid" in Path("/proc/self/maps").read_text()
@hn.page_placement("one")
def one(faults):
    return faults.page * 0
trace, machine = hn.Trace.open(sys.argv[1]), "xeon-x5550-2s"
flow = hn.replay(trace, machine, threads=2)
print(loaded())
simgrid = hn.replay(trace, machine, threads=2, engine="simgrid", placement="one")
print(loaded())
"""


def needed(file: Path) -> list[str]:
    """The libraries that a file is linked to."""
    said = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s+NEEDED\s+(\S+)", said, re.MULTILINE)


def without_simgrid(folder: Path) -> dict[str, str]:
    """An environment in which the loader finds an empty file in SimGrid's place."""
    module = simgrid_module()
    assert module is not None
    (name,) = [name for name in needed(module) if name.startswith("libsimgrid")]
    (folder / name).touch()
    return {**os.environ, "LD_LIBRARY_PATH": str(folder)}


def run(environment: Mapping[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPTS / "homenode", *words], env=environment, capture_output=True, text=True, check=False)


def test_one_library_alone_is_linked_to_simgrid() -> None:
    for file in (
        Path(homenode._core.__file__),
        PROGRAMS / "assemble",
        PROGRAMS / "supervise",
        PROGRAMS / "homenode-mca",
    ):
        assert not [name for name in needed(file) if "simgrid" in name or "ns3" in name], file


def test_simgrid_is_loaded_when_it_is_asked_for(trace_file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, trace_file], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["False", "True"], "")


def test_without_simgrid_all_else_works(trace_file: Path, tmp_path: Path) -> None:
    environment = without_simgrid(tmp_path)
    replay = ("replay", trace_file, "--machine", "xeon-x5550-2s", "--threads", "2")
    assert run(environment, *replay).returncode == 0
    refused = run(environment, *replay, "--engine", "simgrid")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    for part in ("engine 'simgrid'", "libsimgrid.so", "install", "flow"):
        assert part in refused.stderr, refused.stderr
    doctor = run(environment, "doctor")
    assert doctor.returncode == run(os.environ, "doctor").returncode
    (row,) = [line for line in doctor.stdout.splitlines() if line.startswith("libsimgrid")]
    assert row.split()[1] == "no"
