"""`./dev golden`: do the reports of many replays still have the bytes that they had?

For changes that must not move a result. The reports are those of every kernel, engine, page placement, mapping, distribution and
heap manager, hashed; `hashes.json` holds what they were. `./dev golden --write` takes the present ones, after a change that is
meant to move results. The hashes depend on the compiler that captures the kernels, Debian 12's gcc, and on Debian 12's C library. That
has some functions (`cos`, `memcpy`) once for each kind of processor; captures here take those that any processor has. The traces' own
hashes are kept as well: where one moves, so do all reports of the kernel, and the replays are not to blame.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import homenode as hn

HASHES = Path(__file__).with_name("hashes.json")

# Small sizes; the threads of kernels that are bound to a number of their own.
KERNELS: dict[str, tuple[dict[str, Any], int]] = {
    "hotspot": ({"size": 128}, 8),
    "jacobi3d": ({"ni": 32, "nj": 32, "nk": 32, "bk": 32}, 8),
    "jacobi3d_tasks": ({"ni": 32, "nj": 32, "nk": 32, "bk": 32}, 8),
    "stream": ({"n": 40_000}, 8),
    "chase": ({"nodes": 8192, "steps": 8192}, 2),
    "gather": ({"n": 20_000, "reads": 20_000}, 4),
    "spmv": ({"rows": 4000, "matrix": "skewed"}, 8),
    "bfs": ({"vertices": 4000}, 8),
    "histogram": ({"bins": 512, "keys": 20_000, "drawn": "skewed"}, 4),
    "jacobi2d": ({"n": 160}, 8),
    "advection2d": ({"patch": 16}, 4),
    "advection3d": ({"patch": 8}, 4),
    "fdtd3d": ({"patch": 8}, 4),
    "heap_list1": ({"blocks": 8, "bytes": 65_536, "passes": 2}, 4),
    "srad_v1": ({}, 8),
    "srad_v2": ({}, 8),
    "mg": ({}, 8),
    "ft": ({}, 8),
    "sliding_tile": ({}, 4),
    "threads_autonomous": ({}, 0),
    "threads_side_by_side": ({}, 0),
    "threads_postponed": ({}, 0),
    "threads_pingpong": ({}, 0),
    "threads_mix": ({}, 0),
}
MACHINES = {"line": "xeon-x5550-2s", "flow": "opteron-8431-4s", "simgrid": "xeon-x5550-2s"}
PLACEMENTS = (
    "interleave",
    "bind:0",
    "preferred:0",
    "weighted-interleave:weights=1:2:1:2",
    "stencil-aware",
    "optimal",
    "first-touch+carrefour",
    "first-touch+autonuma:scan_delay=100us",
)
SYSTEMS = {"first-touch+carrefour": "linux-3.10", "first-touch+autonuma:scan_delay=100us": "linux-6.1"}
MAPPINGS = ("scatter", "unpinned", "btdm", "treematch", "greedy", "scotch")
DISTRIBUTIONS = (
    "static:4",
    "dynamic:4",
    "guided:2",
    "auto",
    "latency-weighted",
    "work-stealing",
    "tbb",
    "tbb-affinity",
)
TASKS = ("tasks:queue=256", "locality-queues")
HEAPS = ("glibc", "tcmalloc", "jarena", "regular")


# The C library's functions for any x86-64.
ANY_PROCESSOR = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX2,-AVX,-FMA,-ERMS,-FSRM"


def captured(kernel: str, folder: Path) -> tuple[hn.Trace, int]:
    """The kernel's trace, the folder's if it has one, and the threads to replay it with."""
    parameters, threads = KERNELS[kernel]
    options = (
        {"threads": threads} if kernel in ("advection2d", "advection3d", "fdtd3d", "heap_list1", "sliding_tile") else {}
    )
    file = folder / f"{kernel}.hnt"
    trace = hn.Trace.open(file) if file.exists() else hn.capture(kernel, output=file, **options, **parameters)
    return trace, threads or len(trace.thread_graph()["threads"])


def replays(kernel: str, threads: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """A machine and the options of each replay of this kernel."""
    for engine, machine in MACHINES.items():
        most = 8 if machine == "xeon-x5550-2s" else threads
        yield machine, {"threads": threads, "engine": engine, "oversubscribe": threads > most}
    yield "xeon-x7560-4s", {"threads": threads, "caches": "lines", "seed": 7}
    if kernel in ("hotspot", "jacobi2d"):
        for placement, engine in itertools.product(PLACEMENTS, ("flow", "line")):
            if engine == "line" and placement == "optimal":
                continue
            system = SYSTEMS.get(placement, "default")
            yield "xeon-x7560-4s", {"threads": 16, "placement": placement, "engine": engine, "system": system}
        for distribution in DISTRIBUTIONS:
            yield "opteron-8431-4s", {"threads": 12, "distribution": distribution}
        yield "xeon-x7560-4s", {"threads": 16, "pages": "2MiB", "placement": "interleave"}
        yield "xeon-x7560-4s", {"threads": 16, "pages": "thp", "system": "linux-6.1"}
        yield "knc-5110p", {"threads": 30, "engine": "line"}
        yield "sgi-uv-32s", {"threads": 64}
    if kernel == "jacobi3d_tasks":
        for distribution in TASKS:
            yield "xeon-x7560-4s", {"threads": 16, "distribution": distribution}
    if kernel.startswith("threads_"):
        for mapping in MAPPINGS:
            yield "xeon-x7560-4s", {"threads": threads, "mapping": mapping, "system": "linux-4.4"}
    if kernel in ("heap_list1", "advection2d", "sliding_tile"):
        for heap in HEAPS:
            yield "opteron-8431-4s", {"threads": threads, "heap": heap, "system": "linux-2.6.32"}
    if kernel == "sliding_tile":
        for heap in ("regular", "latency-aware"):
            yield "knc-5110p", {"threads": threads, "engine": "line", "heap": heap}


def seen(text: str) -> str:
    """A report without what was not seen of the program, of which some is a time on the host that captured it, and without the version."""
    document = json.loads(text)
    document.pop("homenode_version", None)
    for part in (document, document.get("trace", {})):
        part.pop("unseen", None)
    return json.dumps(document, indent=2) + "\n"


def digest(text: str) -> str:
    """Enough of its hash."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def hashes(folder: Path, only: str) -> dict[str, str]:
    """The hash of each report, by the replay's description."""
    result = {}
    for kernel in (name for name in KERNELS if only in name):
        trace, threads = captured(kernel, folder)
        result[f"trace {kernel}"] = trace.hash
        for machine, options in replays(kernel, threads):
            name = f"{kernel} {machine} " + " ".join(f"{key}={value}" for key, value in options.items())
            text = seen(hn.replay(trace, machine, **options).to_json())
            result[name] = digest(text)
        if kernel in ("hotspot", "stream", "jacobi2d", "srad_v1"):
            for machine in ("opteron-8431-4s", "xeon-x7560-4s"):
                text = hn.estimate(
                    trace, machine, threads=16, placement="interleave", distribution="latency-weighted"
                ).to_json()
                result[f"estimate {kernel} {machine}"] = digest(text)
        if kernel == "hotspot":
            result["advise"] = digest(seen(hn.advise(trace, "opteron-8431-4s", threads=24, samples=4).to_json()))
            result["rank"] = digest(seen(hn.replay(trace, "xeon-x7560-4s", threads=8, confidence=4).to_json()))
        if kernel == "threads_mix":
            result["thread_map"] = digest(repr(hn.thread_map(trace, "xeon-x7560-4s", mapping="btdm")))
    return result


def main() -> int:
    """Compare with `hashes.json`, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="take the present reports")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument(
        "--traces", type=Path, help="keep the traces here and use those that are here, as two versions should"
    )
    parser.add_argument("--hashes", type=Path, default=HASHES, help="another file of hashes")
    arguments = parser.parse_args()
    os.environ["GLIBC_TUNABLES"] = ANY_PROCESSOR  # of the programs that are captured
    with tempfile.TemporaryDirectory() as folder:
        found = hashes(arguments.traces or Path(folder), arguments.only)
    if arguments.write:
        arguments.hashes.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(found)} reports written to {arguments.hashes.name}")
        return 0
    expected = json.loads(arguments.hashes.read_text())
    moved = [name for name in found if found[name] != expected.get(name)]
    for name in moved:
        print(f"moved: {name}")
    print(f"{len(found) - len(moved)} passed, {len(moved)} failed")
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
