"""Whole public programs, native against replayed on the calibrated machine, beside two null models and with mechanisms switched off."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import homenode as hn
from homenode.errors import UsageError
from homenode.null_models import Observed, Peaks, roofline_seconds, seconds_by_accesses
from validation.native.program_page import ProgramRow, SkippedRow, document, line, page, summary_lines
from validation.native.program_runs import (
    Capture,
    Captured,
    Measured,
    Native,
    Unusable,
    built,
    captured,
    native_run,
    replayed,
    seconds_without,
    start_run,
    summarised,
    told_of,
)
from validation.native.program_start import NoStart, empty_program, libraries
from validation.native.program_table import Case, cases, programs
from validation.result_cache import package_hash
from validation.study import BadOptions, Options, Study

PAGE = Path(__file__).with_name("programs.md")
SAMPLES = 20  # machines, for the interval
FEWEST = 5
SAMPLING_SECONDS = 40.0
ABLATED_SECONDS = 3.0  # of a replay: what takes longer is not replayed again for each mechanism
Row = ProgramRow | SkippedRow


def by_cpu_time(case: Case) -> bool:
    """One thread is compared by processor time, which other work does not lengthen; several by the time that passes."""
    return case.threads == 1 and case.program.threads != "own"


def peaks_of(machine: hn.Machine) -> Peaks:
    """Issue width × clock, and what all controllers together read."""
    values = {one["path"]: one["value"] for one in machine.parameters}
    rate = float(values["core.issue"]) * _number(values["clock"])
    read = [
        _number(value)
        for path, value in values.items()
        if path.startswith("controllers.") and path.endswith("read_only")
    ]
    return Peaks(rate, sum(read))


_UNITS = {
    "Hz": 1.0,
    "kHz": 1e3,
    "MHz": 1e6,
    "GHz": 1e9,
    "B/s": 1.0,
    "kB/s": 1e3,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "TB/s": 1e12,
}


def _number(text: str) -> float:
    value, _, unit = text.partition(" ")
    return float(value) * _UNITS[unit]


def samples_within(seconds: float) -> int:
    """How many sampled machines a replay of so many seconds is worth; 0: too few to say anything."""
    fitting = min(SAMPLES, int(SAMPLING_SECONDS / seconds) if seconds > 0 else SAMPLES)
    return fitting if fitting >= FEWEST else 0


class _Study:
    """The steps: all builds and captures, all native runs in turns, then what needs no quiet machine: traces are read and replayed."""

    def __init__(self, options: Options) -> None:
        if options.machine is None:
            raise BadOptions(
                "--sources without --machine; allowed: --machine FILE, written by homenode machine calibrate"
            )
        if options.sources is None or not options.sources.is_dir():
            raise BadOptions(
                f"no folder '{options.sources}'; allowed: --sources FOLDER, as validation/native/README.md says"
            )
        self.machine, self.sources = options.machine.absolute(), options.sources.absolute()
        self.work, self.repeats = options.folder.absolute() / "programs", options.repeats
        self.peaks = peaks_of(hn.Machine.load(self.machine))
        self.cases = cases(programs(self.sources), options.small)
        self.folders: dict[str, Mapping[str, Path]] = {}
        self.captures: dict[Case, Capture] = {}
        self.traces: dict[Case, Captured] = {}
        self.empty: dict[str, Path] = {}  # by program: the empty one with its libraries
        self.starts: dict[Case, float] = {}
        self.skipped: list[SkippedRow] = []

    def _skip(self, case: Case, why: str) -> None:
        print(f"{case.name}: {why}", file=sys.stderr, flush=True)
        self.skipped.append(
            SkippedRow(case.program.name, case.program.kind, case.program.origin, case.shown, case.threads, why)
        )

    def prepare(self) -> None:
        """Build and capture everything."""
        version = package_hash()
        lost: dict[str, str] = {}  # programs that cannot be built, and why
        for case in self.cases:
            name = case.program.name
            try:
                if name in lost:
                    continue
                if name not in self.folders:
                    try:
                        self._build(case, version)
                    except Unusable as error:
                        lost[name] = str(error)
                        raise
                self.captures[case] = captured(case, self.folders[name]["traced"], self.work / "traces")
            except Unusable as error:
                self._skip(case, str(error))

    def _build(self, case: Case, version: str) -> None:
        """The program, and the empty one with its libraries."""
        folders = built(case.program, self.sources, self.work, version)
        try:
            needed = libraries(folders["native"] / case.program.program)
            empty = empty_program(needed, self.work / case.program.name / "empty")
        except NoStart as error:
            raise Unusable(f"an empty program with its libraries: {error}") from None
        self.folders[case.program.name], self.empty[case.program.name] = folders, empty

    def measure(self) -> dict[Case, Measured]:
        """Native runs in turns: a disturbance of seconds hits one repeat of each case, not all of one. The first round warms up."""
        runs: dict[Case, list[Native]] = {case: [] for case in self.captures}
        starts: dict[Case, list[Native]] = {case: [] for case in self.captures}
        for turn in range(self.repeats + 1):
            for case in list(runs):
                try:
                    once = native_run(case, self.folders[case.program.name]["native"])
                    start = start_run(case, self.empty[case.program.name])
                except Unusable as error:
                    self._skip(case, str(error))
                    del runs[case]
                    continue
                if turn > 0:
                    runs[case].append(once)
                    starts[case].append(start)
        for case, found in starts.items():
            if case in runs:
                self.starts[case] = min(one.cpu_seconds if by_cpu_time(case) else one.elapsed_seconds for one in found)
        return {case: summarised(found, by_cpu_time(case)) for case, found in runs.items()}

    def read_traces(self) -> None:
        """What the traces say of themselves."""
        for case, capture in self.captures.items():
            try:
                self.traces[case] = told_of(case, capture)
            except Unusable as error:
                self._skip(case, str(error))

    def rows(self) -> Iterator[Row]:
        """The cases that can be compared, then those that cannot."""
        self.prepare()
        print("everything is built and captured; native runs want a quiet machine", file=sys.stderr, flush=True)
        everywhere = self.measure()
        print("native runs are done; replays need no quiet machine", file=sys.stderr, flush=True)
        self.read_traces()
        yield from self.compared(everywhere)
        yield from self.skipped

    def compared(self, everywhere: Mapping[Case, Measured]) -> Iterator[ProgramRow]:
        """Rows in order, each by processes of its own, as many at a time as there are CPUs."""
        told = [case for case in everywhere if case in self.traces]
        natives = [everywhere[case] for case in told]
        seen = [
            Observed(case.program.name, self.traces[case].accesses, self._without_start(case, native), case.threads)
            for case, native in zip(told, natives, strict=True)
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            rows = pool.map(self._row_or_why, told, natives, seconds_by_accesses(seen))
            for case, row in zip(told, rows, strict=True):
                if isinstance(row, ProgramRow):
                    yield row
                else:
                    self._skip(case, row)

    def _row_or_why(self, case: Case, native: Measured, by_accesses: float | None) -> ProgramRow | str:
        try:
            return self._row(case, native, by_accesses)
        except Unusable as error:
            return str(error)

    def _without_start(self, case: Case, native: Measured) -> float:
        """Seconds; a tenth of the whole at least, for a disturbed start is longer than it should be."""
        return max(native.seconds - self.starts[case], native.seconds / 10)

    def _row(self, case: Case, native: Measured, by_accesses: float | None) -> ProgramRow:
        trace, start = self.traces[case], self.starts[case]
        run, took = replayed(case, trace, self.machine)
        interval = None
        if samples := samples_within(took):
            sampled, _ = replayed(case, trace, self.machine, [f"--confidence={samples}"])
            interval = sampled["seconds_interval"]
        memory = sum(map(sum, run["traffic_bytes"]))
        without = seconds_without(case, trace, self.machine, self.work) if took < ABLATED_SECONDS else {}
        return ProgramRow(
            program=case.program.name,
            kind=case.program.kind,
            language=case.program.language,
            origin=case.program.origin,
            arguments=case.shown,
            threads=case.threads,
            by="cpu" if by_cpu_time(case) else "elapsed",
            native_seconds=native.seconds,
            spread=native.spread,
            repeats=native.repeats,
            start_seconds=start,
            predicted_seconds=start + run["seconds"],
            low_seconds=start + interval[0] if interval else None,
            high_seconds=start + interval[1] if interval else None,
            bound_by=_bound_by(run),
            by_accesses_seconds=None if by_accesses is None else start + by_accesses,
            roofline_seconds=start + roofline_seconds(trace.instructions, memory, case.threads, self.peaks),
            without={name: start + seconds for name, seconds in without.items()},
            accesses=trace.accesses,
            instructions=trace.instructions,
            unseen_share=trace.unseen_share,
            memory_bytes=memory,
            page_faults=run["page_faults"],
            capture_seconds=trace.seconds,
            trace_bytes=trace.path.stat().st_size,
            replay_seconds=took,
        )


def _bound_by(run: Mapping[str, Any]) -> str:
    found = run["bound_by"]
    return f"{found['resource']} ({found['region']})" if found.get("region") else str(found["resource"])


def _rows(options: Options) -> Iterable[Row]:
    try:
        return _Study(options).rows()
    except KeyError as error:
        raise UsageError(f"'{options.machine}' says nothing of {error}") from None


def _closing(found: Sequence[Row], options: Options) -> str:
    return "\n".join(summary_lines([row for row in found if isinstance(row, ProgramRow)]))


STUDY: Study[Row] = Study(
    "native-programs",
    "whole public programs in `--sources FOLDER` on this machine against its calibrated description; `native --sources` is the same",
    "hours",
    (*ProgramRow.__dataclass_fields__, "ratio", "within_interval"),
    _rows,
    (PAGE,),
    line=line,
    tables=lambda found: page(found, programs(None)),
    closing=_closing,
    document=document,
)
