"""`homenode recommend`: the gains are those of replays, the commands do what they say, and a program that is run well is left alone."""

# ruff: noqa: F811  fixtures that are imported
from __future__ import annotations

import dataclasses
import json
import math
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.errors import UsageError
from homenode.host import cpus_of_cores, detected_host
from homenode.recommended_commands import Commands
from homenode.recommending import Choice, Recommendation
from homenode.source_schedules import remarks
from homenode.way_search import WORTH
from homenode.ways import KEEPING_HEAP, PARALLEL_TOUCH, Ways
from recommend_support import CPUS, MACHINE, PROGRAMS, compiled, cpus_of, folder, native, serial, traces  # noqa: F401  fixtures
from support import Ended

Run = Callable[..., Ended]


def line_of(name: str, text: str) -> str:
    """``file:line`` of the line that has this text."""
    lines = (PROGRAMS / f"{name}.c").read_text().splitlines()
    return f"{name}.c:{next(number for number, line in enumerate(lines, start=1) if text in line)}"


def every(found: Recommendation) -> list[Choice]:
    return [found.present, *found.choices, *found.mentioned]


# ---- what is recommended


@pytest.mark.capture
def test_serial_initialisation_is_found(serial: Recommendation) -> None:
    # 1.6 MB on the one node of the first thread, read and written by 32 threads of four nodes
    first = serial.choices[0]
    assert first.gain > 0.9
    assert serial.verdict.startswith(f"Run it with {first.what}")
    site = line_of("serial_init", "serial initialisation")
    assert any(
        "--interleave=all" in one.commands[-1] or site in [change.site for change in one.source]
        for one in serial.choices
    )


@pytest.mark.capture
def test_serial_code_is_told_by_its_busiest_line(tmp_path: Path) -> None:
    # main's own first access, to its arguments, is three lines above the loop that writes
    text = """#include <stdlib.h>
static void fill(double* a, int n) {
  for (int i = 0; i < n; ++i)
    a[i] = i * 0.5;
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  double* a = malloc(n * sizeof *a);
  fill(a, n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] *= 2;
  return a[1] != 1;
}
"""
    (tmp_path / "argument.c").write_text(text)
    trace = hn.capture(command=[compiled(tmp_path / "argument.c", tmp_path), "50000"])
    ways = Ways(trace, hn.Machine.load(MACHINE), {})
    way = dataclasses.replace(ways.present, placement=PARALLEL_TOUCH)
    commands = Commands(ways, ["./argument"])
    change = commands.source(way)[0]
    assert change.site in ("argument.c:3", "argument.c:4")
    assert [remark for remark in commands.remarks if "stays serial in that replay" in remark] == commands.remarks[-1:]
    assert "50,0" in change.what


@pytest.mark.capture
def test_a_program_that_is_run_well_is_left_alone(traces: dict[str, Path], homenode: Run) -> None:
    # Arithmetic alone, equal shares, each thread on a core of its own.
    found = hn.recommend(traces["compute"], MACHINE, samples=4, mapping="compact")
    assert found.choices == []
    assert found.mentioned == []
    assert found.best_gain < WORTH
    told = f"gains more than {100 * (found.best_gain - 1):.1f} %" if found.best_gain >= 1.0005 else "is faster"
    assert found.verdict == f"Run it as it is: nothing tried {told}."
    done = homenode("recommend", traces["compute"], "--machine", MACHINE, "--samples", 4, "--mapping", "compact")
    assert done.stdout.startswith(found.verdict)


@pytest.mark.capture
def test_what_is_recommended_gains_for_certain(serial: Recommendation) -> None:
    for one in serial.choices:
        assert one.gain >= WORTH
        assert 1 < one.gain_low <= one.gain <= one.gain_high
        assert one.seconds == pytest.approx(serial.present.seconds / one.gain)
    for one in serial.mentioned:
        assert one.gain_low <= 1
    assert [one.seconds for one in serial.choices] == sorted(one.seconds for one in serial.choices)
    assert serial.best_gain >= serial.choices[0].gain


@pytest.mark.capture
def test_memory_that_is_freed_at_the_end_is_no_reason_for_another_heap(
    traces: dict[str, Path], serial: Recommendation
) -> None:
    # The process gives it back when it ends; a heap that is used again and again is another matter.
    assert all(one.options["heap"] == "auto" for one in every(serial))
    churn = hn.recommend(traces["churn"], MACHINE, samples=4)
    assert any(one.options["heap"] == KEEPING_HEAP for one in churn.choices)
    assert any("GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432" in one.commands[-1] for one in churn.choices)


