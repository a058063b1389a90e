"""What `homenode kit import` prints."""

import click

from homenode.cli import console
from homenode.kits.returned import Returned
from homenode.kits.table import Summary, Table
from homenode.machine import Machine
from homenode.null_models import HEADS, cells
from homenode.visible import visible


def print_host(returned: Returned, machine: Machine) -> None:
    """What was measured, and what the machine did not allow."""
    host = returned.host
    assumed, numbers = machine.assumed
    made = len(returned.runs) + len(returned.pages)
    console.note(
        f"{host.name}: {host.cpu['name'] or host.architecture}, Linux {host.system}; {made} of {returned.planned} runs"
    )
    console.note(f"{numbers - assumed} numbers of {host.name}, {assumed} assumed")
    reasons: dict[str, list[str]] = {}
    for what, why in host.refused.items():
        reasons.setdefault(why, []).append(what)
    for why, what_all in reasons.items():
        console.note(f"not to be had there: {', '.join(what_all)} ({why})")


def print_table(found: Table, summary: Summary) -> None:
    """A row a choice, then the summary."""
    screen = console.output()
    times = console.table(
        *("case", "threads", "placement", "pinning", "schedule", "measured", "predicted", "error", "spread", "runs"),
        right=("threads", "measured", "predicted", "error", "spread", "runs"),
    )
    for row in found.rows:
        choice = row.choice
        disturbed = ", disturbed" if row.all_disturbed else ""
        times.add_row(
            choice.case,
            str(choice.threads),
            choice.placement,
            choice.pinning,
            choice.schedule,
            console.seconds(row.measured.seconds),
            console.seconds(row.predicted_seconds),
            f"{row.ratio - 1:+.0%}",
            f"{row.measured.spread:.0%}",
            f"{row.measured.repeats}{disturbed}",
        )
    screen.print(times)
    figures = console.table("predicted / measured", *HEADS, right=HEADS, title="Summary")
    for name, of in (
        ("times", summary.times),
        ("times that nothing disturbed", summary.times_undisturbed),
        ("times, by accesses alone", summary.times_by_accesses),
        ("what a choice changes", summary.effects),
        ("what a choice changes, if nothing", summary.no_effect),
    ):
        if of is not None:
            figures.add_row(name, *cells(of))
    screen.print(figures)
    if summary.regret is not None and summary.regret_of_base is not None:
        console.say(
            screen,
            f"The choice that was predicted fastest took {summary.regret:.1%} longer than the fastest one; first touch, compact and static "
            f"{summary.regret_of_base:.1%} (means over {console.number_of(summary.groups, 'case')} and teams).",
        )
    if summary.pages:
        console.say(
            screen,
            f"{console.count(summary.pages_same)} of {console.count(summary.pages)} pages lie on the node that was predicted.",
        )
    if found.left_out:
        console.warn("not compared:")
        for text in found.left_out:
            click.echo(f"  {visible(text)}", err=True)
