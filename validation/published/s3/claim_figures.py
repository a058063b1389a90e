"""S3's numbers by name, as validation/published/claims/s3.toml refers to them. What is saved is saved by btdm against unpinned."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from validation.published.claims.figures import Figure, figure, spread
from validation.published.s3.replays import Mapped

RUNS = "S3"


def power_saved(name: str, machine: str, found: Mapping[str, Mapped]) -> Figure:
    """Watts, over both ends of every assumed power's interval: a range without a central member. `machine` is a column, or empty."""
    own, other = found["btdm"], found["unpinned"]
    savings = [other.watts - own.watts]
    for parameter, ends in own.sensitivity.items():
        for ours, theirs in zip(ends, other.sensitivity[parameter], strict=True):
            savings.append(theirs / other.seconds - ours / own.seconds)
    return spread(f"s3 {name} power saved" + f"@{machine}" * bool(machine), savings, None, RUNS, own.command)


def core_power_saved(found: Mapping[str, Mapped]) -> Figure:
    """Watts of the cores (C50)."""
    own, other = found["btdm"], found["unpinned"]
    return figure("s3 cpu-x core power saved", other.core_watts - own.core_watts, RUNS, own.command)


def growth(savings: Mapping[int, float], command: str) -> Iterator[Figure]:
    """C51, by number of threads: the least ratio of subsequent savings, and the largest saving, as shares of the power."""
    ordered = [savings[threads] for threads in sorted(savings)]
    ratios = [later / earlier for earlier, later in pairwise(ordered)]
    yield figure("s3 saving grows", min(ratios), RUNS, command)
    yield figure("s3 largest saving", max(ordered), RUNS, command)


def time_saved(name: str, *found: Mapping[str, Mapped]) -> Figure:
    """A share of the time; over several descriptions of the system, if given."""
    shares = [1 - one["btdm"].seconds / one["unpinned"].seconds for one in found]
    return spread(f"s3 {name} time saved", shares, None, RUNS, found[0]["btdm"].command)


def sleeping() -> Figure:
    """C52, Flops and Iops: the program that S3 cites ends after 600 sleeps of a second, whatever its workers have done by then."""
    return figure("s3 flops time saved", 0.0, RUNS, "")


def balance(differences: Mapping[tuple[int, int], int], command: str) -> Figure:
    """C55."""
    return figure("s3 balance", max(differences.values()), RUNS, command)


def together(own: Mapped, other: Mapped, machine: str, logarithm: int) -> Iterator[Figure]:
    """C56, threads together on one core against apart, on arrays of 2^logarithm numbers."""
    for name, ratio in (
        ("hit rate", own.private_hit_rate / other.private_hit_rate),
        ("local share", own.local_share / other.local_share),
        ("at once", other.parallelism / own.parallelism),
    ):
        yield figure(f"s3 {name}@{machine} {logarithm}", ratio, RUNS, own.command)
