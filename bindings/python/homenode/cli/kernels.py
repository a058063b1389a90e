"""`homenode kernels`."""

import click

from homenode.cli import console
from homenode.kernel_sources import kernels


@click.command("kernels")
@console.json_option
def command(as_json: bool) -> None:
    """List the built-in programs with their parameters, regions and the paper each comes from."""
    if as_json:
        entries = [
            {
                "name": kernel.name,
                "language": kernel.language,
                "parameters": {name: parameter.default for name, parameter in kernel.parameters.items()},
                "paper": kernel.paper,
                "summary": kernel.summary,
                "regions": [region["label"] for region in kernel.regions],
            }
            for kernel in kernels().values()
        ]
        console.print_json({"kernels": entries})
        return
    table = console.table("kernel", "what it is", "parameters (default)", "regions", "paper")
    for kernel in kernels().values():
        parameters = "\n".join(f"{name}={parameter.default}" for name, parameter in kernel.parameters.items())
        regions = "\n".join(region["label"] for region in kernel.regions)
        paper = console.plain(console.signed(kernel.paper))
        table.add_row(
            f"[bold]{kernel.name}[/bold]",
            console.plain(kernel.summary),
            parameters,
            regions,
            paper,
        )
        table.add_section()
    console.output().print(table)
