"""What capturing costs: time against the native run, bytes of trace an access, and whether the arrays have their computed size."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation.array_bytes import array_sizes, traced_array_bytes
from validation.native.measure import build
from validation.rows import AnyRow
from validation.study import Options, Study
from validation.traces import trace_path

DOCUMENT = Path(__file__).parents[1] / "docs" / "capture_costs.md"
Parameters = dict[str, int | str]

# Programs and sizes; the smallest ones serve to test the table.
CASES: tuple[tuple[str, Parameters], ...] = (
    ("mg", {"class": "A"}),
    ("ft", {"class": "A"}),
    ("hotspot", {"size": 4096}),
    ("srad_v2", {"rows": 2048, "cols": 2048, "roi": 128}),
    ("sliding_tile", {"instance": "korf79", "table": 16}),
    ("advection3d", {"patch": 64, "patches": 16}),
)
SMALLEST: tuple[tuple[str, Parameters], ...] = (
    ("mg", {"class": "S"}),
    ("ft", {"class": "S"}),
    ("hotspot", {"size": 256}),
    ("srad_v2", {"rows": 128, "cols": 128, "roi": 32}),
    ("sliding_tile", {"moves": 20}),
    ("advection3d", {"patch": 12, "patches": 4}),
)


@dataclass(frozen=True)
class Cost(AnyRow):
    """One program at one size. Times are those of whole processes, the native one on one core as the capture runs on one."""

    program: str
    size: str
    accesses: int
    native_seconds: float  # least of the repeats
    capture_seconds: float
    trace_bytes: int
    array_bytes: int | None  # None: its blocks are nodes, not arrays
    computed_bytes: int | None

    @property
    def slowdown(self) -> float:
        """Capture over native."""
        return self.capture_seconds / self.native_seconds

    @property
    def bytes_per_access(self) -> float:
        """Of the trace file."""
        return self.trace_bytes / self.accesses

    def as_json(self) -> dict[str, Any]:
        """Return what the table shows."""
        return {**super().as_json(), "slowdown": self.slowdown, "bytes_per_access": self.bytes_per_access}


def _native_seconds(program: Path, parameters: Parameters, repeats: int) -> float:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_DYNAMIC": "false"}
    command = [str(program), *(f"{name}={value}" for name, value in parameters.items())]
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return min(times)


def cost(kernel: str, parameters: Parameters, folder: Path, repeats: int) -> Cost:
    """Build, run and capture one program; the self-check is off in both."""
    settings: Parameters = {**parameters, "check": 0}
    folder.mkdir(parents=True, exist_ok=True)
    native = _native_seconds(build(kernel, folder / "programs"), settings, repeats)
    smallest: dict[str, Any] = {**dict(SMALLEST)[kernel], "check": 0}
    hn.capture(kernel, **smallest)  # compiles the kernel for tracing, which later captures find done
    path = trace_path(folder, kernel, settings)
    chosen: dict[str, Any] = dict(settings)
    begin = time.perf_counter()
    trace = hn.capture(kernel, output=path, **chosen)
    seconds = time.perf_counter() - begin
    try:
        sizes: Sequence[int] | None = array_sizes(kernel, parameters)
    except ValueError:
        sizes = None
    return Cost(
        kernel,
        " ".join(f"{name}={value}" for name, value in parameters.items()),
        trace.accesses,
        native,
        seconds,
        path.stat().st_size,
        None if sizes is None else traced_array_bytes(trace, sizes),
        None if sizes is None else sum(sizes),
    )


def costs(folder: Path, small: bool = False, repeats: int = 3) -> Iterator[Cost]:
    """Yield the rows of the table."""
    for kernel, parameters in SMALLEST if small else CASES:
        yield cost(kernel, parameters, folder, repeats)


def host() -> str:
    """The processor, without anything that names the machine."""
    model = "processor unknown"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}, gcc {gcc}"


def table(rows: Iterable[Cost]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| program | size | accesses | native | capture | slowdown | trace | bytes/access | arrays | computed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        arrays = "–" if row.array_bytes is None else f"{row.array_bytes:,}"
        exact = row.computed_bytes is None or row.array_bytes == row.computed_bytes
        computed = "–" if row.computed_bytes is None else f"{row.computed_bytes:,}" + ("" if exact else " **differs**")
        lines.append(
            f"| {row.program} | {row.size} | {row.accesses:,} | {row.native_seconds:.3g} s | {row.capture_seconds:.3g} s "
            f"| {row.slowdown:.1f} | {row.trace_bytes:,} B | {row.bytes_per_access:.2g} | {arrays} | {computed} |"
        )
    return "\n".join(lines)


def computed_table() -> str:
    """The sizes that cannot be captured here, by the kernels' own arithmetic, beside what S0 prints (Table 2)."""
    printed: dict[tuple[str, str, int | str], str] = {
        ("mg", "class", "A"): "619",
        ("mg", "class", "C"): "4,736",
        ("ft", "class", "A"): "450",
        ("ft", "class", "C"): "6,897",
        ("hotspot", "size", 1024): "19",
    }
    lines = ["| program | size | arrays, computed | S0 prints, MB |", "|---|---|---|---|"]
    for (kernel, name, value), text in printed.items():
        lines.append(f"| {kernel} | {name}={value} | {sum(array_sizes(kernel, {name: value})):,} B | {text} |")
    return "\n".join(lines)


