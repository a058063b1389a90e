"""What `homenode recommend` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from homenode.cli import console
from homenode.machine import Machine
from homenode.ranking_words import guessed

if TYPE_CHECKING:
    from homenode.recommend_verifying import Measured, Verification
    from homenode.recommending import Choice, Recommendation


def _percent(gain: float) -> str:
    return f"{100 * (gain - 1):+.1f} %"


def _line(screen: Console, text: str) -> None:
    """Whole, however narrow the screen: what is to be pasted must not be wrapped."""
    screen.print(console.plain(text), soft_wrap=True)


def _say(screen: Console, text: str) -> None:
    console.say(screen, console.plain(text))


def _print_choice(screen: Console, place: int, choice: Choice, samples: int) -> None:
    interval = f"{_percent(choice.gain_low)} … {_percent(choice.gain_high)}"
    screen.print()
    _say(
        screen,
        f"{place}. {choice.what}: {_percent(choice.gain)} ({interval}; faster on {100 * choice.probability:.0f} % of "
        f"{samples} sampled machines), {console.seconds(choice.seconds)}",
    )
    if choice.gain_shared is not None and choice.gain_shared > choice.gain:
        _say(screen, f"   about {_percent(choice.gain_shared)} with the initialisation in parallel, too")
    if choice.source:
        _say(screen, "   in the source:")
    for change in choice.source:
        _say(screen, f"     {change.site or '–'}: {change.what}: {change.change}")
    if choice.needs:
        _say(screen, f"   needs: {', '.join(choice.needs)}")
    for command in choice.commands:
        _line(screen, f"   {command}")


def print_recommendation(screen: Console, found: Recommendation, machine: Machine) -> None:
    """The verdict, each choice with its commands, and what is to be known."""
    _say(screen, found.verdict)
    _say(
        screen,
        f"At present on {machine.name} ({found.present_words}): {console.seconds(found.present.seconds)} predicted.",
    )
    for command in found.present.commands:
        _line(screen, f"   {command}")
    for place, choice in enumerate(found.choices, start=1):
        _print_choice(screen, place, choice, found.samples)
    if found.mentioned:
        screen.print()
        _say(screen, "Not recommended, as the gain is not certain:")
    for choice in found.mentioned:
        interval = f"{_percent(choice.gain_low)} … {_percent(choice.gain_high)}"
        _say(screen, f"   {choice.what}: {_percent(choice.gain)} ({interval})")
    if found.allocations:
        screen.print()
        _say(screen, "In the source, each alone, in the present way:")
    for change in found.allocations:
        interval = f"{_percent(change.gain_low)} … {_percent(change.gain_high)}"
        what = change.what.removeprefix(change.site).strip()
        _say(screen, f"   {change.site or '–'}: {what}: {change.change}: {_percent(change.gain)} ({interval})")
    sampled = found.replays["sampled"] + found.replays["allocations"]
    screen.print()
    _say(
        screen,
        f"{console.number_of(found.replays['search'], 'replay')} in the search (limit {found.replays['search_limit']}), "
        f"{sampled} more on sampled machines and for single allocations. {guessed(machine.name, *machine.assumed)}",
    )
    for remark in found.remarks:
        _say(screen, remark)
    for what, reason in found.refused.items():
        _say(screen, f"Not tried: {what}: {reason}")


def _seconds(value: float | None) -> str:
    return console.seconds(value) if value is not None else "–"


def _gain(first: float | None, row: float | None) -> str:
    return _percent(first / row) if first and row else "–"


def print_measured(screen: Console, measured: Verification) -> None:
    """Predicted beside measured."""
    present: Measured = measured.rows[0]
    columns = ("", "predicted", "gain", "measured", "median", "gain, measured")
    table = console.table(*columns, title="Run on this host, in turns", right=columns[1:])
    for place, row in enumerate(measured.rows):
        table.add_row(
            f"{place}. {console.plain(row.what)}" if place else row.what,
            console.seconds(row.predicted_seconds),
            _gain(present.predicted_seconds, row.predicted_seconds) if place else "",
            _seconds(row.least),
            _seconds(row.median),
            _gain(present.least, row.least) if place else "",
        )
    screen.print(table)
    for place, row in enumerate(measured.rows):
        if row.reason:
            _say(screen, f"Not run: {f'{place}. ' if place else ''}{row.what}: {row.reason}.")
    if any(row.seconds for row in measured.rows):
        runs = max(len(row.seconds) for row in measured.rows)
        _say(
            screen,
            f"measured: the least of {runs} runs of the whole process, starting it included; gains are of the least.",
        )
        used = f"other processes used {100 * measured.busy_share:.0f} % of its CPUs meanwhile"
        _say(screen, f"This host was {'busy' if measured.is_disturbed else 'idle'}: {used}.")
