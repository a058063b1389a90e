"""`python -m validation originals --sources FOLDER`: public programs that kernels were written after, against those kernels.

The programs are no part of this repository, nor is how to build them: FOLDER has an `originals.toml`, whose `[[original]]` rows say
both (validation/README.md). Counts are the traces'. First touch is a replay's, one thread a node: the share of pages that lie with
thread 0, of four.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation.native.program_runs import Unusable, built, captured
from validation.native.program_table import Case, Program, program_of
from validation.page_with_notes import markdown_table
from validation.result_cache import package_hash
from validation.rows import AnyRow
from validation.study import BadOptions, Options, Study
from validation.traces import captured as captured_kernel

PAGE = Path(__file__).with_name("originals.md")
COMMAND = "python -m validation originals --sources FOLDER --write"
TABLE = "originals.toml"
MACHINE, THREADS = "xeon-l7555-4s", 4  # nodes, and a thread on each
FIGURES = ("reads", "writes", "footprint bytes", "heap bytes", "pages of thread 0, share")


@dataclass(frozen=True)
class Original:
    """A public program, and the kernel that was written after it with the parameters of the same problem."""

    program: Program
    kernel: str
    parameters: Mapping[str, int | str]


@dataclass(frozen=True)
class OriginalRow(AnyRow):
    """One figure of an original and of its kernel; `ratio` is the kernel's over the original's, none where that is 0."""

    program: str
    origin: str
    arguments: str
    kernel: str
    parameters: str
    what: str
    original: float
    ours: float
    ratio: float | None


def originals(sources: Path) -> list[Original]:
    """Rows of the folder's table; BadOptions if there is none or one is wrong."""
    file = sources / TABLE
    if not file.is_file():
        raise BadOptions(f"no file '{file}'; allowed: a folder with {TABLE}, as validation/README.md says")
    try:
        rows = tomllib.loads(file.read_text(encoding="utf-8")).get("original", [])
    except tomllib.TOMLDecodeError as error:
        raise BadOptions(f"{file}: {error}") from None
    found = []
    for row in rows:
        name = row.get("name", "?")
        if missing := [key for key in ("kernel", "parameters") if key not in row]:
            raise BadOptions(f"{file}: original '{name}': missing: {', '.join(missing)}")
        described = {key: value for key, value in row.items() if key not in ("kernel", "parameters")}
        found.append(Original(program_of(described, file), str(row["kernel"]), dict(row["parameters"])))
    if not found:
        raise BadOptions(f"{file}: no [[original]]")
    return found


def figures(trace: hn.Trace) -> dict[str, float]:
    """What is compared of a trace."""
    said = trace.inspect()
    result = hn.replay(trace, MACHINE, threads=THREADS, mapping="scatter", oversubscribe=True)
    pages = [float(count) for count in result.run["pages_by_node"]]
    heap = sum(float(entry["bytes"]) for entry in said["objects"] if entry["kind"] in ("heap", "global"))
    share = pages[0] / sum(pages) if sum(pages) else 0.0
    values = (float(said["reads"]), float(said["writes"]), float(said["footprint_bytes"]), heap, share)
    return dict(zip(FIGURES, values, strict=True))


def rows_of(original: Original, public: Mapping[str, float], ours: Mapping[str, float]) -> Iterator[OriginalRow]:
    """A row a figure."""
    program = original.program
    parameters = " ".join(f"{name}={value}" for name, value in original.parameters.items())
    for what in FIGURES:
        ratio = ours[what] / public[what] if public[what] else None
        yield OriginalRow(
            program.name,
            program.origin,
            program.arguments[0],
            original.kernel,
            parameters,
            what,
            public[what],
            ours[what],
            ratio,
        )


def _rows(options: Options) -> Iterator[OriginalRow]:
    if options.sources is None or not options.sources.is_dir():
        raise BadOptions("originals wants --sources FOLDER, as validation/README.md says")
    work = options.folder.absolute() / "originals"
    for original in originals(options.sources.absolute()):
        case = Case(original.program, 0, THREADS if original.program.threads == "openmp" else 1)
        try:
            folder = built(original.program, options.sources.absolute(), work, package_hash())["traced"]
            trace = captured(case, folder, work / "traces")
        except (Unusable, subprocess.SubprocessError) as error:
            print(f"{original.program.name}: {error}", file=sys.stderr, flush=True)
            continue
        own = captured_kernel(
            work / "kernels", original.kernel, {**original.parameters, "check": 0}, threads=case.threads
        )
        yield from rows_of(original, figures(hn.Trace.open(trace.path)), figures(own))


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) and value < 1e4 else f"{value:,.0f}"


def page(found: Sequence[OriginalRow]) -> str:
    """The page down to its notes."""
    head = ("program", "origin", "arguments", "kernel", "parameters", "what", "original", "ours", "ratio")
    cells = [
        [_cell(value) if isinstance(value, float) or value is None else str(value) for value in asdict(row).values()]
        for row in found
    ]
    lines = [
        "# Public originals against the kernels written after them",
        "",
        f"Made by `{COMMAND}`. *Ratio*: ours over the original's.",
        f"First touch: {THREADS} threads, each on a node of `{MACHINE}`.",
        "",
        *markdown_table(head, cells),
    ]
    return "\n".join(lines) + "\n"


STUDY = Study(
    "originals",
    "public programs in `--sources FOLDER` against the kernels written after them: counts, footprint, first touch",
    "minutes",
    tuple(OriginalRow.__dataclass_fields__),
    _rows,
    (PAGE,),
    line=lambda row: json.dumps(row.as_json(), ensure_ascii=False),
    tables=page,
)
