"""The study of single instructions: its loops assemble, run and are known to the model. What they take is no test."""

import platform
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from validation.native import instructions  # noqa: E402
from validation.native.instructions import InstructionRow, line, loops, measured, modelled, runnable, tables  # noqa: E402

from homenode.resources import core_model  # noqa: E402

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="assembly of x86-64")


def test_copies_have_registers_of_their_own() -> None:
    codes = {loop.shown: loop.code for loop in loops()}
    assert codes["mov 0(%rsi), %r8 x 8"] == tuple(f"mov {8 * i}(%rsi), %r{8 + i}" for i in range(8))
    assert codes["vdivsd %xmm15, %xmm14, %xmm0 x 8"][7] == "vdivsd %xmm15, %xmm14, %xmm7"
    assert codes["addsd %xmm1, %xmm0; mulsd %xmm1, %xmm0"] == ("addsd %xmm1, %xmm0", "mulsd %xmm1, %xmm0")


def test_the_model_knows_every_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    program = core_model()
    if program is None:
        pytest.skip("built without LLVM 19")
    monkeypatch.setattr(instructions, "TURNS", 8)
    monkeypatch.setattr(instructions, "REPEATS", 1)
    given = runnable(loops())
    native = measured(given)
    assert len(native) == len(given) > 40
    assert all(one.cycles > 0 for one in native)
    for cpu in ("znver5", "znver4", "icelake-server", "sapphirerapids"):
        modelled([one.code for one in native], program, cpu)  # raises for an instruction without a cost
    with pytest.raises(RuntimeError, match="the model of ivybridge does not know"):
        modelled(["0fa2"], program, "ivybridge")  # cpuid
    by_code = dict(
        zip((loop.shown for loop in given), modelled([one.code for one in native], program, "znver5"), strict=True)
    )
    assert by_code["addsd %xmm1, %xmm0"] == (pytest.approx(2), "latency")
    assert by_code["mov 0(%rsi), %r8 x 8"][0] == pytest.approx(2, abs=0.05)


def test_a_row_agrees_within_a_share_or_some_cycles() -> None:
    def row(native: float, model: float) -> InstructionRow:
        return InstructionRow("units", "add", 1, "znver5", native, model, "latency")

    assert row(10, 11.4).agrees
    assert not row(10, 11.6).agrees
    assert row(0.3, 0.44).agrees  # half as many again, but a seventh of a cycle
    assert not row(0.3, 0.46).agrees
    assert line(row(10, 12)).endswith("add  differs")
    assert "1 of 2 loops within 15% or 0.15 cycles; median error 15%" in tables([row(10, 10), row(10, 13)])
    assert "Not measured yet" in tables([])
