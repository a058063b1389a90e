"""`python -m validation classification`: types of threads by the compiler pass against those of a trace, thread by thread."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation import debian_programs
from validation.page_with_notes import markdown_table
from validation.rows import AnyRow
from validation.study import Options, Study

PAGE = Path(__file__).with_name("classification.md")
COMMAND = "python -m validation classification --sources FOLDER --write"

# The S3 programs (traces/kernels), small: dependences do not depend on the size.
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("threads_autonomous", {"integer": 2, "floating": 2}),
    ("threads_side_by_side", {"threads": 4}),
    ("threads_postponed", {"workers": 3, "rounds": 2}),
    ("threads_pingpong", {"turns": 20}),
    ("threads_mix", {"leaders": 2, "workers": 3}),
)


@dataclass(frozen=True)
class Compared(AnyRow):
    """One thread of one run. Partners are other threads, the main thread included."""

    program: str
    thread: int
    routine: str
    static_type: str
    certain_type: str
    trace_type: str
    static_partners: int
    trace_partners: int
    over_reported: int
    missed: int


@dataclass(frozen=True)
class Ran(AnyRow):
    """One program of Debian: its trace, and its binary whose threads are bound."""

    program: str
    accesses: int
    creations: int
    threads: int
    bound: int
    output: str


def _nodes(found: dict[str, Any], graph: dict[str, Any]) -> list[set[int]]:
    """Which creations of the static tree each thread of the run may come from: those of its routine, below its creator's.

    Several where one routine is created at several places, or where the pass cannot tell routines apart.
    """
    nodes: list[set[int]] = []
    for entry in graph["threads"]:
        generators = {None} if entry["parent"] is None else nodes[entry["parent"]]
        matching = {
            node["thread"]
            for node in found["threads"]
            if node["generator"] in generators
            and (entry["parent"] is None or node["routine"].startswith(entry["routine"]))
        }
        if not matching:
            raise SystemExit(f"the pass knows no creation of {entry['routine']} below its threads {generators}")
        nodes.append(matching)
    return nodes


def compare(program: str, found: dict[str, Any], graph: dict[str, Any]) -> Iterator[Compared]:
    """One row a created thread: `found` is the document of `homenode classify`, `graph` that of `Trace.thread_graph`."""
    nodes = _nodes(found, graph)
    partners = [{partner["thread"] for partner in node["partners"]} for node in found["threads"]]
    dependent = graph["dependent_bytes"]
    threads = range(len(nodes))

    def claims(thread: int, other: int) -> bool:
        return any(nodes[other] & partners[node] for node in nodes[thread])

    def typed(thread: int, key: str) -> str:
        return " or ".join(sorted({found["threads"][node][key] for node in nodes[thread]}))

    for thread in threads[1:]:
        claimed = {other for other in threads if other != thread and claims(thread, other)}
        true = {other for other in threads if other != thread and dependent[thread][other] + dependent[other][thread]}
        yield Compared(
            program=program,
            thread=thread,
            routine=graph["threads"][thread]["routine"],
            static_type=typed(thread, "type"),
            certain_type=typed(thread, "certain_type"),
            trace_type=graph["threads"][thread]["type"],
            static_partners=len(claimed),
            trace_partners=len(true),
            over_reported=len(claimed - true),
            missed=len(true - claimed),
        )


def rows() -> Iterator[Compared]:
    """All S3 programs."""
    for program, parameters in CASES:
        yield from compare(program, hn.classify(program), hn.capture(program, **parameters).thread_graph())


def rows_of_debian(sources: Path, work: Path) -> Iterator[Compared | Ran]:
    """Each program of Debian: its threads, then how it ran."""
    for program in debian_programs.PROGRAMS:
        seen = debian_programs.examine(program, sources, work)
        yield from compare(program.name, seen.found, seen.graph)
        output = "whole" if seen.whole else "broken"
        yield Ran(program.name, seen.accesses, len(seen.found["threads"]) - 1, seen.threads, seen.bound, output)


def _cells(row: Compared | Ran) -> list[str]:
    return [str(value) for value in asdict(row).values()]


def _table(found: Sequence[Compared] | Sequence[Ran]) -> list[str]:
    head = [name.replace("_", " ") for name in asdict(found[0])]
    return list(markdown_table(head, [_cells(row) for row in found]))


def _summary(found: Sequence[Compared]) -> str:
    same = sum(row.static_type == row.trace_type for row in found)
    return (
        f"{same} of {len(found)} threads have the same type both ways; {sum(row.over_reported for row in found)} of "
        f"{sum(row.static_partners for row in found)} claimed partners are over-reported, {sum(row.missed for row in found)} are missed."
    )


def page(found: Sequence[Compared], of_debian: Sequence[Compared], ran: Sequence[Ran]) -> str:
    """The page down to its notes."""
    lines = [
        "# What static analysis over-reports",
        "",
        f"Made by `{COMMAND}`. Types of NUMA-BTLP for every",
        "created thread: by the compiler pass (`homenode classify`), by its certain dependences alone, and from the dependences that a run",
        "really had (`homenode inspect --threads`). Partners are threads that one has a dependence with; over-reported ones the pass",
        "claims and the run did not have, missed ones the reverse.",
        "",
        f"The S3 programs: {_summary(found)}",
        "",
        *_table(found),
        "",
        "Three programs of Debian 12 that were not written for it (`docs/classify.md`):",
        _summary(of_debian),
        "",
        *_table(of_debian),
        "",
        "Their runs, each packing 250 kB with three workers. *creations*: places that the pass found; *threads*: that the bound binary",
        "created and bound; *bound*: of them, those that `pthread_getaffinity_np` says have the cores they were given; *output*:",
        "whether it unpacks to what was packed.",
        "",
        *_table(ran),
    ]
    return "\n".join(lines) + "\n"


def _rows(options: Options) -> Iterator[Compared | Ran]:
    """The S3 programs; with the archives of Debian's programs these, too."""
    missing = debian_programs.absent(options.sources) if options.sources is not None else []
    if missing:
        raise SystemExit(f"not in '{options.sources}': {', '.join(missing)}; docs/programs.md tells how to fetch them")
    if options.write and options.sources is None:
        raise SystemExit("the page has programs of Debian, too: --write wants --sources FOLDER with their archives")
    yield from rows()
    if options.sources is not None:
        yield from rows_of_debian(options.sources, options.folder / "programs")


def _closing(found: Sequence[Compared | Ran], options: Options) -> str:
    if options.sources is not None:
        return ""
    return "programs of Debian: absent (--sources FOLDER with their archives; docs/programs.md tells how to fetch them)"


def _tables(found: Sequence[Compared | Ran]) -> str:
    threads = [row for row in found if isinstance(row, Compared)]
    own = {name for name, _ in CASES}
    both = [row for row in threads if row.program in own], [row for row in threads if row.program not in own]
    return page(*both, [row for row in found if isinstance(row, Ran)])


STUDY = Study(
    "classification",
    "types of threads by the compiler pass against a run's; `--sources`: of three programs of Debian, too",
    "a minute",
    (
        *("program", "thread", "routine", "static_type", "certain_type", "trace_type"),
        *("static_partners", "trace_partners", "over_reported", "missed"),
    ),
    _rows,
    (PAGE,),
    line=lambda row: "  ".join(_cells(row)),
    tables=_tables,
    closing=_closing,
)
