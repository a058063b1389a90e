"""Known facts of the machines of today against the model: `python -m validation machines`.

Each row says where its number is printed, and by what somebody without a simulator would answer (the null model). A number that the
description was fitted to, or that stands in it, is no evidence: such rows say so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import homenode as hn
from validation.published.claims.rule import Answer, Expected, verdict
from validation.replay import replayed_all
from validation.rows import AnyRow, Class
from validation.study import Options, Study
from validation.traces import enlarged

PAGE = Path(__file__).with_name("todays_machines.md")
COMMAND = "python -m validation machines --write"
# Two vectors or three that are beyond all caches of every machine but by what stays of the first sweep; twice, for the second of two
# sweeps is counted.
ELEMENTS, SMALL_ELEMENTS = 1 << 28, 1 << 25
CAPTURED = (100_000, 200_000, 300_000, 400_000)
# What is printed ran vector code; the traced kernel has a scalar loop, four to eight times as many instructions.
VECTORS = {"core_time": "x0.2"}
NOISE = 0.02
_DOUBLE = 8
Stores = Literal["regular", "nt"]
# Bytes an element by region and treatment of stores, as memory moves them: a regular store fetches its line first.
_MOVED = {("copy", "nt"): 2, ("copy", "regular"): 3, ("triad", "nt"): 3, ("triad", "regular"): 4}
MOST_CXL_WEIGHT = 12
# Of four controllers of xeon-8480-2s-cxl, GB/s: 4 / (2 / 3 / 61.4 + 1 / 3 / 48.83), with writes alone 48.83 = 1 / (2 / 54.4 - 1 / 61.4).
DRAM_AT_TWO_TO_ONE = 226.2


@dataclass(frozen=True)
class Row(AnyRow):
    """One fact. `error`: model over printed, less one."""

    machine: str
    what: str
    cls: Class
    printed: float
    model: float
    error: float
    verdict: str
    null: float
    null_model: str
    null_verdict: str
    unit: str
    source: str
    command: str


@dataclass(frozen=True)
class _Fact:
    machine: str
    what: str
    cls: Class
    printed: float
    unit: str
    source: str
    null: float
    null_model: str


def _judged(fact: _Fact, model: float, command: str) -> Row:
    expected = Expected("value", fact.printed, NOISE)
    return Row(
        fact.machine,
        fact.what,
        fact.cls,
        fact.printed,
        model,
        model / fact.printed - 1,
        verdict(expected, Answer(model, model)),
        fact.null,
        fact.null_model,
        verdict(expected, Answer(fact.null, fact.null)),
        fact.unit,
        fact.source,
        command,
    )


class _Stream:
    """STREAM on a machine, in GB/s that memory moves."""

    def __init__(self, options: Options) -> None:
        self._elements = SMALL_ELEMENTS if options.small else ELEMENTS
        few, many = (
            enlarged(options.folder, "stream", {"repeats": repeats, "check": 0}, "n", CAPTURED, self._elements)
            for repeats in (1, 2)
        )
        self._traces = (few, many)

    def rates(
        self, machine: hn.Machine, region: str, runs: Mapping[str, Mapping[str, Any]], stores: Stores = "nt"
    ) -> dict[str, tuple[float, str]]:
        """By run: the second sweep, and the command that repeats it."""
        fast = machine.with_changes(VECTORS)
        specs = {
            name: hn.RunSpec(fast, stores=stores, mapping="compact", heap="plain", **settings)
            for name, settings in runs.items()
        }
        once, twice = (replayed_all(trace, specs) for trace in self._traces)
        moved = _MOVED[region, stores] * _DOUBLE * self._elements
        return {
            name: (
                moved / (twice[name].regions[region].seconds - once[name].regions[region].seconds) / 1e9,
                twice[name].command,
            )
            for name in specs
        }


# ---- reads and writes together: what of the two ends the law between them makes


def _mixes(stream: _Stream) -> Iterator[Row]:
    arm = "Arm learning path memory-subsystem (ASCT)"
    machine = hn.Machine.load("graviton2")
    of_two: tuple[tuple[Stores, str, float], ...] = (("nt", "2:1", 157.3), ("regular", "3:1", 160.9))
    for stores, share, printed in of_two:
        found = stream.rates(machine, "triad", {"": {"threads": 64}}, stores)[""]
        fact = _Fact(
            "graviton2", f"reads and writes {share}, all cores", "predicted", printed, "GB/s", arm, 169.6, "reads alone"
        )
        yield _judged(fact, *found)
    expanders = "intel/CacheLib wiki, OCP demo configuration, three times one expander"
    machine = hn.Machine.load("xeon-8480-2s-cxl")
    run = {"": {"threads": 56, "placement": "bind:2"}}
    facts: tuple[tuple[str, Stores, str, float, Class], ...] = (
        ("copy", "nt", "1:1", 81.6, "fitted"),
        ("triad", "nt", "2:1", 75.3, "predicted"),
        ("triad", "regular", "3:1", 70.8, "predicted"),
    )
    for region, stores, share, printed, cls in facts:
        found = stream.rates(machine, region, run, stores)[""]
        what = f"three CXL expanders, reads and writes {share}"
        yield _judged(_Fact("xeon-8480-2s-cxl", what, cls, printed, "GB/s", expanders, 53.4, "reads alone"), *found)


# ---- how bandwidth grows with cores, sockets and kinds of memory


def _scaling(stream: _Stream) -> Iterator[Row]:
    kerncraft = "kerncraft, A64FX_qpace4.yml (likwid-bench copy), x 24 / 16"
    machine = hn.Machine.load("a64fx")
    printed = {1: 39.01, 2: 79.62, 4: 126.06, 6: 135.98, 12: 137.38}
    runs = {str(cores): {"threads": cores, "placement": "first-touch"} for cores in printed}
    found = stream.rates(machine, "copy", runs, "regular")
    for cores, value in printed.items():
        cls: Class = "fitted" if cores == 12 else "predicted"
        what = f"copy by {cores} core{'s' if cores > 1 else ''} of a node, real bytes"
        null = cores * printed[1] * 1.5
        yield _judged(
            _Fact("a64fx", what, cls, value * 1.5, "GB/s", kerncraft, null, "as many times one core"),
            *found[str(cores)],
        )
    grace = hn.Machine.load("grace-2s")
    found = stream.rates(grace, "triad", {"1": {"threads": 72}, "2": {"threads": 144}})
    guide = "NVIDIA Grace CPU benchmarking guide, STREAM"
    yield _judged(
        _Fact("grace-2s", "triad of two sockets", "fitted", 903.7, "GB/s", guide, 1024.0, "the memory's peak"),
        *found["2"],
    )
    ratio = found["2"][0] / found["1"][0]
    yield _judged(
        _Fact("grace-2s", "triad of two sockets over one (450+, 900+)", "identity", 2.0, "", guide, 2.0, "two"),
        ratio,
        found["2"][1],
    )
    azure = "Microsoft Azure HPC documentation, STREAM, the middle of its range"
    for name, printed_rate, peak in (("epyc-7763-2s-nps1", 340.0, 409.6), ("epyc-9654-2s", 715.0, 921.6)):
        machine = hn.Machine.load(name)
        rate = stream.rates(machine, "triad", {"": {"threads": machine.cores}})[""]
        yield _judged(
            _Fact(name, "triad of two sockets", "fitted", printed_rate, "GB/s", azure, peak, "the memory's peak"), *rate
        )
    mccalpin = "J. D. McCalpin, Bandwidth Limits in the Intel Xeon Max Processors, 2023"
    machine = hn.Machine.load("xeon-max-9480-2s-flat")
    runs = {kind: {"threads": 56, "placement": f"bind:{node}"} for kind, node in (("DDR5", 0), ("HBM", 2))}
    found = stream.rates(machine, "triad", runs)
    yield _judged(
        _Fact(
            machine.name,
            "triad in HBM over triad in DDR5",
            "predicted",
            3.5,
            "",
            mccalpin,
            1638.4 / 307.2,
            "the ratio of the peaks",
        ),
        found["HBM"][0] / found["DDR5"][0],
        found["HBM"][1],
    )


def _behind_the_caches(stream: _Stream) -> Iterator[Row]:
    """HBM as a memory-side cache. Three vectors are 6 GiB: its size goes in proportion to those that were measured, the caches do not."""
    bench = "struggling-student/hw-bench, Xeon Max 9480, one socket, arrays of so many GiB, medians of one user"
    flat = hn.Machine.load("xeon-max-9480-2s-flat")
    alone = stream.rates(
        flat, "triad", {kind: {"threads": 56, "placement": f"bind:{node}"} for kind, node in (("DDR5", 0), ("HBM", 2))}
    )
    printed = {"DDR5": 235.5, "HBM": 559.6}
    facts = (
        (16, "24 GiB", "HBM", 529.7),
        (64, "6 GiB", "HBM", 275.9),
        (96, "4 GiB", "DDR5", 185.8),
        (128, "3 GiB", "DDR5", 144.6),
    )
    for size, held, against, rate in facts:
        machine = hn.Machine.load("xeon-max-9480-2s-cache").with_changes({"nodes.memory_side_cache": held})
        found = stream.rates(machine, "triad", {"": {"threads": 56, "placement": "bind:0"}})[""]
        what = f"triad over {size} of 64 GiB of HBM as a cache, over triad in flat {against}"
        fact = _Fact(
            machine.name, what, "predicted", rate / printed[against], "", bench, 1.0, f"as fast as flat {against}"
        )
        yield _judged(fact, found[0] / alone[against][0], found[1])


def _chiplets(stream: _Stream) -> Iterator[Row]:
    dramhit = (
        "mars-research/DRAMHiT, local_interleave_analysis, EPYC 9354P: four cores of a chiplet, at its fabric port"
    )
    machine = hn.Machine.load("epyc-9654-2s")
    found = stream.rates(machine, "triad", {"": {"threads": 8}})[""]
    fact = _Fact(
        machine.name,
        "reads of triad by the eight cores of one chiplet",
        "predicted",
        49.9,
        "GB/s",
        dramhit,
        414.0,
        "its socket's",
    )
    yield _judged(fact, found[0] * 2 / 3, found[1])  # two of three lines are reads


# ---- where data lie


def _nodes_of_a_socket() -> Iterator[Row]:
    mlc = "gjbex/Code-optimization, sapphirerapids_mlc.txt (2 x Xeon 8468, SNC4)"
    machine = hn.Machine.load("xeon-8480-2s-snc4")
    rates = [[rate / 1e9 for rate in row] for row in machine.topology["bandwidth_bytes_per_s"]]
    command = f"homenode machines {machine.name}"
    facts: Sequence[tuple[str, Class, float, float, float, str]] = (
        ("reads of a node's own memory", "fitted", 61.4, rates[0][0], 76.8, "the memory's peak"),
        ("reads of another node of the socket", "predicted", 60.55, rates[0][1], 61.4, "as of its own"),
        ("reads of a node of the other socket", "predicted", 56.3, rates[0][4], 61.4, "as of its own"),
        ("reads of all nodes by their own cores", "identity", 492.0, 8 * rates[0][0], 614.4, "the memory's peak"),
    )
    for what, cls, printed, model, null, null_model in facts:
        yield _judged(_Fact(machine.name, what, cls, printed, "GB/s", mlc, null, null_model), model, command)
    anandtech = "AnandTech 14694, page 7 (EPYC 7742)"
    one, four = (hn.Machine.load(f"epyc-7763-2s-nps{nodes}") for nodes in (1, 4))
    yield _judged(
        _Fact(
            four.name, "latency of NPS1 over that of NPS4's own node", "identity", 122 / 113, "", anandtech, 1.0, "one"
        ),
        float(one.latency_ns[0, 0] / four.latency_ns[0, 0]),
        f"homenode machine compare {one.name} {four.name}",
    )


def _between_cores() -> Iterator[Row]:
    cores = "nviennot/core-to-core-latency, README (2 x EPYC 7R13)"
    machine = hn.Machine.load("epyc-7763-2s-nps1")
    told = {
        one["path"]: float(one["value"].removesuffix(" ns"))
        for one in machine.parameters
        if "core_to_core" in one["path"]
    }
    for what, path, printed in (
        ("a line from a core of the same last level", "shared_cache", 23.0),
        ("a line from another last level of the socket", "local", 107.0),
        ("a line from the other socket", "remote", 197.0),
    ):
        fact = _Fact(machine.name, what, "identity", printed, "ns", cores, 107.0, "one figure for all pairs")
        yield _judged(fact, told[f"coherence.core_to_core_{path}"], f"homenode machines {machine.name}")


# ---- DRAM and CXL together


def _placement_of(weight: int) -> str:
    """Of so many pages on the socket's DRAM, then one on its CXL memory; weight 0: DRAM alone."""
    name = f"dram-and-cxl-{weight}"

    @hn.page_placement(name)
    def place(faults: Any) -> Any:
        if weight == 0:
            return faults.page * 0
        return ((faults.page % (weight + 1)) == weight) * 2

    return name


