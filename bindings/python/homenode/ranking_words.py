"""What stands below every ranking: how much of the machine is guessed, and whether the first place is settled."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from homenode.machine import Machine


def guessed(name: str, assumed: int, numbers: int) -> str:
    """``41 of 74 numbers of 'xeon-x5550-2s' are assumed.``"""
    return f"{assumed} of {numbers} numbers of '{name}' are assumed."


def guesses(machines: Sequence[Machine]) -> list[dict[str, Any]]:
    """The same of each machine, as the report's `machines`."""
    return [
        {
            "name": machine.name,
            "hash": machine.hash,
            "changes": machine.changes,
            "assumed": machine.assumed[0],
            "numbers": machine.assumed[1],
        }
        for machine in {machine.hash: machine for machine in machines}.values()
    ]


def settled(found: dict[str, Any], order: Sequence[int]) -> str:
    """Whether the first place of a ranking is settled, and by which rival; `order`: its runs, fastest first."""
    rank = {run: place for place, run in enumerate(order, start=1)}
    tied = [rank[rival["run"]] for rival in found["rivals"] if rival["tied"]]
    rivals = [rival for rival in found["rivals"] if not rival["tied"]]
    said = []
    if tied:
        ranks = [str(rank[found["first"]]), *map(str, tied)]
        said.append(
            f"Ranks {', '.join(ranks[:-1])} and {ranks[-1]} take the same time on every machine that was sampled."
        )
    if rivals and not found.get("known", True):
        samples = f"{found['samples']} sampled machine{'' if found['samples'] == 1 else 's'}"
        said.append(
            f"Whether first place is settled is not known from {samples}: rank {rank[found['first']]} leads rank "
            f"{rank[rivals[0]['run']]} by {_percent(rivals[0]['lead'])}; --confidence samples more."
        )
    elif rivals:
        told = next((rival for rival in rivals if not rival["settled"]), rivals[0])
        verdict = "is settled" if told["settled"] else "is not settled"
        said.append(
            f"First place {verdict}: rank {rank[found['first']]} leads rank {rank[told['run']]} by {_percent(told['lead'])}, "
            f"known to ±{_percent(told['spread'])} from {found['samples']} sampled machine{'' if found['samples'] == 1 else 's'}."
        )
    return " ".join(said)


def measure_first(group: dict[str, Any]) -> str:
    """Of a ranking on sampled machines: which number to measure, so that the order is settled best."""
    first = group["measure_first"]
    if first is None:
        contested = any(0 < pair["probability"] < 1 for pair in group["pairs"])
        reason = "no single number explains it" if contested else "all samples agree"
        return f"No measurement would settle the order: {reason}."
    return (
        f"Measuring {first['name']} would settle the order best ({first['value']}, between {_short(first['low'])} and "
        f"{_short(first['high'])}; "
        f"{first['basis']}): it explains {100 * first['share']:.0f} % of the variance of the undecided pairs."
    )


def _short(quantity: str) -> str:
    """A quantity as text, its number to four digits."""
    number, _, unit = quantity.partition(" ")
    return f"{float(number):.4g} {unit}".strip() if re.fullmatch(r"-?\d+\.\d{4,}", number) else quantity


def bound_and_found(run: dict[str, Any], name: str, told: Callable[[float], str]) -> str:
    """What `optimal` says: the bound, the best placement that was found, and how far apart they are; `told`: seconds as text."""
    best = run["best_placement"]
    placement = best.get("found_placement")
    found = f"the best one found ({placement})" if placement else "the best one found"
    text = (
        f"{name}: no placement takes less than {told(best['bound_seconds'])}; {found} takes "
        f"{told(best['found_seconds'])} (gap {100 * best['gap']:.1f} %)"
    )
    if not best["searched"]:
        return f"{text}; too many pages to search"
    pages = f"{best['pages']:,} page{'' if best['pages'] == 1 else 's'}"
    return f"{text}; {'searched exactly' if best['exact'] and not placement else 'not searched exactly'}, {pages}"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %" if ratio < 1 else f"{100 * ratio:.0f} %"
