"""`homenode machine compare`: two machines number by number."""

import click

from homenode.cli import completion, console
from homenode.cli.examples import epilog
from homenode.machine import Machine
from homenode.machine_comparing import Told, compare_machines

_PATHS_SHOWN = 2


@click.command("compare", short_help="every number in which two machines differ", epilog=epilog("machine compare"))
@click.argument("first", shell_complete=completion.machines)
@click.argument("second", shell_complete=completion.machines)
@console.json_option
def command(first: str, second: str, as_json: bool) -> None:
    """List every number that differs between FIRST and SECOND: values, ratio (second over first), sources, confidence.

    Links are matched by the sockets that they join, caches by level, nodes and controllers by number.
    """
    machines = Machine.load(first), Machine.load(second)
    found = compare_machines(*machines)
    if as_json:
        compared = {"first": machines[0].name, "second": machines[1].name}
        console.print_json({**compared, "differences": [one.as_json() for one in found]})
        return
    if not found:
        click.echo(f"{machines[0].name} and {machines[1].name} have the same numbers")
        return
    names = tuple(console.plain(machine.name) for machine in machines)
    table = console.table("value of", *names, "ratio", "sources", "confidence", right=("ratio",))
    for one in found:
        more = len(one.paths) - _PATHS_SHOWN
        paths = ", ".join(one.paths[:_PATHS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        ratio = "" if one.ratio is None else f"{one.ratio:.3g}"
        sources, confidences = (
            " / ".join(console.plain(text) or "–" for text in texts)
            for texts in ((one.first.source, one.second.source), (_confidence(one.first), _confidence(one.second)))
        )
        values = [console.plain(told.value) or "–" for told in (one.first, one.second)]
        table.add_row(console.plain(paths), *values, ratio, sources, confidences)
    console.output().print(table)


def _confidence(told: Told) -> str:
    return f"{told.confidence}{' assumed' if told.assumed else ''}".strip()
