"""S1's Table 1, fragmentation by arithmetic, and Table 3, remote pages of heap managers, against a replay of List. 1."""

from collections.abc import Iterator, Mapping

from validation.published.s1.cases import MACHINE, PAGE_SIZES, PAGES_OF_THREAD, TABLE_1, TABLE_3
from validation.published.s1.replays import Pages
from validation.rows import Row, fitted, identity, not_compared, predicted, within

GLIBC_SHARE = 0.0006  # the largest share of Table 3: "several remote pages" (C22)


def fragmentation(size: int, page: int) -> float:
    """Per cent of the pages that a block of `size` bytes, alone on them, leaves unused: 1 - size / (ceil(size / page) page)."""
    return 100 * (1 - size / (-(-size // page) * page))


def table_1() -> Iterator[Row]:
    """C21: each number of Table 1, and the size of each patch."""
    command = "python -m validation published --paper S1"
    for patch in TABLE_1:
        size = 8 * patch.cells
        exact = size == patch.printed_bytes
        yield identity("C21", "all", f"Table 1: bytes of {patch.name}", patch.printed_bytes, size, exact, command, "B")
        for (name, page), printed in zip(PAGE_SIZES.items(), patch.printed, strict=True):
            model = round(fragmentation(size, page), 1)
            what = f"Table 1: fragmentation of {patch.name} on pages of {name}"
            yield identity("C21", "all", what, printed, model, model == printed, command, "%")


def table_3(team: int, found: Mapping[str, Pages]) -> Iterator[Row]:
    """C22 to C25 on one team: remote pages by heap manager, each with what repeats its replay, and their order."""
    for claim, heap in (("C22", "glibc"), ("C23", "tcmalloc"), ("C25", "jarena")):
        model, command = found[heap].middle, found[heap].command
        what = f"Table 3: remote pages of a pass with {heap}, {team} threads"
        if team not in TABLE_3[heap]:
            yield not_compared(claim, MACHINE, what, "[blind]", model, command, "pages")
            continue
        printed = TABLE_3[heap][team]
        close = model == printed
        if heap == "glibc":
            close = model <= GLIBC_SHARE * team * PAGES_OF_THREAD
        elif printed:
            close = within(model, printed, 0.05)
        # JArena's pages are local by design; system and seeds were chosen with TCMalloc's in view
        kind = {"jarena": identity, "tcmalloc": fitted}.get(heap, predicted)
        yield kind(claim, MACHINE, what, printed, model, close, command, "pages")
    nodes, command = team // 8, found["jarena"].command
    if nodes < 2 or team not in TABLE_3["tcmalloc"]:
        return
    pages = {heap: pages.middle for heap, pages in found.items()}
    ratio, printed_ratio = (
        count / (team * PAGES_OF_THREAD) / (1 - 1 / nodes) for count in (pages["tcmalloc"], TABLE_3["tcmalloc"][team])
    )
    what = f"Table 3: TCMalloc's share of remote pages over that of random owners, {team} threads, 0.82 to 0.86"
    close = within(ratio, printed_ratio, 0.05)
    yield fitted("C24", MACHINE, what, printed_ratio, ratio, close, command)
    ordered = pages["jarena"] <= pages["glibc"] < pages["tcmalloc"]
    what = f"Table 3: order of remote pages, {team} threads"
    order = "jarena <= glibc < tcmalloc"
    yield predicted("C23", MACHINE, what, order, str(ordered), ordered, command, "")
