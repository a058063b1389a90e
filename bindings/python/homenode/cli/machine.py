"""`homenode machine`: descriptions made on the spot."""

import logging
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import click

from homenode import _core
from homenode.cli import completion, console, machine_compare, machine_import
from homenode.cli.examples import epilog
from homenode.cli.machine_writing import document, write
from homenode.core_model import with_core_of_host
from homenode.machine import Machine
from homenode.outputs import written_whole

_log = logging.getLogger(__name__)


@click.group("machine")
def command() -> None:
    """Describe this host (`detect`, `calibrate`) or another machine (`import`); compare machines, or measure a simulated one."""


command.add_command(machine_import.command)
command.add_command(machine_compare.command)


_SERVICES = (
    "page fault/write",
    "page fault/again",
    "page fault/read",
    "page fault/huge",
    "page fault/line of the page",
    "page fault/all CPUs at once",
    "mmap and munmap",
    "munmap/page",
    "system call",
    "context switch",
    "thread",
    "wake-up/5",
    "wake-up/3000",
    "task/at once",
    "task/created",
    "task/taken and run",
)
"""Figures that the summary shows (calibration_plan.hpp)."""


_output = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File for the description; default: stdout."
)


@command.command(short_help="describe this host from libhwloc", epilog=epilog("machine detect"))
@_output
@console.json_option
def detect(output: Path | None, as_json: bool) -> None:
    """Describe this host from libhwloc. Latencies and bandwidths, which it cannot see, are guessed and marked as assumed."""
    machine = Machine(with_core_of_host(_core.detect()))
    if as_json:
        console.print_json(document(machine))
    if output is not None or not as_json:
        write(machine.to_toml(), machine, output)


@command.command(short_help="measure latencies, bandwidths, barriers, page faults", epilog=epilog("machine calibrate"))
@_output
@click.option("--quick", is_flag=True, help="Smaller arrays and fewer passes: a minute instead of several.")
@console.json_option
def calibrate(output: Path | None, quick: bool, as_json: bool) -> None:
    """Measure this host: latencies, bandwidths, what one core exchanges with memory, barriers, page faults, switches of threads.

    Each figure is measured in passes until it is known to 3 %, or a greatest number is reached. Run it on an idle machine.
    """
    working_set, array, repeats, passes = (512 << 20, 256 << 20, 2, 6) if quick else (1 << 30, 1 << 30, 3, 15)
    screen = console.diagnostics()
    core, measured = _core.calibrate(working_set, array, repeats, passes, screen.print)
    machine = Machine(with_core_of_host(core))
    if as_json:
        console.print_json({**document(machine), "measured": measured})
    if output is not None or not as_json:
        write(machine.to_toml(), machine, output)
    if not as_json:
        _summary(measured)
    for line in (
        *disturbance_warning(measured["disturbances"], len(measured["figures"])),
        *unsettled_warning(measured["unsettled"]),
        *sharing_warning(measured["cpus_sharing_cores"]),
    ):
        click.echo(line, err=True)


def disturbance_warning(disturbances: list[dict[str, str]], figures: int) -> list[str]:
    """What a user must know of measurements that did not have the host to themselves, of `figures` in all; `-v` lists them.

    No line if all had.
    """
    by_figure = {entry["step"]: entry["reason"] for entry in disturbances}
    if not by_figure:
        return []
    for name, reason in by_figure.items():
        _log.info("%s: %s", name, reason)
    kinds = Counter(name.partition("/")[0] for name in by_figure)
    counted = ", ".join(kind if number == 1 else f"{kind} ({number})" for kind, number in kinds.most_common())
    were = "was" if len(by_figure) == 1 else "were"
    name, reason = next(iter(by_figure.items()))
    return [
        f"warning: this host was not idle. {len(by_figure)} of {console.number_of(figures, 'figure')} {were} disturbed, and "
        "have confidence C with the reason in their source.",
        f"Disturbed: {counted}; {name}, for one, because {reason}.",
        f"Calibrate again when nothing else runs.{_how_to_list()}",
    ]


def unsettled_warning(unsettled: list[dict[str, str]]) -> list[str]:
    """Figures that came out differently from pass to pass, though nothing was seen to disturb them; `-v` lists them."""
    if not unsettled:
        return []
    for entry in unsettled:
        _log.info("%s: %s", entry["step"], entry["reason"])
    figures = console.number_of(len(unsettled), "figure")
    return [f"{figures} did not settle: confidence C, with the reason in the source.{_how_to_list()}"]


def _how_to_list() -> str:
    return "" if _log.isEnabledFor(logging.INFO) else " -v lists them."


def sharing_warning(cpus: list[int]) -> list[str]:
    """CPUs that were left out, by their throughput."""
    if not cpus:
        return []
    listed = ", ".join(map(str, cpus))
    return [f"CPU {listed}: shares a core with the one before, by its throughput, and is not counted as a core."]


def _summary(measured: dict[str, Any]) -> None:
    screen = console.diagnostics()
    latency = console.table("working set", "latency", "least … largest", right=("working set", "latency"))
    for row in measured["latency"]:
        spread = row["nanoseconds"]
        size = console.quantity(row["working_set_bytes"], "B")
        latency.add_row(size, f"{spread['value']:.3g} ns", f"{spread['low']:.3g} … {spread['high']:.3g}")
    screen.print(latency)
    bandwidth = console.table("kernel", "threads", "bandwidth", "least … largest", right=("threads", "bandwidth"))
    for row in measured["bandwidth"]:
        value, low, high = (row["bytes_per_second"][key] / 1e9 for key in ("value", "low", "high"))
        bandwidth.add_row(row["kernel"], str(row["threads"]), f"{value:.4g} GB/s", f"{low:.4g} … {high:.4g}")
    screen.print(bandwidth)
    system = console.table("service of the system", "time", "least … largest", right=("time",))
    for name in _SERVICES:
        if (spread := measured["figures"].get(name)) is not None:
            system.add_row(name, f"{spread['value']:.4g} ns", f"{spread['low']:.4g} … {spread['high']:.4g}")
    screen.print(system)