@pytest.mark.capture
def test_the_present_way_has_the_schedules_of_the_source(traces: dict[str, Path]) -> None:
    ways = Ways(hn.Trace.open(traces["schedules"]), hn.Machine.load(MACHINE), {})
    expected = ["static", "static:3", "dynamic:1", "dynamic:4", "guided:1", "static", "dynamic:1"]
    assert [schedule for _, schedule in ways.present.schedules] == expected
    assert any("chunk 'argc' of 'main#4'" in remark for remark in ways.remarks)
    assert any("The schedule of 'main#6' is runtime" in remark for remark in ways.remarks)

    def told(distribution: str) -> str:
        trace, machine = hn.Trace.open(traces["schedules"]), hn.Machine.load(MACHINE)
        return Ways(trace, machine, {"distribution": distribution}).present.distribution

    assert told("main#1@guided") == "main#1@guided"
    assert told("program") == ways.present.distribution
    assert told("program main#2@static") == ways.present.distribution.replace("main#2@dynamic:1 ", "")


@pytest.mark.capture
def test_schedules_of_the_source_that_no_run_has_are_told(traces: dict[str, Path]) -> None:
    trace = hn.Trace.open(traces["schedules"])

    def told(*distributions: str) -> list[str]:
        return list(remarks(trace, hn.grid(MACHINE, 4, distribution=list(distributions))))

    words = "main#1@static:3 main#2@dynamic:1 main#3@dynamic:4 main#4@guided:1 main#6@dynamic:1"
    assert told("static") == [
        "The source has other schedules than these runs: static,3 in 'main#1', dynamic in 'main#2', dynamic,4 in 'main#3', "
        "guided,argc in 'main#4', runtime in 'main#6'. --distribution program replays them."
    ]
    assert told(words) == told("static", words) == []
    # `dynamic` is dynamic:1; each loop is looked for by itself, in any of the runs
    assert told("dynamic", "main#1@static:3 main#3@dynamic:4 main#4@guided:1") == []
    # what the source leaves open
    open_ones = [
        "The chunk 'argc' of 'main#4' is no number that the trace knows; taken as 1.",
        "The schedule of 'main#6' is runtime: dynamic,1 is taken, as libgomp does where OMP_SCHEDULE is not set.",
    ]
    assert told("program") == open_ones
    assert told("program main#2@static") == [
        "The source has other schedules than these runs: dynamic in 'main#2'. --distribution program replays them.",
        *open_ones,
    ]
    assert "--distribution 'main#2@static program' replays them." in told("main#2@static")[0]


@pytest.mark.capture
def test_replays_have_the_schedules_of_the_source_unless_others_are_asked_for(
    traces: dict[str, Path], homenode: Run
) -> None:
    trace = hn.Trace.open(traces["schedules"])
    by_region = "main#1@static:3 main#2@dynamic:1 main#3@dynamic:4 main#4@guided:1 main#6@dynamic:1"
    told = hn.replay(trace, MACHINE, threads=4, distribution=by_region)
    written = hn.replay(trace, MACHINE, threads=4)
    assert written.run["distribution"] == "program"
    assert written.seconds == told.seconds
    assert written.regions.seconds.tolist() == told.regions.seconds.tolist()
    assert hn.replay(trace, MACHINE, threads=4, distribution="static").seconds != written.seconds
    command = ("replay", traces["schedules"], "--machine", MACHINE, "--threads", "4", "--no-confidence", "--json")
    assert [
        json.loads(homenode(*command, *more).stdout)["runs"][0]["seconds"]
        for more in ((), ("--distribution", "static"))
    ] == [
        written.seconds,
        hn.replay(trace, MACHINE, threads=4, distribution="static").seconds,
    ]
    # the command that repeats a run says what the trace would not
    specs = [hn.RunSpec(MACHINE, threads=4, distribution=one) for one in ("program", "static")]
    assert ["--distribution static" in spec.command(trace) for spec in specs] == [False, True]
    assert (
        hn.estimate(trace, MACHINE, threads=4).seconds
        == hn.estimate(trace, specs[0].machine, **specs[0].options(("threads", "distribution"))).seconds
    )
    # what a study replays, too; a program without such clauses is static
    assert hn.Study(trace, MACHINE, threads=4).run(store=False).frame["seconds"].tolist() == [written.seconds]
    assert hn.replay(traces["serial_init"], MACHINE, threads=4).run["distribution"] == "static"


