"""The page of the last full run: its rows, and what the guest's repeated runs spanned."""

import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from validation.linux_guest.cases import BALANCE_CASES, MACHINE, TCMALLOC
from validation.linux_guest.log import GuestLog
from validation.page_with_notes import markdown_table
from validation.rows import GuestRow

PAGE = Path(__file__).with_name("results.md")
COMMAND = "python -m validation linux-guest --write"


def _emulator_version() -> str:
    said = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True).stdout
    return said.split("version ")[1].split()[0]


def text(rows: Sequence[GuestRow], log: GuestLog) -> str:
    """Markdown."""
    nodes, cores, memory = MACHINE.nodes, MACHINE.cores_per_node, MACHINE.mebibytes_per_node
    load = os.getloadavg()[0]
    lines = [
        "# The Linux guest against the model",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, QEMU {_emulator_version()} (tcg), Debian's kernel {log.kernel}; {nodes} nodes in a ring",
        f"(distances {', '.join(map(str, log.distances[0]))}), {cores} cores and {memory} MiB each; on a machine of {os.cpu_count()} cores",
        f"with a load average of {load:.0f} at the end. Written by",
        "",
        f"    {COMMAND}",
        "",
        "Nothing is fitted to these rows.",
        "",
    ]
    columns = ("case", "what", "class", "guest", "model", "verdict")
    lines += markdown_table(columns, [(row.case, row.what, row.cls, row.guest, row.model, row.verdict) for row in rows])
    lines += [
        "",
        "Automatic balancing in the guest, run by run. Its clock for the first scan is the reader's own time on a core, which",
        "a busy host gives it late; what repeats is that nothing moves without balancing or before the first scan, and that all",
        "but a few pages end with the only reader, or with the one that reads eight times as often.",
        "",
    ]
    lines += markdown_table(
        ("case", "run", "first page seen elsewhere after", "pages on each node at the end"),
        [
            (
                case.name,
                run,
                "never" if line.first_milliseconds is None else f"{line.first_milliseconds} ms",
                ", ".join(str(line.nodes.count(node)) for node in range(nodes)),
            )
            for case in BALANCE_CASES
            for run, line in enumerate(log.balance[case.name], start=1)
        ],
    )
    if TCMALLOC.name in log.remote:
        runs = log.remote[TCMALLOC.name]
        lines += [
            "",
            f"Remote pages of TCMalloc in the guest, pass by pass ({runs[0].pages} pages a pass, the first one is the warm-up). The",
            "emulator runs one virtual core at a time for long stretches, so that whole teams' blocks change hands at once: boots",
            "differ by more than the runs of one, and the row is weak evidence.",
            "",
        ]
        lines += markdown_table(
            ("run", "passes", "sum"),
            [
                (run, ", ".join(map(str, line.remote)), sum(line.remote))
                for run, line in enumerate(log.remote[TCMALLOC.name], start=1)
            ],
        )
    filled = log.pages["overflow"].nodes
    got = ", ".join(str(filled.count(node)) for node in range(nodes))
    lines += [
        "",
        f"Overflow: of {len(filled)} pages that one thread of node 0 touched, nodes got {got};",
        f"the kernel had said that {', '.join(map(str, log.free_pages))} were free to be given.",
    ]
    return "\n".join(lines) + "\n"


def write(rows: Sequence[GuestRow], log: GuestLog) -> None:
    """Renew the page."""
    PAGE.write_text(text(rows, log), encoding="utf-8")
