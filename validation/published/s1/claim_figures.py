"""S1's numbers by name, as validation/published/claims/s1.toml refers to them. Columns are numbers of threads."""

from collections.abc import Iterator, Mapping, Sequence

from validation.published.claims.figures import Figure, figure, spread
from validation.published.claims.nulls import PAGES_OF_THREAD, THREADS_OF_NODE
from validation.published.s1.cases import PAGE_SIZES, TABLE_1, References
from validation.published.s1.heap_rows import fragmentation
from validation.published.s1.replays import Pages, Seconds

Times = Mapping[tuple[str, int], Seconds]  # by heap or column, and team


def fragmentation_figures() -> Iterator[Figure]:
    """C21."""
    for patch in TABLE_1:
        for name, page in PAGE_SIZES.items():
            yield figure(
                f"s1 fragmentation@{patch.name} {name}", fragmentation(8 * patch.cells, page), "S1 Table 1", ""
            )


def page_figures(pages: Mapping[int, Mapping[str, Pages]]) -> Iterator[Figure]:
    """C22 to C25: remote pages of a pass by heap and team; ranges over seeds, whose median is central."""
    runs = "S1 Table 3"
    for team, found in pages.items():
        for heap, one in found.items():
            yield spread(f"s1 remote pages {heap}@{team}", one.counts, one.middle, runs, one.command)
        nodes = team // THREADS_OF_NODE
        if nodes > 1:
            one, random = found["tcmalloc"], team * PAGES_OF_THREAD * (1 - 1 / nodes)
            shares = [count / random for count in one.counts]
            yield spread(f"s1 tcmalloc over random@{team}", shares, one.middle / random, runs, one.command)


def distance_figures(latency_ns: Sequence[Sequence[float]]) -> Iterator[Figure]:
    """C37."""
    ratios = [value / row[node] for node, row in enumerate(latency_ns) for value in row]
    yield figure("s1 distance@least", min(ratios), "S1 Table 2", "homenode machines sgi-uv-32s")
    yield figure("s1 distance@largest", max(ratios), "S1 Table 2", "homenode machines sgi-uv-32s")


def write_figures(times: Times) -> Iterator[Figure]:
    """C26 to C29."""
    runs = "S1 Table 4"
    for (heap, team), found in times.items():
        yield figure(f"s1 write {heap}@{team}", found.seconds, runs, found.command)
    for (heap, team), found in times.items():
        over = found.seconds / times["jarena", team].seconds
        if heap != "jarena":
            yield figure(f"s1 write {heap} over jarena@{team}", over, runs, found.command)
        if heap == "glibc":
            yield figure(f"s1 fault cost@{team}", 1e6 * found.seconds / (team * PAGES_OF_THREAD), runs, found.command)


def patch_figures(kernel: str, times: Times) -> Iterator[Figure]:
    """C31 to C35 of one patch kernel: speed-ups over the smallest team, JArena's efficiency, and what JArena gains over first touch."""
    runs = f"S1 {kernel}"
    least = min(team for _, team in times)
    for (column, team), found in times.items():
        speed_up = times[column, least].seconds / found.seconds
        yield figure(f"s1 {kernel} speed-up {column}@{team}", speed_up, runs, found.command)
        if column == "jarena":
            yield figure(f"s1 {kernel} efficiency@{team}", speed_up * least / team, runs, found.command)
            gain = times["first touch", team].seconds / found.seconds - 1
            yield figure(f"s1 {kernel} gain@{team}", gain, runs, found.command)


def advection_figures(printed: References, times: Times) -> Iterator[Figure]:
    """C30: seconds of Table 5 at the pace that JArena's 8 threads set, for the grid is not printed."""
    pace = printed["jarena", "advection2d_seconds_8"].value / times["jarena", 8].seconds
    for (column, team), found in times.items():
        yield figure(f"s1 advection2d {column}@{team}", pace * found.seconds, "S1 advection2d", found.command)
