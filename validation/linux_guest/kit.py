"""A kit in the guest: unpacked, interrupted, gone on with, brought back and imported; pages by node of each choice against the model.

Times mean nothing there, so that nothing is calibrated and no time is shown.
"""

import base64
import gzip
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from homenode.errors import InputError
from homenode.kits.describing import machine_of
from homenode.kits.making import fill
from homenode.kits.page_homes import PagesRow
from homenode.kits.plan import cases
from homenode.kits.returned import Choice, Returned, read_returned
from homenode.kits.table import Table, table
from homenode.resources import cache_directory
from validation.linux_guest import guest
from validation.linux_guest.cases import MACHINE
from validation.page_with_notes import markdown_table
from validation.rows import GuestRow, Verdict
from validation.study import Options, Study

PAGE = Path(__file__).with_name("kit.md")
NAME = "guest"
TIMEOUT = 1500.0
INTERRUPTED = 5  # seconds of the first start
COMMAND = "homenode validate linux-guest-kit --write"
NULL_MODEL = "with a model that puts every page on node 0"


def commands() -> str:
    """The guest's script: the kit is ended by a signal, started again, and what it made is printed."""
    run = f"sh run.sh --no-calibration --name {NAME} --repeats 1"
    return "\n".join(
        [
            "cd /kit",
            f"busybox timeout {INTERRUPTED} {run}",
            f"set -- results-{NAME}/r-*.json; echo @@ interrupted $#",
            run,
            "echo @@ kit",
            f"busybox gzip -c homenode-kit-{NAME}.jsonl | busybox base64",
            "echo @@ kit end",
            "",
        ]
    )


def kit_files(kernels: Sequence[str]) -> dict[str, bytes]:
    """What a kit of the smallest sizes unpacks to, in the guest's folder /kit."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "kit"
        fill(folder, cases("tiny", kernels), "tiny")
        return {f"kit/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def returned_file(text: str) -> bytes:
    """The file among what the guest printed; GuestFailed if it is not there whole."""
    found = re.search(r"@@ kit\s*\n(.*?)@@ kit end", text, re.DOTALL)
    try:
        return gzip.decompress(base64.b64decode(found[1])) if found else b""
    except (ValueError, OSError, EOFError):
        raise guest.GuestFailed("what the kit made came out of the guest damaged") from None


def is_decided(choice: Choice) -> bool:
    """Whether a page's node depends on nothing but the choice: not on which thread the emulator lets run first."""
    return choice.placement != "first-touch" or (choice.schedule == "static" and choice.pinning != "unpinned")


def most_shared(row: PagesRow) -> int:
    """Pages of which the choice does not tell who touches them first.

    In each block one at each border of two threads' chunks, and the first and the last one, which the heap may share with others.
    """
    return (row.choice.threads - 1 + 2) * row.blocks if row.choice.placement == "first-touch" else 0


def pages_row(row: PagesRow, command: str) -> GuestRow:
    """A choice's pages by node, in the guest and in the model."""
    choice = row.choice
    decided, shared = is_decided(choice), most_shared(row)
    verdict: Verdict = "not compared" if not decided else "agrees" if row.pages - row.same <= shared else "deviates"
    chosen = f"{choice.placement}, {choice.threads} {_thread(choice)}, {choice.pinning}, {choice.schedule}"
    what = f"{chosen}: {row.same} of {row.pages} pages alike"
    if decided and shared:
        what += f", {shared} may differ"
    there, here = (", ".join(map(str, counts)) for counts in (row.measured, row.predicted))
    return GuestRow(choice.case, what, "predicted", there, here, "pages by node", verdict, command)


def rows_of(returned: Returned, found: Table, interrupted: int, command: str) -> Iterator[GuestRow]:
    """All rows of what came back."""
    machine = machine_of(returned)
    ended = [run.ended for run in returned.runs] + [run.ended for run in returned.pages]
    for what, here, there in (
        (
            "nodes and cores of the description",
            f"{MACHINE.nodes}, {MACHINE.cores}",
            f"{machine.nodes}, {machine.cores}",
        ),
        ("nodes that do not take a policy, CPUs that do not take a thread", "none", _refused(returned)),
        (
            f"runs of a kit that was ended after {interrupted} of them and started again",
            str(returned.planned),
            str(len(ended)),
        ),
        (
            "runs that did not end well",
            "0",
            str(len(ended) - ended.count("exit 0")),
        ),
    ):
        yield GuestRow("kit", what, "identity", there, here, "", "agrees" if here == there else "deviates", command)
    for row in found.pages:
        yield pages_row(row, command)
    decided = [row for row in found.pages if is_decided(row.choice)]
    null = sum(row.pages - row.measured[0] <= most_shared(row) for row in decided)
    yield GuestRow("kit", NULL_MODEL, "predicted", f"{null} of {len(decided)}", "", "", "not compared", command)
    for text in found.left_out:
        yield GuestRow("kit", text, "predicted", "", "", "", "not compared", command)