@pytest.mark.capture
def test_a_runtime_schedule_is_a_command_and_another_one_a_line(traces: dict[str, Path]) -> None:
    ways = Ways(hn.Trace.open(traces["schedules"]), hn.Machine.load(MACHINE), {})
    commands = Commands(ways, ["./schedules"])
    moved = dict.fromkeys(("main#1", "main#6"), "guided")
    schedules = tuple((label, moved.get(label, schedule)) for label, schedule in ways.present.schedules)
    way = dataclasses.replace(ways.present, schedules=schedules)
    assert commands.environment(way)["OMP_SCHEDULE"] == "guided"
    assert commands.environment(ways.present)["OMP_SCHEDULE"] == "dynamic,1"
    changes = commands.source(way)
    assert [(one.what, one.change) for one in changes] == [("main#1", "schedule(guided)")]
    assert changes[0].site == line_of("schedules", "schedule(static, 3)")


# ---- gains are those of replays, of what the commands say


def options_of(commands: Sequence[str]) -> dict[str, Any]:
    """The options of `hn.replay` that lines for a shell say, on a machine whose CPUs are numbered as its cores."""
    *kernel, line = commands
    words = shlex.split(line)
    found: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name == "OMP_NUM_THREADS":
            found["threads"] = int(value)
        elif name == "OMP_PLACES":
            found["mapping"] = "cores:" + ":".join(map(str, cpus_of(value)))
        elif name == "OMP_SCHEDULE":
            found["distribution"] = value.replace(",", ":")
        elif word == "--interleave=all":
            found["placement"] = "interleave"
        elif name == "LD_PRELOAD":
            found["heap"] = "tcmalloc"
        elif name == "GLIBC_TUNABLES":
            found["heap"] = KEEPING_HEAP
    for setting in kernel:
        if "transparent_hugepage" in setting:
            found["pages"] = {"always": "thp", "never": "4KiB"}[setting.split()[1]]
        else:
            found["placement"] = {"0": "first-touch", "1": "first-touch+autonuma"}[setting[-1]]
    return found


@pytest.mark.capture
@pytest.mark.parametrize("name", ["serial_init", "churn", "schedules"])
def test_gains_are_ratios_of_replays_of_the_commands(traces: dict[str, Path], name: str) -> None:
    found = hn.recommend(traces[name], MACHINE, samples=2, placement="first-touch")
    present = found.present.options
    before = hn.replay(traces[name], MACHINE, **present).seconds
    assert before == found.present.seconds
    assert found.choices
    for one in every(found):
        seconds = hn.replay(traces[name], MACHINE, **one.options).seconds
        assert one.gain == before / seconds
        if not one.source:
            told = {key: value for key, value in options_of(one.commands).items() if key != "distribution"}
            assert hn.replay(traces[name], MACHINE, **{**present, **told}).seconds == pytest.approx(
                seconds, rel=1e-12
            ) or (one.options["distribution"] != present["distribution"])


@pytest.mark.capture
def test_the_intervals_are_those_of_the_same_sampled_machines(traces: dict[str, Path], serial: Recommendation) -> None:
    # P is the share of machines on which the choice wins: what hn.rank says of the two
    machine = hn.Machine.load(MACHINE)
    one = next(one for one in serial.choices if one.options["threads"] == serial.present.options["threads"])
    specs = [hn.RunSpec(machine, **options) for options in (serial.present.options, one.options)]
    pair = hn.rank(traces["serial_init"], specs, samples=4).pairs.iloc[0]
    assert one.probability == (pair["probability"] if pair["faster"] == 1 else 1 - pair["probability"])


@pytest.mark.capture
def test_the_number_of_workers_changes_nothing(traces: dict[str, Path], serial: Recommendation) -> None:
    assert hn.recommend(traces["serial_init"], MACHINE, samples=4, workers=3).to_json() == serial.to_json()


@pytest.mark.capture
def test_the_search_is_bounded(traces: dict[str, Path], serial: Recommendation) -> None:
    assert serial.replays["search"] <= serial.replays["search_limit"] == 200
    for limit in (1, 4, 12):
        found = hn.recommend(traces["serial_init"], MACHINE, samples=2, replays=limit)
        assert found.replays["search"] <= limit
        assert any("before it was done" in remark for remark in found.remarks)
    short = hn.recommend(traces["serial_init"], MACHINE, samples=2, choices=1)
    assert len(short.choices) + len(short.mentioned) == 1
    assert short.choices[0].options == serial.choices[0].options


# ---- commands


@pytest.mark.capture
def test_a_shell_takes_every_command(traces: dict[str, Path]) -> None:
    for name, file in traces.items():
        for one in every(hn.recommend(file, MACHINE, samples=2)):
            for line in one.commands:
                done = subprocess.run(["sh", "-n", "-c", line], capture_output=True, text=True, check=False)
                assert (done.returncode, done.stderr) == (0, ""), name


