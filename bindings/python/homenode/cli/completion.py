"""What the shell completes values with; each list is made when it is asked for."""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def of(names: Callable[[], Iterable[str]], *, or_file: bool = False) -> Complete:
    """Complete with these names, or with a file once a slash was typed."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if or_file and "/" in incomplete:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def _machines() -> list[str]:
    from homenode.machine import Machine

    return Machine.names()


def _systems() -> list[str]:
    from homenode.system import System

    return System.names()


def _energies() -> list[str]:
    from homenode.energy import EnergyModel

    return EnergyModel.names()


def _kernels() -> list[str]:
    from homenode.kernel_sources import kernels

    return list(kernels())


def _policies(kind: str) -> Callable[[], list[str]]:
    def names() -> list[str]:
        from homenode.policies import policies

        return [policy["name"] for policy in policies(kind) if not policy["modifier"]]

    return names


def _kinds_and_policies() -> list[str]:
    from homenode.policies import KINDS, policies

    return [*KINDS, *(policy["name"] for policy in policies())]


machines = of(_machines, or_file=True)
systems = of(_systems, or_file=True)
kernels = of(_kernels, or_file=True)
policies_or_kinds = of(_kinds_and_policies)
BY_OPTION = {
    "system": systems,
    "energy": of(_energies, or_file=True),
    **{kind: of(_policies(kind)) for kind in ("placement", "mapping", "distribution", "heap")},
}
