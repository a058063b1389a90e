"""What stands below every ranking: how much of the machine is guessed, and whether the first place is settled."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from homenode.first_place import SAME
from homenode.machine import Machine

PLACEMENT_PASS = "placement pass"
"""Label of the region in which a placement has all pages touched in front of the program (models/run/placement_pass.hpp)."""


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
    first = rank[found["first"]]
    tied = [rival for rival in found["rivals"] if rival["tied"]]
    rivals = [rival for rival in found["rivals"] if not rival["tied"]]
    samples = f"{found['samples']} sampled machine{'' if found['samples'] == 1 else 's'}"
    said = [ranked_by(found["rank_by"])] if found.get("rank_by") else []
    equal = [rank[rival["run"]] for rival in tied if rival["lead"] == 0 == rival["spread"]]
    near = [rank[rival["run"]] for rival in tied if rank[rival["run"]] not in equal]
    if equal:
        said.append(f"Ranks {_listed([first, *equal])} take the same time on every machine that was sampled.")
    if near:
        said.append(
            f"Ranks {_listed([first, *near])} differ by less than 0.1 % on every machine that was sampled: no difference."
        )
    if tied and found.get("nodes") == 1:
        said.append("The machine has one node: placement cannot matter.")
    place = "the first place that they share" if tied else "first place"
    if rivals and not found.get("known", True):
        said.append(
            f"Whether {place} is settled is not known from {samples}: rank {first} leads rank "
            f"{rank[rivals[0]['run']]} by {_percent(rivals[0]['lead'])}; --confidence samples more."
        )
    elif rivals:
        told = next((rival for rival in rivals if not rival["settled"]), rivals[0])
        verdict = "is settled" if told["settled"] else "is not settled"
        within = f"±{_percent(told['spread'])}" if told["spread"] >= SAME else "within 0.1 %"
        said.append(
            f"{place[0].upper()}{place[1:]} {verdict}: rank {first} leads rank {rank[told['run']]} by {_percent(told['lead'])}, "
            f"known to {within} from {samples}{_leads_on_all(told)}."
        )
    return " ".join(said)


def _leads_on_all(rival: dict[str, Any]) -> str:
    """Why a place is open although no sample reversed the order."""
    return (
        ", on all of which it leads: more samples may settle it"
        if not rival["settled"] and rival["probability"] == 1
        else ""
    )


def placed_by_a_pass(runs: Sequence[dict[str, Any]]) -> str | None:
    """Of a ranking in which some placements touch all pages in front of the program, and others do not: who pays the page faults where."""
    passing = {run["placement"] for run in runs if any(part["label"] == PLACEMENT_PASS for part in run["regions"])}
    names = sorted(passing)
    if not names or passing == {run["placement"] for run in runs}:
        return None
    touch = "touches" if len(names) == 1 else "touch"
    return (
        f"{', '.join(names)} {touch} all pages in parallel in front of the program (region '{PLACEMENT_PASS}'); with the other "
        "placements these page faults are part of the program's first writes. --rank-by leaves both out."
    )


def _listed(ranks: Sequence[int]) -> str:
    """``1, 2 and 3``."""
    return f"{', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def certainty(pair: dict[str, Any]) -> str:
    """The probability of an order; ``equal`` of two times that are no different."""
    return "equal" if pair.get("tied") else f"{100 * pair['probability']:.0f} %"


def ranked_by(labels: Sequence[str]) -> str:
    """By which regions a ranking is."""
    return f"Ranked by the time of {', '.join(labels)}."


def measure_first(group: dict[str, Any]) -> str:
    """Of a ranking on sampled machines: which number to measure, so that the order is settled best."""
    first = group["measure_first"]
    if first is None:
        differing = [pair for pair in group["pairs"] if not pair.get("tied")]
        contested = any(0 < pair["probability"] < 1 for pair in differing)
        if not differing:
            return "No measurement would settle the order: all times are equal on all samples."
        if contested:
            return "No measurement would settle the order: no single number explains it."
        return "There is nothing to measure first: the order is the same on all samples."
    basis = _BASIS.sub("from general knowledge, no source", first["basis"])
    return (
        f"Measuring {first['name']} would settle the order best ({first['value']}, between {_short(first['low'])} and "
        f"{_short(first['high'])}; "
        f"{basis}): it explains {100 * first['share']:.0f} % of the variance of the undecided pairs."
    )


_BASIS = re.compile(r"(?:common knowledge[^;]*, )?no text seen(?: \([HMLC]\))?")
"""What descriptions call a number that no source gives."""


def _short(quantity: str) -> str:
    """A quantity as text, its number to four digits."""
    number, _, unit = quantity.partition(" ")
    return f"{float(number):.4g} {unit}".strip() if re.fullmatch(r"-?\d+\.\d{4,}", number) else quantity


def bound_and_found(run: dict[str, Any], name: str, told: Callable[[float], str]) -> str:
    """What `optimal` says: the bound, the best placement that was found, and how far apart they are; `told`: seconds as text."""
    best = run["best_placement"]
    placement = best.get("found_placement")
    found = f"the best one found ({placement})" if placement else "the best one found"
    text = f"{name}: no placement takes less than {told(best['bound_seconds'])}"
    gap = f"{100 * best['gap']:.1f} %"
    pages = f"{best['pages']:,} page{'' if best['pages'] == 1 else 's'}"
    if best["searched"] and best["exact"] and not placement:
        reached = "reaches that bound" if best["gap"] < SAME else f"takes {told(best['found_seconds'])}, {gap} more"
        return f"{text}; all placements of its {pages} were searched, and the best one {reached}"
    text = f"{text}; {found} takes {told(best['found_seconds'])} (gap {gap})"
    return (
        f"{text}; {f'of {pages} not all placements were searched' if best['searched'] else 'too many pages to search'}"
    )


def _percent(ratio: float) -> str:
    if ratio < SAME:
        return "less than 0.1 %"
    return f"{100 * ratio:.1f} %" if ratio < 1 else f"{100 * ratio:.0f} %"
