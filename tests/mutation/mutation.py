#!/usr/bin/env python3
"""Which small wrong changes to the sources do the C++ tests notice? README.md beside this file says how to use it."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from changes import Change, Source, escaped

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("sim", "models", "traces/format")
LONG_JOB = 3.0  # seconds: tests of an executable that takes longer are run suite by suite


@dataclass
class Mutant:
    """A change of one file, and what became of it."""

    file: str
    line: int
    what: str
    start: int
    end: int
    switched: str
    verdict: str = "not tried"
    by: str = ""


@dataclass
class Job:
    """Tests that are run together: all of an executable, or a suite of it."""

    name: str
    command: list[str]
    seconds: float = 0
    reached: set[int] = field(default_factory=set)


def users_of_headers() -> Counter[str]:
    """How many sources include each header, directly or not."""
    tops = ("sim", "models", "traces", "tests")
    paths = [path for top in tops for path in sorted((ROOT / top).rglob("*")) if path.suffix in (".cpp", ".hpp")]
    included = {
        path.relative_to(ROOT).as_posix(): re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        for path in paths
    }
    users: Counter[str] = Counter()
    for file in included:
        seen, found = {file}, list(included[file])
        while found:
            header = found.pop()
            if header not in seen:
                seen.add(header)
                found += included.get(header, [])
        users.update(seen if file.endswith(".cpp") else ())
    return users


def sources(rooms: list[str], most_users: int) -> list[str]:
    """Files that may be changed; of headers those that so few sources include, as all of these are compiled anew."""
    users = users_of_headers()
    files = [path.relative_to(ROOT).as_posix() for room in rooms for path in sorted((ROOT / room).rglob("*.?pp"))]
    return [file for file in files if file.endswith(".cpp") or users[file] <= most_users]


def drawn(files: list[str], seed: int) -> Iterator[Mutant]:
    """Changes in random order: first a line, each as likely, then one of its changes; no two of a file that overlap."""
    lines: dict[tuple[str, int], list[Change]] = {}
    for file in files:
        for change in Source((ROOT / file).read_text()).changes():
            lines.setdefault((file, change.line), []).append(change)
    print(f"{sum(map(len, lines.values()))} changes on {len(lines)} lines of {len(files)} files", flush=True)
    dice = random.Random(seed)
    places = sorted(lines)
    dice.shuffle(places)
    for file, line in places:
        change = dice.choice(lines[file, line])
        yield Mutant(file, line, change.what, change.start, change.end, change.switched)


def overlaps(one: Mutant, other: Mutant) -> bool:
    """Whether their places in the text have a character in common."""
    return one.file == other.file and one.start < other.end and other.start < one.end


def switched_text(file: str, mutants: dict[int, Mutant]) -> str:
    """The file with the switches of these mutants in it."""
    text = (ROOT / file).read_text()
    for number, mutant in sorted(mutants.items(), key=lambda item: -item[1].start):
        text = text[: mutant.start] + mutant.switched.format(number) + text[mutant.end :]
    # What is a constant of the compiler no longer is one.
    for mutant in mutants.values():
        begin = max(text.rfind(end, 0, mutant.start) for end in ";{}") + 1
        if "constexpr" in text[begin : mutant.start]:
            text = text[:begin] + text[begin : mutant.start].replace("constexpr", "const    ", 1) + text[mutant.start :]
    # As a system's header: no warnings.
    return '#pragma GCC system_header\n#include "tests/mutation/mutant.hpp"\n' + text


class Tree:
    """A copy of the sources with the switches, and its build: where the preset `release` has it, with a command for each source."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.build = folder, folder / "build" / "release"
        self.environment = os.environ | {"LC_ALL": "C.UTF-8", "CC": "gcc", "CXX": "g++", "CCACHE_BASEDIR": str(folder)}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command in the tree."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, text=True, capture_output=True, check=False
        )

    def need(self, *command: str) -> str:
        """A command in the tree that must succeed: its output."""
        ended = self.run(*command)
        if ended.returncode != 0:
            sys.exit(f"{shlex.join(command)[:300]} failed:\n{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}")
        return ended.stdout

    def copy(self) -> None:
        """The sources as they are; files that are equal keep their time, so that the build is incremental."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True).stdout
        for file in listed.split():
            if (ROOT / file).is_file():
                self.write(file, (ROOT / file).read_bytes())

    def write(self, file: str, content: bytes) -> None:
        """A file, unless it has this content already."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
            if (ROOT / file).is_file():
                shutil.copymode(ROOT / file, path)

    def configure(self) -> None:
        """The build; what each file is compiled by."""
        self.need(
            "cmake",
            "-S",
            ".",
            "-B",
            "build/release",
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DHOMENODE_BENCHMARKS=OFF",
            "-DHOMENODE_UNITY=OFF",
        )
        entries = json.loads((self.build / "compile_commands.json").read_text())
        self.compile = {Path(entry["file"]).relative_to(self.folder).as_posix(): entry["command"] for entry in entries}

    def compiles(self, mutant: Mutant) -> bool:
        """Whether the switch does."""
        user = (
            mutant.file
            if mutant.file in self.compile
            else next(f for f in self.compile if f.startswith(str(Path(mutant.file).parent)))
        )
        words = shlex.split(self.compile[user])
        checked = self.folder / Path(mutant.file).parent / f"mutation_check{Path(mutant.file).suffix}"
        checked.write_text(switched_text(mutant.file, {0: mutant}))
        at = words.index("-o")
        words = [*words[:at], "-fsyntax-only", "-w", "-x", "c++", str(checked)]
        try:
            return self.run(*words).returncode == 0
        finally:
            checked.unlink()

    def plant(self, mutants: list[Mutant]) -> None:
        """Writes the switches of all."""
        for file in {mutant.file for mutant in mutants}:
            of_file = {number: mutant for number, mutant in enumerate(mutants) if mutant.file == file}
            text = switched_text(file, of_file)
            if file.endswith(".cpp"):  # which is no header
                self.write(file + ".switched.hpp", text.encode())
                text = f'#include "{file}.switched.hpp"\n'
            self.write(file, text.encode())

    def make(self) -> None:
        """Builds the tests."""
        targets = self.need("ninja", "-C", "build/release", "-t", "targets", "all")
        names = re.findall(r"^(test_(?:unit_\w+|contract|scenario)):", targets, re.MULTILINE)
        self.need("ninja", "-C", "build/release", *sorted(set(names)))

    def jobs(self, names: str) -> list[Job]:
        """Runs everything once without a mutant: how long each job takes, and which mutants it reaches."""
        jobs = []
        for path in sorted((self.build / "tests").glob("test_*")):
            if not path.is_file() or not os.access(path, os.X_OK) or names not in path.name:
                continue
            whole = Job(path.name, [str(path)])
            if self.measure(whole, LONG_JOB):
                jobs.append(whole)
                continue
            listed = self.need(str(path), "--gtest_list_tests").splitlines()
            for suite in [line.split()[0] for line in listed if line and not line.startswith((" ", "Running"))]:
                jobs.append(Job(f"{path.name} {suite}*", [str(path), f"--gtest_filter={suite}*"]))
                self.measure(jobs[-1], None)
        return sorted(jobs, key=lambda job: job.seconds)

    def measure(self, job: Job, most: float | None) -> bool:
        """One run without a mutant, which must be green. False: it takes longer than `most` seconds."""
        reached = self.folder / "reached.txt"
        reached.unlink(missing_ok=True)
        environment = self.environment | {"HOMENODE_REACHED": str(reached)}
        began = time.monotonic()
        try:
            ended = subprocess.run(
                job.command, env=environment, capture_output=True, text=True, timeout=most, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        if ended.returncode != 0:
            sys.exit(f"{job.name} fails without any mutant:\n{ended.stdout[-3000:]}")
        job.seconds = time.monotonic() - began
        job.reached = {int(number) for number in reached.read_text().split()} if reached.is_file() else set()
        return True

    def noticed_by(self, number: int, job: Job) -> str:
        """The first test of the job that fails with this mutant; empty if none does."""
        command = [*job.command, "--gtest_fail_fast", "--gtest_brief=1"]
        try:
            environment = self.environment | {"HOMENODE_MUTANT": str(number)}
            ended = subprocess.run(
                command, env=environment, capture_output=True, timeout=20 + 10 * job.seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return "does not end"
        if ended.returncode == 0:
            return ""
        output = ended.stdout.decode(errors="replace")
        failed = [
            line.split("]")[1].split()[0].rstrip(",") for line in output.splitlines() if line.startswith("[  FAILED  ]")
        ]
        return failed[0] if failed else f"ends with {ended.returncode}"

    def try_all(self, mutants: list[Mutant], jobs: list[Job]) -> None:
        """Each mutant against the jobs that reach it, those of its own room first, then the short ones, up to the first failure."""
        for number, mutant in enumerate(mutants):
            own = "test_unit_" + str(Path(mutant.file).parent).replace("/", "_")
            reaching = sorted(
                (job for job in jobs if number in job.reached), key=lambda job: not job.name.startswith(own)
            )
            mutant.verdict, mutant.by = ("survives", "") if reaching else ("not reached", "")
            for job in reaching:
                if noticed := self.noticed_by(number, job):
                    mutant.verdict, mutant.by = "noticed", f"{job.name.split()[0].removeprefix('test_')} {noticed}"
                    break
            print(f"{number} {mutant.file}:{mutant.line} {mutant.what}: {mutant.verdict} {mutant.by}", flush=True)


def chosen(tree: Tree, count: int, seed: int, files: list[str]) -> list[Mutant]:
    """The first so many drawn ones that compile and do not overlap."""
    mutants: list[Mutant] = []
    for mutant in drawn(files, seed):
        if len(mutants) == count:
            break
        if not any(overlaps(mutant, other) for other in mutants) and tree.compiles(mutant):
            mutants.append(mutant)
    return mutants


def named(path: Path) -> list[Mutant]:
    """Changes that somebody chose: a JSON list of {"file", "from", "to"}; the file has "from", an expression or a statement, once."""
    mutants = []
    for entry in json.loads(path.read_text()):
        text, old, new = (ROOT / entry["file"]).read_text(), entry["from"], entry["to"]
        if text.count(old) != 1:
            sys.exit(f"{entry['file']} has {text.count(old)} times: {old}; it must be there once")
        start = text.index(old)
        of_statement = "{{ if (homenode::mutant({})) {{ " + escaped(new) + " }} else {{ " + escaped(old) + " }} }}"
        of_expression = "(homenode::mutant({}) ? (" + escaped(new) + ") : (" + escaped(old) + "))"
        switched = of_statement if old.endswith(";") else of_expression
        line = text.count("\n", 0, start) + 1
        mutants.append(Mutant(entry["file"], line, f"`{old}` → `{new}`", start, start + len(old), switched))
    return mutants


def table(mutants: list[Mutant]) -> str:
    """Verdicts in Markdown."""
    rows = ["| # | where | change | verdict | by |", "|---|---|---|---|---|"]
    for number, mutant in enumerate(mutants):
        what = mutant.what.replace("|", "\\|").replace("→ ``", "→ dropped")
        rows.append(f"| {number} | {mutant.file}:{mutant.line} | {what} | {mutant.verdict} | {mutant.by} |")
    noticed = sum(mutant.verdict == "noticed" for mutant in mutants)
    return "\n".join([*rows, "", f"{noticed} of {len(mutants)} noticed."])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="for the copy and its build; kept, so that the next call is faster")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", help=f"folders to change; default: {' '.join(ROOMS)}")
    parser.add_argument(
        "--users", type=int, default=10, help="change headers, too, that at most so many sources include"
    )
    parser.add_argument("--named", type=Path, help='instead of drawn changes: JSON, [{"file": …, "from": …, "to": …}]')
    parser.add_argument("--tests", default="", help="only executables whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the drawn changes and stop")
    given = parser.parse_args()
    tree = Tree(given.folder.resolve())
    tree.copy()
    tree.configure()
    files = sources(given.room or list(ROOMS), given.users)
    mutants = named(given.named) if given.named else chosen(tree, given.count, given.seed, files)
    if not given.list:
        tree.plant(mutants)
        tree.make()
        jobs = tree.jobs(given.tests)
        print(f"{len(jobs)} jobs, {sum(job.seconds for job in jobs):.0f} s", flush=True)
        tree.try_all(mutants, jobs)
    print(table(mutants))


if __name__ == "__main__":
    main()