@pytest.mark.capture
def test_created_threads_are_held_to_cpus_from_outside(traces: dict[str, Path]) -> None:
    ways = Ways(hn.Trace.open(traces["threads_mix"]), hn.Machine.load(MACHINE), {})
    commands = Commands(ways, ["./threads_mix"])
    compact = dataclasses.replace(ways.present, mapping="compact")  # main and seven more
    assert commands.lines(compact) == ["taskset -c 0-7 ./threads_mix"]
    assert commands.source(compact) == []
    # which thread goes where is the program's to say
    tree = dataclasses.replace(ways.present, mapping="treematch")
    assert commands.lines(tree) == ["./threads_mix"]
    assert "homenode_bind(k, handle) behind the k-th pthread_create" in commands.source(tree)[0].change


@pytest.mark.capture
def test_settings_of_the_kernel(traces: dict[str, Path]) -> None:
    ways = Ways(hn.Trace.open(traces["serial_init"]), hn.Machine.load(MACHINE), {})
    commands = Commands(ways, ["./serial_init"])
    balanced = dataclasses.replace(ways.present, balancing="autonuma")
    assert commands.lines(balanced) == ["sudo sysctl kernel.numa_balancing=1", "OMP_NUM_THREADS=32 ./serial_init"]
    assert ways.spec(balanced).placement == "first-touch+autonuma"
    # the kernel leaves pages under a policy alone
    both = dataclasses.replace(balanced, placement="interleave")
    assert commands.lines(both) == ["OMP_NUM_THREADS=32 numactl --interleave=all ./serial_init"]
    assert ways.spec(both).placement == "interleave"
    balancing = Ways(ways.trace, ways.machine, {"placement": "first-touch+autonuma"})
    off = dataclasses.replace(balancing.present, balancing="")
    assert Commands(balancing, ["./a"]).settings(off) == ["sudo sysctl kernel.numa_balancing=0"]


@pytest.mark.capture
@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_threads_run_where_the_commands_put_them(traces: dict[str, Path], tmp_path: Path) -> None:
    host = detected_host()
    cpus = cpus_of_cores(host.cores)
    if cpus is None or host.cores < 2:
        pytest.skip("a host whose cores the kernel numbers otherwise")
    words = [str(native("affinity", tmp_path, "-fopenmp"))]
    options = {"mapping": "compact", "threads": 2}
    found = hn.recommend(traces["serial_init"], host, words=words, samples=2, replays=1, **options)
    assert "OMP_PLACES=" in found.present.commands[-1]
    done = subprocess.run(["sh", "-c", found.present.commands[-1]], capture_output=True, text=True, check=True)
    assert done.stdout == f"{cpus[0]} \n{cpus[1]} \n"


@pytest.mark.capture
def test_a_serial_program_runs_where_taskset_puts_it(tmp_path: Path) -> None:
    host = detected_host()
    cpus = cpus_of_cores(host.cores) or list(range(host.cores))
    if cpus[0] not in CPUS:
        pytest.skip("a CPU that this process may not use")
    (tmp_path / "serial.c").write_text(
        "int a[1 << 16];\nint main(void) { for (int i = 0; i < 1 << 16; ++i) a[i] = i; return 0; }\n"
    )
    trace = hn.capture(command=[compiled(tmp_path / "serial.c", tmp_path)])
    words = [str(native("affinity", tmp_path))]  # without OpenMP: the loop is run by one thread
    found = hn.recommend(trace, host, words=words, samples=2, replays=1, mapping="compact")
    assert found.present.commands == [f"taskset -c {cpus[0]} {words[0]}"]
    done = subprocess.run(["sh", "-c", found.present.commands[-1]], capture_output=True, text=True, check=True)
    assert done.stdout == f"{cpus[0]} \n" * 2


# ---- the command


@pytest.mark.capture
def test_the_command_captures_and_prints_lines_to_paste(
    folder: Path, traces: dict[str, Path], homenode: Run, tmp_path: Path
) -> None:
    words = [
        "--machine",
        MACHINE,
        "--samples",
        4,
        "--trace",
        "kept.hnt",
        "-o",
        "found.json",
        "--",
        folder / "serial_init",
    ]
    done = homenode("recommend", *words)
    assert done.status == 0, done.stderr
    document = json.loads((tmp_path / "found.json").read_text())
    assert document["schema"] == "homenode.recommendation/1"
    assert done.stdout.startswith(document["verdict"] + "\n")
    assert document["verdict"].startswith("Run it with ")
    for one in document["choices"]:
        for line in one["commands"]:
            assert f"\n   {line}\n" in done.stdout
        for change in one["source"]:
            assert f"{change['site']}: {change['what']}: {change['change']}\n" in done.stdout
    assert hn.Trace.open(tmp_path / "kept.hnt").complete
    # the trace that was kept gives the same
    again = homenode("recommend", "kept.hnt", *words[:4], "--json", "--", folder / "serial_init")
    assert json.loads(again.stdout)["choices"] == document["choices"]


