"""A Linux of several NUMA nodes: Debian's cloud kernel in QEMU's emulation, with busybox and the programs as its only files."""

import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from validation.linux_guest.archive import initramfs

_EMULATOR = "qemu-system-x86_64"
_KERNEL_PACKAGE = "linux-image-cloud-amd64"


class MissingPart(Exception):
    """The guest cannot be run here; the message says what is missing."""


class GuestFailed(Exception):
    """The guest ran and did not end as it should; the message quotes its last lines."""


@dataclass(frozen=True)
class GuestMachine:
    """Nodes in a ring, as alike as the nodes of `machines/`."""

    nodes: int
    cores_per_node: int
    mebibytes_per_node: int

    @property
    def cores(self) -> int:
        """Processors in all."""
        return self.nodes * self.cores_per_node

    def distance(self, one: int, other: int) -> int:
        """The kernel's distance: 10 for a node itself, 10 more for each step along the ring."""
        steps = abs(one - other)
        return 10 + 10 * min(steps, self.nodes - steps)


def kernel_arguments() -> str:
    """Serial console, end instead of hang, pages of 4 KiB alone, and no balancing, so that pages stay where they are put.

    Nor does the kernel check that its timer ticks in time: on a busy host the emulated one does not, and the kernel would panic.
    """
    return "console=ttyS0 panic=-1 quiet no_timer_check transparent_hugepage=never numa_balancing=disable"


def emulator_command(machine: GuestMachine, kernel: Path, archive: Path, log: Path) -> list[str]:
    """QEMU's command line. Always emulated: a /dev/kvm may exist and still not boot a guest; one thread, so that runs repeat."""
    command = [
        _EMULATOR, "-accel", "tcg,thread=single", "-M", "q35", "-cpu", "qemu64",
        "-m", f"{machine.nodes * machine.mebibytes_per_node}M",
        "-smp", f"{machine.cores},sockets={machine.nodes},cores={machine.cores_per_node},threads=1",
    ]  # fmt: skip
    for node in range(machine.nodes):
        first = node * machine.cores_per_node
        command += ["-object", f"memory-backend-ram,id=m{node},size={machine.mebibytes_per_node}M"]
        cores = f"{first}-{first + machine.cores_per_node - 1}"
        command += ["-numa", f"node,nodeid={node},cpus={cores},memdev=m{node}"]
    for one in range(machine.nodes):
        for other in range(one + 1, machine.nodes):
            command += ["-numa", f"dist,src={one},dst={other},val={machine.distance(one, other)}"]
    return [
        *command, "-nodefaults", "-nic", "none", "-display", "none", "-serial", f"file:{log}", "-no-reboot",
        "-kernel", str(kernel), "-initrd", str(archive), "-append", kernel_arguments(),
    ]  # fmt: skip


def busybox() -> Path:
    """Debian's static busybox."""
    for candidate in ("/bin/busybox", "/usr/bin/busybox"):
        if Path(candidate).is_file():
            return Path(candidate)
    raise MissingPart("no busybox (Debian: busybox-static)")


def emulator() -> str:
    """The emulator's path."""
    found = shutil.which(_EMULATOR)
    if found is None:
        raise MissingPart(f"no {_EMULATOR} (Debian: qemu-system-x86)")
    return found


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})


def kernel_package(depends: str) -> str:
    """The package of the current cloud kernel, from what `apt-cache depends` says."""
    found = re.search(r"Depends: (linux-image-\S+-cloud-amd64)", depends)
    if found is None:
        raise MissingPart(f"apt knows no kernel by the name of {_KERNEL_PACKAGE}")
    return found[1]


def kernel(cache: Path) -> Path:
    """The kernel's image, from the newest package that the cache holds, else downloaded by apt-get; nothing is installed."""
    kept = sorted(cache.glob("vmlinuz-*"))
    if kept:
        return kept[-1]
    for tool in ("apt-get", "apt-cache", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise MissingPart(f"no kernel in {cache} and no {tool} to fetch one")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        folder = Path(temporary)
        package = kernel_package(_run(["apt-cache", "depends", _KERNEL_PACKAGE], folder).stdout.decode())
        fetched = _run(["apt-get", "download", "-q", package], folder)
        packages = list(folder.glob("*.deb"))
        if not packages:
            said = fetched.stderr.decode(errors="replace").strip().splitlines()
            raise MissingPart(f"apt-get download {package}: {said[-1] if said else 'no package came'}")
        files = _run(["dpkg-deb", "--fsys-tarfile", str(packages[0])], folder).stdout
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            images = [member for member in archive if re.fullmatch(r"\./boot/vmlinuz-\S+", member.name)]
            content = archive.extractfile(images[0]) if images else None
            if content is None:
                raise MissingPart(f"package {package} has no kernel image")
            image = folder / Path(images[0].name).name
            image.write_bytes(content.read())
        return image.rename(cache / image.name)


_INIT = """#!/bin/sh
/bin/busybox mkdir -p /proc /sys /tmp
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t sysfs none /sys
/bin/busybox sh /commands
echo '@@ end'
/bin/busybox poweroff -f
"""


def archive_of(programs: Mapping[str, Path], commands: str, more: Mapping[str, bytes] = {}) -> bytes:
    """The guest's files: /init, which runs `commands` in busybox's shell, the programs in /bin, and more files by their paths."""
    shell = busybox().read_bytes()
    files = {"init": _INIT.encode(), "commands": commands.encode(), "bin/busybox": shell, "bin/sh": shell}
    files |= {f"bin/{name}": path.read_bytes() for name, path in programs.items()}
    folders = dict.fromkeys(str(parent) for path in more for parent in reversed(Path(path).parents[:-1]))
    return initramfs(files | dict(more), ("bin", "dev", "proc", "sys", "tmp", *folders))


LONGEST_WORDS = 100  # characters of a line that an error quotes: a list of pages is longer than any screen


def failure(text: str, said: str) -> str:
    """Why a guest did not come to its end, in one line: its panic, else its last words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    panics = [line for line in lines if "Kernel panic" in line]
    last = [line if len(line) <= LONGEST_WORDS else line[:LONGEST_WORDS] + " …" for line in panics[:1] or lines[-3:]]
    return "; ".join(filter(None, [said, *last])) or "no word from the guest"


def run(
    machine: GuestMachine,
    programs: Mapping[str, Path],
    commands: str,
    cache: Path,
    timeout: float,
    more: Mapping[str, bytes] = {},
) -> str:
    """Boot the guest, let it run the commands, and return what it printed; raises MissingPart or GuestFailed. `more`: of archive_of."""
    emulator()
    image = kernel(cache)
    with tempfile.TemporaryDirectory() as temporary:
        archive, log = Path(temporary) / "initramfs", Path(temporary) / "log"
        archive.write_bytes(archive_of(programs, commands, more))
        command = emulator_command(machine, image, archive, log)
        try:
            ended = subprocess.run(["nice", "-n", "10", *command], capture_output=True, check=False, timeout=timeout)
            said = ended.stderr.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            said = f"not at its end after {timeout:.0f} s"
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if "@@ end" not in text:
        raise GuestFailed(failure(text, said))
    return text
