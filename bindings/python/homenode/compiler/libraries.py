"""Code that was linked into a program without being instrumented: its accesses are lost, which the trace says."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

# What every program has. Of what they do to the program's memory, calls with a large effect are found in the objects (losses.py).
_SYSTEM = re.compile(
    r"^(?:(?:ld-linux.*|lib(?:c|m|mvec|dl|rt|pthread|gcc|gcc_s|gcc_eh|stdc\+\+|gfortran|quadmath|c_nonshared|tsan|gomp|resolv|util))"
    r"\.(?:a|so[.\d]*)|(?:[SMg]?crt\w*|crt\w*|libtsan_preinit)\.o)$"
)
_MEMBER = re.compile(r"^(?P<archive>.+)\((?P<member>[^()]+)\)$|^\((?P<archive2>.+)\)(?P<member2>.+)$")
_FUNCTION = re.compile(r"^[0-9a-f]+ [TtWi] (?P<name>\S+)$")


def _said(*words: str | Path) -> str:
    return os.fsdecode(subprocess.run([str(word) for word in words], capture_output=True, check=False).stdout)


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _functions(listing: str) -> set[str]:
    return {found["name"].split("@")[0] for line in listing.splitlines() if (found := _FUNCTION.match(line.strip()))}


def inputs_of(trace: str) -> list[str]:
    """The files that `ld --trace` says it read, once each: objects, `archive(member)`, shared libraries."""
    return list(
        dict.fromkeys(
            line.strip() for line in trace.splitlines() if re.search(r"\.(?:o|a\(.*\)|so[.\d]*)\)?$|\)", line)
        )
    )


def untraced(inputs: list[str], program: Path) -> list[dict[str, Any]]:
    """A loss for each object and each library among the linker's inputs that was compiled without tracing, with its functions counted."""
    losses: list[dict[str, Any]] = []
    called: set[str] | None = None
    archives: dict[str, dict[str, tuple[bool, set[str]]]] = {}
    for name in inputs:
        member = _MEMBER.match(name)
        archive = (member["archive"] or member["archive2"]) if member else None
        path = Path(archive or name)
        if _SYSTEM.match(path.name) or not path.is_file():
            continue
        if member:
            assert archive is not None
            known = archives.setdefault(archive, _members(path))
            traced, functions = known.get((member["member"] or member["member2"]).strip(), (True, set()))
            shown = f"{path.name}({member['member'] or member['member2']})"
            what = "the object is not instrumented"
        elif ".so" in path.name:
            listing = _said("nm", "-D", path)
            traced = "__tsan_" in listing
            if called is None:
                called = {
                    line.split()[-1].split("@")[0] for line in _said("nm", "-u", program).splitlines() if line.split()
                }
            functions = set() if traced else _functions(listing) & called
            shown, what = path.name, "the library is not instrumented"
        else:
            listing = _said("nm", path)
            traced, functions = "__tsan_" in listing or _is_compiled_later(path), _functions(listing)
            shown, what = path.name, "the object is not instrumented"
        if not traced and functions:
            losses.append(
                {
                    "function": _shown(shown),
                    "file": _shown(shown),
                    "reason": f"{what}: what its functions access is not recorded",
                    "count": len(functions),
                }
            )
    return losses


def _is_compiled_later(path: Path) -> bool:
    """Of an object of ours with -flto: the linker compiles it, with what traces it."""
    headers = _said("objdump", "-h", path)
    return ".gnu.lto_" in headers and ".homenode.twin" in headers


def _members(archive: Path) -> dict[str, tuple[bool, set[str]]]:
    """Whether each member was compiled for tracing, and its functions."""
    found: dict[str, tuple[bool, set[str]]] = {}
    for part in _said("nm", archive).split("\n\n"):
        lines = part.strip().splitlines()
        if lines and lines[0].endswith(":"):
            found[lines[0][:-1]] = ("__tsan_" in part, _functions(part))
    return found
