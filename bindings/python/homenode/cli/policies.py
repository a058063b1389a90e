"""`homenode policies`."""

from typing import Any

import click

from homenode import _core
from homenode.cli import completion, console
from homenode.cli.fitted_table import Narrowing
from homenode.cli.run_options import extension_option
from homenode.policies import KINDS, policies


def _parameter(parameter: dict[str, Any]) -> str:
    default = "required" if parameter["required"] else f"default {parameter['default']}"
    if parameter["default"] is None and not parameter["required"]:
        default = "optional"
    if parameter["words"]:
        return f"{parameter['name']}: {parameter['description']} ({' | '.join(parameter['words'])}, {default})"
    highest = "…" if parameter["maximum"] is None else parameter["maximum"]
    unit = f"{parameter['unit']}, " if parameter["unit"] else ""
    return f"{parameter['name']}: {parameter['description']} ({unit}{parameter['minimum']} to {highest}, {default})"


@click.command("policies")
@click.argument("which", metavar="[KIND | NAME]", required=False, shell_complete=completion.policies_or_kinds)
@extension_option()
@console.json_option
def command(which: str | None, as_json: bool) -> None:
    """List every policy with its parameters, units and defaults, those of a kind, or the one of a name.

    KIND: placement, mapping, distribution, heap, engine or "cache model".
    """
    found = policies() if which is None else [one for one in policies() if which in (one["kind"], one["name"])]
    if not found and which is not None:
        names = [*KINDS, *(policy["name"] for policy in policies())]
        raise click.UsageError(_core.unknown_name("policy or kind of policy", which, names))
    if as_json:
        console.print_json({"policies": found})
        return
    narrowing = Narrowing(same=["kind"], keys=["policy"])
    table = console.table("kind", "policy", "what it does", "parameters", narrowing=narrowing)
    for policy in found:
        parameters = [_parameter(parameter) for parameter in policy["parameters"]]
        if policy.get("examples"):  # engines and cache models have none
            parameters.append(f"e.g. {policy['examples'][0]}")
        table.add_row(policy["kind"], f"[bold]{policy['name']}[/bold]", policy["description"], "\n".join(parameters))
    console.output().print(table)
    console.output().print(
        "\nWrite a policy as name, name:value or name:key=value,key=value. A distribution may name regions: 'init@static:1 sweep@guided'."
    )
