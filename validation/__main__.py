"""`python -m validation KIND` prints a table, or JSON: published, native, linux-guest, placements, closed-form and others."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from validation.rows import FuzzRow, GuestRow, NativeRow, Row

PAPERS = ("S0", "S1", "S2", "S3", "S4")
FOLDER = Path(__file__).parents[1] / "build" / "validation"


def published_rows(paper: str | None, folder: Path, small: bool) -> Iterator[Row]:
    """Rows of the papers' cases; of one paper if named."""
    for name in PAPERS if paper is None else (paper,):
        yield from import_module(f"validation.published.run_{name.lower()}").rows(folder, small)


def native_rows(folder: Path, machine: Path | None, repeats: int, small: bool) -> Iterator[NativeRow]:
    """Rows of the native runs; the host is calibrated first if no description of it is given."""
    from validation.native.cases import CASES, SMALLEST
    from validation.native.compare import compare

    if machine is None:
        machine = folder / "host.toml"
        if not machine.exists():
            folder.mkdir(parents=True, exist_ok=True)
            command = [str(Path(sys.executable).with_name("homenode")), "machine", "calibrate", "-o", str(machine)]
            subprocess.run(command, check=True)
    yield from compare(SMALLEST if small else CASES, machine, folder, (1, 2), repeats)


def guest_rows(folder: Path, small: bool, write: bool = False) -> Iterator[GuestRow]:
    """Rows of the Linux guest; a single one that says what is missing where it cannot run. `write`: the full run's page, too."""
    from homenode.resources import cache_directory
    from validation.linux_guest import results
    from validation.linux_guest.guest import GuestFailed
    from validation.linux_guest.log import parse
    from validation.linux_guest.run import rows

    try:
        found = []
        for row in rows(folder / "linux-guest", cache_directory() / "guest", small):
            found.append(row)
            yield row
        log = folder / "linux-guest" / "linux_guest.log"
        if write and not small and found[0].verdict != "skipped":
            results.write(found, parse(log.read_text(encoding="utf-8")))
    except GuestFailed as error:
        raise SystemExit(f"the Linux guest failed: {error}") from None


def fuzz_rows(folder: Path, small: bool) -> Iterator[FuzzRow]:
    """Rows of the fuzz targets; a single one that says what is missing where they cannot be built."""
    from validation.fuzz import BuildFailed, rows

    try:
        yield from rows(Path(__file__).parents[1], folder / "fuzz", small)
    except BuildFailed as error:
        raise SystemExit(f"the fuzz targets did not build: {error}") from None


def _text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; what deviates is a result, not a failure, unless an input broke a reader."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=main.__doc__)
    parser.add_argument(
        "kind",
        choices=[
            "published",
            "native",
            "linux-guest",
            "placements",
            "mappings",
            "closed-form",
            "differential",
            "advisor",
            "fuzz",
            "capture-costs",
            "classification",
        ],
    )
    parser.add_argument("--paper", choices=PAPERS, help="only this paper's cases")
    parser.add_argument(
        "--small",
        action="store_true",
        help="a reduced problem, only the smallest size of each kernel, or seconds of fuzzing",
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where traces and programs are kept")
    parser.add_argument("--machine", type=Path, help="native: a calibrated description of this machine")
    parser.add_argument("--sources", type=Path, help="classification: a folder with the archives of Debian's programs")
    parser.add_argument("--repeats", type=int, default=7, help="native: timed runs of each case")
    parser.add_argument(
        "--write",
        action="store_true",
        help="renew the page of results (all but fuzz and native)",
    )
    parser.add_argument("--engine", choices=("flow", "line"), default="flow", help="advisor: what it is held against")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.kind == "published" and options.write and options.paper is None:
        parser.error(f"--write without --paper; allowed: --paper {'|'.join(PAPERS)}")
    if options.kind == "capture-costs":
        from validation import capture_costs

        repeats = min(options.repeats, 3)
        return capture_costs.main(options.folder, options.small, repeats, options.json, options.write)
    if options.kind == "placements":
        from validation import placements

        return placements.main(options.folder, options.small, options.json, options.write)
    if options.kind == "mappings":
        from validation import mappings

        return mappings.main(options.folder, options.small, options.json, options.write)
    if options.kind == "classification":
        from validation import classification

        return classification.main(options.folder, options.sources, options.json, options.write)
    if options.kind == "differential":
        from validation import differential

        return differential.main(options.folder, options.small, options.json, options.write)
    if options.kind == "closed-form":
        from validation import closed_form

        return closed_form.main(options.folder, options.small, options.json, options.write)
    if options.kind == "advisor":
        from validation.advisor import lines, study

        against = lines.main if options.engine == "line" else study.main
        return against(options.folder, options.small, options.json, options.write)
    rows: Iterator[Row] | Iterator[NativeRow] | Iterator[GuestRow] | Iterator[FuzzRow]
    if options.kind == "published":
        rows = published_rows(options.paper, options.folder, options.small)
    elif options.kind == "fuzz":
        rows = fuzz_rows(options.folder, options.small)
    elif options.kind == "linux-guest":
        rows = guest_rows(options.folder, options.small, options.write)
    else:
        rows = native_rows(options.folder, options.machine, options.repeats, options.small)
    collected = []
    for row in rows:
        values = row.as_json()
        collected.append(values)
        if not options.json:
            print("  ".join(_text(value) for key, value in values.items() if key != "command"), flush=True)
    if options.json:
        print(json.dumps({"schema": "homenode.validation/1", "rows": collected}, indent=1))
    if options.kind == "published" and options.write:
        from validation.published.page import write_page

        write_page(options.paper, collected, options.small)
    return int(options.kind == "fuzz" and any(values["verdict"] == "deviates" for values in collected))


if __name__ == "__main__":
    sys.exit(main())
