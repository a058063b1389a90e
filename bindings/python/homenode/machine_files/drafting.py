"""A description in the making: what the files say, the donor for the rest, and what was left out."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

from homenode.errors import UsageError
from homenode.machine import Machine
from homenode.machine_files.described_value import Described, from_donor
from homenode.machine_files.facts import Layout, Matrix, NodeSeen
from homenode.machine_files.merging import Merged


@dataclass
class Draft:
    """`donor` is the donor's description as TOML's tables; `nodes` are in the order of the description."""

    merged: Merged
    layout: Layout
    donor_machine: Machine
    donor: dict[str, Any] = field(init=False)
    node_of: dict[int, int] = field(init=False)  # by number in the operating system
    left_out: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Take the donor's tables."""
        self.donor = tomllib.loads(self.donor_machine.to_toml())
        self.node_of = {node.os_index: place for place, node in enumerate(self.layout.nodes)}
        self.left_out = list(self.merged.left_out)

    @property
    def nodes(self) -> tuple[NodeSeen, ...]:
        """In the order of the description."""
        return self.layout.nodes

    @property
    def layout_is_the_donors(self) -> bool:
        """Whether no file says what sockets, nodes and cores there are."""
        return self.merged.layout is None

    def counted(self, value: Any, sure: bool = True) -> Described:
        """A number of parts."""
        if self.layout_is_the_donors:
            return from_donor(value)
        return Described(value, self.merged.layout_key, "A" if sure else "C", assumed=not sure)

    def of_donor(self, *path: str) -> Any:
        """A value of the donor's plain tables."""
        here: Any = self.donor
        for name in path:
            here = here[name]
        return here["value"]


def draft_of(merged: Merged, donor: Machine) -> Draft:
    """UsageError for a donor that cannot stand in, and for matrices of nodes that the machine does not have."""
    if any(one["path"].startswith("ring.") for one in donor.parameters):
        raise UsageError(f"the donor '{donor.name}' has its cores on a ring; allowed: a machine without one")
    layout = merged.layout or _layout_of_donor(donor)
    draft = Draft(merged, layout, donor)
    _check_nodes(draft, merged.idle, merged.idle_key, not merged.idle_of_firmware)
    _check_nodes(draft, merged.bandwidth, merged.bandwidth_key, not merged.bandwidth_of_firmware)
    _check_nodes(draft, merged.slit, merged.slit_key, False)
    between = merged.core_to_core
    if between is not None:
        ends = {end for matrix in (between.remote, between.remote_other) for pair in matrix for end in pair}
        known = set(draft.node_of) if between.by_node else set(range(layout.sockets))
        if not ends <= known:
            what = "node" if between.by_node else "socket"
            _refuse_end(draft, merged.core_to_core_key, what, min(ends - known), len(known))
    return draft


def _check_nodes(draft: Draft, matrix: Matrix, key: str, whole: bool) -> None:
    """Refuse nodes that the machine does not have; if it is `whole`, also rows that are missing."""
    strange = {end for pair in matrix for end in pair} - set(draft.node_of)
    if strange:
        _refuse_end(draft, key, "node", min(strange), len(draft.nodes))
    starts = {row for row, _ in matrix}
    with_cores = {node.os_index for node in draft.nodes if node.cores}
    if matrix and whole and not with_cores <= starts:
        node = min(with_cores - starts)
        raise UsageError(
            f"{draft.merged.sources[key]} says nothing of node {node}; allowed: a row for each node with cores"
        )


def _refuse_end(draft: Draft, key: str, what: str, found: int, count: int) -> None:
    by = f"the donor '{draft.donor_machine.name}', as no file has a topology,"
    if not draft.layout_is_the_donors:
        by = draft.merged.sources[draft.merged.layout_key]
    raise UsageError(
        f"{draft.merged.sources[key]} has {what} {found}; {by} has {count} {what}s; allowed: files of one machine, or a donor like it"
    )


def _layout_of_donor(donor: Machine) -> Layout:
    topology = donor.topology
    nodes = []
    core = 0
    for node, (socket, count) in enumerate(zip(topology["socket_of_node"], topology["cores_of_node"], strict=True)):
        nodes.append(NodeSeen(socket, node, tuple((core + one,) for one in range(count))))
        core += count
    return Layout(donor.sockets, tuple(nodes), numbered=False)