@command.command(
    "loaded-latency",
    short_help="memory latency of a simulated machine under load",
    epilog=epilog("machine loaded-latency"),
)
@click.argument("machine", shell_complete=completion.machines)
@click.option(
    "--node", type=click.IntRange(min=0), default=0, show_default=True, help="Node whose cores read its own memory."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="HTML file for a figure of the curve.")
@console.json_option
def loaded_latency(machine: str, node: int, output: Path | None, as_json: bool) -> None:
    """Show memory latency over bandwidth of one node: simulated by the engine `line`, and as the machine's description has it."""
    loaded = Machine.load(machine)
    points = loaded.loaded_latency(node)
    if output is not None:
        from homenode.loaded_latency_page import loaded_latency_page

        made_by = shlex.join(["homenode", "machine", "loaded-latency", machine, "--node", str(node), "-o", str(output)])
        with written_whole(output, "page") as temporary:
            temporary.write_text(loaded_latency_page(loaded, node, points, made_by), encoding="utf-8")
    if as_json:
        console.print_json({"machine": loaded.name, "node": node, "loads": points.to_dict("records")})
        return
    columns = ("bandwidth", "utilisation", "latency, engine line", "latency, described")
    table = console.table(*columns, right=columns)
    for row in points.to_dict("records"):
        described = f"{row['described_ns']:.1f} ns" if row["described_ns"] > 0 else "-"
        bandwidth = f"{row['bandwidth_bytes_per_s'] / 1e9:.2f} GB/s"
        table.add_row(bandwidth, f"{row['utilisation']:.1%}", f"{row['latency_ns']:.1f} ns", described)
    console.output().print(table)


class _Address(click.ParamType[int]):
    """A whole number, also in hexadecimal: 0x125000."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Refuse what is no number."""
        try:
            address = int(value, 0) if isinstance(value, str) else int(value)
        except ValueError:
            self.fail(f"{value!r} is no address; allowed: a number such as 0x125000", param, ctx)
        if address < 0:
            self.fail(f"{value!r} is below 0; allowed: 0 or more", param, ctx)
        return address


@command.command(
    "latency-map",
    short_help="latency of each memory block from each core (machines with a ring)",
    epilog=epilog("machine latency-map"),
)
@click.argument("machine", shell_complete=completion.machines)
@click.option(
    "--first", type=_Address(), default="0x125000", show_default=True, help="Physical address of the first block."
)
@click.option(
    "--blocks",
    type=click.IntRange(min=1, max=1 << 20),
    default=64,
    show_default=True,
    help="Blocks, each a line of 64 B.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An .html file for a map, or a .csv file for the latencies; may be given twice.",
)
@console.json_option
def latency_map(machine: str, first: int, blocks: int, outputs: tuple[Path, ...], as_json: bool) -> None:
    """Simulate one access from each core to each memory block, one at a time (Gerofi et al., section 2)."""
    for output in outputs:
        if output.suffix not in (".html", ".csv"):
            raise click.UsageError(f"output '{output}' ends in '{output.suffix}'; allowed: .html, .csv")
    loaded = Machine.load(machine)
    latencies = loaded.latency_map(first, blocks)
    for output in outputs:
        with written_whole(output, "page" if output.suffix == ".html" else None) as temporary:
            if output.suffix == ".csv":
                latencies.to_csv(temporary, float_format="%.3f")
            else:
                from homenode.latency_map_page import latency_map_page

                words = ["latency-map", machine, "--first", f"{first:#x}", "--blocks", str(blocks), "-o", str(output)]
                made_by = shlex.join(["homenode", "machine", *words])
                temporary.write_text(latency_map_page(loaded, latencies, made_by), encoding="utf-8")
    values = latencies.to_numpy()
    ratios = values.max(axis=1) / values.min(axis=1)
    summary = {"mean_ns": float(values.mean()), "largest_ratio": float(ratios.max())}
    keys = ("address", "directory", "controller")
    found = [
        {**dict(zip(keys, of, strict=True)), "latency_ns": list(row)}
        for of, row in zip(latencies.index.tolist(), values.tolist(), strict=True)
    ]
    if as_json:
        console.print_json({"machine": loaded.name, "blocks": found, **summary})
        return
    columns = ("block", "directory", "controller", "fastest core", "slowest core", "slowest / fastest")
    table = console.table(*columns, right=columns)
    shown = 16
    for block in found[:shown]:
        row = block["latency_ns"]
        least, most = min(row), max(row)
        table.add_row(
            f"{block['address']:#x}",
            str(block["directory"]),
            str(block["controller"]),
            f"{row.index(least)}: {least:.1f} ns",
            f"{row.index(most)}: {most:.1f} ns",
            f"{most / least:.2f}",
        )
    console.output().print(table)
    if len(found) > shown:
        click.echo(f"… and {len(found) - shown} more blocks")
    click.echo(
        f"mean {summary['mean_ns']:.1f} ns; slowest / fastest core: "
        f"{ratios.min():.2f} to {ratios.max():.2f}, mean {ratios.mean():.2f}"
    )
