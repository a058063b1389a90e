"""The built-in programs, as traces/kernels/kernels.toml lists them."""

import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from homenode._core import unknown_name
from homenode.arguments import text
from homenode.errors import UsageError
from homenode.resources import KERNELS


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel; `allowed` is empty when any integer may be tried (the program itself knows its range)."""

    name: str
    default: int | str
    meaning: str
    allowed: tuple[int | str, ...]


@dataclass(frozen=True)
class Kernel:
    """A built-in program."""

    name: str
    language: str
    summary: str
    paper: str
    source: Path
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    needs: dict[str, str]
    parameters: dict[str, Parameter]
    regions: tuple[dict[str, Any], ...]

    @property
    def driver(self) -> str:
        """The drop-in compiler of its language."""
        return "c++" if self.language == "c++" else "cc"

    def refuse_without_needs(self, compiler: Sequence[str]) -> None:
        """A kernel that wants a library's header says so before it is compiled."""
        for header, package in self.needs.items():
            look = [*compiler, "-E", "-x", self.language, "-include", header, "/dev/null"]
            if subprocess.run(look, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
                raise UsageError(
                    f"kernel '{self.name}' needs the header {header}, which is not there; Debian's package: {package}"
                )

    def settings(self, given: dict[str, Any]) -> dict[str, int | str]:
        """All parameters: the defaults, replaced by those given. Unknown names and values are refused."""
        result: dict[str, int | str] = {name: parameter.default for name, parameter in self.parameters.items()}
        for name, value in given.items():
            if name not in self.parameters:
                raise UsageError(unknown_name(f"parameter of kernel '{self.name}'", name, list(self.parameters)))
            result[name] = self._checked(self.parameters[name], value)
        return result

    def _checked(self, parameter: Parameter, value: Any) -> int | str:
        place = f"parameter '{parameter.name}' of kernel '{self.name}'"
        if isinstance(parameter.default, int):
            if re.fullmatch(r"[+-]?[0-9]{1,18}", str(value), re.ASCII) is None:
                raise UsageError(f"{place} is '{value}'; allowed: an integer")
            value = int(value)
        if parameter.allowed and value not in parameter.allowed:
            raise UsageError(f"{place} is '{value}'; allowed: {', '.join(str(word) for word in parameter.allowed)}")
        return value  # type: ignore[no-any-return]


@cache
def kernels() -> dict[str, Kernel]:
    """All built-in programs by name."""
    with (KERNELS / "kernels.toml").open("rb") as file:
        listed = tomllib.load(file)["kernel"]
    result = {}
    for entry in listed:
        parameters = {
            name: Parameter(name, value["default"], value["meaning"], tuple(value.get("allowed", ())))
            for name, value in entry["parameters"].items()
        }
        result[entry["name"]] = Kernel(
            name=entry["name"],
            language=entry["language"],
            summary=entry["summary"],
            paper=entry["paper"],
            source=KERNELS / entry["file"],
            flags=tuple(entry["flags"]),
            libraries=tuple(entry.get("libraries", ())),
            needs=dict(entry.get("needs", {})),
            parameters=parameters,
            regions=tuple(entry["regions"]),
        )
    return result


def kernel(name: str) -> Kernel:
    """One built-in program."""
    known = kernels()
    text("kernel_name", name, f"a kernel ({', '.join(known)})")
    if name not in known:
        raise UsageError(unknown_name("kernel", name, list(known)))
    return known[name]
