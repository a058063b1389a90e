"""`homenode-mca`: cycles of code on a core, as a program of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import homenode as hn
from homenode.core_model import host_cpu
from homenode.resources import core_model
from support import SCRIPTS, Ended

# movsd 8(%rsp), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, 8(%rsp)
SLOT = "f20f10442408f20f58c1f20f11442408"


def asked(request: str, *words: str) -> Ended:
    program = core_model()
    assert program is not None, "homenode was built without LLVM 19 (Debian: llvm-19-dev)"
    ended = subprocess.run([program, *words], input=request, capture_output=True, text=True, check=False)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_cycles_of_blocks() -> None:
    request = f"cpu znver3\nblock 17 {SLOT}\nblock 18 0f31c3\nblock 19 f20f59c1\nsequence 17*100 18 17*100\nend\n"
    ended = asked(request)
    assert (ended.status, ended.stderr) == (0, "")
    answer = json.loads(ended.stdout)
    assert list(answer) == ["llvm", "cpu", "blocks", "unknown"]
    assert answer["llvm"].startswith("19.") and answer["cpu"] == "znver3"
    assert answer["unknown"] == {"rdtsc": 1}
    assert list(answer["blocks"]) == ["17", "18", "19"]
    # A load of 8 cycles, an addition of 3, a store of 1; of 603 instructions 256 warm up.
    slot = answer["blocks"]["17"]
    assert list(slot) == [
        "cycles",
        "alone",
        "executions",
        "bound",
        "resolution",
        "instructions",
        "wide_256",
        "wide_512",
        "loads",
        "busiest",
        "fetching",
    ]
    assert slot["cycles"] == pytest.approx(12, abs=0.1)
    assert (slot["bound"], slot["alone"], slot["instructions"]) == ("latency", False, 3)
    assert answer["blocks"]["19"]["alone"]
    assert asked(request) == ended


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("cpu barcelona\nend\n", "'barcelona'"),
        ("cpu znver3\nblock 1 9\nend\n", "line 2: "),
        ("cpu znver3\nblock 1 90\nsequence 2\nend\n", "line 3: "),
        ("cpu znver3\n", "line 2: "),
    ],
)
def test_bad_input_is_one_line(request_: str, said: str) -> None:
    ended = asked(request_)
    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert said in ended.stderr and "llowed: " in ended.stderr


def test_options() -> None:
    cpus = asked("", "--cpus").stdout.split()
    assert {"znver3", "ivybridge", "nehalem"} <= set(cpus) and "barcelona" not in cpus
    host = asked("", "--host")
    assert host.status == 0 and host.stdout.strip() in [*cpus, ""]
    assert asked("", "--hosts").status == 2


def test_the_description_of_this_host_names_its_core(tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    ended = subprocess.run([SCRIPTS / "homenode", "machine", "detect", "-o", file], capture_output=True, check=False)
    assert ended.returncode == 0
    known = {one["path"]: one for one in hn.Machine.load(str(file)).parameters}
    cpu = host_cpu()
    assert ("core.llvm_cpu" in known) == (cpu is not None)
    if cpu is not None:
        entry = known["core.llvm_cpu"]
        assert (entry["value"], entry["source"], entry["confidence"]) == (cpu, "LLVM 19 by cpuid", "A")


def test_shipped_machines_name_cores_that_llvm_has() -> None:
    named = {}
    for name in hn.Machine.names():
        machine = hn.Machine.load(name)
        named[name] = next((one["value"] for one in machine.parameters if one["path"] == "core.llvm_cpu"), None)
        # A name is no number: neither assumed nor counted.
        assert machine.assumed[1] == len(machine.parameters) - (named[name] is not None)
    cpus = asked("", "--cpus").stdout.split()
    assert {cpu for cpu in named.values() if cpu is not None} <= set(cpus)
    assert named["opteron-8431-4s"] is None and named["knc-5110p"] is None
    assert named["xeon-e5-2697v2-2s"] == "ivybridge"
