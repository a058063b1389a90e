"""What `homenode machine import` makes of hwloc's own test files: `python -m validation import --sources FOLDER`.

FOLDER holds XML files of hwloc at any depth, such as a checkout of open-mpi/hwloc. Its files are no part of homenode. Without it the
shipped machines are imported from synthetic topologies of the same shape.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.errors import Error
from homenode.machine_files.importing import import_machine
from homenode.visible import visible
from validation.rows import AnyRow
from validation.study import BadOptions, Options, Study
from validation.traces import captured

PAGE = Path(__file__).with_name("imported_machines.md")
COMMAND = "python -m validation import --sources FOLDER --write"
KERNEL, PARAMETERS = "jacobi2d", {"n": 256, "sweeps": 2, "check": 0}
_LARGEST = 32 << 20


@dataclass(frozen=True)
class Row(AnyRow):
    """One file. `told`: what the file itself has of cores by a search for words, without a parser; nothing of a refused file."""

    file: str
    hwloc: str
    result: str
    reason: str
    sockets: int
    nodes: int
    cores: int
    told: int
    memory_only: int  # nodes without cores
    assumed: int
    numbers: int
    left_out: tuple[str, ...]
    seconds: float  # of the kernel on every core, first touch
    command: str

    @property
    def agrees(self) -> bool:
        """Whether the description has as many cores as the file has words for them."""
        return self.result == "imported" and self.cores == self.told

    def as_json(self) -> dict[str, Any]:
        """Return the verdict, too."""
        return {**super().as_json(), "left_out": list(self.left_out), "agrees": self.agrees}


def has_alike_nodes(machine: hn.Machine) -> bool:
    """Whether each node has as many cores; memory without cores is in no synthetic topology."""
    return len(set(machine.topology["cores_of_node"])) == 1


def shape_of(machine: hn.Machine) -> str:
    """The synthetic topology of a machine whose sockets and nodes are alike."""
    per_socket = machine.nodes // machine.sockets
    cores = machine.cores // machine.nodes
    parts = [f"Package:{machine.sockets}", "[NUMANode]" if per_socket == 1 else f"Group:{per_socket} [NUMANode]"]
    inside = cores
    for cache in reversed(machine.caches):
        shared = min(int(cache["cores_per_cache"]), cores)
        size = re.sub(r"\s*", "", str(cache["size"]))
        parts.append(f"L{cache['level']}Cache:{inside // shared}(size={size})")
        inside = shared
    return " ".join([*parts, f"Core:{inside}", "PU:1"])


def _words_for_cores(text: str) -> int:
    """Objects of type Core; hardware threads where the file has no cores."""
    return len(re.findall(r'<object type="Core"', text)) or len(re.findall(r'<object type="PU"', text))


def _row(name: str, hwloc: str, told: int, trace: hn.Trace, files: Sequence[Path], synthetic: str | None) -> Row:
    source = f"--synthetic '{synthetic}'" if synthetic is not None else name
    command = f"homenode machine import {source} -o machine.toml"
    try:
        found = import_machine(files, name="imported", synthetic=synthetic)
    except Error as error:
        reason = visible(str(error)).replace(str(files[0]) if files else "", Path(name).name)
        return Row(name, hwloc, "refused", reason, 0, 0, 0, 0, 0, 0, 0, (), 0.0, command)
    machine = found.machine
    spec = hn.RunSpec(machine, threads=machine.cores, placement="first-touch", heap="plain")
    seconds = hn.replay_grid(trace, [spec])[0].seconds
    memory_only = sum(count == 0 for count in machine.topology["cores_of_node"])
    assumed, numbers = machine.assumed
    counts = (machine.sockets, machine.nodes, machine.cores, told, memory_only, assumed, numbers)
    return Row(name, hwloc, "imported", "", *counts, found.left_out, seconds, command)


def rows(options: Options) -> Iterator[Row]:
    """Every file in the order of its name; those that are no topology of hwloc are passed over."""
    trace = captured(options.folder / "imported", KERNEL, PARAMETERS)
    if options.sources is None:
        if options.write:
            raise BadOptions("import --write without --sources; allowed: a folder with XML files of hwloc")
        machines = [machine for machine in map(hn.Machine.load, hn.Machine.names()) if has_alike_nodes(machine)]
        for machine in machines[: 2 if options.small else None]:
            name = machine.name
            yield _row(name, "synthetic", machine.cores, trace, (), shape_of(machine))
        return
    found = 0
    for path in sorted(options.sources.rglob("*.xml"), key=str):
        text = path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size < _LARGEST else ""
        if (head := re.search(r"<topology[ >][^>]*", text)) is None:
            continue
        found += 1
        version = re.search(r'version="([^"]*)"', head[0])
        name = path.relative_to(options.sources).as_posix()
        yield _row(name, version[1] if version else "1", _words_for_cores(text), trace, (path,), None)
    if found == 0:
        raise BadOptions(
            f"no XML file of hwloc in {options.sources}; allowed: a folder such as a checkout of open-mpi/hwloc"
        )


def _summary(found: Sequence[Row]) -> str:
    imported = [row for row in found if row.result == "imported"]
    agree = sum(row.agrees for row in imported)
    return (
        f"{len(found)} files: {len(imported)} imported, {len(found) - len(imported)} refused; of the imported ones {agree} have as many "
        f"cores as their files have words for them, and {sum(row.seconds > 0 for row in imported)} replayed {KERNEL}."
    )


def _generally(text: str) -> str:
    """A sentence on what was left out, without its file and its numbers."""
    return (
        re.sub(r"\d[\d, ]*", "N ", text.partition(": ")[2] if ".xml: " in text else text).replace("N  ", "N ").strip()
    )


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    lines = [
        "# Imported machines",
        "",
        f"Written by `{COMMAND}`, FOLDER a checkout of",
        "open-mpi/hwloc (commit 3b37b02), down to the notes. Each of its XML topologies is imported alone; what no file says is",
        "the default donor's. Told: cores by a search for words in the file, without a parser. Time: "
        f"{KERNEL} {' '.join(f'{name}={value}' for name, value in PARAMETERS.items())} on all",
        "cores, first touch, engine `flow`. It shows that the description replays; it is no prediction for that machine.",
        "",
        _summary(found),
        "",
        "| file | hwloc | result | sockets | nodes | without cores | cores | told | assumed | time |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        if row.result == "refused":
            lines.append(f"| {row.file} | {row.hwloc} | refused: {row.reason.replace('|', ' ')} | | | | | | | |")
            continue
        counts = f"{row.sockets} | {row.nodes} | {row.memory_only} | {row.cores} | {row.told}"
        numbers = f"{row.assumed} of {row.numbers} | {row.seconds * 1e6:.0f} µs"
        lines.append(f"| {row.file} | {row.hwloc} | imported | {counts} | {numbers} |")
    kinds = Counter(kind for row in found for kind in {_generally(text) for text in row.left_out})
    lines += ["", "What was not described as the files have it:", "", "| what | files |", "|---|---|"]
    lines += [
        f"| {kind.replace('|', ' ')} | {count} |"
        for kind, count in sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    if row.result == "refused":
        return f"{row.file}  refused: {row.reason}"
    counts = f"{row.sockets} sockets  {row.nodes} nodes  {row.cores} cores ({row.told} told)"
    return f"{row.file}  {counts}  {row.assumed} of {row.numbers} assumed  {row.seconds * 1e6:.1f} us"


STUDY = Study(
    "import",
    "machines imported from hwloc's own test files (`--sources FOLDER`) against the files, and whether they replay",
    "a minute",
    (
        *(
            "file",
            "hwloc",
            "result",
            "reason",
            "sockets",
            "nodes",
            "cores",
            "told",
            "memory_only",
            "assumed",
            "numbers",
        ),
        *("left_out", "seconds", "command", "agrees"),
    ),
    rows,
    (PAGE,),
    line=_line,
    tables=page,
    closing=lambda found, options: _summary(found),
)
