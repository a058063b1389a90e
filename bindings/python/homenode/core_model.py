"""The cycles of code on a core, by the program `homenode-mca` (`models/core`)."""

import subprocess

from homenode import _core
from homenode.resources import core_model


def host_cpu() -> str | None:
    """What LLVM calls this host's core; None if it has no model of it, or homenode was built without LLVM 19."""
    program = core_model()
    if program is None:
        return None
    ended = subprocess.run([program, "--host"], capture_output=True, text=True, check=False)
    return ended.stdout.strip() or None if ended.returncode == 0 else None


def with_core_of_host(machine: _core.Machine) -> _core.Machine:
    """The description of this host with the name of its core's scheduling model, if there is one."""
    cpu = host_cpu()
    return machine if cpu is None else machine.described("core.llvm_cpu", cpu, "LLVM 19 by cpuid", "A")
