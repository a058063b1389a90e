"""What tests import by name."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str


BUILD = ROOT / "build/release"


def build_release(*targets: str) -> None:
    """Builds what is missing of the tests in C++; tests that run at the same time wait for each other."""
    BUILD.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "CCACHE_BASEDIR": str(ROOT)}
    with (BUILD / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (BUILD / "build.ninja").exists():
            subprocess.run(
                ["cmake", "--preset", "release", "-DHOMENODE_BENCHMARKS=OFF"],
                cwd=ROOT,
                env=environment,
                check=True,
                capture_output=True,
            )
        subprocess.run(["ninja", "-C", BUILD, *targets], env=environment, check=True, capture_output=True)


def heed_signals() -> None:
    """Before a program begins: where tests run in the background SIGINT is ignored, under nohup SIGHUP, and children inherit that."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def processes_with(mark: str) -> list[int]:
    """The processes whose environment has it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # has ended, or is somebody else's
            continue
    return found


# A heap manager in C++ that gives each block pages of its own.
PAGES_APART = """\
class PagesApart final : public HeapManager {
  void prepare(const HeapSetting& setting) override { addresses_ = &setting.addresses; }
  HeapEffect allocate(const AllocationRequest& request, const Place&) override {
    const AddressRange pages = addresses_->reserve(request.bytes, request.alignment);
    pages_[pages.first] = pages;
    reserved_ += pages.size();
    return {{pages.first, pages.first + request.bytes}, Time{}, Time{}};
  }
  HeapEffect release(ObjectId, Address address, const Place&) override {
    const AddressRange pages = pages_.extract(address).mapped();
    reserved_ -= pages.size();
    return {{}, Time{}, Time{}, {{PageOperation::Kind::unmap, pages}}};
  }
  std::uint64_t reserved_bytes() const override { return reserved_; }
  AddressSpace* addresses_ = nullptr;
  std::map<Address, AddressRange> pages_;
  std::uint64_t reserved_ = 0;
};
"""
