"""The papers' programs by version: footprints by arithmetic, verdicts on figures made up for them, captured at their smallest size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.__main__ import main  # noqa: E402
from validation.native.program_table import Program  # noqa: E402
from validation.originals import FIGURES, Original, originals, page, rows_of  # noqa: E402
from validation.published.s0 import cases as s0  # noqa: E402
from validation.published.s0.cases import AWARE, INTERLEAVE, PINNED, A, Case, Timing  # noqa: E402
from validation.published.s4.arithmetic import Problem  # noqa: E402
from validation.published.s4.cases import blocks as tasks_of  # noqa: E402
from validation.published.versions import blocks, footprints, lists, processes, transforms  # noqa: E402
from validation.study import BadOptions  # noqa: E402

import homenode as hn  # noqa: E402


def region(trace: hn.Trace, label: str) -> dict[str, Any]:
    found = trace.regions.set_index("label").loc[label]
    return dict(found)


@pytest.mark.parametrize(
    ("size", "megabytes", "printed"), [("A", 433.3, 450.0), ("B", 1730.6, 1760.0), ("C", 6859.8, 6897.0)]
)
def test_the_printed_footprints_of_ft_are_the_c_version_s(size: str, megabytes: float, printed: float) -> None:
    # A: 52 B x 2^23 points, 8 B x (6 x 36864 + 1) exponentials, 16 B x 65536 numbers of a plane, 32 threads x 2 x 256 x 18 x 16 B
    found = footprints.transform_in_c_bytes(size) / footprints.MEGABYTE
    assert found == pytest.approx(megabytes, abs=0.05)
    assert footprints.LEAST <= found / printed <= footprints.MOST
    # NPB 3.3 in Fortran has three quarters of it: 40 B a point
    assert footprints.transform_bytes(size) / footprints.MEGABYTE / printed < 0.77
    assert s0.references()["all", f"ft {size}"].printed == printed


def test_rows_of_mg_take_a_header_each() -> None:
    # 258 doubles are 2064 B; with a header of 8 B, in steps of 16: 2080. 258^2 rows and 259 arrays of 258 addresses.
    assert [footprints.chunk_bytes(asked) for asked in (1, 24, 25, 2064)] == [32, 32, 48, 2080]
    assert footprints.grid_of_rows_bytes(8) == (258 * 258 + 258 + 1) * 2080


def test_a_footprint_above_the_printed_one_deviates(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = {row.verdict for row in footprints.rows(s0.references()) if "(ft_c)" in row.what}
    assert verdicts == {"agrees"}
    monkeypatch.setattr(footprints, "THREADS", 4000)
    assert "deviates" in {row.verdict for row in footprints.rows(s0.references()) if "(ft_c)" in row.what}


class MadeUp:
    """Replays whose iterations take as long as they are told."""

    def __init__(self, **steps: float) -> None:
        self.steps = steps

    def timing(self, case: Case, machine: str, setting: hn.RunSpec) -> Timing:
        name = setting.placement if setting.mapping == "compact" else "unpinned"
        return Timing(0.0, self.steps[name], 0.5, (), "core, sweep", "command")


def test_transforms_want_the_order_and_a_gain() -> None:
    case = Case("ft_c", "S", (6,), few=1, more=2)

    def verdicts(aware: float, interleave: float, first: float) -> list[str]:
        made_up = MadeUp(**{"stencil-aware": aware, "interleave": interleave, "first-touch": first})
        found = {setting: made_up.timing(case, A, setting) for setting in (PINNED, INTERLEAVE, AWARE)}
        return [row.verdict for row in transforms._rows_of(case, A, found)]

    assert verdicts(1.0, 1.2, 1.5) == ["agrees", "agrees", "agrees", "not compared"]
    assert verdicts(1.0, 0.9, 1.5) == ["deviates", "deviates", "agrees", "not compared"]
    assert verdicts(1.0, 1.2, 2.5)[2] == "deviates"  # above 1.57 by more than a quarter
    assert verdicts(1.0, 1.005, 1.01)[2] == "deviates"  # below 2 %


def test_a_claim_over_a_range_is_told_only_where_all_of_it_says_the_same() -> None:
    assert processes.verdict([0.9, 0.98]) == "agrees"
    assert processes.verdict([1.02, 1.5]) == "deviates"
    assert processes.verdict([0.9, 1.02]) == "not compared"
    assert processes.verdict([1.001, 1.003]) == "not compared"  # below the noise
    case = Case("hotspot", "64", (10,), placed=processes.PLACED)
    steps = {"unpinned": 2.0, "first-touch": 1.0, "interleave": 1.1, "stencil-aware": 1.2}  # 10 s against 12
    first, second = processes.rows(MadeUp(**steps), (case,))  # type: ignore[arg-type]
    assert (first.claim, second.claim, second.verdict) == ("C1", "C5", "agrees")
    # 64 x 64 cells: 4096 (2 x 138 + 306) ns and 1 ms; three times the text and 10 ms
    least, most = processes.process_seconds(64)
    assert (least, most) == (pytest.approx(3.384e-3, abs=1e-6), pytest.approx(17.151e-3, abs=1e-6))


def test_the_two_readings_of_s4_s_blocks() -> None:
    assert [tasks_of(problem) for problem in blocks.readings(small=False).values()] == [14400, 1440]
    # S4, 2.1: 60 tasks a layer; as many layers and rows as on a grid 2.5 times as wide in both slower directions
    assert {tasks_of(problem) // problem.blocks[0] for problem in blocks.readings(small=False).values()} == {60}
    assert Problem(2400, 600, 600, 10, 10, 600).blocks == blocks.GRID.blocks


def test_s4_s_claims_on_made_up_rates() -> None:
    lines = {"static": 100.0, "round robin": 60.0, "serial": 25.0}
    tasks = {("s", "ijk"): 25.0, ("s", "kji"): 58.0, ("s-1", "ijk"): 50.0, ("s-1", "kji"): 58.0}
    queues = {("s", "ijk"): 26.0, ("s", "kji"): 95.0, ("s-1", "ijk"): 95.0, ("s-1", "kji"): 89.0}
    found = {row.claim: row.verdict for row in blocks.verdicts("m", "blocks", lines, tasks, queues, "c")}
    assert found == {"C65": "agrees", "C66": "agrees", "C67": "agrees", "C69": "deviates", "C70": "agrees"}


def test_originals_are_described_beside_their_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadOptions, match=r"no file .*originals.toml"):
        originals(tmp_path)
    row = '[[original]]\nname="p"\nkind="k"\nlanguage="C"\norigin="o"\nfolder="f"\nbuild="b"\nprogram="p"\narguments=[""]\n'
    (tmp_path / "originals.toml").write_text(row, encoding="utf-8")
    with pytest.raises(BadOptions, match="original 'p': missing: kernel, parameters"):
        originals(tmp_path)
    (tmp_path / "originals.toml").write_text(row + 'kernel="stream"\nparameters={n=5}\n', encoding="utf-8")
    (found,) = originals(tmp_path)
    assert (found.kernel, found.parameters, found.program.name) == ("stream", {"n": 5}, "p")
    with pytest.raises(SystemExit):
        main(["originals"])
    assert "originals wants --sources FOLDER" in capsys.readouterr().err


def test_a_page_of_originals_shows_ratios() -> None:
    program = Program("p", "k", "C", "o", "f", "b", "p", ("-n 5",))
    public = dict(zip(FIGURES, (100.0, 0.0, 50.0, 50.0, 0.25), strict=True))
    ours = dict(zip(FIGURES, (90.0, 1.0, 50.0, 50.0, 0.5), strict=True))
    found = list(rows_of(Original(program, "stream", {"n": 5}), public, ours))
    assert [row.ratio for row in found] == [0.9, None, 1.0, 1.0, 2.0]
    assert "| p | o | -n 5 | stream | n=5 | reads | 100 | 90 | 0.9 |" in page(found)


@pytest.fixture(scope="module")
def traces(own_cache: None) -> dict[str, hn.Trace]:
    """Each version at its smallest size; a failed self-check would be an error here."""
    return {
        "ft_c": hn.capture("ft_c", iterations=1),
        "touched": hn.capture("mg_rows", iterations=1),
        "left": hn.capture("mg_rows", iterations=1, headers="left"),
        "text": hn.capture("hotspot_text", size=32, steps=1),
        "lists": hn.capture("sliding_tile_lists", threads=2, instance="korf12", expand=60, nodes="heap"),
        "messages": hn.capture("advection2d_messages", threads=2, patch=8, patches=3, steps=2),
    }


@pytest.mark.capture
def test_one_thread_touches_the_c_version_s_second_array(traces: dict[str, hn.Trace]) -> None:
    trace = traces["ft_c"]
    points = 64**3
    # twice (NPB's warm-up): a plane of numbers is written and read, u1 is written, all by serial code
    found = region(trace, "initial")
    assert (found["kind"], found["reads"], found["writes"]) == ("serial", 2 * 2 * points, 2 * 4 * points)
    found = region(trace, "evolve")  # u0 twice, an index and an exponential are read, u1 is written
    assert (found["reads"], found["writes"]) == (4 * points, 2 * points)
    pages = hn.replay(trace, A, threads=4, mapping="scatter").run["pages_by_node"]
    # u1 is 16 of 52 B a point; one thread has all of it, and a quarter of the rest at least
    assert pages[0] / sum(pages) >= (16 + 36 / 4) / 52
    ours = hn.replay(hn.capture("ft", iterations=1), A, threads=4, mapping="scatter").run["pages_by_node"]
    assert max(ours) / sum(ours) < 0.27


@pytest.mark.capture
def test_who_allocates_rows_touches_their_pages(traces: dict[str, hn.Trace]) -> None:
    shares = {}
    for headers in ("touched", "left"):
        # on the heap `plain`, which writes no headers itself: those are the program's
        pages = hn.replay(traces[headers], A, threads=4, mapping="scatter", heap="plain").run["pages_by_node"]
        shares[headers] = pages[0] / sum(pages)
    assert shares["touched"] > 0.9
    assert shares["left"] < shares["touched"] - 0.1
    written = [region(traces[headers], "allocate")["writes"] for headers in ("touched", "left")]
    # a write a row: two grids of levels 1 to 5 and one of level 5
    assert written[0] - written[1] == 2 * sum((2**level + 2) ** 2 for level in range(1, 6)) + 34**2


@pytest.mark.capture
def test_text_is_read_by_one_thread_before_the_first_sweep(traces: dict[str, hn.Trace]) -> None:
    read = region(traces["text"], "read")
    assert (read["kind"], read["executions"]) == ("serial", 1)
    labels = list(traces["text"].regions.label)
    assert labels.index("read") < labels.index("sweep") < labels.index("write")


@pytest.mark.capture
def test_messages_are_allocated_in_every_step(traces: dict[str, hn.Trace]) -> None:
    # a buffer of 3 patches x 4 sides x 8 doubles for each of two threads in each of two steps
    sizes = [entry["bytes"] for entry in traces["messages"].inspect()["objects"]]
    assert sizes.count(3 * 4 * 8 * 8) == 2 * 2
    packed = region(traces["messages"], "exchange_pack:code")
    assert packed["writes"] >= 2 * 2 * 3 * 4 * 8


@pytest.mark.capture
def test_lists_look_at_far_more_nodes_than_tables(traces: dict[str, hn.Trace]) -> None:
    tables = hn.capture("sliding_tile", threads=2, instance="korf12", expand=60, nodes="heap", table=8)
    assert traces["lists"].accesses > 4 * tables.accesses


def test_kernels_compile_with_their_own_names(tmp_path: Path) -> None:
    # they include another kernel's source whose main is renamed: one main is left
    source = ROOT / "traces" / "kernels" / "ft_c.c"
    words = ["gcc", "-std=c11", "-O2", "-fopenmp", "-c", str(source), "-o", str(tmp_path / "ft_c.o")]
    subprocess.run(words, check=True)
    symbols = subprocess.run(["nm", str(tmp_path / "ft_c.o")], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in symbols.splitlines() if line.endswith("main")] == ["ft_main", "main"]


def test_the_searches_of_s2_are_reduced_alike() -> None:
    tables, lists_ = (search for search in lists.SEARCHES if search.changes)
    assert tables.changes == lists_.changes
    assert tables.parameters["expand"] == lists_.parameters["expand"]
