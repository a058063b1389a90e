"""The guest's pages against the model's, as rows."""

from collections.abc import Iterator, Sequence

from validation.linux_guest.cases import BalanceCase, HeapCase, HeapSize, PlacementCase
from validation.linux_guest.log import GuestLog, PagesLine
from validation.rows import GuestRow, agrees

# The guest's page tables and the lists of free pages that each core keeps take some of what was free; what the programs before it held
# comes back.
OVERFLOW_TOLERANCE = 0.005
# Pages of the area that the guest's scans skip or whose migration fails.
BALANCE_TOLERANCE = 0.01


def equal_pages(guest: Sequence[int], model: Sequence[int], nodes: int, any_first_node: bool) -> int:
    """Pages on the same node; with `any_first_node` under the best rotation of the model's nodes."""
    if len(guest) != len(model):
        raise ValueError(f"{len(guest)} pages in the guest, {len(model)} in the model")
    rotations = range(nodes) if any_first_node else range(1)
    return max(
        sum(one == (other + rotation) % nodes for one, other in zip(guest, model, strict=True))
        for rotation in rotations
    )


def order_of_nodes(nodes: Sequence[int]) -> list[int]:
    """Nodes by their first page."""
    return list(dict.fromkeys(nodes))


def breaks_of_law(line: PagesLine, nodes: int) -> int:
    """Pages that are not on node (virtual page number mod nodes), as mbind's interleave puts them."""
    return sum(node != (line.first_page + index) % nodes for index, node in enumerate(line.nodes))


def placement_row(
    case: PlacementCase, guest: Sequence[int], model: Sequence[int], nodes: int, command: str
) -> GuestRow:
    """All pages of an area."""
    same = equal_pages(guest, model, nodes, case.any_first_node)
    what = "pages on the same node" + (", up to the first one's" if case.any_first_node else "")
    return GuestRow(case.name, what, "predicted", len(guest), same, "pages", agrees(same == len(guest)), command)


def law_row(name: str, line: PagesLine, nodes: int) -> GuestRow:
    """The law by which the model interleaves, in the guest."""
    wrong = breaks_of_law(line, nodes)
    return GuestRow(
        name, "pages not on node (page number mod nodes)", "identity", wrong, 0, "pages", agrees(wrong == 0), ""
    )


def overflow_rows(
    case: PlacementCase, guest: Sequence[int], model: Sequence[int], free_pages: Sequence[int], command: str
) -> Iterator[GuestRow]:
    """The order in which nodes fill up, and where each ends."""
    orders = [order_of_nodes(guest), order_of_nodes(model)]
    one, other = (" -> ".join(map(str, order)) for order in orders)
    if any(model.count(node) > free for node, free in enumerate(free_pages)):
        why = "not compared: the model's nodes hold any number of pages"
        yield GuestRow(case.name, "order of nodes", "predicted", one, why, "", "not compared", command)
        return
    yield GuestRow(case.name, "order of nodes", "predicted", one, other, "", agrees(orders[0] == orders[1]), command)
    same = equal_pages(guest, model, 1 + max([*guest, *model]), False)
    verdict = agrees(same >= (1 - OVERFLOW_TOLERANCE) * len(guest))
    what = f"pages on the same node, {OVERFLOW_TOLERANCE:.1%} may differ"
    yield GuestRow(case.name, what, "predicted", len(guest), same, "pages", verdict, command)


def balance_row(
    case: BalanceCase, guest: Sequence[Sequence[int]], model: Sequence[int], seconds: float, command: str
) -> GuestRow:
    """Pages that balancing moved from node 0: in the model as many as in the guest's runs, or between their least and most."""
    moved = sorted(sum(node != 0 for node in nodes) for nodes in guest)
    in_model = sum(node != 0 for node in model)
    slack = BALANCE_TOLERANCE * len(model)
    verdict = agrees(moved[0] - slack <= in_model <= moved[-1] + slack)
    ran = f"{case.milliseconds / 1000:g} s in the guest, {seconds:.2g} s in the model"
    what = f"pages of {len(model)} that moved, readers {case.readers}, {ran}; {BALANCE_TOLERANCE:.0%} may differ"
    text = str(moved[0]) if moved[0] == moved[-1] else f"{moved[0]} to {moved[-1]}"
    return GuestRow(case.name, what, "predicted", text, in_model, "pages", verdict, command)


def psm_rows(log: GuestLog) -> Iterator[GuestRow]:
    """The C library alone: what it promises, asked of the kernel."""
    bound = "mbind" if log.psm.bound else "first touch"
    yield GuestRow("psm", "how pages are bound", "identity", bound, "mbind", "", agrees(log.psm.bound), "")
    what = f"pages away from their owner's node, of {log.psm.pages} of {log.psm.blocks} blocks"
    yield GuestRow("psm", what, "identity", log.psm.remote, 0, "pages", agrees(log.psm.remote == 0), "")


def heap_guest_sums(log: GuestLog, heap: HeapCase) -> list[int]:
    """Remote pages over all passes, run by run."""
    return [sum(line.remote) for line in log.remote[heap.name]]


def heap_row(
    heap: HeapCase, size: HeapSize, sums: Sequence[int], model: int | None, why: str, command: str
) -> GuestRow:
    """Remote pages of all passes: in the model as often as in one of the guest's runs, or between its least and most."""
    guest = str(min(sums)) if min(sums) == max(sums) else f"{min(sums)} to {max(sums)}"
    what = f"heap_list1, {size.blocks} blocks of {size.bytes >> 10} KiB, remote pages of {size.passes} passes"
    if model is None:
        return GuestRow(heap.name, what, "predicted", guest, why, "pages", "not compared", command)
    verdict = agrees(min(sums) <= model <= max(sums))
    return GuestRow(heap.name, what, "predicted", guest, model, "pages", verdict, command)