def _interleaving(stream: _Stream) -> Iterator[Row]:
    linux = "Linux, commit fa3bea4e1f82: weights in proportion to bandwidth"
    machine = hn.Machine.load("xeon-8480-2s-cxl")
    runs = {str(weight): {"threads": 56, "placement": _placement_of(weight)} for weight in range(MOST_CXL_WEIGHT + 1)}
    found = stream.rates(machine, "triad", runs)
    best = max((weight for weight in range(1, MOST_CXL_WEIGHT + 1)), key=lambda weight: found[str(weight)][0])
    dram, cxl = DRAM_AT_TWO_TO_ONE, 75.3  # both at two reads and a write
    yield _judged(
        _Fact(
            machine.name,
            "pages of DRAM to one of CXL that make triad fastest",
            "identity",
            dram / cxl,
            "",
            linux,
            1.0,
            "plain interleaving",
        ),
        float(best),
        found[str(best)][1],
    )
    yield _judged(
        _Fact(
            machine.name,
            "triad with the best weights over DRAM alone",
            "identity",
            1 + cxl / dram,
            "",
            linux + ", both at their own pace",
            1.0,
            "no gain",
        ),
        found[str(best)][0] / found["0"][0],
        found[str(best)][1],
    )


def rows(options: Options) -> Iterator[Row]:
    """All facts; the small form has those that need no replay of long vectors."""
    yield from _nodes_of_a_socket()
    yield from _between_cores()
    stream = _Stream(options)
    yield from _mixes(stream)
    if options.small:
        return
    yield from _scaling(stream)
    yield from _chiplets(stream)
    yield from _behind_the_caches(stream)
    yield from _interleaving(stream)


