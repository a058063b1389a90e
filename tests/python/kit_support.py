"""A file as a kit returns it, made by hand, which the tests damage one thing at a time."""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.kernel_sources import kernel
from homenode.kits.making import MANIFEST_SCHEMA, source_hash
from homenode.kits.plan import cases

Lines = list[dict[str, Any]]
HOST = "node17"


def described() -> str:
    """Two sockets under the host's name."""
    return hn.Machine.load("xeon-x5550-2s").to_toml().replace('name = "xeon-x5550-2s"', f'name = "{HOST}"', 1)


def lines() -> Lines:
    """A kit of stream, two runs and one for pages; the last line, the end, is left out."""
    planned = cases("tiny", ["stream"])
    choice = {
        "case": "stream-tiny",
        "placement": "first-touch",
        "pinning": "compact",
        "schedule": "static",
        "threads": 2,
    }
    run = {
        **{"kind": "run", **choice, "repeat": 1, "ended": "exit 0", "seconds": 0.01, "user_seconds": 0.01},
        **{"system_seconds": 0.0, "others_seconds": 0.0, "stolen_seconds": 0.0, "involuntary_switches": 0},
        **{"regions": {"init": 0.001, "copy": 0.002, "triad": 0.003}, "counters": {"page-faults": 100}},
    }
    pages = {"kind": "pages", **choice, "ended": "exit 0", "seconds": 0.01, "blocks": []}
    return [
        {
            **{"kind": "kit", "schema": "homenode.kit/1", "planned": 3},
            "manifest": {
                **{"schema": MANIFEST_SCHEMA, "homenode_version": "0.1.0", "architecture": "x86_64", "size": "tiny"},
                "cases": [case.to_dict() for case in planned],
                "kernels": {"stream": {"source": source_hash(kernel("stream")), "timed": ["copy", "triad"]}},
                "files": {},
            },
        },
        {
            **{"kind": "host", "name": HOST, "system": "6.1.0", "architecture": "x86_64"},
            "cpu": {"vendor": "GenuineIntel", "family": "6", "model": "26", "stepping": "5", "name": "Xeon X5550"},
            **{"huge_pages": "always [madvise] never", "balancing": "0", "perf_event_paranoid": "2", "load": "0.00"},
            **{"nodes": "0-1", "counters": ["page-faults"], "counters_refused": {"cycles": "Permission denied"}},
            **{"bound": {"0": "yes", "1": "Operation not permitted"}, "cpus_allowed": 8, "pinned": "yes"},
        },
        {"kind": "machine", "toml": described()},
        run,
        {**copy.deepcopy(run), "repeat": 2},
        pages,
    ]


def sealed(found: Lines) -> bytes:
    """With the end that belongs to these lines."""
    content = "".join(f"{json.dumps(line)}\n" for line in found).encode()
    end = {"kind": "end", "lines": len(found), "crc32": f"{zlib.crc32(content):08x}"}
    return content + f"{json.dumps(end)}\n".encode()


def written(folder: Path, change: Callable[[Lines], object] = lambda found: None) -> Path:
    """The file in a folder, changed and sealed again."""
    found = lines()
    change(found)
    path = folder / "returned.jsonl"
    path.write_bytes(sealed(found))
    return path
