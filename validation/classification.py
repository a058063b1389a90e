"""`python -m validation.classification`: types of threads by the compiler pass against those of a trace, thread by thread."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import homenode as hn
from validation.kept_page import kept_reading

PAGE = Path(__file__).with_name("classification.md")

# The S3 programs (traces/kernels), small: dependences do not hang on the size.
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("threads_autonomous", {"integer": 2, "floating": 2}),
    ("threads_side_by_side", {"threads": 4}),
    ("threads_postponed", {"workers": 3, "rounds": 2}),
    ("threads_pingpong", {"turns": 20}),
    ("threads_mix", {"leaders": 2, "workers": 3}),
)


@dataclass(frozen=True)
class Compared:
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


def _nodes(found: dict[str, Any], graph: dict[str, Any]) -> list[int]:
    """Which creation of the static tree each thread of the run comes from: its routine, below its creator's."""
    nodes: list[int] = []
    for entry in graph["threads"]:
        generator = None if entry["parent"] is None else nodes[entry["parent"]]
        matching = [
            node["thread"]
            for node in found["threads"]
            if node["generator"] == generator and (generator is None or node["routine"].startswith(entry["routine"]))
        ]
        if not matching:
            raise SystemExit(f"the pass knows no creation of {entry['routine']} below its thread {generator}")
        nodes.append(matching[0])
    return nodes


def compare(program: str, found: dict[str, Any], graph: dict[str, Any]) -> Iterator[Compared]:
    """One row a created thread: `found` is the document of `homenode classify`, `graph` that of `Trace.thread_graph`."""
    nodes = _nodes(found, graph)
    partners = [{partner["thread"] for partner in node["partners"]} for node in found["threads"]]
    dependent = graph["dependent_bytes"]
    threads = range(len(nodes))
    for thread in threads[1:]:
        claimed = {other for other in threads if other != thread and nodes[other] in partners[nodes[thread]]}
        true = {other for other in threads if other != thread and dependent[thread][other] + dependent[other][thread]}
        node = found["threads"][nodes[thread]]
        yield Compared(
            program=program,
            thread=thread,
            routine=graph["threads"][thread]["routine"],
            static_type=node["type"],
            certain_type=node["certain_type"],
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


def _cells(row: Compared) -> list[str]:
    return [str(value) for value in asdict(row).values()]


def write(found: list[Compared]) -> None:
    """Renew the table; what stands below it is kept."""
    head = [name.replace("_", " ") for name in asdict(found[0])]
    same = sum(row.static_type == row.trace_type for row in found)
    lines = [
        "# What static analysis over-reports",
        "",
        "Made by `python -m validation.classification --write`. Types of NUMA-BTLP for every created thread of the S3 programs: by the",
        "compiler pass (`homenode classify`), by its certain dependences alone, and from the dependences that a run really had",
        "(`homenode inspect --threads`). Partners are threads that one has a dependence with; over-reported ones the pass claims and the",
        "run did not have, missed ones the reverse.",
        "",
        f"{same} of {len(found)} threads have the same type both ways; {sum(row.over_reported for row in found)} of "
        f"{sum(row.static_partners for row in found)} claimed partners are over-reported, {sum(row.missed for row in found)} are missed.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(_cells(row)) + " |" for row in found),
    ]
    PAGE.write_text("\n".join(lines) + "\n" + kept_reading(PAGE), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Compare, print, and with --write renew the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.classification", description=main.__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="renew validation/classification.md")
    options = parser.parse_args(arguments)
    found = []
    for row in rows():
        found.append(row)
        if not options.json:
            print("  ".join(_cells(row)), flush=True)
    if options.json:
        print(json.dumps({"schema": "homenode.validation/1", "rows": [asdict(row) for row in found]}, indent=1))
    if options.write:
        write(found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
