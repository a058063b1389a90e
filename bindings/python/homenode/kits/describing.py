"""The machine that came back: its description, checked as every description is, with LLVM's name of its core."""

from __future__ import annotations

import subprocess

from homenode.errors import InputError
from homenode.kits.returned import Returned
from homenode.machine import Machine
from homenode.resources import core_model

# LLVM's names of cores by vendor, family and models, as the vendors number them (Intel: Software Developer's Manual, volume 4, table 2-1;
# AMD: the revision guides and processor programming references of each family).
_INTEL = {
    "nehalem": (0x1A, 0x1E, 0x1F, 0x2E),
    "westmere": (0x25, 0x2C, 0x2F),
    "sandybridge": (0x2A, 0x2D),
    "ivybridge": (0x3A, 0x3E),
    "haswell": (0x3C, 0x3F, 0x45, 0x46),
    "broadwell": (0x3D, 0x47, 0x4F, 0x56),
    "skylake": (0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6),
    "skylake-avx512": (0x55,),
    "icelake-client": (0x7D, 0x7E),
    "icelake-server": (0x6A, 0x6C),
    "tigerlake": (0x8C, 0x8D),
    "rocketlake": (0xA7,),
    "alderlake": (0x97, 0x9A),
    "sapphirerapids": (0x8F, 0xCF),  # LLVM 19 takes an Emerald Rapids for one; their tables are the same
    "graniterapids": (0xAD, 0xAE),
}
_AMD = {
    23: (("znver1", 0, 47), ("znver2", 48, 175)),
    25: (("znver3", 0, 15), ("znver4", 16, 31), ("znver3", 32, 95), ("znver4", 96, 127), ("znver4", 160, 175)),
    26: (("znver5", 0, 127),),
}


def llvm_cpu(vendor: str, family: str, model: str, stepping: str) -> str | None:
    """LLVM's name of the core that /proc/cpuinfo describes so; None where this table has none."""
    if not all(text.isascii() and text.isdecimal() and len(text) <= 4 for text in (family, model, stepping)):
        return None
    number = int(model)
    if vendor == "GenuineIntel" and family == "6":
        found = next((name for name, models in _INTEL.items() if number in models), None)
        return "cascadelake" if found == "skylake-avx512" and int(stepping) >= 5 else found
    if vendor == "AuthenticAMD":
        return next((name for name, least, most in _AMD.get(int(family), ()) if least <= number <= most), None)
    return None


def machine_of(returned: Returned) -> Machine:
    """The description with the name of its core's model, where homenode has that model. InputError for one that is no machine."""
    machine = Machine.from_toml(returned.toml, f"{returned.path} (machine.toml)")
    if machine.name != returned.host.name:
        raise InputError(
            f"{returned.path}:3: the description is of '{machine.name}'; allowed: '{returned.host.name}', as the host's line says"
        )
    cpu = returned.host.cpu
    name = llvm_cpu(cpu["vendor"], cpu["family"], cpu["model"], cpu["stepping"])
    if name is None or name not in _modelled():
        return machine
    source = f"/proc/cpuinfo of {returned.host.name}: family {cpu['family']}, model {cpu['model']}, stepping {cpu['stepping']}"
    return Machine(machine._core.described("core.llvm_cpu", name, source, "A"))


def _modelled() -> set[str]:
    program = core_model()
    if program is None:
        return set()
    ended = subprocess.run([program, "--cpus"], capture_output=True, text=True, check=False)
    return set(ended.stdout.split()) if ended.returncode == 0 else set()
