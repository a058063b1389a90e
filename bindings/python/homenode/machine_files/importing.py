"""A description of a machine out of files of other tools: what they say, and a donor's numbers, marked as assumed, for the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import InputError, UsageError
from homenode.machine import Machine
from homenode.machine_files.described_value import DONOR, Described, from_donor, quoted_toml, size_in_bytes
from homenode.machine_files.drafted_caches import cache_line, cache_tables
from homenode.machine_files.drafted_coherence import core_to_core
from homenode.machine_files.drafted_memory import between_nodes_of_socket, link_tables, node_tables
from homenode.machine_files.drafting import Draft, draft_of
from homenode.machine_files.merging import merged
from homenode.machine_files.reading import facts_of

DEFAULT_DONOR = (
    "xeon-e5-2697v2-2s"  # of the shipped machines the one with most numbers from measurements of its own kind
)
_HEADER = 8  # bytes of a message beside its line, as of models/machines


@dataclass(frozen=True)
class Imported:
    """The machine, its description as TOML, and what the files say that it cannot: a sentence each."""

    machine: Machine
    toml: str
    left_out: tuple[str, ...]
    donor: str

    @property
    def from_files(self) -> int:
        """How many numbers come from the files."""
        return sum(not one["assumed"] for one in self.machine.parameters)


def import_machine(
    files: Sequence[str | Path],
    *,
    name: str | None = None,
    donor: str | Path | Machine = DEFAULT_DONOR,
    synthetic: str | None = None,
) -> Imported:
    """Read files of one machine (docs/machines.md lists the formats) and describe it.

    InputError: a file that cannot be used, with its line. UsageError: files that contradict each other, or no file.
    """
    paths = [Path(file) for file in files]
    chosen = name if name is not None else _name_of(paths)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", chosen):
        raise UsageError(f"the name is '{chosen}'; allowed: at most 64 letters, digits, '.', '-' and '_'")
    stand_in = Machine.of(donor)
    draft = draft_of(merged(facts_of(paths, synthetic)), stand_in)
    text = _toml(draft, chosen)
    try:
        machine = Machine.from_toml(text, chosen)
    except InputError as error:
        reason = re.sub(r"^machine '[^']*': ", "", str(error))
        raise InputError(
            f"{', '.join(draft.merged.sources.values())}: no machine that can be described: {reason}"
        ) from None
    return Imported(machine, text, tuple(dict.fromkeys(draft.left_out)), stand_in.name)


def _name_of(paths: list[Path]) -> str:
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", paths[0].stem).strip("-._") if paths else ""
    return stem[:64] or "imported"


def _toml(draft: Draft, name: str) -> str:
    """The whole description."""
    top, links = link_tables(draft)
    tables = [node_tables(draft), cache_tables(draft), links, *_plain_sections(draft)]
    sources = {
        **draft.merged.sources,
        DONOR: f"{draft.donor_machine.name}, a description of homenode: what no file says",
    }
    files = ", ".join(text.partition(": ")[0] for text in draft.merged.sources.values())
    layout = draft.merged.layout
    head = [
        f"# Written by `homenode machine import`. Not described:{'' if draft.left_out else ' nothing.'}",
        *(f"# - {quoted_toml(text)[1:-1]}" for text in dict.fromkeys(draft.left_out)),
        'schema = "homenode.machine/1"',
        f"name = {quoted_toml(name)}",
        f"description = {quoted_toml(f'imported from {files}; the rest as {draft.donor_machine.name}, assumed')}",
        f"sockets = {draft.counted(draft.layout.sockets, layout is None or layout.sure).toml()}",
        f"{top}clock = {_clock(draft).toml()}",
        "\n[sources]",
        *(f"{key} = {quoted_toml(text)}" for key, text in sources.items()),
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(table for table in tables if table) + "\n"


def _clock(draft: Draft) -> Described:
    clock = draft.merged.clock
    if clock is None:
        return from_donor(draft.of_donor("clock"))
    return Described(f"{clock.value / 1e9:.9g} GHz", clock.key, "A", note=draft.merged.clock_note)


def _plain_sections(draft: Draft) -> list[str]:
    """What stands in tables of single values: the donor's, but for what the files say of latencies between cores."""
    between = core_to_core(draft)
    told = {
        ("coherence", "core_to_core_local"): between.local,
        ("coherence", "core_to_core_remote"): between.remote,
        ("coherence", "between_nodes_of_socket"): between_nodes_of_socket(draft),
    }
    if between.shared is not None:
        told["coherence", "core_to_core_shared_cache"] = between.shared
    line = cache_line(draft)
    if line + _HEADER != size_in_bytes(draft.of_donor("messages", "data")):
        told["messages", "data"] = from_donor(f"{line + _HEADER} B", f"a line of {line} B and a header of {_HEADER} B")
    of_its_own = {"core_to_core_shared_cache"}  # of the donor's last levels
    if draft.donor_machine.name == DEFAULT_DONOR:  # it stands in for any core, of whatever maker
        of_its_own |= {"fill_serial", "ways", "index", "walks", "first_entries", "first_miss_penalty", "first_misses"}
    sections = []
    for section in ("core", "coherence", "messages", "threads", "dram", "tlb"):
        values = {
            name: from_donor(entry["value"])
            for name, entry in draft.donor.get(section, {}).items()
            if name not in of_its_own
        }
        values |= {name: value for (where, name), value in told.items() if where == section}
        lines = [f"{name} = {value.toml()}" for name, value in values.items()]
        sections.append(f"[{section}]\n" + "\n".join(lines))
    return sections