@pytest.mark.capture
def test_an_imported_trace_is_recommended_for_as_far_as_it_tells(tmp_path: Path, homenode: Run) -> None:
    rows = [f"{thread},write,{0x100000 + 4096 * (4 * page + thread):#x},8" for page in range(8) for thread in range(4)]
    (tmp_path / "accesses.csv").write_text("thread,kind,address,size\n" + "\n".join(rows) + "\n")
    assert homenode("import", "csv", "accesses.csv", "-o", "accesses.hnt").status == 0
    done = homenode("recommend", "accesses.hnt", "--machine", MACHINE, "--samples", 2)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("Run it ")


@pytest.mark.capture
def test_the_table_has_a_row_for_each_choice(serial: Recommendation) -> None:
    table = serial.table
    assert len(table) == len(serial.choices) + len(serial.mentioned)
    assert table["command"].tolist()[0] == serial.commands()[-1]
    assert table["recommended"].tolist() == [True] * len(serial.choices) + [False] * len(serial.mentioned)
    with pytest.raises(IndexError):
        serial.commands(len(serial.choices))
    assert not any(math.isnan(value) for value in table["gain"])


def refused(ended: Ended, text: str) -> None:
    assert (ended.status, ended.stdout) == (2, ""), ended
    assert text in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_wrong_usage_is_one_line(trace_file: Path, homenode: Run, tmp_path: Path) -> None:
    here: Mapping[str, Any] = {"machine": ("--machine", MACHINE)}
    machine = here["machine"]
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    refused(homenode("recommend"), "nothing to recommend for; allowed: a trace (F.hnt), a kernel")
    refused(homenode("recommend", "--"), "nothing to recommend for")
    refused(homenode("recommend", "strem"), "unknown kernel 'strem'")
    refused(homenode("recommend", "absent.hnt"), "no trace 'absent.hnt'")
    refused(homenode("recommend", "a.c"), "Compile it for tracing")
    refused(
        homenode("recommend", shutil.which("true") or "/bin/true"),
        "a program comes after '--'. Did you mean: homenode recommend -- ",
    )
    refused(homenode("recommend", "stream", "--", "./a"), "both a kernel ('stream') and a program")
    refused(homenode("recommend", trace_file, "--set", "n=1"), "--set without a kernel")
    refused(homenode("recommend", "stream", "--set", "m=1"), "unknown parameter of kernel 'stream' 'm'")
    refused(
        homenode("recommend", trace_file, "--trace", "x.hnt"),
        "which is a trace; allowed: --trace where a program is captured",
    )
    refused(homenode("recommend", "--", "./absent"), "no program './absent' that can be run")
    refused(homenode("recommend", trace_file, *machine, "--threads", 33), "33 threads on the 32 cores")
    refused(
        homenode("recommend", trace_file, *machine, "--placement", "interleaved"), "unknown placement 'interleaved'"
    )
    refused(
        homenode("recommend", trace_file, *machine, "--placement", "optimal"), "is a bound, no way to run a program"
    )
    refused(homenode("recommend", trace_file, *machine, "--placement", "interleave+autonuma"), "allowed: 'interleave'")
    refused(homenode("recommend", trace_file, *machine, "--pages", "8KiB"), "unknown page size '8KiB'")
    refused(homenode("recommend", trace_file, "--machine", "xeon"), "unknown machine 'xeon'")
    refused(homenode("recommend", trace_file, *machine, "--native", "./absent"), "--native './absent': no program")
    refused(homenode("recommend", trace_file, *machine, "-o", trace_file), "is there and no report")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c"]


def test_wrong_arguments_are_refused(trace_file: Path) -> None:
    with pytest.raises(UsageError, match="argument 'samples' is 1; allowed"):
        hn.recommend(trace_file, MACHINE, samples=1)
    with pytest.raises(UsageError, match="argument 'replays' is 0; allowed"):
        hn.recommend(trace_file, MACHINE, replays=0)
    with pytest.raises(TypeError, match="unknown option 'engine'"):
        hn.recommend(trace_file, MACHINE, engine="line")
    with pytest.raises(UsageError, match="unknown kind of change 'loops'"):
        hn.program_changes(trace_file, MACHINE, threads=8, kinds=["loops"])
