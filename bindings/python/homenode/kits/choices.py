"""A run on the machine as options of a replay."""

from __future__ import annotations

from homenode.kits.returned import Choice, Host
from homenode.machine import Machine
from homenode.run_spec import RunSpec
from homenode.ways import BALANCED, MEMORY_POLICIES


def spec_of(choice: Choice, machine: Machine, host: Host) -> RunSpec:
    """The same choice in the model, on a system that is set as the host's kernel was.

    The kernels of a kit have no non-temporal stores. Balancing leaves pages under a memory policy alone.
    """
    placement = choice.placement
    if host.balancing and machine.nodes > 1 and placement.partition(":")[0] not in MEMORY_POLICIES:
        placement = f"{placement}+{BALANCED}"
    return RunSpec(
        machine,
        threads=choice.threads,
        placement=placement,
        mapping=choice.pinning,
        distribution=choice.schedule,
        stores="regular",
        pages="thp" if host.huge_pages == "always" else "4KiB",
    )