def _thread(choice: Choice) -> str:
    return "thread" if choice.threads == 1 else "threads"


def _refused(returned: Returned) -> str:
    return ", ".join(what for what in returned.host.refused if what.startswith(("bind", "pin"))) or "none"


def rows(folder: Path, cache: Path, small: bool = False) -> Iterator[GuestRow]:
    """Boot, run, import, compare; the returned file and the guest's output stay in the folder."""
    try:
        guest.emulator()
        text = guest.run(MACHINE, {}, commands(), cache, TIMEOUT, kit_files(["stream"] if small else []))
    except guest.MissingPart as missing:
        yield GuestRow("linux-guest-kit", f"skipped: {missing}", "predicted", "", "", "", "skipped", "")
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kit.log").write_text(text, encoding="utf-8")
    file = folder / f"homenode-kit-{NAME}.jsonl"
    file.write_bytes(returned_file(text))
    try:
        returned = read_returned(file)
    except InputError as error:
        raise guest.GuestFailed(str(error)) from None
    interrupted = re.search(r"@@ interrupted (\d+)", text)
    found = table(returned, machine_of(returned), folder / "traces")
    yield from rows_of(returned, found, int(interrupted[1]) if interrupted else 0, f"homenode kit import {file}")


def page(found: Sequence[GuestRow]) -> str:
    """Down to the notes. Rows that agree in everything but their schedule and pinning are one."""
    lines = [
        "# A kit in the Linux guest",
        "",
        "`homenode kit --size tiny` in a Linux of 4 nodes (QEMU, Debian's kernel, busybox's shell): unpacked, ended after",
        f"{INTERRUPTED} s, started again, brought back and imported. Each kernel ran under every placement, pinning and schedule. Pages",
        "are those of its large blocks when they are freed, as the guest's kernel tells, against a replay of the same kernel under",
        "the same choice. One page at each border of two threads' chunks, and the first and the last page of a block, which the heap",
        "shares with others, may differ under first touch. An interleaved block begins on any node, and is compared from there on.",
        "Written by",
        "",
        f"    {COMMAND}",
        "",
        "Times mean nothing in an emulator and are not shown. First touch by threads that are not bound, or that take chunks as they come,",
        "is decided by which thread the emulator lets run: *not compared*. Nothing is fitted to these rows.",
        "",
    ]
    compared = [row for row in found if row.unit == "pages by node" and row.verdict != "not compared"]
    lines += markdown_table(
        ("what", "kit", "expected", "verdict"),
        [(row.what, row.guest, row.model, row.verdict) for row in found if row.cls == "identity"],
    )
    agree = sum(row.verdict == "agrees" for row in compared)
    null = next(row.guest for row in found if row.what == NULL_MODEL)
    lines += ["", f"{agree} of {len(compared)} choices agree in their pages; {NULL_MODEL}: {null}.", ""]
    touched = [row for row in found if row.unit == "pages by node" and row.what.startswith("first-touch")]
    lines += markdown_table(
        ("case", "first touch", "guest: pages by node", "model", "verdict"),
        [(row.case, row.what.partition(", ")[2], row.guest, row.model, row.verdict) for row in touched],
    )
    policies = Counter(
        (row.case, row.what.partition(", ")[0], row.guest, row.model, row.verdict)
        for row in compared
        if row not in touched
    )
    lines += [
        "",
        "Memory policies, all numbers of threads, pinnings and schedules with the same outcome in one row:",
        "",
    ]
    lines += markdown_table(
        ("case", "placement", "guest: pages by node", "model", "verdict", "choices"),
        [(*key, count) for key, count in policies.items()],
    )
    return "\n".join(lines) + "\n"


def _rows(options: Options) -> Iterator[GuestRow]:
    try:
        yield from rows(options.folder / "linux-guest-kit", cache_directory() / "guest", options.small)
    except guest.GuestFailed as error:
        raise SystemExit(f"the Linux guest failed: {error}") from None


STUDY = Study(
    "linux-guest-kit",
    "a kit (`homenode kit`) in a Linux of 4 nodes in QEMU: pages by node against the model",
    "minutes",
    ("case", "what", "guest", "model", "unit", "verdict", "command", "class"),
    _rows,
    (PAGE,),
    tables=page,
)
