"""`homenode systems`: the described operating systems, and the numbers of one of them."""

import click

from homenode.cli import completion, console
from homenode.system import System


@click.command("systems")
@click.argument("name", required=False, shell_complete=completion.systems)
@console.json_option
def command(name: str | None, as_json: bool) -> None:
    """List the operating systems that can be simulated, or show every number of NAME with its source."""
    systems = [System.load(known) for known in (System.names() if name is None else [name])]
    if as_json:
        entries = [{"name": system.name, "description": system.description} for system in systems]
        if name is not None:
            entries[0] |= {"parameters": systems[0].parameters, "sources": systems[0].sources}  # type: ignore[dict-item]
        console.print_json({"systems": entries})
        return
    screen = console.output()
    if name is None:
        table = console.table("system", "description")
        for system in systems:
            table.add_row(console.plain(system.name), console.plain(system.description))
        screen.print(table)
        return
    system = systems[0]
    screen.print(f"[bold]{console.plain(system.name)}[/bold]  {console.plain(system.description)}\n")
    screen.print(console.parameters(system.parameters, system.sources))
    for key, text in system.sources.items():
        screen.print(f"{console.plain(key)}: {console.plain(text)}")