def _summary(found: Sequence[Row]) -> str:
    predicted = [row for row in found if row.cls == "predicted"]
    passed = [row for row in predicted if row.verdict == "reproduced"]
    beaten = [
        row
        for row in passed
        if row.null_verdict != "reproduced" or abs(row.null / row.printed - 1) >= 2 * abs(row.error)
    ]
    return (
        f"{len(found)} rows, {len(predicted)} of them predicted: {len(passed)} within a factor of 1.25 (decision 0032), "
        f"{len(beaten)} of which beat their null models."
    )


def page(found: Sequence[Row]) -> str:
    """The page down to its notes."""
    lines = [
        "# Machines of today",
        "",
        f"Written by `{COMMAND}`, down to the notes. Known facts of",
        "the machines in `models/machines`, each with its source, against the model and a null model.",
        "Classes as in [README.md](README.md): only *predicted* rows are evidence.",
        "",
        _summary(found),
        "",
        "| machine | what | class | printed | model | error | verdict | null model | source |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        unit = f" {row.unit}" if row.unit else ""
        lines.append(
            f"| {row.machine} | {row.what} | {row.cls} | {row.printed:.4g}{unit} | {row.model:.4g}{unit} | {row.error:+.0%} | "
            f"{row.verdict} | {row.null:.4g}{unit}: {row.null_model} ({row.null_verdict}) | {row.source} |"
        )
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    unit = f" {row.unit}" if row.unit else ""
    return (
        f"{row.machine}  {row.what}  printed {row.printed:.4g}{unit}  model {row.model:.4g}{unit}  {row.error:+.1%}  "
        f"{row.verdict}  {row.cls}  (null {row.null:.4g}: {row.null_verdict})"
    )


STUDY = Study(
    "machines",
    "known facts of the machines of today, with their sources, against the model and null models",
    "minutes",
    (
        *("machine", "what", "printed", "model", "error", "verdict", "null", "null_model", "null_verdict"),
        *("unit", "source", "command", "class"),
    ),
    rows,
    (PAGE,),
    line=_line,
    tables=page,
    closing=lambda found, options: _summary(found),
)
