"""S3's claims against what was replayed: threads mapped by their types (NUMA-BTLP, NUMA-BTDM)."""

from collections.abc import Iterator, Mapping

from validation.published.reference import Reference
from validation.published.s3.cases import NUMA
from validation.published.s3.replays import Mapped
from validation.rows import Class, Row, agrees, identity, not_compared


def _sign(gain: float) -> str:
    return "+" if gain > 0 else "-" if gain < 0 else "0"


def _robust(better: Mapped, worse: Mapped) -> bool:
    """Whether the power's sign is the same at both ends of every parameter's interval."""
    sign = _sign(worse.watts - better.watts)
    for parameter, ends in better.sensitivity.items():
        for own, other in zip(ends, worse.sensitivity[parameter], strict=True):
            if _sign(other / worse.seconds - own / better.seconds) != sign:
                return False
    return True


def gain_row(
    claim: str, what: str, published: Reference, machine: str, figures_of: Mapping[str, Mapped], cores: bool = False
) -> Row:
    """Power saved by btdm: the sign, and not counted."""
    own, other = figures_of["btdm"], figures_of["unpinned"]
    gain = other.core_watts - own.core_watts if cores else other.watts - own.watts
    certain = (
        "" if cores else "; sign holds within every interval" if _robust(own, other) else "; sign depends on parameters"
    )
    same = _sign(gain) == _sign(published.value)
    energy = 1 - (own.core_joules / other.core_joules if cores else own.joules / other.joules)
    text = f"{gain:+.3g} ({'same' if same else 'other'} sign{certain}); energy {100 * energy:+.3g} %"
    return not_compared(claim, machine, what, published.value, text, own.command, published.unit)


def time_row(
    claim: str, what: str, gained: float, published_seconds: float, machine: str, figures_of: Mapping[str, Mapped]
) -> Row:
    """Time saved by btdm as a share: the sign, and not counted."""
    own, other = figures_of["btdm"], figures_of["unpinned"]
    share = 1 - own.seconds / other.seconds
    published = gained / published_seconds
    text = f"{100 * share:+.3g} ({'same' if _sign(share) == _sign(published) else 'other'} sign)"
    return not_compared(claim, machine, what, f"{100 * published:+.3g}", text, own.command, "%")


def work_row(claim: str, what: str, machine: str, figures_of: Mapping[str, Mapped]) -> Row:
    """Time that btdm saves in work whose program ends by the clock: nothing is printed to hold it against."""
    own, other = figures_of["btdm"], figures_of["unpinned"]
    text = f"{100 * (1 - own.seconds / other.seconds):+.3g}"
    return not_compared(claim, machine, what, "-", text, own.command, "%")


def sensitivity_row(
    gained: float,
    published_seconds: float,
    machine: str,
    described: Mapping[str, Mapped],
    changed: Mapping[str, Mapping[str, Mapped]],
) -> Row:
    """C54: the sign of the time saved at both ends of what a switch and a wake-up cost."""

    def gain(figures_of: Mapping[str, Mapped]) -> float:
        return 1 - figures_of["btdm"].seconds / figures_of["unpinned"].seconds

    gains = {name: gain(figures_of) for name, figures_of in changed.items()}
    certain = len({_sign(one) for one in (gain(described), *gains.values())}) == 1
    text = ", ".join(f"{name}: {100 * one:+.3g}" for name, one in gains.items())
    text += f" ({'sign holds within every interval' if certain else 'sign depends on parameters'})"
    published = f"{100 * gained / published_seconds:+.3g}"
    what = "Context Switch: time saved, by the ends of each interval"
    return not_compared("C54", machine, what, published, text, described["btdm"].command, "%")


def growth_row(gains: Mapping[int, float], best: Reference, command: str) -> Row:
    """C51: the gain over the number of side-by-side threads."""
    shown = ", ".join(f"{threads}: {100 * gain:+.3g} %" for threads, gain in gains.items())
    published = f"grows, at most {100 * best.value:.0f} %"
    what = "power saved by number of side-by-side threads"
    return not_compared("C51", NUMA, what, published, shown, command, "of the power")


def identity_rows(balances: Mapping[tuple[int, int], int], command: str) -> Iterator[Row]:
    """C55: the largest difference in autonomous threads between two cores, by threads and cores."""
    worst = max(balances.values())
    what = f"autonomous threads: most less fewest on a core, {len(balances)} pairs of threads and cores"
    yield identity("C55", "any", what, "<= 1", float(worst), worst <= 1, command, "threads")


def together_rows(together: Mapped, apart: Mapped, machine: str, numbers: int) -> Iterator[Row]:
    """C56: side-by-side threads on one core against the same threads apart, on a ring of so many numbers."""

    def row(what: str, published: str, own: float, other: float, higher: bool) -> Row:
        text = f"{own:.4g} together, {other:.4g} apart"
        verdict = agrees(own > other if higher else own < other)
        what = f"{what}, ring of {8 * numbers // 1024} KiB"
        # one core has one node and runs one thread
        cls: Class = "predicted" if what.startswith("hit rate") else "identity"
        return Row("C56", machine, what, cls, published, text, "1", verdict, together.command)

    yield row("hit rate of L1 and L2", "higher", together.private_hit_rate, apart.private_hit_rate, True)
    yield row("share of local bytes", "higher", together.local_share, apart.local_share, True)
    yield row("threads that work at once", "fewer", together.parallelism, apart.parallelism, False)