def document(rows: Sequence[Cost], command: str, repeats: int) -> str:
    """The page of docs/."""
    return f"""# What capturing costs

Written by `{command}` on {time.strftime("%Y-%m-%d", time.gmtime())}; host: {host()}.

Native is the kernel compiled with its own flags, on one core, the least of {repeats} runs; capture runs it on one core too and
includes writing the trace. The self-checks are off in both. Arrays are the bytes of those heap objects of the trace that the
kernel's arithmetic calls its arrays, held against that arithmetic exactly; the nodes of sliding_tile are no arrays.

{table(rows)}

Sizes by arithmetic; S0 prints a process's whole footprint, which is larger than its arrays (listed in
[DEVIATIONS.md](../validation/DEVIATIONS.md)):

{computed_table()}

Goals are a slowdown of at most 25 and 0.001 bytes an access for stencils, 10 and 3 for programs of hash tables and gathers. What
misses them, and why, stands in [DEVIATIONS.md](../validation/DEVIATIONS.md), "Cost of capture".
"""


REPEATS = 3  # of the native run; more only if asked for


def _write(found: Sequence[Cost], options: Options) -> None:
    command = "python -m validation capture-costs --write" + (" --small" if options.small else "")
    DOCUMENT.write_text(document(found, command, min(options.repeats, REPEATS)), encoding="utf-8")
    print(f"wrote {DOCUMENT.relative_to(DOCUMENT.parents[1])}", file=sys.stderr)


def _status(found: Sequence[Cost]) -> int:
    """An array that has not its computed size is a failure."""
    wrong = [row.program for row in found if row.array_bytes != row.computed_bytes]
    if wrong:
        print(f"array bytes differ from the computed ones: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


STUDY = Study(
    "capture-costs",
    "time of a capture against the native run; bytes of arrays against arithmetic. Wants a quiet machine",
    "minutes",
    (
        *("program", "size", "accesses", "native_seconds", "capture_seconds", "trace_bytes"),
        *("array_bytes", "computed_bytes", "slowdown", "bytes_per_access"),
    ),
    lambda options: costs(options.folder, options.small, min(options.repeats, REPEATS)),
    (DOCUMENT,),
    line=lambda row: table([row]).splitlines()[-1],
    write=_write,
    document=lambda found: {
        "schema": "homenode.capture_costs/1",
        "host": host(),
        "rows": [row.as_json() for row in found],
    },
    status=_status,
)
